//! The bridge to the search by transactions: operations of the native machine in the words of
//! [`lockred_search::discipline`].
//!
//! While the search runs a transaction, the step under way has a [`TransactionMonitor`]. It is
//! asked before every operation at which a thread is stopped ([`next`], called by the explorer),
//! and notified, in order, of what was executed ([`on`]): the operation itself, what an atomic
//! region does besides, and every plain access. Without a monitor nothing is done here.
//!
//! | native | reported as |
//! |---|---|
//! | recognised lock operations | acquire, try, downgrade, release of [`object_ids::lock`]; as data once the word is used otherwise |
//! | the region of a recognised condition variable's wait | [`Operation::Wait`] |
//! | that of its notify | [`Operation::Notify`]; as data if a waiter may time out |
//! | dropping one's handle of a thread where it is created | data that is guarded, a both mover ([`handles`]) |
//! | other atomic operations, other futex calls | [`Operation::Data`], or [`Operation::Await`] with a guard |
//! | creation of a thread | data, its number ([`object_ids::NUMBERING`]), and [`Operation::Spawn`] |
//! | an act on a channel that is known as a whole | [`Operation::Pass`], and [`Operation::Resume`] after an offer ([`channels`]) |
//! | a loop that only reads goes on | an await of every word that it reads |
//!
//! Plain memory is never a reason to stop: a data race ends the search, or is reported and gone
//! past.

mod futex;

use crate::machine::channels;
use crate::machine::event::{ChannelAct, Event, Freed, Plain};
use crate::machine::handles;
use crate::machine::object_ids::{self, Use};
use crate::machine::operation::{Atomic, AtomicOperation, Pending};
use crate::machine::state::State;
use crate::machine::step::Lent;
use crate::machine::watch::watching;
use crate::memory::{arena, validity};
use lockred_protocol::hooks::{Class, How, Order};
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::{
    Effect, Kind, Mode, Operation, Ordering, TransactionMonitor, Value,
};
use lockred_search::footprint::{Access, ObjectId};
use lockred_search::machine::ThreadId;

/// The ordering of what the machine itself does: it orders nothing, and no program sees it.
const INTERNAL: Ordering = Ordering { trusted: true, internal: true, ..Ordering::RELAXED };

/// An access of the machine's own to an object that is no memory of the program.
const fn internal(object: ObjectId, access: Access) -> Operation {
    Operation::Data { object, access, kind: Kind::Atomic(Value::Updated, INTERNAL), site: 0 }
}

/// The monitor, if the search by transactions runs the step, for what needs nothing else of the
/// state.
fn monitor(state: &mut State) -> Option<&mut TransactionMonitor<'static>> {
    state.step.monitor.as_mut().map(Lent::monitor)
}

