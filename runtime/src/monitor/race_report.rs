//! A data race as a failure: what is reported of it, and where.

use crate::detect::{AccessInfo, AccessKind, Race};
use crate::machine::state::State;
use crate::monitor::births;
use crate::record::captures::Capture;
use crate::record::failure::Failure;
use crate::record::failure::place;
use crate::record::held::Held;
use crate::report::objects;
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Place, Role, Stronger};
use lockred_search::transactional::Racer;

/// A race is a failure of the step under way.
pub fn report(state: &mut State, race: &Race) {
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
        let mut places = crate::monitor::allocations::places_of_free(state, race.later.addr);
        // The allocation may be the other side.
        let born = race.earlier.kind == AccessKind::Allocation;
        places.retain(|place| !(born && place.role == Role::Allocated));
        failure.places.extend(places);
    }
    state.step.failures.push(failure);
    crate::report::debugger::bug(state);
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

/// What two atomic accesses that race are reported with.
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
        let Capture { stack, step, .. } = recorder.captures.of(access.stack.0);
        place.stack = stack;
        place.step = Some(step);
        let size = Some(access.size as u64);
        place.object = crate::report::record::object(state, access.addr, "memory", size);
    }
    place
}

/// What helps to see why two accesses are not ordered: the locks that their threads held, and the
/// operations whose memory orders are too weak.
fn causes(state: &mut State, race: &Race) -> Vec<Place> {
    let (Some(recorder), Some(detector)) = (&state.monitors.recorder, &state.monitors.detector)
    else {
        return Vec::new();
    };
    let earlier = recorder.captures.of(race.earlier.stack.0);
    let later = recorder.captures.of(race.later.stack.0);
    // What was held at a free is reported with that.
    let later = if race.later.kind == AccessKind::Free { Vec::new() } else { later.held };
    let held: Vec<Held> = earlier.held.into_iter().chain(later).collect();
    let too_weak = detector.too_weak(race, earlier.events).into_iter().map(|weak| {
        let Capture { stack, step, .. } = recorder.captures.of(weak.by.stack.0);
        let fails = recorder.steps.get(step).is_some_and(objects::failed_exchange);
        Place {
            stack,
            step: Some(step),
            order: Some(Stronger { has: weak.has, needs: weak.needs, fails }),
            ..place(Role::WeakOrder, weak.by.thread, weak.by.site)
        }
    });
    let weak: Vec<Place> = too_weak.collect();
    crate::monitor::allocations::held_places(state, Role::Held, held).chain(weak).collect()
}
