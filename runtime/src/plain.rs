//! Plain memory accesses, and what the race detector is told in general.

use crate::arena::Region;
use crate::births;
use crate::config::Mode;
use crate::detect::{self, AccessInfo, AccessKind, By, Detector, Race, StackId};
use crate::execution::Held;
use crate::failure::{Failure, place};
use crate::heap::Reuse;
use crate::hook::{self, Entered};
use crate::moments::{Moment, Spot};
use crate::objects;
use crate::operation::{Atomic, AtomicOperation};
use crate::state::State;
use lockred_search::footprint::Access;
use lockred_search::transactional::Racer;
use lockred_trace::codes::BugKind;
use lockred_trace::hooks::{Class, How};
use lockred_trace::message::{Place, Role, Stronger};
use lockred_trace::sites::SiteId;

/// Plain hooks are called only while this is not 0: below the root.
#[unsafe(no_mangle)]
pub static mut __lr_watch: u32 = 0;

/// Accesses may race. While they cannot, they are only looked at for whether their memory is there ([`crate::misuse`]).
static mut MAY_RACE: bool = false;

/// An execution begins: the detector forgets, and watches.
pub fn begin(state: &mut State) {
    crate::observed::begin(state);
    if state.config.detects {
        let ranges = [crate::arena::range(), crate::root::globals()];
        let detector = state.monitors.detector.get_or_insert_with(|| Detector::new(&ranges));
        if state.monitors.recorder.is_some() {
            detector.keep_events();
        }
        detector.reset();
    }
    wake_up(state);
}

/// The running thread may be alone with nothing unordered behind it: then no access can race until it creates a thread.
pub fn rest_if_alone(state: &mut State) {
    let number = state.thread_number();
    let mut others = state.execution.threads.iter().enumerate();
    let behind_all = match &state.monitors.detector {
        Some(detector) => detector.is_behind_all(number),
        // By transactions, only joins show that nothing is unordered: locks may have ordered it by chance.
        None => others.all(|(other, thread)| other == number as usize || thread.handle.joined),
    };
    if state.execution.live == 1 && behind_all {
        rest();
    }
}

/// Accesses are not watched for races until a thread is created.
pub fn rest() {
    // SAFETY: one OS thread.
    unsafe { MAY_RACE = false };
}

/// A thread was created: accesses may race again.
pub fn wake_up(state: &State) {
    if state.config.mode != Mode::Free {
        // SAFETY: one OS thread; the program reads the first only while a coroutine runs.
        unsafe {
            __lr_watch = 1;
            MAY_RACE = true;
        }
    }
}

/// Plain hooks are not called for a while, and are again.
pub fn pause(pauses: bool) {
    // SAFETY: one OS thread.
    unsafe { __lr_watch = u32::from(!pauses) };
}

/// Whether accesses are watched for races now.
pub fn watching() -> bool {
    // SAFETY: one OS thread.
    unsafe { MAY_RACE }
}

/// A stack id for the detector: of the running stack while recording, else 0. A thread that goes round and round in a turn of its own
/// keeps the one that it had, as it may do that a million times.
#[inline]
fn stack_id(state: &mut State, site: SiteId) -> StackId {
    if state.monitors.recorder.is_none() { StackId(0) } else { recorded_stack_id(state, site) }
}

/// The same, while recording.
#[inline(never)]
fn recorded_stack_id(state: &mut State, site: SiteId) -> StackId {
    if state.thread().loops.spin.in_turn() {
        return last_stack_id(state);
    }
    let thread = state.thread_number();
    let Some(recorder) = &mut state.monitors.recorder else { return StackId(0) };
    let spot = Spot { thread, site, pointer: crate::context::stack_pointer() };
    let events = state.monitors.detector.as_ref().map_or(0, Detector::events);
    let held = state.execution.held.iter().filter(|held| held.thread == thread);
    StackId(recorder.moments.keep(spot, (recorder.steps.len(), events), held))
}

