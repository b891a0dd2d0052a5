//! Loops that wait: a thread that has gone round a loop and left everything as it was waits until
//! something that it has read changes. An option of the machine ([`ModelMachine::noticing_spins`]),
//! so that executions of such programs end.
//!
//! An *idle* operation is an atomic load or a failing compare-exchange that would leave even its
//! own thread as it was: it does not happen, the thread waits before it for another value. (So a
//! thread at a spin lock waits as at a mutex.) Any other *round* is executed once: operations since
//! the thread's last effect after which it stands exactly where it stood before. It then waits, and
//! goes on by a step of its own, which reads what the round has read. What a round accessed has
//! been accessed, so races with it are seen.
//!
//! Why nothing is missed: a completed round can be left out of an execution. It has no effect: it
//! only read, wrote values that were there, tried in vain, took locks and gave them back. Nobody
//! sees that, except by trying a lock that the round holds; then what the thread did so far counts
//! as an effect (once for each state of who tries, else two threads that both wait would keep each
//! other going). Successful tries and chosen values are effects, too.
//!
//! Where nobody can run, those that wait in this way go round for ever: a livelock. If a lock that
//! such a round takes has been taken for good since, the thread would really wait for that: an
//! execution without the round shows how that ends, and this one is no evidence.

use super::code::Instruction;
use super::machine::{Failure, ModelMachine, mutex, settle, variable};
use super::program::{Body, Mutex, Statement, Variable};
use super::state::{Phase, State, Thread};
use lockred_search::footprint::{Access, ObjectId};
use lockred_search::machine::{Chooser, Status, Step};

/// A part of a round. `bool`s: the lock is shared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Event {
    /// The variable had this value, and still had it after the operation.
    Value(Variable, i32),
    /// A try failed.
    Fail(Mutex, bool),
    Acquire(Mutex, bool),
    Release(Mutex, bool),
}

/// What an operation was to its thread's history.
enum Part {
    Effect,
    /// Nothing that the outcome depends on.
    Nothing,
    Event(Event),
}

/// What a thread did since its last effect.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct History {
    /// How the thread stood, and the number of events before.
    stood: Vec<(Thread, usize)>,
    events: Vec<Event>,
    /// The events are a round, and the thread waits.
    waits: bool,
    /// How the thread stood when it saw that a round of another thread holds a lock.
    saw: Vec<Thread>,
}

impl History {
    fn clear(&mut self) {
        self.forget();
        self.saw.clear();
    }

    fn forget(&mut self) {
        self.stood.clear();
        self.events.clear();
        self.waits = false;
    }

    /// The thread stands like this now.
    fn stand(&mut self, thread: &Thread) {
        let before = self.stood.iter().rfind(|(stood, _)| stood == thread);
        match before {
            Some(&(_, from)) if is_round(&self.events[from..]) => {
                self.events.drain(..from);
                self.stood.clear();
                self.waits = true;
            }
            _ => self.stood.push((thread.clone(), self.events.len())),
        }
    }

    /// Whether the thread has taken the lock since its last effect, and holds it.
    fn holds(&self, a: Mutex) -> bool {
        let last = self.events.iter().rev().find_map(|event| match *event {
            Event::Acquire(b, _) if a == b => Some(true),
            Event::Release(b, _) if a == b => Some(false),
            _ => None,
        });
        last == Some(true)
    }
}

/// Whether all locks are taken before they are given back, and given back. (Between a release and
/// an acquire others may take the lock: who waits there must not hold it. Such a round is one when
/// seen from after the release.)
fn is_round(events: &[Event]) -> bool {
    let mut held: Vec<(Mutex, bool)> = Vec::new();
    for event in events {
        match *event {
            Event::Acquire(a, shared) => held.push((a, shared)),
            Event::Release(a, shared) => {
                match held.iter().rposition(|&taken| taken == (a, shared)) {
                    Some(at) => drop(held.remove(at)),
                    None => return false,
                }
            }
            Event::Value(..) | Event::Fail(..) => {}
        }
    }
    held.is_empty()
}

/// The histories of all threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Spins {
    /// Per thread and place, whether a loop may lead back there.
    loops: Vec<Vec<bool>>,
    histories: Vec<History>,
    saved: Vec<Vec<History>>,
}

impl Spins {
    fn new(code: &[Vec<Instruction>]) -> Self {
        Self {
            loops: code.iter().map(|code| loops(code)).collect(),
            histories: vec![History::default(); code.len()],
            saved: Vec::new(),
        }
    }

    pub(super) fn restore_root(&mut self) {
        self.histories.iter_mut().for_each(History::clear);
    }

    pub(super) fn save(&mut self, slot: usize) {
        if self.saved.len() <= slot {
            self.saved.resize_with(slot + 1, Vec::new);
        }
        self.saved[slot].clone_from(&self.histories);
    }

    pub(super) fn restore(&mut self, slot: usize) {
        self.histories.clone_from(&self.saved[slot]);
    }

