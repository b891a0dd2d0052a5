//! The bridge to the search by transactions: operations of the native machine in the words of [`lockred_search::discipline`].
//!
//! While the search runs a transaction, the step under way has a [`Gate`]. It is asked before every operation at which a thread
//! is stopped ([`next`], called by the explorer), and told, in order, what was executed ([`on`]): the operation itself, what
//! an atomic region does besides, and every plain access. Without a gate nothing is done here.
//!
//! | native | told as |
//! |---|---|
//! | recognised lock operations | acquire, try, downgrade, release of [`names::lock`]; as data once the word is used otherwise |
//! | the region of a recognised condition variable's wait | [`Operation::Wait`] |
//! | that of its notify | [`Operation::Notify`]; as data if a waiter may time out |
//! | dropping one's handle of a thread where it is created | data that is guarded, a both mover ([`handles`]) |
//! | other atomic operations, other futex calls | [`Operation::Data`], or [`Operation::Await`] with a guard |
//! | creation of a thread | data, its number ([`names::NUMBERING`]), and [`Operation::Spawn`] |
//! | an act on a channel that is known as a whole | [`Operation::Pass`], and [`Operation::Resume`] behind an offer ([`channels`]) |
//! | a loop that only reads goes on | an await of every word that it reads |
//!
//! Plain memory is never a reason to stop: a data race ends the search, or is told and gone past.

use crate::machine::channels;
use crate::machine::event::{ChannelAct, Event, Freed, Futex, Plain};
use crate::machine::handles;
use crate::machine::names::{self, Use};
use crate::machine::operation::{Atomic, AtomicOperation, Pending};
use crate::machine::state::State;
use crate::monitor::races::watching;
use lockred_search::discipline::{Effect, Gate, Kind, Mode, Operation, Ordering, Value};
use lockred_search::footprint::{Access, ObjectId};
use lockred_search::machine::ThreadId;
use lockred_trace::hooks::{Class, How, Order};
use lockred_trace::sites::SiteId;

/// The ordering of what the machine itself does: it orders nothing, and no program sees it.
const INTERNAL: Ordering = Ordering { trusted: true, internal: true, ..Ordering::RELAXED };

/// An access of the machine's own to an object that is no memory of the program.
const fn internal(object: ObjectId, access: Access) -> Operation {
    Operation::Data { object, access, kind: Kind::Atomic(Value::Updated, INTERNAL), site: 0 }
}

/// The gate of the step under way, as a raw pointer: hooks reach it from inside the step.
pub type Lent = *mut Gate<'static>;

/// The gate, if the search by transactions runs the step.
fn gate(state: &State) -> Option<&'static mut Gate<'static>> {
    // SAFETY: set by `Native::advance`, whose caller lends the gate until the step ends; hooks run inside the step only, one
    // after the other, and keep no reference.
    state.step.gate.map(|gate| unsafe { &mut *gate })
}

/// What an order orders, in an operation of which this is known. (Users of a recognised primitive cannot see weak values.)
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

/// The mode in which operations of a class take or give back a lock (which is no more held in that mode where it is downgraded); none for
/// other classes.
const fn mode(class: Class) -> Option<Mode> {
    match class {
        Class::Lock | Class::TryLock | Class::Unlock | Class::Downgrade => Some(Mode::Exclusive),
        Class::ReadLock | Class::TryReadLock | Class::ReadUnlock => Some(Mode::Shared),
        _ => None,
    }
}

/// Whether the word of an operation of a lock, which is thereby used, is told as a lock.
fn is_lock(state: &mut State, operation: &AtomicOperation) -> bool {
    let how = match operation.how.class() {
        Class::Lock if operation.announces() => Some(Use::Announces),
        Class::ReadLock | Class::Downgrade => Some(Use::Reads),
        Class::TryLock | Class::TryReadLock => Some(Use::Entangles),
        _ => None,
    };
    if let Some(how) = how {
        state.knowledge.names.use_word(operation.address, how);
    }
    state.knowledge.names.use_word(operation.address, Use::Locks)
}

/// Somebody may wait, for whatever it is, while these locks are held.
fn entangle(state: &mut State, held: &[(ObjectId, Mode)]) {
    for &(lock, _) in held {
        state.knowledge.names.use_word(names::address(lock), Use::Entangles);
    }
}

