//! Who checks, how, and what each does not know of.

use super::programs::Pair;

/// A checker in one of its modes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// `cargo lockred check`, over unmodified std.
    Lockred,
    /// loom's whole search.
    Loom,
    /// loom's search with at most `PREEMPTIONS` preemptions, as its documentation advises for larger programs.
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

    /// The directory of its runner in `xtask/peers`, and what the runner is told besides the program and the seconds.
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

const SHUTTLE: [(&str, &str); 3] = [
    ("memory-errors", "it does not look at the heap"),
    ("statics", "what statics hold is not put back between its executions"),
    ("timeouts", "its `wait_timeout` never times out"),
];

/// What people should know of a result that is not the one hoped for.
pub fn remark(tool: Tool, path: &str, is_right: bool) -> Option<&'static str> {
    let remark = REMARKS.iter().find(|(tools, paths, right, _)| {
        tools.contains(&tool) && paths.contains(&path) && *right == is_right
    });
    remark.map(|(.., text)| *text)
}

const LOOMS: &[Tool] = &[Tool::Loom, Tool::LoomBounded];

/// Tools, programs, whether the right twins are meant, and the remark.
const REMARKS: [(&[Tool], &[&str], bool, &str); 3] = [
    (
        &[Tool::Lockred],
        &["orders::store_buffering"],
        false,
        "explores sequential consistency, and says so (`memory-model-sc`)",
    ),
    (
        LOOMS,
        &[
            "orders::store_buffering",
            "deques::last_item",
            "lock_algorithms::peterson",
            "reclamation::hazard",
        ],
        true,
        "takes operations that are `SeqCst` for `AcqRel`",
    ),
    (&[Tool::Sanitizer], &["orders::fences"], true, "does not understand fences"),
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
        for path in REMARKS.iter().flat_map(|(_, paths, ..)| paths.iter()) {
            assert!(paths.iter().any(|other| other == path), "{path}");
        }
    }
}
