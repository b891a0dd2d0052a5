//! Programs that do not behave alike under one schedule.

use crate::machine::hook::Entered;
use crate::record::native_calls::{Call, suspect};
use crate::scheduler::stops::stack_of;
use lockred_protocol::message::Unsupported;

/// A step that was made again was another one.
pub fn nondeterminism(
    entered: &mut Entered,
    step: usize,
    differing: Option<(Option<Call>, Option<Call>)>,
) -> Unsupported {
    let (why, suspected) = suspect(&entered.monitors.native, differing);
    let thread = entered.step.thread;
    Unsupported {
        message: format!(
            "the program does not behave alike under the same schedule (first seen at step {step}, in thread {thread}): {why}"
        ),
        site: suspected.unwrap_or(entered.step.site),
        stack: match suspected {
            Some(_) => Vec::new(),
            None => stack_of(entered, thread),
        },
    }
}