/// Whether an operation, which could be executed, waits all the same: an exclusive acquisition that would only announce itself. (Where the
/// discipline is looked at, too: the function that waits for its turn behind that acquires the lock in a way that no model knows.)
pub fn waits(state: &State, operation: &AtomicOperation) -> bool {
    (state.config.by_transactions || state.monitors.observed.is_some())
        && operation.announces()
        && state.knowledge.names.is_told_as_lock(operation.address)
        && matches!(operation.kind, Atomic::CompareExchange { expected } if operation.word() != expected)
}

/// Tells an atomic access to `size` bytes, of which `operation` makes what it is to each block.
fn tell(
    gate: &mut Gate<'_>,
    (address, size): (usize, usize),
    access: Access,
    kind: Kind,
    operation: impl Fn(ObjectId, Access, Kind) -> Operation,
) {
    names::blocks(address, size, |block, part| {
        let told = match kind {
            // What a part releases is not acquired by others.
            Kind::Atomic(_, ordering) if part => {
                let ordering = Ordering { acquires: false, releases: false, ..ordering };
                operation(block, access.to_whole(), Kind::Atomic(Value::Read, ordering))
            }
            kind => operation(block, access, kind),
        };
        gate.after(&told, Effect::Done);
    });
}

/// How an operation that is told as data uses it, as far as can be known before: as strongly as it might.
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
pub fn next(state: &mut State, number: usize, gate: &Gate<'_>) -> Operation {
    let pending = state.execution.threads[number].pending;
    if pending.may_wait() && !gate.held().is_empty() {
        entangle(state, gate.held());
    }
    match pending {
        Pending::Start | Pending::Choosing | Pending::Idling | Pending::Never | Pending::Ended => {
            Operation::Local
        }
        Pending::Sleeping { .. } => Operation::Awake,
        Pending::Spawn => internal(names::NUMBERING, Access::Write),
        Pending::Join { target } => Operation::Join(ThreadId(target)),
        Pending::Atomic(operation) => next_atomic(state, number, &operation, gate),
        Pending::FutexWait { address } => internal(names::queue(address), Access::Enqueue),
        Pending::FutexQueued { deadline: None, .. } => Operation::Local,
        Pending::FutexQueued { address, .. } => internal(names::queue(address), Access::Leave),
        Pending::FutexWake { address } => internal(names::queue(address), Access::Wake),
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
        Pending::Spinning => match state.execution.threads[number].loops.spin.words().next() {
            Some((address, size)) => await_read(names::first_block(address, size as usize)),
            None => Operation::Local,
        },
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
    gate: &Gate<'_>,
) -> Operation {
    let class = operation.how.class();
    let (address, site) = (operation.address, u64::from(operation.site.0));
    if let Some(mode) = mode(class)
        && is_lock(state, operation)
    {
        let lock = names::lock(address);
        if !gate.held().is_empty() && matches!(class, Class::Lock | Class::ReadLock) {
            entangle(state, gate.held());
            state.knowledge.names.use_word(address, Use::Entangles);
        }
        match class {
            Class::Lock | Class::ReadLock => return Operation::Acquire(lock, mode),
            Class::TryLock | Class::TryReadLock => return Operation::TryAcquire(lock, mode),
            Class::Downgrade if gate.held().contains(&(lock, mode)) => {
                return Operation::Downgrade(lock);
            }
            _ if gate.held().contains(&(lock, mode)) => return Operation::Release(lock, mode),
            // Somebody else's lock is given back.
            _ => {
                state.knowledge.names.use_word(address, Use::Refused);
            }
        }
    }
    match class {
        // The released lock is not known yet. If the thread holds a try-observed lock, assume that
        // one: it makes the operation a non-mover.
        Class::CondvarWait => {
            let locks = || gate.held().iter().map(|&(lock, _)| lock);
            let lock = locks().find(|&lock| gate.is_observed(lock)).or_else(|| locks().next_back());
            let queue = names::queue(address);
            return Operation::Wait { queue, lock: lock.unwrap_or(queue), in_order: false };
        }
        Class::CondvarNotify => return Operation::Notify(names::queue(address)),
        _ => {}
    }
    let (access, mut kind) = pending_data(operation);
    if handles::drops(state, number, operation) {
        kind = unseen(kind);
    }
    let object = names::first_block(address, operation.size as usize);
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
    names::blocks(address, size as usize, |block, part| {
        touch(block, if part { access.to_whole() } else { access });
    });
}

/// What a stopped thread's next transaction would surely touch, in the words of transactions.
pub fn pending(state: &State, number: usize, mut touch: impl FnMut(ObjectId, Access)) {
    match state.execution.threads[number].pending {
        Pending::Atomic(operation) => {
            let address = operation.address;
            let lock = mode(operation.how.class());
            if let Some(mode) = lock.filter(|_| state.knowledge.names.is_told_as_lock(address)) {
                let exclusive = mode == Mode::Exclusive;
                let access = if exclusive { Access::Lock } else { Access::ReadLock };
                return touch(names::lock(address), access);
            }
            let (access, _) = pending_data(&operation);
            touch_all((address, operation.size), access, touch);
        }
        Pending::FutexQueued { address, deadline: Some(_) } => {
            touch(names::queue(address), Access::Leave);
        }
        Pending::Channel(operation) => {
            if let Some(passing) = channels::passing(state, &operation) {
                touch(channels::object(state, operation.channel), passing.access());
            }
        }
        Pending::Spinning => {
            for (address, size) in state.execution.threads[number].loops.spin.words() {
                touch_all((address, size), Access::Read, &mut touch);
            }
        }
        _ => {}
    }
}

/// See [`crate::machine::event`].
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
        Event::Futex(address, what) => futex(state, *address, *what),
        other => between(state, other),
    }
}

