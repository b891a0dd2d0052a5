//! The hooks of atomic operations and fences: stop, execute on the program's memory, notify who
//! looks on.

use crate::detect::AccessKind;
use crate::loops::read_only_spin::Advice;
use crate::machine::config::Mode;
use crate::machine::event::Event;
use crate::machine::event::Executed;
use crate::machine::footprints;
use crate::machine::hook::{self, Entered};
use crate::machine::operation::Atomic;
use crate::machine::operation::AtomicOperation;
use crate::machine::operation::Await;
use crate::machine::operation::Pending;
use crate::machine::state::NOTHING;
use crate::machine::state::Passed;
use crate::machine::state::State;
use crate::machine::thread::Thread;
use crate::machine::watch::watching;
use crate::memory::words::store;
use crate::scheduler::event;
use crate::scheduler::spurious;
use crate::scheduler::stops::stop;
use lockred_protocol::hooks::{Class, How, Order, RmwOp, Test};
use lockred_protocol::sites::SiteId;

/// Value of an order's code; a code that the shim never emits counts as the strongest.
fn order(code: u32) -> Order {
    Order::from_code(code).unwrap_or(Order::SeqCst)
}

/// Cuts a value to `size` bytes.
const fn cut(value: u64, size: u32) -> u64 {
    if size >= 8 { value } else { value & ((1 << (size * 8)) - 1) }
}

/// Result of a read-modify-write on words of `size` bytes.
fn apply(op: RmwOp, old: u64, operand: u64, size: u32) -> u64 {
    let bits = 64 - size * 8;
    let signed = |value: u64| ((value << bits) as i64) >> bits;
    let new = match op {
        RmwOp::Xchg => operand,
        RmwOp::Add => old.wrapping_add(operand),
        RmwOp::Sub => old.wrapping_sub(operand),
        RmwOp::And => old & operand,
        RmwOp::Nand => !(old & operand),
        RmwOp::Or => old | operand,
        RmwOp::Xor => old ^ operand,
        RmwOp::Max if signed(old) >= signed(operand) => old,
        RmwOp::Min if signed(old) <= signed(operand) => old,
        RmwOp::UMax if old >= operand => old,
        RmwOp::UMin if old <= operand => old,
        RmwOp::Max | RmwOp::Min | RmwOp::UMax | RmwOp::UMin => operand,
    };
    cut(new, size)
}

/// Operations of a step that are executed without looking: after them, an endless loop must show.
const UNWATCHED: u32 = 1 << 20;

/// Whether an operation is only executed, and nobody has to know: before the root, and while the
/// running thread is alone with nothing unordered after it. Locks are always looked at, as their
/// holders are reported; so is what waits.
fn only_executed(state: &mut State, address: usize, how: u32) -> bool {
    if crate::monitor::exclusive::asks(state) {
        return true;
    }
    if state.running.is_none() || crate::scheduler::acts::mutes(state, address, How(how)) {
        return true;
    }
    if How(how).class().is_lock() || state.thread().guard.is_some() {
        return false;
    }
    if !state.below_root {
        return true;
    }
    if state.config.mode != Mode::Explore || watching() || state.config.spurious() {
        return false;
    }
    state.step.unwatched += 1;
    state.step.unwatched < UNWATCHED
}

/// The memory of an atomic operation, which is executed now, must be there.
fn check(entered: &mut Entered, address: usize, size: u32, kind: AccessKind, site: SiteId) {
    if crate::monitor::exclusive::asks(entered) {
        return;
    }
    crate::monitor::claims::operation(
        entered,
        address,
        size as usize,
        site,
        kind == AccessKind::AtomicWrite,
    );
    if entered.below_root && entered.running.is_some() && entered.config.mode != Mode::Free {
        crate::hooks::memory_safety::check(entered, kind, address, size as usize, site);
    }
}

/// Whether the operation would leave its word as it is now: what a loop that waits does over and
/// over.
fn is_idle(operation: &AtomicOperation, rmw: Option<(RmwOp, u64)>) -> bool {
    match operation.kind {
        Atomic::Load | Atomic::Failed => true,
        Atomic::Store => false,
        Atomic::CompareExchange { expected } => operation.word() != expected,
        Atomic::Rmw => rmw.is_some_and(|(op, operand)| {
            let word = operation.word();
            apply(op, word, operand, operation.size) == word
        }),
    }
}

