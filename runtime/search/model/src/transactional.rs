//! The model machine run by transactions: its operations in the discipline's words.

use super::code::Instruction;
use super::execute::decrement;
use super::machine::{Failure, ModelMachine, barrier, channel, condvar, mutex, variable};
use super::once::leaves;
use super::program::{Body, Mutex, Statement, Variable};
use super::repetition::Repetition;
use super::state::Phase;
use lockred_search::discipline::{
    Effect, Go, Kind, Mode, Operation, Ordering, TransactionMonitor, Value,
};
use lockred_search::fault::{Fault, is_on};
use lockred_search::footprint::{Access, Footprint, ObjectId};
use lockred_search::machine::{Flow, Machine, Step, ThreadId};
use lockred_search::transactional::{Awaited, End, Racer, Snapshots, Transactional};

impl ModelMachine {
    /// What the thread, which can run or waits for a lock, a value or an end, does next.
    pub(super) fn operation(&self, number: usize) -> Operation {
        if self.has_gone_round(number) {
            return Operation::Local;
        }
        let operation = self.operation_outside_loops(number);
        if self.rereads(number).is_none() {
            return operation;
        }
        // It waits for a value with which it goes on.
        match (operation, self.next(number)) {
            (Operation::Data { object, access, kind, site }, Some(Statement::Load(..))) => {
                Operation::Await { object, access, kind, site }
            }
            (Operation::Data { object, site, .. }, Some(_)) => {
                let kind = Kind::Atomic(Value::Updated, self.success_order(number));
                Operation::Await { object, access: Access::Write, kind, site }
            }
            (operation, _) => operation,
        }
    }

    /// The ordering of the compare-exchange that the thread stands before, if it succeeds.
    fn success_order(&self, number: usize) -> Ordering {
        match self.code[number].get(self.state.threads[number].place) {
            Some(Instruction::Do(_, orders)) => orders.or(Ordering::ACQ_REL),
            _ => Ordering::ACQ_REL,
        }
    }