/// Events that concern one object of the search, or none.
fn between(state: &mut State, event: &Event<'_>) {
    let Some(gate) = gate(state) else { return };
    let operation = match *event {
        Event::Looks(operation) => return looks(gate, operation),
        Event::Fence(order) => Operation::Fence(ordering(order, How::of(Class::Plain))),
        Event::Passed(ChannelAct { object, passing, .. }) if watching() => {
            Operation::Pass(object, passing)
        }
        Event::Resumed { object, taken, .. } if watching() => {
            Operation::Resume { channel: object, taken }
        }
        Event::Created { child, .. } => {
            gate.after(&internal(names::NUMBERING, Access::Write), Effect::Done);
            Operation::Spawn(ThreadId(child))
        }
        Event::Joined { target, .. } => Operation::Join(ThreadId(target)),
        Event::WentOn => Operation::Local,
        Event::Slept(_) => Operation::Awake,
        Event::Changed => return changed(state, gate),
        Event::ByTime => return gate.by_time(),
        Event::WaitsForGood => return gate.waits_for_good(),
        _ => return,
    };
    gate.after(&operation, Effect::Done);
}

/// Plain memory is accessed.
#[inline]
fn plain(state: &State, address: usize, size: usize, writes: bool, site: SiteId) {
    if let Some(gate) = gate(state) {
        touch_plain(gate, address, size, writes, site);
    }
}

fn touch_plain(gate: &mut Gate<'_>, address: usize, size: usize, writes: bool, site: SiteId) {
    let access = if writes { Access::Write } else { Access::Read };
    let mut new = false;
    names::blocks(address, size, |block, part| {
        if !part {
            new = gate.plain(block, access, u64::from(site.0));
        } else if new {
            gate.plain(block, access.to_whole(), u64::from(site.0));
        }
    });
}

/// Memory ends: a write to all of it. Nobody has accessed what was never touched.
fn ends(state: &State, Freed { address, size, muted, .. }: Freed) {
    if let (Some(gate), false, true) = (gate(state), muted, watching()) {
        crate::memory::arena::touched(address, size, |address, size| {
            touch_plain(gate, address, size, true, SiteId(0));
        });
    }
}

/// The running thread has got a block of memory, for which a word stands.
pub fn creates(state: &State, word: usize) {
    if let Some(gate) = gate(state) {
        gate.plain(names::granule(word), Access::Create, crate::monitor::births::SITE);
    }
}

/// The running thread has accessed, or frees, a block of memory that another one may have got.
pub fn uses_block(state: &State, word: usize, site: SiteId) {
    if let Some(gate) = gate(state) {
        gate.plain(names::granule(word), Access::Use, u64::from(site.0));
    }
}