/// How the running thread has come to an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// Reports show the operation.
    Reported,
    /// It goes on in a loop in which it has waited for a change, which no report shows.
    Again,
    /// It goes round a loop once more and reads what it read before.
    Repeat,
}

/// Lets the running thread reach its operation, whose memory must be there then.
fn arrive(
    entered: &mut Entered,
    operation: &mut AtomicOperation,
    rmw: Option<(RmwOp, u64)>,
    passed: Passed,
) -> Arrival {
    let arrival = reach(entered, operation, rmw, passed);
    let reads = matches!(operation.kind, Atomic::Load | Atomic::Failed);
    let kind = if reads { AccessKind::AtomicRead } else { AccessKind::AtomicWrite };
    check(entered, operation.address, operation.size, kind, operation.site);
    arrival
}

/// Stops where the operation is a scheduling point, waits where it has to wait.
fn reach(
    entered: &mut Entered,
    operation: &mut AtomicOperation,
    rmw: Option<(RmwOp, u64)>,
    passed: Passed,
) -> Arrival {
    let state = &mut **entered;
    // Once the process has exited, the others are bounded by their steps.
    let alone = state.execution.live == 1 && state.execution.exit.is_none();
    operation.guard = state.thread().guard.take();
    if !state.below_root {
        // A main that waits before it creates threads: that is the root.
        if !operation.can_proceed() {
            stop(entered, Pending::Atomic(*operation), passed, operation.site);
        }
        return Arrival::Reported;
    }
    let idle = is_idle(operation, rmw);
    let own = !operation.how.has(How::PRIMITIVE);
    if operation.how.class() == Class::Invisible {
        if !operation.can_proceed() {
            stop(entered, Pending::Atomic(*operation), passed, operation.site);
        }
        return Arrival::Reported;
    }
    let thread = state.thread();
    let belongs = operation.how.has(How::IN_REGION) && thread.is_in_region_of(operation.address);
    let inside = belongs
        || crate::machine::channels::is_inside_modelled_call(state)
        || !own && crate::machine::region::goes_on(state);
    if inside && operation.can_proceed() {
        return Arrival::Reported;
    }
    let thread = state.thread();
    thread.atomic.open = false;
    // A loop that waits and is left at once may be what a loop around it goes round with, pausing.
    let outside = operation.guard.is_some()
        && thread.loops.read_only_spin.has_paused()
        && operation.can_proceed();
    if idle && (operation.guard.is_none() || outside) {
        match thread.loops.read_only_spin.before_read(
            operation.site,
            operation.address,
            operation.size,
            own || outside,
        ) {
            Advice::Stop => {}
            Advice::Skip => return Arrival::Repeat,
            Advice::Wait => {
                // What is pending then is the wait: what is read is the operation's.
                let reads = [operation.address as u64, operation.size.into(), passed[0], passed[1]];
                crate::scheduler::pauses::wait_for_change(entered, reads, operation.site);
                if operation.can_proceed() {
                    return Arrival::Again;
                }
            }
        }
    }
    if !idle {
        crate::machine::loops::leave_reads(entered, operation.site);
    }
    // A thread that lives alone cannot be interleaved with anything: what it does belongs to the
    // step under way.
    if !(alone && operation.can_proceed()) {
        if operation.leaves_out_rounds() {
            // They order nothing: the first of them could be made at once.
            event::notify(entered, &Event::Looks(operation));
        }
        stop(entered, Pending::Atomic(*operation), passed, operation.site);
    }
    let thread = entered.thread();
    thread.atomic.open = thread.atomic.functions > 0 && !own;
    Arrival::Reported
}

/// The running thread has executed an operation.
fn executed(
    entered: &mut Entered,
    operation: &AtomicOperation,
    arrival: Arrival,
    rmw: Option<RmwOp>,
    old: u64,
    new: u64,
) {
    if operation.how.class() == Class::Invisible {
        return;
    }
    let state = &mut **entered;
    let wrote = match operation.kind {
        Atomic::Load | Atomic::Failed => false,
        Atomic::Store | Atomic::Rmw => true,
        Atomic::CompareExchange { expected } => old == expected,
    };
    let access = footprints::access(operation, rmw, old, new, state.thread().fenced);
    let watched = watching();
    let looks = watched || operation.how.class().is_lock();
    let repeated = looks && arrival == Arrival::Repeat && state.step.is_repeated(operation);
    let reported = arrival == Arrival::Reported;
    let done = Executed { operation, access, rmw, old, new, wrote, reported, repeated, watched };
    event::notify_inlined(entered, &Event::Atomic(done));
    if entered.below_root {
        regions(entered.thread(), operation);
    }
}

