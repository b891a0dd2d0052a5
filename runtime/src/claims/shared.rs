//! What is known of a byte since two threads have touched it, and claims of that: in builds with
//! `--check-static`.
//!
//! Until another thread comes, whoever touches it first may do so in any way: it is not published
//! yet, or nobody could tell. From then on is kept which locks were held at all accesses, as Eraser
//! does, and who wrote first. So a claim is compared with accesses before and after it, whoever
//! makes them. Nothing is said of locks whose holders are not reported
//! ([`crate::monitor::claimed_locks`]).

use crate::claims::bytes::{Refuted, Touch};
use crate::record::held::Held;
use lockred_protocol::plan::Claim;
use std::collections::{HashMap, HashSet};

/// Locks that are held together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetId(u32);

/// All sets of locks that were held at accesses. The first is empty.
#[derive(Clone, Debug)]
pub struct Sets {
    sets: Vec<Vec<usize>>,
    numbers: HashMap<Vec<usize>, SetId>,
}

impl Default for Sets {
    fn default() -> Self {
        Self { sets: vec![Vec::new()], numbers: HashMap::from([(Vec::new(), SetId(0))]) }
    }
}

impl Sets {
    /// The locks that protect an access of a thread: what it holds, alone if it writes.
    pub fn held(&mut self, held: &[Held], thread: u32, writes: bool) -> SetId {
        if held.is_empty() {
            return SetId(0);
        }
        let protects = |held: &&Held| held.thread == thread && !(writes && held.shared);
        let mut locks: Vec<usize> = held.iter().filter(protects).map(|held| held.address).collect();
        locks.sort_unstable();
        locks.dedup();
        self.number(locks)
    }

    fn number(&mut self, locks: Vec<usize>) -> SetId {
        if let Some(&known) = self.numbers.get(&locks) {
            return known;
        }
        let id = SetId(self.sets.len() as u32);
        self.sets.push(locks.clone());
        self.numbers.insert(locks, id);
        id
    }

    /// The locks of both.
    fn common(&mut self, one: SetId, other: SetId) -> SetId {
        if one == other {
            return one;
        }
        let [one, other] = [one, other].map(|id| &self.sets[id.0 as usize]);
        let both = one.iter().copied().filter(|lock| other.binary_search(lock).is_ok()).collect();
        self.number(both)
    }

    fn has(&self, set: SetId, lock: usize) -> bool {
        self.sets[set.0 as usize].binary_search(&lock).is_ok()
    }

    fn is_empty(&self, set: SetId) -> bool {
        self.sets[set.0 as usize].is_empty()
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The locks that protected all accesses, and the access that left the fewest.
    locks: Option<(SetId, Touch)>,
    /// The first write.
    written: Option<Touch>,
    /// Locks that are claimed to protect it, each by its first claim.
    guarded: Vec<(usize, Touch)>,
    /// Some lock is claimed to protect it.
    one: Option<Touch>,
    /// Nobody is claimed to write it.
    settled: Option<Touch>,
}

/// What accesses are judged by.
pub struct Judge<'a> {
    /// All sets of locks.
    pub sets: &'a mut Sets,
    /// Locks of which nothing is reported.
    pub unclear: &'a HashSet<usize>,
    /// The last reference to the block was dropped: nothing is claimed of locks there any more.
    pub ended: bool,
}

impl Shared {
    /// It is accessed, under these locks; `late`: another thread than this one has touched it.
    pub fn touch(
        &mut self,
        touch: Touch,
        locks: SetId,
        late: bool,
        judge: &mut Judge<'_>,
    ) -> Result<(), Refuted> {
        let claims = |claim| touch.reason.claim() == Some(claim);
        if late {
            let common = match self.locks {
                None => (locks, touch),
                Some((known, by)) => {
                    let common = judge.sets.common(known, locks);
                    (common, if common == known { by } else { touch })
                }
            };
            self.locks = Some(common);
            if touch.writes {
                self.written = self.written.or(Some(touch));
            }
        }
        if claims(Claim::OneLock) {
            self.one = self.one.or(Some(touch));
        }
        self.lacks(judge)?;
        if claims(Claim::Settled) {
            self.settled = self.settled.or(Some(touch));
        }
        match (self.settled, self.written) {
            (Some(claim), Some(by)) => Err(Refuted { claim, by }),
            _ => Ok(()),
        }
    }

    /// A lock is claimed to protect it.
    pub fn guard(&mut self, lock: usize, claim: Touch, judge: &Judge<'_>) -> Result<(), Refuted> {
        if !self.guarded.iter().any(|(known, _)| *known == lock) {
            self.guarded.push((lock, claim));
        }
        self.lacks(judge)
    }

    /// Whether an access was made without a lock that is claimed to protect it.
    fn lacks(&self, judge: &Judge<'_>) -> Result<(), Refuted> {
        let Some((locks, by)) = self.locks else { return Ok(()) };
        let lacks = |lock| !judge.sets.has(locks, lock) && !judge.unclear.contains(&lock);
        let named = self.guarded.iter().find(|(lock, _)| lacks(*lock)).map(|(_, claim)| *claim);
        // Any of those of which nothing is reported may be the one.
        let none = judge.sets.is_empty(locks) && judge.unclear.is_empty();
        match named.or(self.one.filter(|_| none)) {
            Some(claim) => Err(Refuted { claim, by }),
            None => Ok(()),
        }
    }