    /// What is told apart by fingerprints.
    pub(super) fn fingerprinted(&self) -> impl std::hash::Hash + '_ {
        &self.histories
    }

    fn may_repeat(&self, number: usize, thread: &Thread) -> bool {
        let at = self.loops[number].get(thread.place).copied();
        thread.phase == Phase::Ready && at.unwrap_or(false)
    }

    /// Notes what a thread did that stood like `before` and stands like `now`.
    fn note(&mut self, number: usize, before: &Thread, now: &Thread, part: Part) {
        if !self.may_repeat(number, now) {
            return self.histories[number].clear();
        }
        let began = self.may_repeat(number, before);
        let history = &mut self.histories[number];
        if history.stood.is_empty() && began {
            history.stand(before);
        }
        match part {
            Part::Effect => history.clear(),
            Part::Nothing => {}
            Part::Event(event) => history.events.push(event),
        }
        history.stand(now);
    }

    /// A thread that stands like this has seen that others hold a lock.
    fn see(&mut self, number: usize, thread: &Thread, a: Mutex, holders: &[Body]) {
        let saw = &mut self.histories[number].saw;
        if saw.contains(thread) {
            return;
        }
        saw.push(thread.clone());
        for holder in holders.iter().map(|holder| usize::from(holder.0)) {
            if holder != number && self.histories[holder].holds(a) {
                self.histories[holder].clear();
            }
        }
    }
}

/// Per place, whether a loop may lead back there: it lies between a jump back and its target, or
/// anywhere if there are procedures, which may be called from there.
fn loops(code: &[Instruction]) -> Vec<bool> {
    let mut loops = vec![false; code.len()];
    for (place, instruction) in code.iter().enumerate() {
        if let Instruction::Jump(target) = *instruction
            && target <= place
        {
            loops[target..=place].fill(true);
        }
    }
    let calls = code.iter().any(|instruction| matches!(instruction, Instruction::Call(_)));
    if calls && loops.contains(&true) {
        loops.fill(true);
    }
    loops
}

/// Notes whether anything is chosen.
struct Asked<'a> {
    chooser: &'a mut dyn Chooser,
    asked: bool,
}

impl Chooser for Asked<'_> {
    fn choose(&mut self, of: u32) -> u32 {
        self.asked = true;
        self.chooser.choose(of)
    }
}

impl ModelMachine {
    /// The same machine, on which loops that wait end: see `model/spins.rs`. What they read decides
    /// whether a thread can run; a state in which some go round for ever and nobody else can run is
    /// a [`Failure::Livelock`]. Otherwise failures and end states are the same.
    #[must_use]
    pub fn noticing_spins(mut self) -> Self {
        self.spins = Some(Spins::new(&self.code));
        self
    }

    /// Whether the thread has gone round a loop, so that it waits for a change of what it has read.
    pub(super) fn has_gone_round(&self, number: usize) -> bool {
        self.spins.as_ref().is_some_and(|spins| spins.histories[number].waits)
    }

    /// Whether something has changed that the last round has read.
    pub(super) fn sees_change(&self, number: usize) -> bool {
        self.spins.iter().flat_map(|spins| &spins.histories[number].events).any(
            |event| match *event {
                Event::Value(x, value) => {
                    let x = usize::from(x.0);
                    self.state.values[x] != value || self.state.freed[x]
                }
                Event::Fail(a, shared) => self.state.is_free(a, shared),
                Event::Acquire(..) | Event::Release(..) => false,
            },
        )
    }