/// An operation may open an atomic region, or close it.
fn regions(thread: &mut Thread, operation: &AtomicOperation) {
    if operation.how.has(How::OPENS_REGION) {
        let other_words = matches!(operation.how.class(), Class::CondvarWait | Class::Countdown);
        thread.atomic.open = true;
        thread.atomic.word = if other_words { 0 } else { operation.address };
        thread.atomic.deadline = operation.how.has(How::DEADLINE);
    }
    if operation.how.has(How::CLOSES_REGION) {
        thread.atomic.open = thread.atomic.functions > 0;
    }
}

fn operation(
    kind: Atomic,
    address: usize,
    size: u32,
    order: Order,
    how: u32,
    site: u32,
) -> AtomicOperation {
    AtomicOperation { kind, address, size, order, how: How(how), guard: None, site: SiteId(site) }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_atomic_load(
    address: usize,
    size: u32,
    code: u32,
    how: u32,
    site: u32,
) -> u64 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if only_executed(entered, address, how) {
        check(entered, address, size, AccessKind::AtomicRead, SiteId(site));
        return crate::memory::words::load(address, size);
    }
    let mut load = operation(Atomic::Load, address, size, order(code), how, site);
    let arrival = arrive(entered, &mut load, None, NOTHING);
    let value = load.word();
    executed(entered, &load, arrival, None, value, value);
    value
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_atomic_store(
    address: usize,
    value: u64,
    size: u32,
    code: u32,
    how: u32,
    site: u32,
) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if only_executed(entered, address, how) {
        check(entered, address, size, AccessKind::AtomicWrite, SiteId(site));
        return store(address, size, value);
    }
    let mut write = operation(Atomic::Store, address, size, order(code), how, site);
    let arrival = arrive(entered, &mut write, None, [value, 0, 0, 0]);
    let old = write.word();
    store(address, size, value);
    executed(entered, &write, arrival, None, old, cut(value, size));
}

/// See [`lockred_protocol::hooks`].
// Its caller is looked for on the stack, also where unit tests play the program.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn __lr_atomic_rmw(
    address: usize,
    operand: u64,
    op: u32,
    size: u32,
    code: u32,
    how: u32,
    site: u32,
) -> u64 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    let op = RmwOp::from_code(op).unwrap_or_else(|| {
        crate::session::files::fatal("an unknown read-modify-write was emitted")
    });
    let parks = How(how).class() == Class::Park;
    let passed = [operand, op as u64, address as u64, 0];
    let waits = parks && crate::scheduler::acts::parks(entered, address, passed);
    if only_executed(entered, address, how) {
        check(entered, address, size, AccessKind::AtomicWrite, SiteId(site));
        let old = crate::memory::words::load(address, size);
        let new = apply(op, old, operand, size);
        store(address, size, new);
        crate::machine::handles::counts(entered, address, How(how));
        crate::scheduler::acts::counted(entered, How(how), new);
        return old;
    }
    if parks && !waits && returns_for_no_reason(entered, address, operand, site) {
        return PARK_TOKEN;
    }
    let mut update = operation(Atomic::Rmw, address, size, order(code), how, site);
    let arrival = arrive(entered, &mut update, Some((op, operand)), [operand, op as u64, 0, 0]);
    let old = update.word();
    let new = if stands_still(entered, &update) { old } else { apply(op, old, operand, size) };
    store(address, size, new);
    executed(entered, &update, arrival, Some(op), old, new);
    crate::machine::handles::counts(entered, address, How(how));
    crate::scheduler::acts::counted(entered, How(how), new);
    if parks {
        spurious::ended(entered, address);
    }
    old
}

/// Whether the counter of a recognised condition variable need not be counted up, so that states
/// recur: it only distinguishes threads of a notification that have looked at it and are not in the
/// queue yet, and there are none.
fn stands_still(state: &State, update: &AtomicOperation) -> bool {
    let about_to_wait = |thread: &Thread| thread.condvar.address == Some(update.address);
    state.config.by_states
        && update.how.class() == Class::CondvarNotify
        && state.below_root
        && !state.execution.threads.iter().any(about_to_wait)
}

/// What taking the token of a parker reads, by its sync model: the token.
const PARK_TOKEN: u64 = 1;