    /// Whether one lock protected all accesses since two threads have touched it, or nobody wrote
    /// it.
    pub fn is_protected(&self, sets: &Sets) -> bool {
        self.written.is_none() || self.locks.is_none_or(|(locks, _)| !sets.is_empty(locks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::plan::Reason;
    use lockred_protocol::sites::SiteId;

    const LOCK: usize = 64;
    const OTHER: usize = 72;

    /// What happens to a byte: a thread touches it under these locks, and says this of it.
    #[derive(Clone, Copy)]
    struct Step {
        thread: u32,
        writes: bool,
        locks: &'static [(usize, bool)],
        reason: Reason,
    }

    const fn step(thread: u32, writes: bool, locks: &'static [(usize, bool)]) -> Step {
        Step { thread, writes, locks, reason: Reason::Shared }
    }

    const fn claims(step: Step, reason: Reason) -> Step {
        Step { reason, ..step }
    }

    const ALONE: &[(usize, bool)] = &[(LOCK, false)];
    const WITH_OTHERS: &[(usize, bool)] = &[(LOCK, true)];
    const BOTH: &[(usize, bool)] = &[(LOCK, false), (OTHER, false)];

    /// The number of the first step that refutes something, and whether the byte is protected in
    /// the end.
    fn run(steps: &[Step], unclear: &[usize]) -> (Option<usize>, bool) {
        let (mut sets, mut shared) = (Sets::default(), Shared::default());
        let unclear: HashSet<usize> = unclear.iter().copied().collect();
        let refuted = steps.iter().position(|step| {
            let held = |thread, address, shared| Held {
                address,
                thread,
                site: SiteId(1),
                shared,
                step: None,
                stack: Vec::new(),
            };
            let own = step.locks.iter().map(|&(lock, shared)| held(step.thread, lock, shared));
            // What another thread holds protects nothing here.
            let held: Vec<Held> = own.chain([held(9, LOCK, false)]).collect();
            let locks = sets.held(&held, step.thread, step.writes);
            let touch = Touch {
                thread: step.thread,
                site: SiteId(step.thread),
                reason: step.reason,
                writes: step.writes,
                counts: true,
            };
            let late = steps.iter().take_while(|&s| !std::ptr::eq(s, step)).chain([step]);
            let late = late.map(|s| s.thread).collect::<HashSet<_>>().len() > 1;
            let mut judge = Judge { sets: &mut sets, unclear: &unclear, ended: false };
            let touched = shared.touch(touch, locks, late, &mut judge);
            let guarded = step.reason == Reason::Locked;
            touched.is_err() || guarded && shared.guard(LOCK, touch, &judge).is_err()
        });
        (refuted, shared.is_protected(&sets))
    }

    #[test]
    fn a_lock_is_held_at_all_accesses_since_two_threads_came() {
        let bare = step(0, true, &[]);
        let mine = claims(step(0, true, ALONE), Reason::Locked);
        let theirs = claims(step(1, true, BOTH), Reason::Locked);
        assert_eq!(run(&[bare, mine, theirs, mine], &[]), (None, true));
        assert_eq!(run(&[mine, theirs, bare], &[]).0, Some(2));
        // Whoever comes first, and whether it is claimed before or after.
        assert_eq!(run(&[bare, step(1, false, &[]), mine], &[]).0, Some(2));
        assert_eq!(run(&[mine, step(1, false, &[])], &[]).0, Some(1));
        // The lock is another one, or is not reported.
        let other = step(1, true, &[(OTHER, false)]);
        assert_eq!(run(&[mine, other], &[]).0, Some(1));
        assert_eq!(run(&[mine, other], &[LOCK]).0, None);
    }

    #[test]
    fn some_lock_is_held_at_all_accesses() {
        let mine = claims(step(0, true, ALONE), Reason::OneLock);
        let theirs = step(1, true, BOTH);
        assert_eq!(run(&[step(0, true, &[]), mine, theirs, mine], &[]), (None, true));
        assert_eq!(run(&[mine, theirs, step(0, false, &[])], &[]).0, Some(2));
        assert_eq!(run(&[mine, step(1, true, &[(OTHER, false)]), mine], &[]).0, Some(2));
        assert_eq!(run(&[step(1, true, &[]), step(0, true, &[]), mine], &[]).0, Some(2));
        // It may be one of which nothing is reported.
        assert_eq!(run(&[mine, theirs, step(0, false, &[])], &[LOCK]).0, None);
    }

    #[test]
    fn who_writes_holds_the_lock_alone() {
        let writes = claims(step(0, true, ALONE), Reason::Locked);
        let reads = claims(step(1, false, WITH_OTHERS), Reason::Locked);
        assert_eq!(run(&[writes, reads, writes], &[]), (None, true));
        assert_eq!(
            run(&[writes, claims(step(1, true, WITH_OTHERS), Reason::Locked)], &[]).0,
            Some(1)
        );
    }

    #[test]
    fn nobody_writes_what_is_settled_once_two_threads_came() {
        let writes = step(0, true, &[]);
        let reads = claims(step(0, false, &[]), Reason::Unwritten);
        let other = claims(step(1, false, &[]), Reason::Unwritten);
        assert_eq!(run(&[writes, reads, writes, other, reads], &[]), (None, true));
        assert_eq!(run(&[writes, other, writes], &[]).0, Some(2));
        assert_eq!(run(&[step(0, false, &[]), step(1, true, &[]), reads], &[]).0, Some(2));
    }

    #[test]
    fn what_is_true_is_known_without_claims() {
        let protected = |steps: &[Step]| run(steps, &[]).1;
        assert!(protected(&[step(0, true, &[]), step(0, true, ALONE)]));
        assert!(protected(&[step(0, true, &[]), step(1, true, ALONE), step(0, false, BOTH)]));
        assert!(!protected(&[step(0, true, &[]), step(1, true, ALONE), step(0, false, &[])]));
        assert!(protected(&[step(0, true, &[]), step(1, false, &[]), step(0, false, &[])]));
        assert!(!protected(&[step(0, false, &[]), step(1, false, &[]), step(0, true, &[])]));
    }
}
