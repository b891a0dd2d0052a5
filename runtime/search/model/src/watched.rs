//! The model machine watched by a plain happens-before race detector: what data races a program
//! has, for oracles.
//!
//! The detector knows nothing of searches, transactions or disciplines: every edge of the C11
//! happens-before of the execution that runs (locks included), every pair of accesses. It is part
//! of the state that is told apart, so that visiting all states shows every race.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::machine::{Failure, ModelMachine};
use lockred_search::clock::Clock;
use lockred_search::discipline::{Kind, Mode, Operation, Passing, Value};
use lockred_search::fingerprint::Fingerprint;
use lockred_search::fingerprint::Lanes;
use lockred_search::footprint::{Access, Footprint, ObjectId};
use lockred_search::machine::{Approach, Chooser, Machine, Status, Step, ThreadId};
use lockred_search::transactional::{Racer, Snapshots, Transactional};

/// An access to data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Seen {
    racer: Racer,
    access: Access,
    epoch: u32,
    plain: bool,
}

/// What went through a channel.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Passed {
    /// Who sent the messages, and what each carries.
    sends: Vec<(u32, Clock)>,
    receives: Vec<Clock>,
    closed: Clock,
}

/// What the detector knows.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Watch {
    threads: BTreeMap<u32, Clock>,
    /// What exclusive releases left.
    locks: BTreeMap<ObjectId, Clock>,
    /// What shared releases left.
    readers: BTreeMap<ObjectId, Clock>,
    messages: BTreeMap<ObjectId, Clock>,
    /// Per thread, its clock at its last release fence.
    released: BTreeMap<u32, Clock>,
    /// Per thread, the messages that it has read: an acquire fence acquires them.
    read: BTreeMap<u32, Clock>,
    channels: BTreeMap<ObjectId, Passed>,
    /// What the threads that wait at barriers brought there.
    barriers: BTreeMap<ObjectId, Clock>,
    accesses: BTreeMap<ObjectId, Vec<Seen>>,
}

/// A watched machine.
#[derive(Clone, Debug)]
pub struct Watched {
    machine: ModelMachine,
    watch: Watch,
    saved: Vec<Watch>,
    /// Rounds of loops are not counted.
    recurs: bool,
}

impl Watched {
    /// Watches a machine, which stands at its root.
    #[must_use]
    pub fn new(machine: ModelMachine) -> Self {
        Self { machine, watch: Watch::default(), saved: Vec::new(), recurs: false }
    }

    /// The same, whose states recur where those of the machine do: of equal accesses of a thread it
    /// keeps the last one (who does not know an earlier one does not know the last one), and tells
    /// states apart by which accesses are known where, and not by how many there were. (What has
    /// gone through channels is counted all the same.)
    #[must_use]
    pub fn recurring(mut self) -> Self {
        self.recurs = true;
        self
    }

    /// As a fingerprint, without numbers that grow.
    fn recurring_fingerprint(&self) -> u128 {
        let mut accesses: Vec<_> = self
            .watch
            .accesses
            .iter()
            .flat_map(|(o, made)| made.iter().map(move |m| (o, m)))
            .collect();
        let key =
            |&(object, seen): &(&ObjectId, &Seen)| (*object, seen.racer, seen.access, seen.plain);
        accesses.sort_unstable_by_key(key);
        let mut hasher = Lanes::default();
        accesses.iter().for_each(|access| key(access).hash(&mut hasher));
        let mut row = |name: u64, clock: &Clock| {
            let knows = |&(_, seen): &(&ObjectId, &Seen)| seen.epoch <= clock.of(seen.racer.thread);
            let known: Vec<bool> = accesses.iter().map(knows).collect();
            if known.contains(&true) {
                (name, known).hash(&mut hasher);
            }
        };
        let watch = &self.watch;
        let by_thread = [&watch.threads, &watch.released, &watch.read];
        for (kind, rows) in (1..).zip(by_thread) {
            rows.iter().for_each(|(&thread, clock)| row(kind << 60 | u64::from(thread), clock));
        }
        let by_object = [&watch.locks, &watch.readers, &watch.messages, &watch.barriers];
        for (kind, rows) in (4..).zip(by_object) {
            rows.iter().for_each(|(&object, clock)| row(kind << 60 | object.0, clock));
        }
        watch.channels.hash(&mut hasher);
        self.machine.fingerprint() ^ hasher.fingerprint().rotate_left(32)
    }