/// Whether the running thread, which is about to park, is to go on without having taken the token.
fn returns_for_no_reason(entered: &mut Entered, address: usize, operand: u64, site: u32) -> bool {
    if !entered.below_root && entered.config.spurious() {
        // A main that parks before it creates threads: that is the root.
        stop(entered, Pending::Choosing, [address as u64, operand, 0, 0], SiteId(site));
        event::notify(entered, &Event::WentOn);
    }
    let happens = spurious::happens(entered, address, __lr_atomic_rmw as *const () as usize);
    if happens {
        entered.thread().guard = None;
        event::notify(entered, &Event::ParkedForNoReason(address, SiteId(site)));
    }
    happens
}

/// See [`lockred_protocol::hooks`].
// Its caller is looked for on the stack, also where unit tests play the program.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn __lr_atomic_cmpxchg(
    address: usize,
    expected: u64,
    new: u64,
    size: u32,
    orders: u32,
    how: u32,
    site: u32,
) -> u64 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    let expected = cut(expected, size);
    if only_executed(entered, address, how) {
        check(entered, address, size, AccessKind::AtomicWrite, SiteId(site));
        let old = crate::memory::words::load(address, size);
        if old == expected {
            store(address, size, new);
        }
        report_exchanged(old == expected);
        return old;
    }
    let kind = Atomic::CompareExchange { expected };
    let mut exchange = operation(kind, address, size, order(orders & 0xff), how, site);
    let arrival = arrive(entered, &mut exchange, None, [new, orders.into(), 0, 0]);
    let old = exchange.word();
    let weak = exchange.how.has(How::WEAK);
    if old == expected
        && weak
        && spurious::happens(entered, address, __lr_atomic_cmpxchg as *const () as usize)
    {
        exchange.kind = Atomic::Failed;
    } else if old == expected {
        store(address, size, new);
    }
    let exchanged = old == expected && exchange.kind != Atomic::Failed;
    if !exchanged {
        exchange.order = order(orders >> 8);
    }
    executed(entered, &exchange, arrival, None, old, if exchanged { cut(new, size) } else { old });
    if weak {
        if exchange.kind != Atomic::Failed {
            spurious::ended(entered, address);
        }
        report_exchanged(exchanged);
    }
    old
}

/// Whether the weak compare-exchange that was executed last wrote.
#[unsafe(no_mangle)]
pub static mut __lr_exchanged: u32 = 0;

/// Tells the program, which looks at once.
fn report_exchanged(exchanged: bool) {
    // SAFETY: one OS thread, and the program does not run meanwhile.
    unsafe { __lr_exchanged = u32::from(exchanged) };
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_fence(code: u32, _site: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if !watching() {
        return;
    }
    let entered = &mut hook::enter();
    if entered.running.is_some() && !crate::machine::channels::is_inside_modelled_call(entered) {
        let order = order(code);
        entered.thread().fenced |= order.releases();
        event::notify(entered, &Event::Fence(order));
    }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_await(mask: u64, value: u64, test: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    if entered.running.is_some() {
        let test = Test::from_code(test)
            .unwrap_or_else(|| crate::session::files::fatal("an unknown test was emitted"));
        entered.thread().guard = Some(Await { mask, value, test });
    }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_spin_hint(site: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    if entered.below_root && entered.running.is_some() {
        crate::scheduler::pauses::pause(entered, SiteId(site));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_modify_writes_compute_what_they_say() {
        for (op, old, operand, size, new) in [
            (RmwOp::Xchg, 1, 2, 4, 2),
            (RmwOp::Add, 0xff, 1, 1, 0),
            (RmwOp::Sub, 0, 1, 2, 0xffff),
            (RmwOp::And, 0b110, 0b011, 8, 0b010),
            (RmwOp::Nand, 1, 1, 1, 0xfe),
            (RmwOp::Or, 0b100, 0b001, 4, 0b101),
            (RmwOp::Xor, 0b110, 0b011, 4, 0b101),
            (RmwOp::Max, 0xff, 1, 1, 1),
            (RmwOp::Min, 0xff, 1, 1, 0xff),
            (RmwOp::UMax, 0xff, 1, 1, 0xff),
            (RmwOp::UMin, 0xff, 1, 1, 1),
            (RmwOp::Max, u64::MAX, 1, 8, 1),
        ] {
            assert_eq!(apply(op, old, operand, size), new, "{op:?}");
        }
    }
}
