//! Copies of memory: what is at one place is at another one, too.

use super::objects::{self, ANYWHERE, ContextId, NUMBER, Outlet, PlaceId, Target};
use super::solver::{Node, Rule};
use super::{Copying, PAIRS, PointsTo};
use crate::facts::Operand;

impl PointsTo<'_> {
    pub(super) fn copy_memory(
        &mut self,
        context: ContextId,
        to: Operand,
        from: Operand,
        bytes: Option<u64>,
    ) {
        let context = Some(context);
        let copy = self.copies.len() as u32;
        self.copies.push(Copying {
            to: (context, to),
            from: (context, from),
            bytes,
            mixed: None,
            pairs: 0,
        });
        self.rule(context, to, Rule::CopyTo(copy));
        self.rule(context, from, Rule::CopyFrom(copy));
    }

    /// The node of what a copy moves, if it is not told apart.
    pub(super) fn mixed(&mut self, copy: u32) -> Option<Node> {
        let Copying { bytes, mixed, pairs, to, from } = self.copies[copy as usize];
        if mixed.is_some() || bytes.is_some() && pairs < PAIRS {
            return mixed;
        }
        let node = self.graph.add(1);
        self.copies[copy as usize].mixed = Some(node);
        // Those that were told apart so far come again.
        for place in self.places_of(to) {
            self.apply(Rule::CopyTo(copy), place);
        }
        for place in self.places_of(from) {
            self.apply(Rule::CopyFrom(copy), place);
        }
        Some(node)
    }

    /// The node of what a copy moves from now on: it is not told apart any more.
    pub(super) fn mix(&mut self, copy: u32) -> Option<Node> {
        self.copies[copy as usize].pairs = PAIRS;
        self.mixed(copy)
    }

    pub(super) fn places_of(
        &mut self,
        (context, operand): (Option<ContextId>, Operand),
    ) -> Vec<PlaceId> {
        match (operand, context) {
            (Operand::Nothing, _) => Vec::new(),
            (Operand::Register(register), Some(context)) => {
                let base = self.contexts[context as usize].base;
                // What is unknown is dealt with as such.
                match self.graph.is_sunk(base + register) {
                    true => Vec::new(),
                    false => self.graph.set(base + register).iter().collect(),
                }
            }
            _ => vec![self.place_of_constant(operand)],
        }
    }

    /// What is at one place is copied to another.
    pub(super) fn connect(&mut self, copy: u32, to: PlaceId, from: PlaceId) {
        let objects::Place { object: target, offset: first, .. } = self.objects.places[to as usize];
        let objects::Place { object: source, offset: start, .. } =
            self.objects.places[from as usize];
        let numbers = first == NUMBER || start == NUMBER;
        if numbers || self.holds_nothing(source) || self.is_constant(target) {
            return;
        }
        let bytes = self.copies[copy as usize].bytes;
        self.copies[copy as usize].pairs += 1;
        if start == ANYWHERE {
            let all = self.all(source);
            let to = self.objects.place(target, None);
            let to = self.content(to);
            self.graph.copy(all, to);
            return;
        }
        let end =
            bytes.map_or(ANYWHERE, |b| start.saturating_add(u32::try_from(b).unwrap_or(ANYWHERE)));
        if source == target && first == start {
            return;
        }
        self.add_outlet(
            source,
            Outlet { range: (start, end), target: Target::Place(target, first) },
        );
    }
}