    fn operation_outside_loops(&self, number: usize) -> Operation {
        let thread = &self.state.threads[number];
        if let Phase::Woken(a) = thread.phase {
            return Operation::Acquire(mutex(a), Mode::Exclusive);
        }
        if let Phase::Leaving(c, ..) | Phase::Notified(c, _) = thread.phase {
            return Operation::Leave(condvar(c));
        }
        if thread.phase == Phase::Sleeping {
            return Operation::Awake;
        }
        if self.is_inner(number) {
            return Operation::Local;
        }
        if thread.phase == Phase::Released {
            return Operation::Local;
        }
        if let Phase::Answered(q, taken) = thread.phase {
            return Operation::Resume { channel: channel(q), taken };
        }
        let Some(Instruction::Do(statement, orders)) = self.code[number].get(thread.place) else {
            return Operation::Local;
        };
        if let Some((q, passing)) = self.passing(statement) {
            return Operation::Pass(channel(q), passing);
        }
        let lacks = |a: &Mutex, shared| !self.state.holds(Body(number as u8), *a, shared);
        let site = thread.place as u64;
        let ordering = orders.or(Ordering::ACQ_REL);
        let data = |x: Variable, access, value, ordering| {
            let atomic = self.atomic[usize::from(x.0)];
            let kind = if atomic { Kind::Atomic(value, ordering) } else { Kind::Plain };
            let access = if atomic || access == Access::Read { access } else { Access::Write };
            Operation::Data { object: variable(x), access, kind, site }
        };
        match *statement {
            Statement::Load(_, x) => data(x, Access::Read, Value::Read, ordering),
            Statement::Store(x, _) => data(x, Access::Write, Value::Written, ordering),
            Statement::Add(x, _) => {
                let ordering = orders.or(Ordering::RELAXED);
                // With fences around it, a relaxed one may order as much as another.
                let acquires = ordering.acquires || self.fences.acquires;
                let releases = ordering.releases || self.fences.releases;
                let access = Access::Update { family: 0, acquires, releases };
                data(x, access, Value::Updated, ordering)
            }
            Statement::FetchAdd(_, x, _) | Statement::Swap(_, x, _) => {
                data(x, Access::Write, Value::Updated, ordering)
            }
            Statement::CompareExchange(_, x, expected, _)
            | Statement::CompareExchangeWeak(_, x, expected, _) => {
                if self.state.values[usize::from(x.0)] == expected {
                    data(x, Access::Write, Value::Updated, ordering)
                } else {
                    data(x, Access::Read, Value::Read, orders.failing())
                }
            }
            Statement::Await(x, _) => {
                let kind = Kind::Atomic(Value::Read, ordering);
                Operation::Await { object: variable(x), access: Access::Read, kind, site }
            }
            Statement::Down(x) => {
                // A semaphore's down orders what comes after it only.
                let kind = Kind::Atomic(Value::Updated, orders.or(Ordering::ACQUIRE));
                Operation::Await { object: variable(x), access: Access::Write, kind, site }
            }
            Statement::Increment(x) => data(x, Access::RefInc, Value::Updated, Ordering::RELAXED),
            Statement::Decrement(_, x) => {
                let access = decrement(self.state.values[usize::from(x.0)]);
                let last = matches!(access, Access::RefDecLast | Access::Write);
                let ordering = if last { Ordering::ACQ_REL } else { Ordering::RELEASE };
                data(x, access, Value::Updated, ordering)
            }
            Statement::Free(x) | Statement::Allocate(x) => Operation::Data {
                object: variable(x),
                access: Access::Write,
                kind: Kind::Plain,
                site,
            },
            Statement::Fence(order) => Operation::Fence(order.ordering()),
            Statement::Any(..) | Statement::Sleep(_) => Operation::Local,
            Statement::Lock(a) => Operation::Acquire(mutex(a), Mode::Exclusive),
            Statement::TryLock(_, a) => Operation::TryAcquire(mutex(a), Mode::Exclusive),
            Statement::Unlock(ref a)
            | Statement::Wait(_, ref a)
            | Statement::WaitFor(_, _, ref a)
                if lacks(a, false) =>
            {
                Operation::Local
            }
            Statement::ReadUnlock(ref a) if lacks(a, true) => Operation::Local,
            Statement::Downgrade(a) if !self.can_downgrade(Body(number as u8), a) => {
                Operation::Local
            }
            Statement::Downgrade(a) => Operation::Downgrade(mutex(a)),
            Statement::ReadLock(a) => Operation::Acquire(mutex(a), Mode::Shared),
            Statement::ReadUnlock(a) => Operation::Release(mutex(a), Mode::Shared),
            Statement::TryReadLock(_, a) => Operation::TryAcquire(mutex(a), Mode::Shared),
            Statement::Unlock(a) => Operation::Release(mutex(a), Mode::Exclusive),
            Statement::Wait(c, a) | Statement::WaitFor(_, c, a) => {
                let in_order = self.is_fifo(c);
                Operation::Wait { queue: condvar(c), lock: mutex(a), in_order }
            }
            Statement::NotifyOne(c) | Statement::NotifyAll(c) => Operation::Notify(condvar(c)),
            Statement::Once(o, _) => self.enters(o, site),
            Statement::OnceDone(o) => leaves(o, site),
            Statement::Arrive(b) => Operation::Arrive(barrier(b), self.arriving(b, false)),
            Statement::ArriveAsking(_, b) => Operation::Arrive(barrier(b), self.arriving(b, true)),
            Statement::Spawn(body) => Operation::Spawn(ThreadId(u32::from(body.0))),
            Statement::Join(body) => Operation::Join(ThreadId(u32::from(body.0))),
            Statement::Abort => Operation::Abort,
            Statement::Send(..)
            | Statement::SendChecked(..)
            | Statement::Receive(..)
            | Statement::Close(_)
            | Statement::Let(..)
            | Statement::Assert(_)
            | Statement::Call(..)
            | Statement::Return(_)
            | Statement::If(..)
            | Statement::Ordered(..)
            | Statement::While(..)
            | Statement::Repeat(..) => Operation::Local,
        }
    }