/// Takes the monitor out of the state for as long as `act` takes, which needs both. Whether there
/// is one.
fn with_monitor(
    state: &mut State,
    act: impl FnOnce(&mut State, &mut TransactionMonitor<'_>),
) -> bool {
    let Some(mut lent) = state.step.monitor.take() else { return false };
    act(state, lent.monitor());
    state.step.monitor = Some(lent);
    true
}

/// What an order orders, in an operation of which this is known. (Users of a recognised primitive
/// cannot see weak values.)
fn ordering(order: Order, how: How) -> Ordering {
    Ordering {
        acquires: order.acquires(),
        releases: order.releases(),
        weak: order != Order::SeqCst,
        trusted: how.has(How::PRIMITIVE),
        guarded: how.class() == Class::Guarded,
        internal: false,
    }
}

/// The mode in which operations of a class take or give back a lock (which is no more held in that
/// mode where it is downgraded); none for other classes.
const fn mode(class: Class) -> Option<Mode> {
    match class {
        Class::Lock | Class::TryLock | Class::Unlock | Class::Downgrade => Some(Mode::Exclusive),
        Class::ReadLock | Class::TryReadLock | Class::ReadUnlock => Some(Mode::Shared),
        _ => None,
    }
}

/// Whether the word of an operation of a lock, which is thereby used, is reported as a lock.
fn is_lock(state: &mut State, operation: &AtomicOperation) -> bool {
    let how = match operation.how.class() {
        Class::Lock if operation.announces() => Some(Use::Announces),
        Class::ReadLock | Class::Downgrade => Some(Use::Reads),
        Class::TryLock | Class::TryReadLock => Some(Use::Entangles),
        _ => None,
    };
    if let Some(how) = how {
        state.knowledge.object_ids.use_word(operation.address, how);
    }
    state.knowledge.object_ids.use_word(operation.address, Use::Locks)
}

/// Somebody may wait, for whatever it is, while these locks are held.
fn entangle(state: &mut State, held: &[(ObjectId, Mode)]) {
    for &(lock, _) in held {
        state.knowledge.object_ids.use_word(object_ids::address(lock), Use::Entangles);
    }
}

/// Whether an operation, which could be executed, waits all the same: an exclusive acquisition that
/// would only announce itself. (Where the discipline is looked at, too: the function that waits for
/// its turn after that acquires the lock in a way that no model knows.)
pub fn waits(state: &State, operation: &AtomicOperation) -> bool {
    (state.config.by_transactions || state.monitors.observed.is_some())
        && operation.announces()
        && state.knowledge.object_ids.is_reported_as_lock(operation.address)
        && matches!(operation.kind, Atomic::CompareExchange { expected } if operation.word() != expected)
}

/// Reports an atomic access to `size` bytes, of which `operation` makes what it is to each block.
fn report(
    monitor: &mut TransactionMonitor<'_>,
    (address, size): (usize, usize),
    access: Access,
    kind: Kind,
    operation: impl Fn(ObjectId, Access, Kind) -> Operation,
) {
    object_ids::blocks(address, size, |block, part| {
        let reported = match kind {
            // What a part releases is not acquired by others.
            Kind::Atomic(_, ordering) if part => {
                let ordering = Ordering { acquires: false, releases: false, ..ordering };
                operation(block, access.to_whole(), Kind::Atomic(Value::Read, ordering))
            }
            kind => operation(block, access, kind),
        };
        monitor.after(&reported, Effect::Done);
    });
}

/// How an operation that is reported as data uses it, as far as can be known before: as strongly as
/// it might.
fn pending_data(operation: &AtomicOperation) -> (Access, Kind) {
    let (access, value) = match operation.kind {
        Atomic::Load | Atomic::Failed => (Access::Read, Value::Read),
        Atomic::Store => (Access::Write, Value::Written),
        Atomic::Rmw => (Access::Write, Value::Updated),
        Atomic::CompareExchange { expected } if operation.word() != expected => {
            (Access::Read, Value::Read)
        }
        Atomic::CompareExchange { .. } => (Access::Write, Value::Updated),
    };
    (access, Kind::Atomic(value, ordering(operation.order, operation.how)))
}

/// The same as a both mover, until that is refuted.
const fn unseen(kind: Kind) -> Kind {
    match kind {
        Kind::Atomic(value, ordering) => {
            Kind::Atomic(value, Ordering { guarded: true, ..ordering })
        }
        Kind::Plain => Kind::Plain,
    }
}

/// What a stopped thread does next.
pub fn next(state: &mut State, number: usize, monitor: &TransactionMonitor<'_>) -> Operation {
    let pending = state.execution.threads[number].pending;
    if pending.may_wait() && !monitor.held().is_empty() {
        entangle(state, monitor.held());
    }
    match pending {
        Pending::Start
        | Pending::Choosing
        | Pending::Stuttering
        | Pending::Never
        | Pending::Ended => Operation::Local,
        Pending::Sleeping { .. } => Operation::Awake,
        Pending::Spawn => internal(object_ids::NUMBERING, Access::Write),
        Pending::Join { target } => Operation::Join(ThreadId(target)),
        Pending::Atomic(operation) => next_atomic(state, number, &operation, monitor),
        Pending::FutexWait { address } => internal(object_ids::queue(address), Access::Enqueue),
        Pending::FutexQueued { deadline: None, .. } => Operation::Local,
        Pending::FutexQueued { address, .. } => internal(object_ids::queue(address), Access::Leave),
        Pending::FutexWake { address } => internal(object_ids::queue(address), Access::Wake),
        Pending::Channel(operation) => {
            let object = channels::object(state, operation.channel);
            match channels::passing(state, &operation) {
                Some(passing) => Operation::Pass(object, passing),
                None => Operation::Local,
            }
        }
        Pending::Offering { channel } => {
            let taken = state.execution.threads[number].channel.answered.unwrap_or_default();
            Operation::Resume { channel: channels::object(state, channel), taken }
        }
        Pending::Spinning => {
            match state.execution.threads[number].loops.read_only_spin.words().next() {
                Some((address, size)) => {
                    await_read(object_ids::first_block(address, size as usize))
                }
                None => Operation::Local,
            }
        }
    }
}

const fn await_read(object: ObjectId) -> Operation {
    let kind = Kind::Atomic(Value::Read, INTERNAL);
    Operation::Await { object, access: Access::Read, kind, site: 0 }
}

fn next_atomic(
    state: &mut State,
    number: usize,
    operation: &AtomicOperation,
    monitor: &TransactionMonitor<'_>,
) -> Operation {
    let class = operation.how.class();
    let (address, site) = (operation.address, u64::from(operation.site.0));
    if let Some(mode) = mode(class)
        && is_lock(state, operation)
    {
        let lock = object_ids::lock(address);
        if !monitor.held().is_empty() && matches!(class, Class::Lock | Class::ReadLock) {
            entangle(state, monitor.held());
            state.knowledge.object_ids.use_word(address, Use::Entangles);
        }
        match class {
            Class::Lock | Class::ReadLock => return Operation::Acquire(lock, mode),
            Class::TryLock | Class::TryReadLock => return Operation::TryAcquire(lock, mode),
            Class::Downgrade if monitor.held().contains(&(lock, mode)) => {
                return Operation::Downgrade(lock);
            }
            _ if monitor.held().contains(&(lock, mode)) => return Operation::Release(lock, mode),
            // Somebody else's lock is given back.
            _ => {
                state.knowledge.object_ids.use_word(address, Use::Refused);
            }
        }
    }
    match class {
        // The released lock is not known yet. If the thread holds a try-observed lock, assume that
        // one: it makes the operation a non-mover.
        Class::CondvarWait => {
            let locks = || monitor.held().iter().map(|&(lock, _)| lock);
            let lock =
                locks().find(|&lock| monitor.is_observed(lock)).or_else(|| locks().next_back());
            let queue = object_ids::queue(address);
            return Operation::Wait { queue, lock: lock.unwrap_or(queue), in_order: false };
        }
        Class::CondvarNotify => return Operation::Notify(object_ids::queue(address)),
        _ => {}
    }
    let (access, mut kind) = pending_data(operation);
    if handles::drops(state, number, operation) {
        kind = unseen(kind);
    }
    let object = object_ids::first_block(address, operation.size as usize);
    match operation.guard {
        Some(_) => Operation::Await { object, access, kind, site },
        None => Operation::Data { object, access, kind, site },
    }
}

fn touch_all(
    (address, size): (usize, u32),
    access: Access,
    mut touch: impl FnMut(ObjectId, Access),
) {
    object_ids::blocks(address, size as usize, |block, part| {
        touch(block, if part { access.to_whole() } else { access });
    });
}

/// What a stopped thread's next transaction would surely touch, in the words of transactions.
pub fn pending(state: &State, number: usize, mut touch: impl FnMut(ObjectId, Access)) {
    match state.execution.threads[number].pending {
        Pending::Atomic(operation) => {
            let address = operation.address;
            let lock = mode(operation.how.class());
            if let Some(mode) =
                lock.filter(|_| state.knowledge.object_ids.is_reported_as_lock(address))
            {
                let exclusive = mode == Mode::Exclusive;
                let access = if exclusive { Access::Lock } else { Access::ReadLock };
                return touch(object_ids::lock(address), access);
            }
            let (access, _) = pending_data(&operation);
            touch_all((address, operation.size), access, touch);
        }
        Pending::FutexQueued { address, deadline: Some(_) } => {
            touch(object_ids::queue(address), Access::Leave);
        }
        Pending::Channel(operation) => {
            if let Some(passing) = channels::passing(state, &operation) {
                touch(channels::object(state, operation.channel), passing.access());
            }
        }
        Pending::Spinning => {
            for (address, size) in state.execution.threads[number].loops.read_only_spin.words() {
                touch_all((address, size), Access::Read, &mut touch);
            }
        }
        _ => {}
    }
}

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    match event {
        Event::Plain(Plain { address, size, site, writes }) => {
            plain(state, *address, *size, *writes, *site);
        }
        Event::Atomic(done) => {
            let looks = done.watched || done.operation.how.class().is_lock();
            // The same read a second time in one step sees the same, which nobody wrote in between.
            if looks && !done.repeated {
                atomic(state, done.operation, done.access, done.wrote);
            }
        }
        Event::Allocated { .. } => {}
        Event::Freed(freed) => ends(state, *freed),
        Event::Futex(address, what) => futex::futex(state, *address, *what),
        other => between(state, other),
    }
}