    fn see(&mut self, thread: ThreadId, operation: &Operation, step: &mut Step<Failure>) {
        let mut now = self.watch.threads.remove(&thread.0).unwrap_or_default();
        now.set(thread, now.of(thread) + 1);
        match *operation {
            Operation::Acquire(lock, mode) => self.join(&mut now, lock, mode),
            Operation::TryAcquire(lock, mode) => {
                if step.footprint.accesses.iter().any(|&(_, access)| access == Access::TryLock) {
                    self.join(&mut now, lock, mode);
                }
            }
            Operation::Release(lock, Mode::Shared) => {
                self.watch.readers.entry(lock).or_default().join(&now);
            }
            Operation::Release(lock, Mode::Exclusive)
            | Operation::Downgrade(lock)
            | Operation::Wait { lock, .. } => {
                self.watch.locks.insert(lock, now.clone());
            }
            Operation::Data { object, access, kind, site }
            | Operation::Await { object, access, kind, site } => {
                self.access(thread, &mut now, object, access, kind, site, step);
                if let Some(
                    Operation::Data { object, access, kind, site }
                    | Operation::Await { object, access, kind, site },
                ) = self.machine.on_whole(operation)
                {
                    self.access(thread, &mut now, object, access, kind, site, step);
                }
            }
            Operation::Pass(channel, passing) => {
                let passed = self.watch.channels.entry(channel).or_default();
                match passing {
                    Passing::Send { capacity, .. } => {
                        let behind = passed.sends.len().checked_sub(capacity as usize);
                        if let Some(first) = behind.filter(|_| capacity > 0) {
                            now.join(&passed.receives[first]);
                        }
                        passed.sends.push((thread.0, now.clone()));
                    }
                    Passing::Receive { .. } => {
                        now.join(&passed.sends[passed.receives.len()].1);
                        passed.receives.push(now.clone());
                    }
                    Passing::Close { .. } => passed.closed = now.clone(),
                    Passing::Closed => now.join(&passed.closed),
                    Passing::DropSender
                    | Passing::DropReceiver { .. }
                    | Passing::Fail
                    | Passing::Peek => {
                        unreachable!("closed as a whole: this is a bug in lockred")
                    }
                }
            }
            Operation::Resume { channel, taken } => {
                let passed = &self.watch.channels[&channel];
                if taken {
                    let mine = passed.sends.iter().rposition(|&(sender, _)| sender == thread.0);
                    now.join(&passed.receives[mine.unwrap_or_default()]);
                } else {
                    now.join(&passed.closed);
                }
            }
            Operation::Arrive(barrier, access) => {
                let brought = self.watch.barriers.entry(barrier).or_default();
                brought.join(&now);
                if matches!(access, Access::Arrive { last: true, .. }) {
                    now.join(brought);
                    for met in &step.footprint.meets {
                        self.watch.threads.entry(met.0).or_default().join(brought);
                    }
                    brought.clear();
                }
            }
            Operation::Spawn(started) => {
                self.watch.threads.insert(started.0, now.clone());
            }
            Operation::Join(ended) => {
                if let Some(last) = self.watch.threads.get(&ended.0) {
                    now.join(last);
                }
            }
            Operation::Fence(ordering) => {
                if ordering.acquires
                    && let Some(read) = self.watch.read.get(&thread.0)
                {
                    now.join(read);
                }
                if ordering.releases {
                    self.watch.released.insert(thread.0, now.clone());
                }
            }
            Operation::Leave(_)
            | Operation::Notify(_)
            | Operation::Abort
            | Operation::Awake
            | Operation::Local => {}
        }
        self.watch.threads.insert(thread.0, now);
    }

