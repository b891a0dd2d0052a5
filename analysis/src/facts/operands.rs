//! What statements take.

use super::{Operand, Statement};

impl Statement {
    /// Calls `visit` with everything that the statement takes, but for the function that a direct
    /// call calls.
    pub fn operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            Self::Variable { .. } | Self::Catch(_) | Self::Unknown(_) => {}
            Self::Copy { from, .. } | Self::Offset { from, .. } => visit(*from),
            Self::OfSide { from, .. } => visit(Operand::Register(*from)),
            Self::Load { address, .. } => visit(*address),
            Self::Store { address, parts } => {
                visit(*address);
                parts.iter().for_each(|part| visit(part.operand));
            }
            Self::CopyMemory { to, from, .. } => [*to, *from].into_iter().for_each(visit),
            Self::Call(call) => {
                if !matches!(call.callee, Operand::Function(_)) {
                    visit(call.callee);
                }
                call.arguments.iter().for_each(|&argument| visit(argument));
            }
            Self::Pair { data, with } => [*data, *with].into_iter().for_each(visit),
            Self::Return(values) => values.iter().for_each(|&value| visit(value)),
            Self::Throw(value) | Self::Escape(value) | Self::Access(value) => visit(*value),
        }
    }
}
