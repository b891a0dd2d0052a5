//! Which rules a build uses, and whether it checks them: as cargo-lockred tells the shim, in
//! environment variables.

use lockred_protocol::lock_order::{LOCK_ORDER, Programs};
use lockred_protocol::plan::{CHECK_STATIC, FLAW, Flaw, Reason, SCALE_LOOPS, WITHOUT};
use lockred_protocol::protection::PROTECTION;

/// The rules of a build; all of them, unchecked, unless something else is said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Rules that are switched off.
    pub without: Vec<Reason>,
    /// All accesses have hooks, and announce what the rules claim of them.
    pub checked: bool,
    /// Where the order of locks is found.
    pub order: Programs,
    /// It is found what protects memory.
    pub protection: bool,
    /// An error of the analysis that a test asks for.
    pub flaw: Option<Flaw>,
    /// Which loops end early, if any.
    pub scaled: Option<Scaled>,
}

/// Loops that end early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scaled {
    /// How many rounds that synchronise a loop makes.
    pub rounds: u64,
    /// Files whose paths begin so have such loops: the package whose program it is.
    pub package: String,
}

impl Rules {
    /// What the environment says.
    ///
    /// # Errors
    /// When it names a rule that there is not.
    pub fn from_environment() -> Result<Self, String> {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let rule = |name: &str| {
            Reason::rule(name).ok_or_else(|| {
                let rules = Reason::ALL.into_iter().filter(|reason| reason.is_rule());
                let names: Vec<_> = rules.map(Reason::name).collect();
                format!("there is no rule `{name}`; there are {}", names.join(", "))
            })
        };
        let without: Result<_, _> = variable(WITHOUT).lines().map(rule).collect();
        let flaw = variable(FLAW);
        let known = Flaw::ALL.into_iter().find(|known| known.name() == flaw);
        if known.is_none() && !flaw.is_empty() {
            return Err(format!("there is no flaw `{flaw}`"));
        }
        let [checked, protection] = [CHECK_STATIC, PROTECTION].map(|name| variable(name) == "1");
        let order = Programs::of(&variable(LOCK_ORDER)).unwrap_or_default();
        let rounds = variable(SCALE_LOOPS);
        let scaled = match rounds.parse() {
            Ok(rounds) => Some(Scaled { rounds, package: variable("CARGO_MANIFEST_DIR") }),
            Err(_) if rounds.is_empty() => None,
            Err(error) => return Err(format!("{SCALE_LOOPS}: {error}")),
        };
        Ok(Self { without: without?, checked, order, protection, flaw: known, scaled })
    }

    /// Whether the whole program is looked at for more than what needs no hook.
    #[must_use]
    pub const fn whole(&self) -> bool {
        self.checked || matches!(self.order, Programs::All) || self.protection
    }

    /// Whether a rule is in use.
    #[must_use]
    pub fn has(&self, rule: Reason) -> bool {
        !self.without.contains(&rule)
    }

    /// A reason, unless its rule is switched off.
    #[must_use]
    pub fn apply(&self, reason: Reason) -> Reason {
        if self.has(reason) { reason } else { Reason::Shared }
    }
}
