//! Which functions and tables of methods are only ever put beside the objects that they are called
//! on.

use super::read::Reader;
use super::{Body, FunctionId, Operand, Statement};
use crate::llvm::{self, Distance, Instruction, Linkage, Movement, Type, Value};
use crate::recognise::{demangle, path_of};

impl Reader<'_> {
    /// Of which functions every address is in a table of methods or beside an object.
    pub(super) fn find_methods(&mut self) {
        for global in self.facts.globals.iter().filter(|g| !g.is_paired) {
            for (_, operand) in &global.initial {
                if let Operand::Function(id) = operand {
                    self.unpaired.insert(*id);
                }
            }
        }
        for (id, function) in self.facts.functions.iter_mut().enumerate() {
            function.is_method = !self.unpaired.contains(&(id as FunctionId));
        }
    }

    /// Whether an operand is a table of methods, or a function.
    pub(super) fn is_code(&self, operand: Operand) -> bool {
        match operand {
            Operand::Global(id, Some(0)) => self.facts.globals[id as usize].is_paired,
            Operand::Function(id) => self.formatters.contains(&id),
            _ => false,
        }
    }

    /// Code among scalars, each after the object that it belongs to. `addresses`: which of them
    /// are addresses by their type.
    pub(super) fn pairs(&mut self, body: &mut Body, operands: &[Operand], addresses: &[bool]) {
        for (i, &with) in operands.iter().enumerate() {
            let before = i.checked_sub(1).map(|before| (operands[before], addresses[before]));
            match (with, before) {
                (Operand::Register(_), Some((data @ Operand::Register(_), true)))
                    if addresses[i] =>
                {
                    body.statements.push(Statement::Pair { data, with });
                }
                (Operand::Register(_), _) => {}
                (_, Some((data, _))) if self.is_code(with) => {
                    body.statements.push(Statement::Pair { data, with });
                }
                _ => self.unpaired(with),
            }
        }
    }

    /// Which scalars of values of these types are addresses.
    pub(super) fn addresses(&mut self, types: &[Type]) -> Vec<bool> {
        let mut all = Vec::new();
        for &of in types {
            all.extend(self.scalars(of).iter().map(|scalar| scalar.is_address));
        }
        all
    }

    /// Code is put somewhere, with what is not seen.
    pub(super) fn unpaired(&mut self, operand: Operand) {
        match operand {
            Operand::Global(id, _) => self.facts.globals[id as usize].is_paired = false,
            Operand::Function(id) => {
                self.unpaired.insert(id);
            }
            Operand::Nothing | Operand::Register(_) => {}
        }
    }

    /// Code is stored: what is stored in front of it, in the same block, is the object.
    pub(super) fn stored_pair(
        &mut self,
        body: &mut Body,
        at: Instruction,
        address: Value,
        with: Operand,
    ) {
        if !self.is_code(with) && !matches!(with, Operand::Register(_)) {
            self.unpaired(with);
            return;
        }
        let (base, offset) = self.distance_from(address);
        for other in at.block().instructions() {
            if let Movement::Store(to, stored) = other.movement(self.module)
                && self.distance_from(to) == (base, offset - 8)
            {
                let data = self.operand(body, stored);
                body.statements.push(Statement::Pair { data, with });
                return;
            }
        }
        self.unpaired(with);
    }

    /// What an address is computed from, and how far it is from that.
    pub(super) fn distance_from(&self, mut address: Value) -> (Value, i64) {
        let mut offset = 0;
        while let Some(Movement::Offset(base, Distance::Exactly(bytes) | Distance::Within(bytes))) =
            address.as_instruction().map(|i| i.movement(self.module))
        {
            address = base;
            offset += bytes;
        }
        (address, offset)
    }
}

/// Whether a function is one of a trait of `core::fmt`.
pub(super) fn is_formatter(symbol: &str) -> bool {
    symbol.contains("3fmt") && path_of(&demangle(symbol)).ends_with("::fmt")
}

/// Whether a global variable is a table of methods: a private constant without a name of the
/// program's, of functions but for size and alignment, which are the second and third words.
pub(super) fn is_table(global: &llvm::Global, initial: &[(u64, Operand)]) -> bool {
    let name = global.name();
    global.is_constant()
        && global.linkage() == Linkage::Internal
        && (name.starts_with("vtable") || name.starts_with("anon."))
        && !initial.is_empty()
        && initial.iter().all(|(offset, operand)| {
            offset % 8 == 0 && !matches!(offset, 8 | 16) && matches!(operand, Operand::Function(_))
        })
}
