//! Constants: what is never written, and what leads nowhere else.

use super::PointsTo;
use super::objects::{Kind, ObjectId};
use crate::facts::{Facts, Operand};

/// Which global variables are constants from which addresses lead to such constants alone: texts,
/// places in the source, tables of those. They are one object. O(addresses in constants).
pub(super) fn data(facts: &Facts) -> Vec<bool> {
    let globals = &facts.globals;
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); globals.len()];
    let mut is_data = vec![true; globals.len()];
    let mut open = Vec::new();
    for (id, global) in globals.iter().enumerate() {
        let is_constant = global.is_constant
            && !global.is_foreign
            && !global.is_thread_local
            && !global.is_paired;
        let mut leads_elsewhere = !is_constant;
        for (_, address) in &global.initial {
            match address {
                Operand::Global(of, _) => users[*of as usize].push(id),
                Operand::Nothing => {}
                Operand::Register(_) | Operand::Function(_) => leads_elsewhere = true,
            }
        }
        if leads_elsewhere {
            open.push(id);
        }
    }
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut is_data[id], false) {
            open.extend(&users[id]);
        }
    }
    is_data
}

impl PointsTo<'_> {
    /// Whether an object holds no addresses, ever.
    pub(super) fn holds_nothing(&self, object: ObjectId) -> bool {
        matches!(self.objects.objects[object as usize].kind, Kind::Function(_))
            || object == self.bytes
    }

    /// Whether an object is never written: who tried would be killed.
    pub(super) fn is_constant(&self, object: ObjectId) -> bool {
        match self.objects.objects[object as usize].kind {
            Kind::Function(_) | Kind::Data => true,
            Kind::Global(id) => {
                let global = &self.facts.globals[id as usize];
                global.is_constant && !global.is_foreign
            }
            Kind::Library => object == self.bytes,
            _ => false,
        }
    }
}
