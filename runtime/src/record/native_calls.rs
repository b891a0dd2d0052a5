//! Calls of functions that are neither modelled nor harmless: what they were, and gave, for when
//! the program does not behave alike.

use lockred_protocol::sites::SiteId;

/// Calls of one step that are kept.
const KEPT: usize = 64;
/// Calls that are named where none is seen to differ.
const NAMED: usize = 3;

/// One call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function, by the number that the shim gave it.
    external: u32,
    /// Where.
    pub site: SiteId,
    /// What it gave, if that is a number and it has returned.
    result: Option<u64>,
}

impl Call {
    /// One that is about to be made.
    pub const fn new(external: u32, site: SiteId) -> Self {
        Self { external, site, result: None }
    }
}

/// The calls of an execution.
#[derive(Default, Debug)]
pub struct Calls {
    /// Those of the step under way.
    of_step: Vec<Call>,
    /// The last ones, the oldest first.
    last: Vec<Call>,
}

impl Calls {
    /// A step begins.
    pub fn begin_step(&mut self) {
        self.of_step.clear();
    }

    /// An execution begins.
    pub fn begin(&mut self) {
        self.of_step.clear();
        self.last.clear();
    }

    /// Those of the step that was made.
    pub fn of_step(&self) -> &[Call] {
        &self.of_step
    }

    /// A function is about to be called.
    pub fn called(&mut self, call: Call) {
        if self.of_step.len() < KEPT {
            self.of_step.push(call);
        }
        if self.last.len() == NAMED {
            self.last.remove(0);
        }
        self.last.push(call);
    }

    /// The last call has returned. (One that has called the program back, which called another one,
    /// is not known to.)
    pub fn returned(&mut self, result: u64) {
        let last = [self.of_step.last_mut(), self.last.last_mut()];
        for call in last.into_iter().flatten().filter(|call| call.result.is_none()) {
            call.result = Some(result);
        }
    }
}

/// The first calls of two runs of one step that are not the same, if any.
pub fn difference(before: &[Call], now: &[Call]) -> Option<(Option<Call>, Option<Call>)> {
    let length = before.len().max(now.len());
    let pairs = (0..length).map(|index| (before.get(index).copied(), now.get(index).copied()));
    pairs.into_iter().find(|(before, now)| before != now)
}

/// Why two runs of one schedule differ, as far as that is known: in words, and where.
pub fn suspect(
    calls: &Calls,
    differing: Option<(Option<Call>, Option<Call>)>,
) -> (String, Option<SiteId>) {
    let name = |call: Call| format!("`{}`", crate::session::files::external(call.external));
    match differing {
        Some((Some(before), Some(now)))
            if (before.external, before.site) == (now.external, now.site) =>
        {
            let gave = |call: Call| call.result.map_or("nothing".to_owned(), |r| r.to_string());
            let results = format!("{} and now {}", gave(before), gave(now));
            let words = format!("{}, which is native code, gave {results}", name(now));
            (words, Some(now.site))
        }
        Some((before, now)) => {
            let which = |call: Option<Call>| call.map_or("none".to_owned(), name);
            let words = format!(
                "of the calls of native code, {} was made before where {} is made now",
                which(before),
                which(now)
            );
            (words, now.or(before).map(|call| call.site))
        }
        None => {
            let last = &calls.last;
            let mut names: Vec<String> = Vec::new();
            for name in last.iter().map(|&call| name(call)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let outside = "it depends on something outside, such as real time or a native library";
            if names.is_empty() {
                return (outside.to_owned(), None);
            }
            let words =
                format!("{outside}; the last calls of native code were {}", names.join(", "));
            (words, last.last().map(|call| call.site))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(external: u32, result: u64) -> Call {
        Call { external, site: SiteId(external), result: Some(result) }
    }

    #[test]
    fn the_first_call_that_differs_is_found() {
        let [a, b, c] = [call(1, 5), call(2, 5), call(2, 6)];
        assert_eq!(difference(&[a, b], &[a, b]), None);
        assert_eq!(difference(&[a, b, a], &[a, c, b]), Some((Some(b), Some(c))));
        assert_eq!(difference(&[a], &[a, b]), Some((None, Some(b))));
    }

    #[test]
    fn results_belong_to_the_call_before() {
        let mut calls = Calls::default();
        for external in 0..5 {
            calls.called(Call { external, site: SiteId(0), result: None });
            calls.returned(u64::from(external) * 10);
            calls.returned(7);
        }
        assert_eq!(calls.of_step().len(), 5);
        assert_eq!(calls.of_step()[4].result, Some(40));
        assert_eq!(calls.last.iter().map(|c| c.external).collect::<Vec<_>>(), [2, 3, 4]);
        calls.begin_step();
        assert!(calls.of_step().is_empty());
    }

    #[test]
    fn so_many_calls_of_a_step_are_kept_and_the_last_ones_are_named() {
        let mut calls = Calls::default();
        let all = KEPT as u32 + 5;
        (0..all).for_each(|external| calls.called(call(external, 0)));
        assert_eq!(calls.of_step().len(), KEPT);
        assert_eq!(calls.of_step()[KEPT - 1], call(KEPT as u32 - 1, 0));
        assert_eq!(calls.last, [call(all - 3, 0), call(all - 2, 0), call(all - 1, 0)]);
    }
}