    /// What an atomic operation on a part is to the whole: nothing that others could acquire.
    pub(super) fn on_whole(&self, operation: &Operation) -> Option<Operation> {
        let unordered = |ordering| Ordering { acquires: false, releases: false, ..ordering };
        let kind = |ordering| Kind::Atomic(Value::Read, unordered(ordering));
        match *operation {
            Operation::Data { object, access, kind: Kind::Atomic(_, ordering), site } => {
                let (object, access) = (self.whole(object)?, access.to_whole());
                Some(Operation::Data { object, access, kind: kind(ordering), site })
            }
            Operation::Await { object, access, kind: Kind::Atomic(_, ordering), site } => {
                let (object, access) = (self.whole(object)?, access.to_whole());
                Some(Operation::Await { object, access, kind: kind(ordering), site })
            }
            _ => None,
        }
    }

    /// What the operation turned out to be: a weak compare-exchange that was reported as the write
    /// that it might have become, and that stood at `place`, may have failed.
    pub(super) fn turned_out(
        &self,
        number: usize,
        place: usize,
        operation: Operation,
        footprint: &Footprint,
    ) -> Operation {
        let Operation::Data { object, access: Access::Write, kind, site } = operation else {
            return operation;
        };
        let Some(Instruction::Do(Statement::CompareExchangeWeak(..), orders)) =
            self.code[number].get(place)
        else {
            return operation;
        };
        if footprint.accesses.contains(&(object, Access::Write)) {
            return operation;
        }
        let kind = match kind {
            Kind::Plain => Kind::Plain,
            Kind::Atomic(..) => Kind::Atomic(Value::Read, orders.failing()),
        };
        Operation::Data { object, access: Access::Read, kind, site }
    }

    /// As `advance`; `step` is for each operation.
    fn advance_with(
        &mut self,
        number: usize,
        monitor: &mut TransactionMonitor<'_>,
        failures: &mut Vec<Failure>,
        step: &mut Step<Failure>,
    ) -> End {
        let mut repetition = Repetition::default();
        loop {
            match self.state.threads[number].phase {
                Phase::Ended => return End::Ended,
                Phase::Unborn | Phase::Waiting(..) | Phase::Offering(_) | Phase::AtBarrier(_) => {
                    return End::Boundary;
                }
                Phase::Leaving(..) | Phase::Notified(..) | Phase::Sleeping => {}
                Phase::Ready | Phase::Woken(_) | Phase::Answered(..) | Phase::Released => {}
            }
            if self.has_gone_round(number) {
                let round = self.round(number);
                match monitor.before_round(&round, self.sees_change(number)) {
                    Go::On => {}
                    Go::Boundary => return End::Boundary,
                    Go::Blocked => return End::Blocked,
                }
                step.clear();
                self.act(number, monitor, step);
                monitor.after_round(&round);
                continue;
            }
            let operation = self.operation(number);
            let can_proceed = self.status(ThreadId(number as u32)).can_run();
            match monitor.before(&operation, can_proceed) {
                Go::On => {}
                Go::Boundary => return End::Boundary,
                Go::Blocked => return End::Blocked,
            }
            let place = self.state.threads[number].place;
            step.clear();
            self.act(number, monitor, step);
            failures.append(&mut step.failures);
            if step.footprint.by_time {
                monitor.by_time();
            }
            let operation = self.turned_out(number, place, operation, &step.footprint);
            self.report(number, &operation, &step.footprint, monitor);
            if step.flow == Flow::Over {
                return End::Over;
            }
            if repetition.shows(&self.state) && !is_on(Fault::NoCut) {
                return End::Boundary;
            }
        }
    }