/// Events that concern one object of the search, or none.
fn between(state: &mut State, event: &Event<'_>) {
    if matches!(event, Event::Changed) {
        with_monitor(state, |state, monitor| changed(state, monitor));
        return;
    }
    let Some(monitor) = monitor(state) else { return };
    let operation = match *event {
        Event::Looks(operation) => return looks(monitor, operation),
        Event::Fence(order) => Operation::Fence(ordering(order, How::of(Class::Plain))),
        Event::Passed(ChannelAct { object, passing, .. }) if watching() => {
            Operation::Pass(object, passing)
        }
        Event::Resumed { object, taken, .. } if watching() => {
            Operation::Resume { channel: object, taken }
        }
        Event::Created { child, .. } => {
            monitor.after(&internal(object_ids::NUMBERING, Access::Write), Effect::Done);
            Operation::Spawn(ThreadId(child))
        }
        Event::Joined { target, .. } => Operation::Join(ThreadId(target)),
        Event::WentOn => Operation::Local,
        Event::Slept(_) => Operation::Awake,
        Event::ByTime => return monitor.by_time(),
        Event::WaitsForGood => return monitor.waits_for_good(),
        _ => return,
    };
    monitor.after(&operation, Effect::Done);
}

/// Plain memory is accessed.
#[inline]
fn plain(state: &mut State, address: usize, size: usize, writes: bool, site: SiteId) {
    if let Some(monitor) = monitor(state) {
        touch_plain(monitor, address, size, writes, site);
    }
}