    fn join(&self, now: &mut Clock, lock: ObjectId, mode: Mode) {
        let readers = self.watch.readers.get(&lock).filter(|_| mode == Mode::Exclusive);
        for released in self.watch.locks.get(&lock).into_iter().chain(readers) {
            now.join(released);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of an operation")]
    fn access(
        &mut self,
        thread: ThreadId,
        now: &mut Clock,
        object: ObjectId,
        access: Access,
        kind: Kind,
        site: u64,
        step: &mut Step<Failure>,
    ) {
        if let Kind::Atomic(Value::Read | Value::Updated, ordering) = kind
            && !access.is_of_part()
            && let Some(message) = self.watch.messages.get(&object)
        {
            if ordering.acquires {
                now.join(message);
            }
            if !access.counts() {
                self.watch.read.entry(thread.0).or_default().join(message);
            }
        }
        let writes = !access.only_reads();
        let racer = Racer { thread, site, writes };
        let seen = Seen { racer, access, epoch: now.of(thread), plain: kind == Kind::Plain };
        let accesses = self.watch.accesses.entry(object).or_default();
        for other in accesses.iter() {
            let unordered =
                other.racer.thread != thread && other.epoch > now.of(other.racer.thread);
            // Atomic accesses of one size are no race, those of two sizes are.
            let mixed = access.is_of_part() != other.access.is_of_part();
            let plain = other.plain || seen.plain;
            if unordered && (plain || mixed) && access.depends_on(other.access) {
                step.failures.push(self.machine.race(object, other.racer, racer));
            }
        }
        if self.recurs {
            let same = |other: &Seen| {
                (other.racer, other.access, other.plain) == (seen.racer, seen.access, seen.plain)
            };
            accesses.retain(|other| !same(other));
        }
        accesses.push(seen);
        let Kind::Atomic(value, ordering) = kind else { return };
        let message = self.watch.messages.entry(object).or_default();
        if value == Value::Written {
            message.clear();
        }
        if matches!(value, Value::Read | Value::Unused) {
            return;
        }
        if ordering.releases {
            message.join(now);
        } else if let Some(released) = self.watch.released.get(&thread.0) {
            message.join(released);
        }
    }
}

impl Machine for Watched {
    type Failure = Failure;

    fn is_race(failure: &Failure) -> bool {
        matches!(failure, Failure::Race { .. })
    }

    fn restore_root(&mut self) {
        self.machine.restore_root();
        self.watch = Watch::default();
    }

    fn threads(&self) -> u32 {
        self.machine.threads()
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        self.machine.status(thread)
    }

    fn waits_for_time(&self) -> bool {
        self.machine.waits_for_time()
    }

    fn pending(&mut self, thread: ThreadId, footprint: &mut Footprint) {
        self.machine.pending(thread, footprint);
    }

    fn approach(&self, thread: ThreadId, target: u32) -> Approach {
        self.machine.approach(thread, target)
    }

    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Failure>) {
        let number = thread.index();
        let (operation, place) =
            (self.machine.operation(number), self.machine.state().threads[number].place);
        self.machine.step(thread, chooser, step);
        let operation = self.machine.turned_out(number, place, operation, &step.footprint);
        self.see(thread, &operation, step);
    }

    fn finish(&mut self, failures: &mut Vec<Failure>) {
        self.machine.finish(failures);
    }
}

impl Snapshots for Watched {
    fn save(&mut self, slot: usize) {
        self.machine.save(slot);
        self.saved.truncate(slot);
        self.saved.push(self.watch.clone());
    }

    fn restore(&mut self, slot: usize) {
        self.machine.restore(slot);
        self.watch.clone_from(&self.saved[slot]);
    }
}

impl Fingerprint for Watched {
    fn fingerprint(&self) -> u128 {
        if self.recurs {
            return self.recurring_fingerprint();
        }
        let mut hasher = Lanes::default();
        self.watch.threads.hash(&mut hasher);
        self.watch.locks.hash(&mut hasher);
        self.watch.readers.hash(&mut hasher);
        self.watch.messages.hash(&mut hasher);
        self.watch.channels.hash(&mut hasher);
        self.watch.barriers.hash(&mut hasher);
        self.watch.released.hash(&mut hasher);
        self.watch.read.hash(&mut hasher);
        for accesses in self.watch.accesses.values() {
            let mut sorted: Vec<_> =
                accesses.iter().map(|seen| (seen.racer.thread, seen.epoch)).collect();
            sorted.sort_unstable();
            sorted.hash(&mut hasher);
        }
        self.machine.fingerprint() ^ hasher.fingerprint().rotate_left(32)
    }
}
