//! Whether what a checker reported is the bug of the program, another one, or none.

use super::programs::{Bug, Twin};

/// What a checker reported of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// What failed, in the checker's words.
    pub failure: Option<String>,
    pub executions: u64,
    /// Whether everything was covered.
    pub complete: bool,
    /// Of the search: up to the failure, or in all.
    pub seconds: f64,
}

/// What an answer is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// The bug of a wrong program.
    Found,
    /// No bug of a wrong program.
    Missed,
    /// A bug of a right program.
    False,
    /// No bug of a right program.
    Silent,
    /// Something that is no bug of any of them: the checker gave up.
    GaveUp,
}

/// Judges an answer.
pub fn judge(bug: Bug, twin: Twin, answer: &Answer) -> Judgement {
    let reported = answer.failure.as_deref().map(kind);
    match (twin, reported) {
        (Twin::Wrong, None) => Judgement::Missed,
        (Twin::Right, None) => Judgement::Silent,
        (_, Some(None)) => Judgement::GaveUp,
        (Twin::Right, Some(Some(_))) => Judgement::False,
        (Twin::Wrong, Some(Some(reported))) if shows(reported, bug) => Judgement::Found,
        // A bug, but not the one that is there: as wrong as one of a right program.
        (Twin::Wrong, Some(Some(_))) => Judgement::False,
    }
}

/// Whether a bug that is reported is what the bug of a program shows as.
fn shows(reported: Bug, bug: Bug) -> bool {
    match bug {
        Bug::Panic | Bug::Deadlock => reported == bug,
        Bug::Race => matches!(reported, Bug::Race | Bug::Panic),
        Bug::Freed => matches!(reported, Bug::Freed | Bug::Race),
    }
}

/// Which bug a checker's words mean. Checks of the programs fail with `bug: …`, so that nothing
/// else is taken for them.
fn kind(failure: &str) -> Option<Bug> {
    let failure = failure.strip_prefix("panic: ").unwrap_or(failure);
    let kinds = [
        ("bug: ", Bug::Panic),
        ("deadlock", Bug::Deadlock),
        ("hangs", Bug::Deadlock),
        ("data race", Bug::Race),
        ("Causality violation", Bug::Race),
        ("use after free", Bug::Freed),
    ];
    kinds.into_iter().find(|(words, _)| failure.starts_with(words)).map(|(_, kind)| kind)
}

/// A report of ThreadSanitizer, in the words of `kind`. A race counts if both accesses are the
/// program's own, or are the deallocation that it asked for: std's are called from the program,
/// too, but deeper down.
pub fn sanitizer(report: &str, family: &str) -> String {
    /// Frames below which an access is somebody else's.
    const OWN_FRAMES: usize = 3;
    let head = report.lines().find(|line| line.starts_with("WARNING: ThreadSanitizer: "));
    let head = head.unwrap_or("no report").trim_start_matches("WARNING: ThreadSanitizer: ");
    let own = format!("::programs::{family}::");
    let mut stacks = report.split("\n\n").take(2);
    let all_own = stacks.all(|stack| {
        let mut frames = stack.lines().filter(|line| line.trim_start().starts_with('#'));
        frames.by_ref().take(OWN_FRAMES).any(|frame| frame.contains(&own))
    });
    match head.split(" (").next() {
        Some("data race") if all_own => "data race".into(),
        Some("heap-use-after-free") if all_own => "use after free".into(),
        _ => format!("outside of the program: {head}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(bug: Bug, twin: Twin, failure: Option<&str>) -> Judgement {
        let failure = failure.map(str::to_owned);
        judge(bug, twin, &Answer { failure, executions: 1, complete: false, seconds: 0.1 })
    }

    #[test]
    fn the_bug_of_a_program_is_found_in_the_words_of_every_checker() {
        let found = |bug, failure| {
            assert_eq!(judged(bug, Twin::Wrong, Some(failure)), Judgement::Found, "{failure}");
        };
        found(Bug::Panic, "panic: bug: count == 2");
        found(Bug::Panic, "bug: count == 2");
        found(Bug::Deadlock, "deadlock: 2 threads wait for ever");
        found(Bug::Deadlock, "deadlock; threads = [(Id(0), Blocked(Location(None)))]");
        found(Bug::Deadlock, "deadlock! blocked tasks: [main-thread (task main-thread(0))]");
        found(Bug::Deadlock, "hangs");
        found(Bug::Race, "data race on `Plain.0.0`: a write by main and a read by thread 1");
        found(Bug::Race, "Causality violation: Concurrent read and write accesses.");
        found(Bug::Race, "bug: mine.1.get() == 2");
        found(Bug::Freed, "use after free by main");
        found(Bug::Freed, "data race");
    }

    #[test]
    fn what_is_another_bug_or_none_is_not_found() {
        assert_eq!(judged(Bug::Panic, Twin::Wrong, Some("data race")), Judgement::False);
        assert_eq!(judged(Bug::Deadlock, Twin::Wrong, Some("bug: x")), Judgement::False);
        assert_eq!(judged(Bug::Panic, Twin::Right, Some("bug: x")), Judgement::False);
        let gave_up = Some("Model exceeded maximum number of branches.");
        assert_eq!(judged(Bug::Panic, Twin::Wrong, gave_up), Judgement::GaveUp);
        assert_eq!(judged(Bug::Panic, Twin::Right, gave_up), Judgement::GaveUp);
        assert_eq!(judged(Bug::Panic, Twin::Wrong, None), Judgement::Missed);
        assert_eq!(judged(Bug::Panic, Twin::Right, None), Judgement::Silent);
    }

    #[test]
    fn a_report_of_the_sanitizer_counts_if_it_is_of_the_programs_accesses() {
        let report = |second: &str| {
            format!(
                "====\nWARNING: ThreadSanitizer: data race (pid=1)\n  Read of size 4 by main:\n    #0 a::programs::beside::<a::programs::orders::x<true>::{{closure#0}}> b\n    #1 main\n\n  Previous write of size 4 by thread T2:\n{second}\n\n  Location is heap block\n    #0 malloc\n"
            )
        };
        let own = "    #0 free\n    #1 __rdl_dealloc\n    #2 std::begin::<a::programs::orders::x<true>::{closure#0}>";
        assert_eq!(sanitizer(&report(own), "orders"), "data race");
        assert_eq!(kind(&sanitizer(&report(own), "locks")), None);
        let deep =
            "    #0 std::a\n    #1 std::b\n    #2 std::c\n    #3 a::programs::orders::x<true>";
        assert_eq!(kind(&sanitizer(&report(deep), "orders")), None);
        assert_eq!(kind(&sanitizer("", "orders")), None);
    }
}
