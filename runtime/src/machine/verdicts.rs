//! What was found so far, beside failures, which the search keeps.

use crate::claims::proved::Sites;
use lockred_protocol::message::{Assumption, Unsupported, Warning};

/// See the module.
#[derive(Debug, Default)]
pub struct Verdicts {
    /// What the outcome rests on so far.
    pub assumptions: Vec<Assumption>,
    /// Findings that fail nothing.
    pub warnings: Vec<Warning>,
    /// What could not be modelled.
    pub unsupported: Option<Unsupported>,
    /// The stack of the thread whose step was left in the middle, as the session asked to stop.
    pub left: Option<Vec<u64>>,
    /// Some execution was not left out.
    pub kept: bool,
    /// Some execution had conflicting atomic accesses, unordered and not both `SeqCst`.
    pub weak_pair: bool,
    /// What was found of accesses and who shares what they touch, in builds that look at that.
    pub proved: Sites,
}
