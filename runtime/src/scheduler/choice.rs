//! Choices of the search inside of a step.

use crate::machine::hook::Entered;

/// An alternative, picked by the search; 0 where there is nothing to pick or nobody to ask.
pub fn choose(entered: &mut Entered, of: usize) -> usize {
    if of < 2 {
        return 0;
    }
    match entered.step.chooser {
        Some(chooser) => {
            // SAFETY: set by `step`, whose caller lends the chooser until the step ends, and this
            // runs inside a step.
            let value = entered.outside(|| unsafe { (*chooser).choose(of as u32) as usize });
            crate::machine::deaths::after_value(entered);
            value
        }
        None => 0,
    }
}
