//! cargo's own selection and build options, which are forwarded to cargo as they are.

use clap::{ArgAction, Args, ValueEnum};
use lockred_protocol::lock_order::Programs;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything that decides what cargo builds, and how.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
pub struct Selection {
    #[command(flatten)]
    pub packages: Packages,
    #[command(flatten)]
    pub targets: Targets,
    #[command(flatten)]
    pub features: Features,
    #[command(flatten)]
    pub compilation: Compilation,
    #[command(flatten)]
    #[serde(default)]
    pub models: Models,
    #[command(flatten)]
    #[serde(default)]
    pub analysis: Analysis,
    #[command(flatten)]
    pub manifest: Manifest,
    #[command(flatten)]
    pub display: Display,
}

/// Which packages.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
#[command(next_help_heading = "Package selection")]
pub struct Packages {
    /// Check this package
    #[arg(short, long, value_name = "SPEC")]
    pub package: Vec<String>,
    /// Check all packages of the workspace
    #[arg(long, alias = "all")]
    pub workspace: bool,
    /// Exclude this package
    #[arg(long, value_name = "SPEC", requires = "workspace")]
    pub exclude: Vec<String>,
}

/// Which targets. None named: the test targets of `cargo test`.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
#[command(next_help_heading = "Target selection")]
pub struct Targets {
    /// Check the unit tests of the library
    #[arg(long)]
    pub lib: bool,
    /// Check this binary itself (not its unit tests), as one test
    #[arg(long, value_name = "NAME")]
    pub bin: Vec<String>,
    /// Check all binaries themselves
    #[arg(long)]
    pub bins: bool,
    /// Check this integration test
    #[arg(long, value_name = "NAME")]
    pub test: Vec<String>,
    /// Check all test targets (the default)
    #[arg(long)]
    pub tests: bool,
    /// Check this example itself, as one test
    #[arg(long, value_name = "NAME")]
    pub example: Vec<String>,
    /// Check all examples themselves
    #[arg(long)]
    pub examples: bool,
    /// Check all test targets, binaries and examples
    #[arg(long)]
    pub all_targets: bool,
}

/// Which features.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
#[command(next_help_heading = "Feature selection")]
pub struct Features {
    /// Space or comma separated list of features to activate
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Activate all available features
    #[arg(long)]
    pub all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long)]
    pub no_default_features: bool,
}

/// How cargo compiles.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
#[command(next_help_heading = "Compilation")]
pub struct Compilation {
    /// Build with the release profile (its assertions and overflow checks; code is hardly
    /// optimised)
    #[arg(short, long, conflicts_with = "profile")]
    pub release: bool,
    /// Build with this profile
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Number of parallel jobs of the build, and of tests that are explored in parallel (one unless
    /// given)
    #[arg(short, long, value_name = "N", allow_hyphen_values = true)]
    pub jobs: Option<String>,
    /// Directory for all generated files; lockred uses `lockred` inside it
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<PathBuf>,
}

impl Compilation {
    /// How many tests are explored at a time. Numbers are as cargo takes them: negative ones are
    /// counted from that of the processors, which `default` stands for; what is wrong with others
    /// cargo has told.
    pub fn side_by_side(&self) -> usize {
        let Some(jobs) = &self.jobs else { return 1 };
        let all = std::thread::available_parallelism().map_or(1, |number| number.get() as i64);
        let wanted = match jobs.parse::<i64>() {
            Ok(jobs) if jobs > 0 => jobs,
            Ok(jobs) => all + jobs,
            Err(_) => all,
        };
        usize::try_from(wanted.max(1)).unwrap_or(1)
    }
}

/// Which sync models are used.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
#[command(next_help_heading = "Search")]
pub struct Models {
    /// Explore the internals of this library instead of using its sync models; `all` for every
    /// library
    #[arg(long, hide_short_help = true, value_name = "LIBRARY")]
    pub distrust: Vec<String>,
}

/// Which rules of the static analysis are used.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
#[command(next_help_heading = "Analysis")]
pub struct Analysis {
    /// Instrument accesses even if this rule proves them safe (`cargo lockred audit --accesses`
    /// lists the rules)
    #[arg(long, hide = true, value_name = "RULE")]
    pub without_rule: Vec<String>,
    /// Find in which order locks may be acquired, in large programs too: `audit --accesses` prints
    /// it, and `check` walks towards the cycles in it, and reports what came of each
    #[arg(long, conflicts_with = "no_lock_order")]
    #[serde(default)]
    pub lock_order: bool,
    /// Do not find in which order locks may be acquired, not even in small programs
    #[arg(long, hide_short_help = true)]
    #[serde(default)]
    pub no_lock_order: bool,
    /// Find which locks protect the memory that threads share, and what nobody writes: `audit
    /// --accesses` prints it by object and byte
    #[arg(long, hide = true)]
    #[serde(default)]
    pub protection: bool,
    /// Cap loops over a range of integers that synchronise at N iterations (in the package of the
    /// test)
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(default)]
    pub scale_loops: Option<u64>,
    /// Compare what the static analysis claims with what happens (a test of lockred itself; slow)
    #[arg(long, hide = true)]
    #[serde(default)]
    pub check_static: bool,
    /// Make this error in the analysis (a test of the tests of lockred itself)
    #[arg(long, hide = true, value_name = "FLAW")]
    #[serde(default)]
    pub static_flaw: Option<String>,
}

impl Analysis {
    /// In which programs the order of locks is found.
    pub const fn order(&self) -> Programs {
        match (self.lock_order || self.check_static, self.no_lock_order) {
            (true, _) => Programs::All,
            (false, true) => Programs::None,
            (false, false) => Programs::Small,
        }
    }

    /// Whether it is found what protects memory.
    pub const fn finds_protection(&self) -> bool {
        self.protection || self.check_static
    }
}

/// Where the manifest is, and how dependencies are resolved.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
#[command(next_help_heading = "Manifest")]
pub struct Manifest {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Assert that Cargo.lock stays as it is
    #[arg(long, hide_short_help = true)]
    pub locked: bool,
    /// Do not use the network
    #[arg(long, hide_short_help = true)]
    pub offline: bool,
    /// --locked and --offline
    #[arg(long, hide_short_help = true)]
    pub frozen: bool,
    /// Override a configuration value of cargo
    #[arg(long, hide_short_help = true, value_name = "KEY=VALUE|PATH")]
    pub config: Vec<String>,
}

/// What is printed.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default)]
pub struct Display {
    /// Use verbose output; twice for cargo's own very verbose output
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
    /// Print reports and the summary only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Coloring
    #[arg(long, value_name = "WHEN")]
    pub color: Option<Color>,
}

/// When to print colours.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// As cargo takes it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_spelled_for_cargo_as_users_spell_them() {
        for color in Color::value_variants() {
            assert_eq!(color.to_possible_value().unwrap().get_name(), color.text());
        }
    }
}
