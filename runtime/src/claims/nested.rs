//! Locks that are acquired under others, compared with the order of locks that the analysis has
//! found: in builds with `--check-static`.
//!
//! Every nesting that happens has to be one of those that were found, by the places where the two
//! locks are acquired. And a lock that is acquired at several places has to be among those that
//! each of them may acquire.

use crate::claims::bytes::{Claims, place};
use crate::locks::order::Taken;
use crate::session::files::fatal;
use lockred_protocol::lock_order::{self, LockOrder};
use lockred_protocol::sites::SiteId;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

/// What was found, to look things up in.
#[derive(Debug, Default)]
struct Found {
    nestings: HashSet<(SiteId, SiteId)>,
    left_out: HashSet<SiteId>,
    /// By place: the locks that may be acquired there; nothing where that may be any.
    locks: HashMap<SiteId, Option<BTreeSet<u32>>>,
}

impl Found {
    fn of(order: &LockOrder) -> Self {
        let left_out = order.left_out.iter().copied().collect();
        let mut found = Self { left_out, ..Self::default() };
        for nesting in &order.nestings {
            found.nestings.insert((nesting.held.site, nesting.wanted.site));
            for taken in [&nesting.held, &nesting.wanted] {
                found.add(taken);
            }
        }
        found
    }

    fn add(&mut self, taken: &lock_order::Taken) {
        let known = self.locks.entry(taken.site).or_insert_with(|| Some(BTreeSet::new()));
        match known {
            _ if taken.locks.is_empty() => *known = None,
            Some(known) => known.extend(&taken.locks),
            None => {}
        }
    }
}

/// The running thread holds one lock and acquires another one.
pub fn compare(claims: &mut Claims, thread: u32, holds: Taken, acquires: Taken) {
    let Some(found) = found() else { return };
    if [holds, acquires].iter().any(|taken| found.left_out.contains(&taken.site)) {
        return;
    }
    let reported = |what: &str| {
        let [holds, acquires] = [holds, acquires].map(|taken| place(taken.site));
        fatal(&format!(
            "the analysis is wrong: {what}: thread {thread} holds the one that it acquired at {holds}, and acquires one at {acquires}",
        ))
    };
    if !found.nestings.contains(&(holds.site, acquires.site)) {
        reported("it knows of no two locks that are nested so");
    }
    for taken in [holds, acquires] {
        let Some(Some(locks)) = found.locks.get(&taken.site) else { continue };
        let known = claims.locks.entry(taken.address).or_insert_with(|| locks.clone());
        known.retain(|lock| locks.contains(lock));
        if known.is_empty() {
            reported("it takes one lock for several");
        }
    }
}

/// What the executable says, if the analysis came to an end.
fn found() -> Option<&'static Found> {
    static FOUND: OnceLock<Option<Found>> = OnceLock::new();
    let load = || {
        let order = crate::session::files::lock_order()?;
        order.known.then(|| Found::of(&order))
    };
    FOUND.get_or_init(load).as_ref()
}
