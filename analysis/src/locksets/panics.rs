//! Functions of std that never return: they panic, and print what they are passed before.
//!
//! So that is as it was when an exception leaves them, and they keep no address of it: it outlives
//! no frame of theirs. Without that, nothing would be known of the guard in the error that
//! `lock().unwrap()` prints, whose drop then gives back a lock that has no name.

use super::own::Owner;
use super::summary::Summary;
use crate::facts::{Facts, FunctionId, Statement};

/// By function: whether it is one of them.
#[derive(Clone, Debug)]
pub struct Panics(Vec<bool>);

impl Panics {
    /// Looks at all functions. O(statements).
    pub fn of(facts: &Facts, owners: &[Owner]) -> Self {
        let panics = facts.functions.iter().zip(owners).map(|(function, owner)| {
            let returns = |statement: &Statement| matches!(statement, Statement::Return(_));
            let body = function.body.as_ref();
            *owner != Owner::User && body.is_some_and(|body| !body.statements.iter().any(returns))
        });
        Self(panics.collect())
    }

    /// Whether a function is one of them.
    pub fn has(&self, function: FunctionId) -> bool {
        self.0[function as usize]
    }

    /// Corrects what was found of such a function, of whose callees too little is known.
    pub fn correct(&self, function: FunctionId, summary: &mut Summary) {
        if !self.has(function) {
            return;
        }
        summary.returns.clear();
        for exit in &mut summary.unwinds {
            exit.cells.clear();
            exit.clobbered.clear();
            exit.stale.clear();
        }
    }
}