    /// What the last round has read.
    pub(super) fn round(&self, number: usize) -> Vec<ObjectId> {
        let events = self.spins.iter().flat_map(|spins| &spins.histories[number].events);
        let mut objects: Vec<_> = events
            .filter_map(|event| match *event {
                Event::Value(x, _) => Some(variable(x)),
                Event::Fail(a, _) => Some(mutex(a)),
                Event::Acquire(..) | Event::Release(..) => None,
            })
            .collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// The atomic that the thread's next operation reads, if there is a value with which it would
    /// leave the thread as it stands: so the operation waits for another one. O(local statements
    /// after it).
    pub(super) fn rereads(&self, number: usize) -> Option<Variable> {
        self.spins.as_ref()?;
        let thread = &self.state.threads[number];
        if thread.phase != Phase::Ready || self.is_inner(number) {
            return None;
        }
        let (x, failed) = match *self.next(number)? {
            Statement::Load(_, x) => (x, None),
            Statement::CompareExchange(register, x, ..)
            | Statement::CompareExchangeWeak(register, x, ..) => (x, Some(register)),
            _ => return None,
        };
        if !self.atomic[usize::from(x.0)] {
            return None;
        }
        let mut then = thread.clone();
        if let Some(register) = failed {
            then.set(register, 0);
        }
        then.place += 1;
        settle(&self.code[number], number, &mut then, &mut Vec::new());
        (then == *thread).then_some(x)
    }

    /// Whether the thread's next operation would change nothing at all.
    pub(super) fn is_idle(&self, number: usize) -> bool {
        let Some(x) = self.rereads(number) else { return false };
        let value = self.state.values[usize::from(x.0)];
        let same = match self.next(number) {
            Some(&Statement::Load(register, _)) => {
                self.state.threads[number].get(register) == value
            }
            Some(
                &Statement::CompareExchange(_, _, expected, _)
                | &Statement::CompareExchangeWeak(_, _, expected, _),
            ) => value != expected,
            _ => false,
        };
        same && !self.state.freed[usize::from(x.0)]
    }

    /// The status of a thread that stands ready, if loops decide about it.
    pub(super) fn status_in_loop(&self, number: usize) -> Option<Status> {
        if self.has_gone_round(number) {
            let on = self.round(number).first().copied().unwrap_or(ObjectId(u64::MAX));
            let changed = self.sees_change(number);
            return Some(if changed { Status::Enabled } else { Status::Blocked { on } });
        }
        let x = self.rereads(number)?;
        self.is_idle(number).then_some(Status::Blocked { on: variable(x) })
    }

    /// As [`ModelMachine::act`], noting what the threads do in loops.
    pub(super) fn act_in_loop(
        &mut self,
        number: usize,
        chooser: &mut dyn Chooser,
        step: &mut Step<Failure>,
    ) {
        if self.has_gone_round(number) {
            for object in self.round(number) {
                step.footprint.touch(object, Access::Read);
            }
            if let Some(spins) = &mut self.spins {
                spins.histories[number].forget();
            }
            return;
        }
        let before = self.state.threads[number].clone();
        let statement = self.next(number).cloned().filter(|_| before.phase == Phase::Ready);
        let inner = self.is_inner(number);
        let value = |state: &State, x: Variable| state.values[usize::from(x.0)];
        let accessed = statement.as_ref().and_then(Self::accessed);
        let read = accessed.map(|x| (x, value(&self.state, x)));
        let mut chooser = Asked { chooser, asked: false };
        self.act_at_once(number, &mut chooser, step);
        let unchanged = read.filter(|&(x, old)| value(&self.state, x) == old);
        let read_only = step.footprint.accesses.iter().all(|&(_, access)| access == Access::Read);
        let part = match statement {
            None => Part::Effect,
            _ if chooser.asked => Part::Effect,
            Some(Statement::Downgrade(_)) => Part::Effect,
            Some(Statement::Lock(a)) => Part::Event(Event::Acquire(a, false)),
            Some(Statement::ReadLock(a)) => Part::Event(Event::Acquire(a, true)),
            Some(Statement::Unlock(a)) => Part::Event(Event::Release(a, false)),
            Some(Statement::ReadUnlock(a)) => Part::Event(Event::Release(a, true)),
            Some(Statement::TryLock(_, a)) if read_only && !inner => {
                Part::Event(Event::Fail(a, false))
            }
            Some(Statement::TryReadLock(_, a)) if read_only => Part::Event(Event::Fail(a, true)),
            Some(Statement::Fence(_) | Statement::Join(_)) => Part::Nothing,
            // Channels that were closed, and onces that were run, stay so.
            Some(
                Statement::Once(..)
                | Statement::Send(..)
                | Statement::SendChecked(..)
                | Statement::Receive(..)
                | Statement::Close(_),
            ) if read_only => Part::Nothing,
            Some(Statement::Free(_)) => Part::Effect,
            Some(_) => match unchanged {
                Some((x, value)) => Part::Event(Event::Value(x, value)),
                None => Part::Effect,
            },
        };
        let Some(spins) = &mut self.spins else { return };
        if let Part::Event(Event::Fail(a, _)) = part {
            let number_of = usize::from(a.0);
            let mut holders = self.state.readers[number_of].clone();
            holders.extend(self.state.owners[number_of]);
            spins.see(number, &before, a, &holders);
        }
        spins.note(number, &before, &self.state.threads[number], part);
    }

    /// Whether a lock that the last round took was taken by another thread since.
    fn is_locked_out(&self, number: usize) -> bool {
        let me = Body(number as u8);
        let events = self.spins.iter().flat_map(|spins| &spins.histories[number].events);
        events.into_iter().any(|event| {
            let Event::Acquire(a, shared) = *event else { return false };
            let others = |holder: &Body| *holder != me;
            self.state.owners[usize::from(a.0)].iter().any(others)
                || !shared && self.state.readers[usize::from(a.0)].iter().any(others)
        })
    }

    /// Nobody can run, and these have not ended. Which of them go round loops for ever; none if the
    /// execution is no evidence.
    pub(super) fn spinning(&self, waiting: &[Body]) -> Option<Vec<Body>> {
        if self.spins.is_none() {
            return Some(Vec::new());
        }
        let number = |body: &&Body| usize::from(body.0);
        let gone_round = |body: &&Body| self.has_gone_round(number(body));
        if waiting.iter().filter(gone_round).any(|body| self.is_locked_out(number(&body))) {
            return None;
        }
        let spins = |body: &&Body| gone_round(body) || self.is_idle(number(body));
        Some(waiting.iter().filter(spins).copied().collect())
    }
}