fn touch_plain(
    monitor: &mut TransactionMonitor<'_>,
    address: usize,
    size: usize,
    writes: bool,
    site: SiteId,
) {
    let access = if writes { Access::Write } else { Access::Read };
    let mut new = false;
    object_ids::blocks(address, size, |block, part| {
        if !part {
            new = monitor.plain(block, access, u64::from(site.0));
        } else if new {
            monitor.plain(block, access.to_whole(), u64::from(site.0));
        }
    });
}

/// Memory ends: a write to all of it. Nobody has accessed what was never touched.
fn ends(state: &mut State, Freed { address, size, modelled, .. }: Freed) {
    // Accesses to other memory that has ended need not be noticed; only states hold what is
    // dropped.
    let notices =
        state.config.by_states && arena::range().contains(&address) && validity::is_heap(address);
    if let (false, true, Some(monitor)) = (modelled, watching(), monitor(state)) {
        arena::touched(address, size, |address, size| {
            touch_plain(monitor, address, size, true, SiteId(0));
            if notices {
                monitor.ends(address as u64..(address + size) as u64, object_ids::ADDRESS);
            }
        });
    }
}

/// The running thread has got a block of memory, for which a word stands.
pub fn creates(state: &mut State, word: usize) {
    if let Some(monitor) = monitor(state) {
        monitor.plain(object_ids::granule(word), Access::Create, crate::monitor::births::SITE);
    }
}

/// The running thread has accessed, or `frees`, a block of memory that another one may have got.
pub fn uses_block(state: &mut State, word: usize, site: SiteId, frees: bool) {
    let ends = frees && state.config.by_states;
    if let Some(monitor) = monitor(state) {
        monitor.plain(object_ids::granule(word), Access::Use, u64::from(site.0));
        if ends {
            monitor.ends(word as u64..word as u64 + 1, object_ids::ADDRESS);
        }
    }
}

/// An atomic operation was executed. `access`: how it acted; `wrote`: its word.
fn atomic(state: &mut State, operation: &AtomicOperation, access: Access, wrote: bool) {
    if !state.config.by_transactions {
        return;
    }
    let address = operation.address;
    let class = operation.how.class();
    let number = state.thread_number() as usize;
    if matches!(class, Class::CondvarWait | Class::CondvarNotify) {
        // What it does is reported by the futex call that ends the region.
        state.execution.threads[number].condvar.address = Some(address);
        return;
    }
    if with_monitor(state, |state, monitor| executed(state, monitor, operation, access, wrote)) {
        return;
    }
    // It is run again: others must learn all the same what it waits with.
    let thread = &mut state.execution.threads[number];
    if class == Class::Unlock && thread.condvar.address.is_some() {
        thread.condvar.lock =
            state.knowledge.object_ids.is_reported_as_lock(address).then_some(address);
    }
}