/// The stack id that was given last.
fn last_stack_id(state: &State) -> StackId {
    StackId(state.monitors.recorder.as_ref().map_or(0, |recorder| recorder.moments.last()))
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_read(address: usize, size: usize, site: u32) {
    let _leftovers = crate::scrub::Leftovers;
    if let Some(entered) = &mut hook::enter_if_ready() {
        check(entered, (address, size), site, false, Detector::read);
    }
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_write(address: usize, size: usize, site: u32) {
    let _leftovers = crate::scrub::Leftovers;
    if let Some(entered) = &mut hook::enter_if_ready() {
        write(entered, address, size, site);
    }
}

/// The running thread writes plain memory.
pub fn write(entered: &mut Entered, address: usize, size: usize, site: u32) {
    check(entered, (address, size), site, true, Detector::write);
}

/// The runtime reads memory on the running thread's behalf.
pub fn reads(entered: &mut Entered, address: usize, size: usize) {
    crate::claims::operation(entered, address, size, SiteId(0), false);
    check(entered, (address, size), 0, false, Detector::read);
}

/// The runtime writes memory on the running thread's behalf.
pub fn writes(entered: &mut Entered, address: usize, size: usize) {
    crate::claims::operation(entered, address, size, SiteId(0), true);
    write(entered, address, size, 0);
}

/// See [`lockred_trace::hooks`]: no other thread can reach the memory, so that neither gate nor detector need to know.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_check(address: usize, size: usize, writes: u32, site: u32) {
    let _leftovers = crate::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    if size == 0 || !is_checked(entered) {
        return;
    }
    let kind = if writes == 1 { AccessKind::Write } else { AccessKind::Read };
    crate::misuse::check(entered, kind, address, size, SiteId(site));
    if writes == 1 && watching() {
        progresses(entered, address, size);
    }
}

/// Whether plain accesses are those of the program's threads, and of interest.
#[inline]
fn is_checked(state: &State) -> bool {
    state.below_root && state.running.is_some() && !crate::channels::is_muted(state)
}

type Check = fn(&mut Detector, By, usize, usize) -> Option<Race>;

fn check(
    entered: &mut Entered,
    (address, size): (usize, usize),
    site: u32,
    writes: bool,
    check: Check,
) {
    if size == 0 || !is_checked(entered) {
        return;
    }
    crate::leaving::at_access(entered, size);
    let kind = if writes { AccessKind::Write } else { AccessKind::Read };
    crate::misuse::check(entered, kind, address, size, SiteId(site));
    if watching() {
        let thread = entered.thread_number();
        accessed(entered, thread, (address, size), site, writes, check);
    }
}

/// A write beyond the running thread's stack tells rounds of its loops apart.
fn progresses(state: &mut State, address: usize, size: usize) {
    if !state.thread().region.is_stack(address) {
        state.thread().loops.rounds.plain_write(address, size);
        crate::rounds::progress(state);
    }
}

/// Memory that is there is accessed.
fn accessed(
    entered: &mut Entered,
    thread: u32,
    (address, size): (usize, usize),
    site: u32,
    writes: bool,
    check: Check,
) {
    if writes {
        progresses(entered, address, size);
    }
    crate::gate::plain(entered, address, size, writes, site);
    crate::atomicity::plain(entered, (address, size), site, writes);
    let (mut race, mut stack) = (None, StackId(0));
    if entered.monitors.detector.is_some() {
        crate::observed::accessed(entered, address, size, SiteId(site), writes, false);
        stack = stack_id(entered, SiteId(site));
    }
    let state = &mut **entered;
    let by = By { thread, site: SiteId(site), stack };
    if let Some(detector) = &mut state.monitors.detector {
        race = check(detector, by, address, size);
    }
    let kind = if writes { AccessKind::Write } else { AccessKind::Read };
    judged(state, births::access(kind, by, (address, size)), race);
}

/// An access was compared with what was done to the same bytes before; what is left is whether its block was there.
fn judged(state: &mut State, access: AccessInfo, race: Option<Race>) {
    if let Some(race) = &race {
        report(state, race);
    }
    if let Some(race) = births::used(state, access, race.map(|race| race.earlier.thread)) {
        report(state, &race);
    }
}

/// An atomic operation was executed. Operations that the search does not order (class `Invisible`) order nothing. `told`: reports
/// may show it, so its stack is kept while recording.
pub fn atomic(
    entered: &mut Entered,
    thread: u32,
    operation: &AtomicOperation,
    access: Access,
    wrote: bool,
    told: bool,
) {
    let class = operation.how.class();
    if class == Class::Invisible || !watching() {
        return;
    }
    let (mut race, mut stack) = (None, StackId(0));
    if entered.monitors.detector.is_some() {
        stack = if told { stack_id(entered, operation.site) } else { last_stack_id(entered) };
        let by = By { thread, site: operation.site, stack };
        race = detect_atomic(entered, by, operation, access, wrote);
    }
    let state = &mut **entered;
    let kind = if wrote { AccessKind::AtomicWrite } else { AccessKind::AtomicRead };
    let by = By { thread, site: operation.site, stack };
    let bytes = (operation.address, operation.size as usize);
    judged(state, births::access(kind, by, bytes), race);
    if operation.order.acquires() {
        rest_if_alone(state);
    }
}

/// The detector's part of [`atomic`].
fn detect_atomic(
    entered: &mut Entered,
    by: By,
    operation: &AtomicOperation,
    access: Access,
    wrote: bool,
) -> Option<Race> {
    // Users of a recognised primitive cannot see weak values.
    let trusted = operation.how.has(How::PRIMITIVE);
    let atomic = detect::Atomic { order: operation.order, access, trusted };
    let (address, size) = (operation.address, operation.size as usize);
    if !trusted {
        crate::observed::accessed(entered, address, size, operation.site, wrote, true);
    }
    let detector = entered.monitors.detector.as_mut()?;
    match operation.kind {
        Atomic::Store => detector.atomic_write(by, address, size, atomic),
        _ if wrote => detector.atomic_rmw(by, address, size, atomic),
        _ => detector.atomic_read(by, address, size, atomic),
    }
}

/// The running thread is about to look at a word, maybe in vain, over and over.
pub fn looks(state: &mut State, operation: &AtomicOperation) {
    if !watching() || state.monitors.detector.is_none() {
        return;
    }
    let stack = stack_id(state, operation.site);
    let thread = state.thread_number();
    let Some(detector) = &mut state.monitors.detector else { return };
    let by = By { thread, site: operation.site, stack };
    let (address, size) = (operation.address, operation.size as usize);
    let (access, weak) = (operation.in_vain(), operation.sees_stale_values());
    if let Some(race) = detector.look(by, address, size, access, weak) {
        report(state, &race);
    }
}

/// A block was allocated.
pub fn allocated(state: &mut State, address: usize, size: usize) {
    let (true, Some(thread)) = (watching(), state.running) else { return };
    // Who allocates with reuse has freed it. That is not forgotten, so that somebody's access through an old pointer is one to freed memory,
    // for the search by transactions and for its replay alike.
    if let (Reuse::Late, Some(detector)) = (state.config.reuse, &mut state.monitors.detector) {
        crate::arena::touched(address, size, |address, size| detector.allocated(address, size));
    }
    if !crate::channels::is_muted(state) {
        let stack = stack_id(state, SiteId(0));
        births::begins(state, By { thread, site: SiteId(0), stack }, address);
    }
}

/// A block is about to be freed.
pub fn freed(state: &mut State, address: usize, size: usize) {
    if crate::channels::freed(state, address) {
        return;
    }
    let (true, Some(thread)) = (watching(), state.running) else { return };
    let by = By { thread, site: SiteId(0), stack: stack_id(state, SiteId(0)) };
    let mut race = None;
    // Nobody has accessed what was never touched.
    crate::arena::touched(address, size, |address, size| {
        crate::gate::plain(state, address, size, true, 0);
        if let Some(detector) = &mut state.monitors.detector {
            race = race.or(detector.freed(by, address, size));
        }
    });
    judged(state, births::access(AccessKind::Free, by, (address, size)), race);
}

/// What stands for a thread's stack, which its end frees: a word of its region that is no memory of the program.
const fn whole_stack(region: Region) -> usize {
    region.base()
}

/// The running thread uses the stack of another one, which must not end meanwhile.
pub fn uses_stack(entered: &mut Entered, region: Region, site: SiteId) {
    let state = &mut **entered;
    // What is part of an act on a channel is told to nobody, and ordered by what the channel promises.
    let (true, Some(thread)) = (watching() && !crate::channels::is_muted(state), state.running)
    else {
        return;
    };
    accessed(entered, thread, (whole_stack(region), 8), site.0, false, Detector::read);
}

/// The running thread's stack is gone.
pub fn leaves_stack(state: &mut State, region: Region) {
    freed(state, whole_stack(region), 8);
}

/// A race is a failure of the step under way.
fn report(state: &mut State, race: &Race) {
    let both = [&race.earlier, &race.later];
    let mixed = both.iter().all(|access| access.kind.is_atomic());
    let side = |access: &AccessInfo| {
        let kind = kind_name(access.kind);
        let kind = if mixed { format!("{kind} of {}", bytes(access.size)) } else { kind.into() };
        let birth = access.kind == AccessKind::Allocation;
        let site = if birth { births::SITE } else { u64::from(access.site.0) };
        (kind, access.thread, site)
    };
    let mut failure = failure(both.map(side));
    if mixed {
        failure.notes.push(MIXED.into());
    }
    if state.step.failures.iter().any(|known| known.key == failure.key) {
        return;
    }
    let mut failure =
        failure.at(access_place(state, &race.earlier)).at(access_place(state, &race.later));
    failure.places.extend(causes(state, race));
    if race.later.kind == AccessKind::Free {
        let mut places = crate::misuse::places_of_free(state, race.later.addr);
        // The allocation may be the other side.
        let born = race.earlier.kind == AccessKind::Allocation;
        places.retain(|place| !(born && place.role == Role::Allocated));
        failure.places.extend(places);
    }
    state.step.failures.push(failure);
    crate::debugger::bug(state);
}

/// A data race that the search by transactions found.
pub fn race(earlier: Racer, later: Racer) -> Failure {
    let side = |racer: Racer| {
        let kind = match (racer.site, racer.writes) {
            (births::SITE, _) => AccessKind::Allocation,
            (_, true) => AccessKind::Write,
            (_, false) => AccessKind::Read,
        };
        (kind_name(kind).to_owned(), racer.thread.0, racer.site)
    };
    failure([side(earlier), side(later)])
}

/// What two atomic accesses that race are told with.
const MIXED: &str = "they are atomic accesses of different sizes to a common byte, and one of them writes: unordered, that is undefined behaviour";

/// So many bytes, in words.
pub fn bytes(count: usize) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

/// The failure that two accesses make: what they are, whose, and where.
fn failure([earlier, later]: [(String, u32, u64); 2]) -> Failure {
    let message = format!(
        "data race: {} by thread {} and {} by thread {} are not ordered",
        earlier.0, earlier.1, later.0, later.1,
    );
    let sites = [earlier.2, later.2];
    let key = format!("{}-{}", sites[0].min(sites[1]), sites[0].max(sites[1]));
    Failure::new(BugKind::DataRace, message, &key)
}

const fn kind_name(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "a read",
        AccessKind::Write => "a write",
        AccessKind::AtomicRead => "an atomic load",
        AccessKind::AtomicWrite => "an atomic store or update",
        AccessKind::Free => "the deallocation",
        AccessKind::Allocation => "the allocation",
    }
}