    fn report(
        &self,
        number: usize,
        operation: &Operation,
        footprint: &Footprint,
        monitor: &mut TransactionMonitor<'_>,
    ) {
        match *operation {
            Operation::TryAcquire(..) => {
                let taken = footprint.accesses.iter().any(|&(_, a)| a == Access::TryLock);
                monitor.after(operation, Effect::Tried(taken));
            }
            Operation::Notify(_) => {
                let woken = footprint.enables.iter().filter_map(|&thread| {
                    match self.state.threads[thread.index()].phase {
                        Phase::Woken(a) => Some((thread, mutex(a))),
                        _ => None,
                    }
                });
                let waiters: Vec<_> = woken.collect();
                let wakes = footprint.accesses.iter().any(|&(_, access)| access == Access::Wake);
                let notified = |phase| matches!(phase, Phase::Notified(..));
                let others =
                    wakes && self.state.threads.iter().any(|thread| notified(thread.phase));
                monitor.after(operation, Effect::Woke { waiters: &waiters, others });
            }
            Operation::Arrive(_, Access::Arrive { last: true, .. }) => {
                monitor.after(operation, Effect::Met(&footprint.meets));
            }
            _ => monitor.after(operation, Effect::Done),
        }
        if let Some(operation) = self.on_whole(operation) {
            monitor.after(&operation, Effect::Done);
        }
        if let Operation::Data { object, access: Access::RefDecLast, kind, .. } = *operation
            && matches!(kind, Kind::Atomic(_, ordering) if ordering.acquires)
        {
            monitor.last(object);
        }
        if let Operation::Spawn(thread) = *operation
            && self.state.threads[thread.index()].phase == Phase::Ended
        {
            monitor.ended(thread);
        }
        if self.state.threads[number].phase == Phase::Ended {
            monitor.ended(ThreadId(number as u32));
        }
    }
}

impl Snapshots for ModelMachine {
    fn save(&mut self, slot: usize) {
        if self.saved.len() <= slot {
            self.saved.resize_with(slot + 1, || self.state.clone());
        }
        self.saved[slot].clone_from(&self.state);
        if let Some(spins) = &mut self.spins {
            spins.save(slot);
        }
    }

    fn restore(&mut self, slot: usize) {
        self.state.clone_from(&self.saved[slot]);
        if let Some(spins) = &mut self.spins {
            spins.restore(slot);
        }
        self.over = false;
    }
}

impl Transactional for ModelMachine {
    fn advance(
        &mut self,
        thread: ThreadId,
        monitor: &mut TransactionMonitor<'_>,
        failures: &mut Vec<Failure>,
    ) -> End {
        failures.append(&mut self.early);
        let mut step = std::mem::take(&mut self.scratch);
        let end = self.advance_with(thread.index(), monitor, failures, &mut step);
        self.scratch = step;
        end
    }

    fn started(&self) -> u32 {
        let threads = self.state.threads.iter();
        threads.filter(|thread| thread.phase != Phase::Unborn).count() as u32
    }

    fn has_begun(&self, thread: ThreadId) -> bool {
        self.state.threads[thread.index()].phase != Phase::Unborn
    }

    fn awaited(&self, thread: ThreadId) -> Awaited {
        let ready = self.state.threads[thread.index()].phase == Phase::Ready;
        match self.next(thread.index()).filter(|_| ready) {
            Some(&Statement::Join(body)) => Awaited::End(ThreadId(u32::from(body.0))),
            _ => Awaited::Act,
        }
    }

    fn weak_values(&mut self) {
        self.weak_values = true;
    }

    fn may_race(&mut self, object: ObjectId, _earlier: Racer, _later: Racer) {
        self.may_race.insert(Variable(object.0 as u8));
    }

    fn race(&self, object: ObjectId, earlier: Racer, later: Racer) -> Failure {
        let side = |racer: Racer| (Body(racer.thread.0 as u8), racer.site as usize);
        let (one, other) = (side(earlier), side(later));
        Failure::Race {
            variable: Variable(object.0 as u8),
            one: one.min(other),
            other: one.max(other),
        }
    }
}