/// An atomic operation was executed in a transaction.
fn executed(
    state: &mut State,
    monitor: &mut TransactionMonitor<'_>,
    operation: &AtomicOperation,
    access: Access,
    wrote: bool,
) {
    let (address, site) = (operation.address, u64::from(operation.site.0));
    let class = operation.how.class();
    let number = state.thread_number() as usize;
    if state.execution.threads[number].condvar.address == Some(address) {
        // The futex call looks at the word first.
        return;
    }
    if let Some(mode) = mode(class)
        && is_lock(state, operation)
    {
        let lock = object_ids::lock(address);
        let use_word = |monitor: &mut TransactionMonitor<'_>| {
            touch_all((address, operation.size), Access::Write, |block, access| {
                monitor.uses(block, access, site);
            });
        };
        let reported = match class {
            Class::TryLock | Class::TryReadLock => {
                monitor.after(&Operation::TryAcquire(lock, mode), Effect::Tried(wrote));
                true
            }
            Class::Lock | Class::ReadLock if wrote => {
                monitor.after(&Operation::Acquire(lock, mode), Effect::Done);
                true
            }
            // It looks; the exchange after it, in the same region, acquires.
            Class::ReadLock => return,
            Class::Unlock if state.execution.threads[number].condvar.address.is_some() => {
                let held = monitor.held().contains(&(lock, mode));
                if held {
                    state.execution.threads[number].condvar.lock = Some(address);
                }
                held
            }
            // Who takes the lock next may free it: giving it back is before what that releases.
            Class::Downgrade if monitor.held().contains(&(lock, mode)) => {
                use_word(monitor);
                monitor.after(&Operation::Downgrade(lock), Effect::Done);
                return;
            }
            Class::Unlock | Class::ReadUnlock if monitor.held().contains(&(lock, mode)) => {
                use_word(monitor);
                monitor.after(&Operation::Release(lock, mode), Effect::Done);
                return;
            }
            _ => false,
        };
        if reported {
            use_word(monitor);
            return;
        }
        state.knowledge.object_ids.use_word(address, Use::Refused);
    }
    data(state, monitor, operation, access, wrote);
}

/// The running thread is about to look at a word, maybe in vain, over and over.
fn looks(monitor: &mut TransactionMonitor<'_>, operation: &AtomicOperation) {
    let (site, weak) = (u64::from(operation.site.0), operation.sees_stale_values());
    touch_all((operation.address, operation.size), operation.in_vain(), |block, access| {
        monitor.looks(block, access, weak, site);
    });
}

/// An atomic operation that is reported as an access to data.
fn data(
    state: &mut State,
    monitor: &mut TransactionMonitor<'_>,
    operation: &AtomicOperation,
    access: Access,
    wrote: bool,
) {
    let (address, size, site) =
        (operation.address, operation.size as usize, u64::from(operation.site.0));
    state.knowledge.object_ids.use_as_data(address, size);
    // A lock that is reported as data is a word like any other.
    let access = match operation.how.class().is_lock() {
        true if wrote => Access::Write,
        true => Access::Read,
        false => access,
    };
    let value = match operation.kind {
        Atomic::Store => Value::Written,
        _ if wrote => Value::Updated,
        _ => Value::Read,
    };
    let mut ordering = ordering(operation.order, operation.how);
    // Who drops the last reference sees what the others did with theirs: by a fence, or a load,
    // that belongs to the count.
    ordering.acquires |= access == Access::RefDecLast;
    let last = access == Access::RefDecLast;
    let settled = last && operation.how.has(How::SETTLED);
    let access = if settled { Access::RefDec } else { access };
    let mut kind = Kind::Atomic(value, ordering);
    let number = state.thread_number() as usize;
    if handles::drops(state, number, operation) {
        kind = unseen(kind);
    }
    report(monitor, (address, size), access, kind, |object, access, kind| match operation.guard {
        Some(_) => Operation::Await { object, access, kind, site },
        None => Operation::Data { object, access, kind, site },
    });
    if last {
        monitor.last(object_ids::first_block(address, size));
    }
}

/// A loop that only reads goes on: the running thread has waited for the words that it reads.
fn changed(state: &State, monitor: &mut TransactionMonitor<'_>) {
    for (address, size) in state.running_thread().loops.read_only_spin.words() {
        let kind = Kind::Atomic(Value::Read, INTERNAL);
        report(monitor, (address, size as usize), Access::Read, kind, |object, access, kind| {
            Operation::Await { object, access, kind, site: 0 }
        });
    }
}

/// A thread has ended.
pub fn ended(state: &mut State, thread: ThreadId, monitor: &mut TransactionMonitor<'_>) {
    entangle(state, monitor.held());
    monitor.ended(thread);
}
