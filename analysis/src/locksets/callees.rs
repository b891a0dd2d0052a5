//! What calls do: of functions that were looked at before, of functions outside, and of whatever a
//! pointer points to.

use super::aliases::Aliases;
use super::own::{Own, Owner};
use super::state::Released;
use super::summary::Summary;
use super::work::Work;
use crate::facts::flow::{Call, Value};
use crate::facts::{Effect, Facts, FunctionId};
use crate::points_to::PointsTo;
use std::rc::Rc;

/// Functions that may call a handler of a signal.
const RUN_HANDLERS: &[&str] =
    &["raise", "kill", "pthread_kill", "tgkill", "sigprocmask", "pthread_sigmask"];

/// See the module.
#[derive(Debug)]
pub struct Callees<'f> {
    facts: &'f Facts,
    /// Whose functions they are.
    pub owners: Vec<Owner>,
    /// Where std's own locks are.
    pub own: Own,
    /// What may still be done for locks that may be held.
    pub work: Work,
    /// Of each function that has a body and was looked at.
    pub summaries: Vec<Option<Rc<Summary>>>,
}

impl<'f> Callees<'f> {
    pub fn new(facts: &'f Facts, points_to: &PointsTo<'_>, owners: Vec<Owner>, work: Work) -> Self {
        let own = Own::of(facts, points_to);
        let summaries = vec![None; facts.functions.len()];
        Self { facts, owners, own, work, summaries }
    }

    /// What a call does.
    pub fn of(&self, aliases: &Aliases<'_>, call: &Call) -> Rc<Summary> {
        let count = call.arguments.len() as u32;
        match call.callee {
            Value::Function(function) => match &self.summaries[function as usize] {
                Some(summary) => Rc::clone(summary),
                None => Rc::new(self.outside(function, count)),
            },
            _ => {
                let (callees, others) = self.candidates(aliases, call);
                let harmless =
                    !others && callees.iter().all(|&function| self.releases_nothing(function));
                let released = if harmless { Released::default() } else { Released::Anything };
                let mut summary = Summary::unknown(count, released);
                for callee in callees {
                    if let Some(known) = &self.summaries[callee as usize]
                        && self.work.spend(known.order_size())
                    {
                        summary.may_hold(&known.may());
                        summary.acquires.extend(known.acquires.iter().cloned());
                        summary.nested.extend(known.nested.iter().cloned());
                    }
                }
                Rc::new(summary)
            }
        }
    }

    /// The functions that a call may call, and whether there may be others.
    pub fn candidates(&self, aliases: &Aliases<'_>, call: &Call) -> (Vec<FunctionId>, bool) {
        match call.callee {
            Value::Function(function) => (vec![function], false),
            Value::Register(register) => {
                let (mut callees, others) = aliases.callees(register);
                callees.retain(|&function| {
                    let signature = self.facts.functions[function as usize].signature;
                    signature.is_none_or(|signature| signature == call.signature)
                });
                (callees, others)
            }
            _ => (Vec::new(), true),
        }
    }

    /// Whether a function gives back nothing that its callers hold.
    pub fn releases_nothing(&self, function: FunctionId) -> bool {
        match &self.summaries[function as usize] {
            Some(summary) => summary.releases_nothing(),
            None => self.outside(function, 0).releases_nothing(),
        }
    }

    /// What a function does that was not looked at.
    fn outside(&self, function: FunctionId, arguments: u32) -> Summary {
        let it = &self.facts.functions[function as usize];
        if it.body.is_some() {
            return Summary::unknown(arguments, Released::Anything);
        }
        let (calls_back, throws) = match Effect::of(&it.name) {
            Effect::Anything | Effect::Visits | Effect::DropsException => (true, true),
            Effect::Throws => (false, true),
            _ if RUN_HANDLERS.contains(&it.name.as_str()) => (true, false),
            _ => (false, false),
        };
        let released = if calls_back { Released::Anything } else { Released::default() };
        let mut summary = Summary::unknown(arguments, released);
        if !throws {
            summary.unwinds.clear();
        }
        summary
    }
}
