//! Who checks, how, and what each does not know of.

use super::programs::{Bug, Pair, Twin};

/// A checker in one of its modes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// `cargo lockred check`, over unmodified std.
    Lockred,
    /// loom's whole search.
    Loom,
    /// loom's search with at most `PREEMPTIONS` preemptions, as its documentation advises for
    /// larger programs.
    LoomBounded,
    /// shuttle's random walks.
    ShuttleRandom,
    /// shuttle's probabilistic concurrency testing, depth 3.
    ShuttlePct,
    /// shuttle's depth-first search.
    ShuttleDepthFirst,
    /// The program in a loop, built with ThreadSanitizer.
    Sanitizer,
}

/// Preemptions of loom's bounded search.
pub const PREEMPTIONS: &str = "3";

impl Tool {
    pub const ALL: [Tool; 7] = [
        Tool::Lockred,
        Tool::Loom,
        Tool::LoomBounded,
        Tool::ShuttleRandom,
        Tool::ShuttlePct,
        Tool::ShuttleDepthFirst,
        Tool::Sanitizer,
    ];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Lockred => "lockred",
            Tool::Loom => "loom",
            Tool::LoomBounded => "loom, 3 preemptions",
            Tool::ShuttleRandom => "shuttle random",
            Tool::ShuttlePct => "shuttle PCT",
            Tool::ShuttleDepthFirst => "shuttle DFS",
            Tool::Sanitizer => "ThreadSanitizer",
        }
    }

    /// The directory of its runner in `xtask/peers`, and what the runner gets besides the
    /// program and the seconds.
    pub fn runner(self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            Tool::Lockred => None,
            Tool::Loom => Some(("loom", &[])),
            Tool::LoomBounded => Some(("loom", &[PREEMPTIONS])),
            Tool::ShuttleRandom => Some(("shuttle", &["random"])),
            Tool::ShuttlePct => Some(("shuttle", &["pct"])),
            Tool::ShuttleDepthFirst => Some(("shuttle", &["dfs"])),
            Tool::Sanitizer => Some(("sanitizer", &[])),
        }
    }

    /// Whether its search can come to an end.
    pub fn can_complete(self) -> bool {
        !matches!(self, Tool::ShuttleRandom | Tool::ShuttlePct | Tool::Sanitizer)
    }

    /// What programs need that it does not know of, and why.
    pub fn lacks(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Tool::Lockred | Tool::Sanitizer => &[],
            Tool::Loom | Tool::LoomBounded => &LOOM,
            Tool::ShuttleRandom | Tool::ShuttlePct | Tool::ShuttleDepthFirst => &SHUTTLE,
        }
    }

    /// Why it cannot express a program, if it cannot.
    pub fn cannot(self, pair: &Pair) -> Option<&'static str> {
        let lack = self.lacks().iter().find(|(need, _)| pair.needs == Some(*need));
        lack.map(|(_, why)| *why)
    }
}

const LOOM: [(&str, &str); 8] = [
    ("barrier", "its `Barrier` is a stub that panics"),
    ("bounded-channel", "it has no `sync_channel`"),
    ("disconnect", "its receivers do not end when all senders are gone, and have no `iter`"),
    ("memory-errors", "it does not look at the heap"),
    ("once", "it has no `Once`"),
    ("scope", "it has no scoped threads"),
    (
        "statics",
        "its types have no `const fn new`: statics are to be rewritten with its `lazy_static!`",
    ),
    ("timeouts", "its `wait_timeout` never times out"),
];

const SHUTTLE: [(&str, &str); 2] = [
    ("memory-errors", "it does not look at the heap"),
    ("timeouts", "its `wait_timeout` never times out"),
];

/// What people should know of a result that is not the one hoped for.
pub fn remark(tool: Tool, pair: &Pair, twin: Twin) -> Option<&'static str> {
    let path = pair.path();
    let remark = REMARKS
        .iter()
        .find(|(tools, other, which, _)| tools.contains(&tool) && *other == path && *which == twin);
    let general = (SHUTTLES.contains(&tool) && pair.bug == Bug::Race && twin == Twin::Wrong)
        .then_some("sees neither plain memory nor memory orders");
    remark.map(|(.., text)| *text).or(general)
}

const LOOMS: &[Tool] = &[Tool::Loom, Tool::LoomBounded];
const SHUTTLES: &[Tool] = &[Tool::ShuttleRandom, Tool::ShuttlePct, Tool::ShuttleDepthFirst];

/// Of loom 0.7.3, `Atomic::last_dependent_access` in `rt/atomic.rs`.
const LAST_ACCESS: &str = "compares a store with the last access to the variable alone: the thread's own load before it hides that of \
                           the other thread";

/// Tools, a program, which twin, and the remark.
const REMARKS: [(&[Tool], &str, Twin, &str); 8] = [
    (
        &[Tool::Lockred],
        "orders::store_buffering",
        Twin::Wrong,
        "explores sequential consistency, and says so (`memory-model-sc`)",
    ),
    (LOOMS, "orders::store_buffering", Twin::Right, "takes `SeqCst` accesses for `AcqRel`"),
    (LOOMS, "stacks::relaxed_push", Twin::Wrong, LAST_ACCESS),
    (LOOMS, "rings::one_producer", Twin::Wrong, LAST_ACCESS),
    (LOOMS, "block_on::looked_too_early", Twin::Right, "fails an assertion of its own, in `park`"),
    (SHUTTLES, "orders::store_buffering", Twin::Wrong, "does not know memory orders"),
    (SHUTTLES, "arcs::last_owner", Twin::Wrong, "takes std's `Arc`, whose counts it does not see"),
    (&[Tool::Sanitizer], "orders::fences", Twin::Right, "does not understand fences"),
];

#[cfg(test)]
mod tests {
    use super::super::programs::pairs;
    use super::*;
    use crate::command::root;

    /// The features that a runner's manifest names as its defaults.
    fn features(runner: &str) -> String {
        let manifest = root().join("xtask").join("peers").join(runner).join("Cargo.toml");
        let text = std::fs::read_to_string(manifest).expect("every runner has a manifest");
        let from = text.find("default = [").expect("it has default features");
        text[from..].split(']').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_runner_has_a_need_or_the_tool_says_why_not() {
        for tool in Tool::ALL {
            let features = features(tool.runner().map_or("", |(runner, _)| runner));
            for pair in pairs() {
                let Some(need) = pair.needs else { continue };
                let has_it = features.contains(&format!("\"{need}\""));
                assert_ne!(has_it, tool.cannot(&pair).is_some(), "{}: {need}", tool.name());
            }
        }
    }

    #[test]
    fn remarks_are_of_programs_that_exist() {
        let paths: Vec<_> = pairs().iter().map(Pair::path).collect();
        for (_, path, ..) in REMARKS {
            assert!(paths.iter().any(|other| other == path), "{path}");
        }
    }
}
