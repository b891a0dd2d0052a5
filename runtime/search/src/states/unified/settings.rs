//! Settings of the unified search, and what it reports beside the outcome.

/// Which of the pairs of accesses that race have to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairs {
    /// So many that every object which has a race is among them. Accesses that later ones stand for
    /// are forgotten.
    First,
    /// All pairs of places.
    All,
}

/// Which states are kept once everything after them is explored. Whatever is forgotten is explored
/// again where it is met again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// All.
    All,
    /// At most so many; the first that were explored are forgotten first.
    Most(usize),
    /// About half of them, by their fingerprints.
    Half,
}

/// Which thread runs first from a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum First {
    /// The one whose transactions made others wanted least.
    LeastWanting,
    /// The one that ran last.
    Last,
}

/// Settings. None of them changes what is found, up to `pairs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Which races are found.
    pub pairs: Pairs,
    /// Which states are kept.
    pub keep: Keep,
    /// Who runs first.
    pub first: First,
    /// All threads are explored from every state.
    pub everybody: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            pairs: Pairs::First,
            // About a gigabyte.
            keep: Keep::Most(1 << 24),
            first: First::LeastWanting,
            everybody: false,
        }
    }
}

/// What the last pass over the program did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Visited {
    /// States that were explored.
    pub states: u64,
    /// Transactions that led from a state to another one, or ended the execution.
    pub transitions: u64,
    /// Transactions that were rolled back.
    pub rolled_back: u64,
    /// Transitions that closed a cycle.
    pub cycles: u64,
    /// How often all threads were wanted since nobody in particular could be named.
    pub floods: u64,
    /// States that were forgotten.
    pub forgotten: u64,
}
