//! What escape analysis, the language and the harness say of memory: the present source of
//! decisions.

use super::protection::Protections;
use crate::escape::Privacy;
use crate::facts::access::Access;
use crate::llvm::{Function, Opcode};
use crate::plan::Decide;
use crate::sharing::{Reach, Reaches};
use lockred_protocol::plan::Reason;
use std::rc::Rc;

/// See the module.
#[derive(Debug)]
pub struct Known {
    /// Who keeps what to itself.
    pub privacy: Rc<Privacy>,
    /// Where all pointers go.
    pub reaches: Reaches,
    /// What protects memory that threads share.
    pub protections: Protections,
    /// The function under way is the harness's.
    pub trusted: bool,
}

impl Decide for Known {
    fn decide(&self, _: Function, access: &Access) -> Reason {
        if self.trusted {
            return Reason::Harness;
        }
        match self.privacy.reason(access.start) {
            Some(reason) => reason,
            None if access.at.opcode() == Opcode::Load
                && access.at.has_metadata("invariant.load") =>
            {
                Reason::Invariant
            }
            None => match self.reaches.reach(access.start) {
                Reach::Constant => Reason::Constant,
                Reach::Variables => Reason::OwnVariables,
                Reach::Unshared => Reason::OwnMemory,
                Reach::Shared => self.protections.reason(access).unwrap_or(Reason::Shared),
            },
        }
    }
}