/// An atomic operation was executed. `access`: how it acted; `wrote`: its word.
fn atomic(state: &mut State, operation: &AtomicOperation, access: Access, wrote: bool) {
    if !state.config.by_transactions {
        return;
    }
    let (address, site) = (operation.address, u64::from(operation.site.0));
    let class = operation.how.class();
    let number = state.thread_number() as usize;
    if matches!(class, Class::CondvarWait | Class::CondvarNotify) {
        // What it does is told by the futex call that ends the region.
        state.execution.threads[number].condvar.address = Some(address);
        return;
    }
    let Some(gate) = gate(state) else {
        // It is run again: others must learn all the same what it waits with.
        let thread = &mut state.execution.threads[number];
        if class == Class::Unlock && thread.condvar.address.is_some() {
            thread.condvar.lock = state.knowledge.names.is_told_as_lock(address).then_some(address);
        }
        return;
    };
    if state.execution.threads[number].condvar.address == Some(address) {
        // The futex call looks at the word first.
        return;
    }
    if let Some(mode) = mode(class)
        && is_lock(state, operation)
    {
        let lock = names::lock(address);
        let use_word = |gate: &mut Gate<'_>| {
            touch_all((address, operation.size), Access::Write, |block, access| {
                gate.uses(block, access, site);
            });
        };
        let told = match class {
            Class::TryLock | Class::TryReadLock => {
                gate.after(&Operation::TryAcquire(lock, mode), Effect::Tried(wrote));
                true
            }
            Class::Lock | Class::ReadLock if wrote => {
                gate.after(&Operation::Acquire(lock, mode), Effect::Done);
                true
            }
            // It looks; the exchange behind it, in the same region, acquires.
            Class::ReadLock => return,
            Class::Unlock if state.execution.threads[number].condvar.address.is_some() => {
                let held = gate.held().contains(&(lock, mode));
                if held {
                    state.execution.threads[number].condvar.lock = Some(address);
                }
                held
            }
            // Who takes the lock next may free it: giving it back is before what that releases.
            Class::Downgrade if gate.held().contains(&(lock, mode)) => {
                use_word(gate);
                gate.after(&Operation::Downgrade(lock), Effect::Done);
                return;
            }
            Class::Unlock | Class::ReadUnlock if gate.held().contains(&(lock, mode)) => {
                use_word(gate);
                gate.after(&Operation::Release(lock, mode), Effect::Done);
                return;
            }
            _ => false,
        };
        if told {
            use_word(gate);
            return;
        }
        state.knowledge.names.use_word(address, Use::Refused);
    }
    data(state, gate, operation, access, wrote);
}

/// The running thread is about to look at a word, maybe in vain, over and over.
fn looks(gate: &mut Gate<'_>, operation: &AtomicOperation) {
    let (site, weak) = (u64::from(operation.site.0), operation.sees_stale_values());
    touch_all((operation.address, operation.size), operation.in_vain(), |block, access| {
        gate.looks(block, access, weak, site);
    });
}

/// An atomic operation that is told as an access to data.
fn data(
    state: &mut State,
    gate: &mut Gate<'_>,
    operation: &AtomicOperation,
    access: Access,
    wrote: bool,
) {
    let (address, size, site) =
        (operation.address, operation.size as usize, u64::from(operation.site.0));
    state.knowledge.names.use_as_data(address, size);
    // A lock that is told as data is a word like any other.
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
    // Who drops the last reference sees what the others did with theirs: by a fence, or a load, that belongs to the count.
    ordering.acquires |= access == Access::RefDecLast;
    let settled = access == Access::RefDecLast && operation.how.has(How::SETTLED);
    let access = if settled { Access::RefDec } else { access };
    let mut kind = Kind::Atomic(value, ordering);
    let number = state.thread_number() as usize;
    if handles::drops(state, number, operation) {
        kind = unseen(kind);
    }
    tell(gate, (address, size), access, kind, |object, access, kind| match operation.guard {
        Some(_) => Operation::Await { object, access, kind, site },
        None => Operation::Data { object, access, kind, site },
    });
}

/// A loop that only reads goes on: the running thread has waited for the words that it reads.
fn changed(state: &State, gate: &mut Gate<'_>) {
    for (address, size) in state.running_thread().loops.spin.words() {
        let kind = Kind::Atomic(Value::Read, INTERNAL);
        tell(gate, (address, size as usize), Access::Read, kind, |object, access, kind| {
            Operation::Await { object, access, kind, site: 0 }
        });
    }
}

/// Something was done with a futex.
fn futex(state: &mut State, address: usize, what: Futex<'_>) {
    match what {
        Futex::Compared | Futex::TimedOut | Futex::Woken { .. } => {}
        Futex::Differs { timed } => futex_wait(state, address, false, timed),
        Futex::Enqueued { timed } => futex_wait(state, address, true, timed),
        Futex::Returned => futex_returned(state, address),
        Futex::Left => futex_left(state, address),
        Futex::Wakes(woken) => futex_wake(state, address, woken),
    }
}