/// Where an access was made.
fn access_place(state: &mut State, access: &AccessInfo) -> Place {
    let mut place = place(access.kind.role(), access.thread, access.site);
    if let Some(recorder) = &state.monitors.recorder {
        let Moment { stack, step, .. } = recorder.moments.of(access.stack.0);
        place.stack = stack;
        place.step = Some(step);
        let size = Some(access.size as u64);
        place.object = crate::record::object(state, access.addr, "memory", size);
    }
    place
}

/// What helps to see why two accesses are not ordered: the locks that their threads held, and the operations whose memory orders are too weak.
fn causes(state: &mut State, race: &Race) -> Vec<Place> {
    let (Some(recorder), Some(detector)) = (&state.monitors.recorder, &state.monitors.detector)
    else {
        return Vec::new();
    };
    let earlier = recorder.moments.of(race.earlier.stack.0);
    let later = recorder.moments.of(race.later.stack.0);
    // What was held at a free is told with that.
    let later = if race.later.kind == AccessKind::Free { Vec::new() } else { later.held };
    let held: Vec<Held> = earlier.held.into_iter().chain(later).collect();
    let too_weak = detector.too_weak(race, earlier.events).into_iter().map(|weak| {
        let Moment { stack, step, .. } = recorder.moments.of(weak.by.stack.0);
        let fails = recorder.steps.get(step).is_some_and(objects::failed_exchange);
        Place {
            stack,
            step: Some(step),
            order: Some(Stronger { has: weak.has, needs: weak.needs, fails }),
            ..place(Role::WeakOrder, weak.by.thread, weak.by.site)
        }
    });
    let weak: Vec<Place> = too_weak.collect();
    crate::lives::held_places(state, Role::Held, held).chain(weak).collect()
}