/// The queue at an address is used as that of a condition variable, or in a way that the discipline does not know.
fn use_queue(state: &mut State, gate: &mut Gate<'_>, address: usize, how: Use) {
    if state.knowledge.names.use_queue(address, how) {
        gate.expose(names::queue(address));
    }
}

/// An access to a queue that the discipline does not know: seen by all.
fn queue(state: &mut State, gate: &mut Gate<'_>, address: usize, access: Access) {
    use_queue(state, gate, address, Use::Exposed);
    gate.after(&internal(names::queue(address), access), Effect::Done);
}

/// A futex's word was compared, and the running thread has entered its queue or not.
fn futex_wait(state: &mut State, address: usize, entered: bool, timed: bool) {
    let number = state.thread_number() as usize;
    let thread = &mut state.execution.threads[number];
    let (condvar, lock) = (thread.condvar.address.take(), thread.condvar.lock.take());
    let known = lock.filter(|_| condvar == Some(address) && entered);
    thread.condvar.waits_with = known.filter(|_| !timed);
    let Some(gate) = gate(state) else { return };
    if let Some(lock) = known {
        let (queue, lock) = (names::queue(address), names::lock(lock));
        gate.after(&Operation::Wait { queue, lock, in_order: false }, Effect::Done);
        use_queue(state, gate, address, Use::Condvar);
        if timed {
            use_queue(state, gate, address, Use::Exposed);
        }
        return;
    }
    if let Some(lock) = lock {
        let lock = names::lock(lock);
        gate.after(&Operation::Release(lock, Mode::Exclusive), Effect::Done);
    }
    compared(state, gate, address);
    if entered {
        queue(state, gate, address, Access::Enqueue);
    }
}

/// A futex's word was compared, and the running thread goes on for no reason: as if it had never been in the queue, where nobody
/// has seen it.
fn futex_returned(state: &mut State, address: usize) {
    let number = state.thread_number() as usize;
    let thread = &mut state.execution.threads[number];
    let (condvar, lock) = (thread.condvar.address.take(), thread.condvar.lock.take());
    let Some(gate) = gate(state) else { return };
    if let Some(lock) = lock {
        gate.after(&Operation::Release(names::lock(lock), Mode::Exclusive), Effect::Done);
    }
    if condvar == Some(address) {
        gate.after(&Operation::Local, Effect::Done);
    } else {
        compared(state, gate, address);
    }
}

/// The word of a futex was compared by the machine.
fn compared(state: &mut State, gate: &mut Gate<'_>, address: usize) {
    state.knowledge.names.use_as_data(address, 4);
    let kind = Kind::Atomic(Value::Read, INTERNAL);
    tell(gate, (address, 4), Access::Read, kind, |object, access, kind| Operation::Data {
        object,
        access,
        kind,
        site: 0,
    });
}

/// The running thread leaves a futex's queue, in which it might have timed out.
fn futex_left(state: &mut State, address: usize) {
    if let Some(gate) = gate(state) {
        queue(state, gate, address, Access::Leave);
    }
}

/// Waiters of a futex were woken.
fn futex_wake(state: &mut State, address: usize, woken: &[u32]) {
    let number = state.thread_number() as usize;
    let condvar = state.execution.threads[number].condvar.address.take();
    let Some(gate) = gate(state) else { return };
    let threads = &state.execution.threads;
    let waits_with = |&thread: &u32| {
        let lock = threads[thread as usize].condvar.waits_with?;
        Some((ThreadId(thread), names::lock(lock)))
    };
    let known: Vec<_> = woken.iter().filter_map(waits_with).collect();
    if condvar == Some(address) && known.len() == woken.len() {
        use_queue(state, gate, address, Use::Condvar);
        return gate.after(
            &Operation::Notify(names::queue(address)),
            Effect::Woke { waiters: &known, others: false },
        );
    }
    let access = if woken.is_empty() { Access::WakeNone } else { Access::Wake };
    queue(state, gate, address, access);
    for &thread in woken {
        let pending = state.execution.threads[thread as usize].pending;
        if let Pending::FutexQueued { deadline: None, .. } = pending {
            gate.enables(ThreadId(thread));
        }
    }
}

/// A thread has ended.
pub fn ended(state: &mut State, thread: ThreadId, gate: &mut Gate<'_>) {
    entangle(state, gate.held());
    gate.ended(thread);
}
