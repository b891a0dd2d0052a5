//! Which memory orders would have to be stronger for two racing accesses to be ordered: by trying
//! it on the record of the execution.
//!
//! While an execution is recorded, the detector keeps what it was notified of synchronisation.
//! Notified of the same again with stronger orders at some sites, a second detector says whether
//! the accesses still race. Sites are then left out one after the other, as long as they do not, so
//! that what remains is needed. The record has no plain accesses but the two, so a release sequence
//! that one ends is taken to go on; where that matters the two do not race to begin with, and
//! nothing is said.

use super::{AccessInfo, AccessKind, Atomic, By, Detector, Race};
use lockred_protocol::hooks::Order;
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::Passing;
use lockred_search::footprint::Access;

/// Events times sites that are tried, at most: that is a second, about.
const MOST_WORK: usize = 20_000_000;

/// What the detector was notified of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Spawn(u32, u32),
    Join(u32, u32),
    Fence(u32, Order),
    Read(By, usize, usize, Atomic),
    Write(By, usize, usize, Atomic),
    Update(By, usize, usize, Atomic),
    Pass(u32, usize, Passing),
    Resume(u32, usize, bool),
}

/// One half of an order at a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Half {
    site: SiteId,
    acquires: bool,
}

/// An atomic operation whose order is too weak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooWeak {
    /// Who made it, where.
    pub by: By,
    /// Its order.
    pub has: Order,
    /// The weakest order that is enough.
    pub needs: Order,
}

impl Event {
    /// The atomic operation, if the program's own code is responsible for its order.
    fn atomic(&self) -> Option<(By, Atomic)> {
        match *self {
            Self::Read(by, _, _, op) | Self::Write(by, _, _, op) | Self::Update(by, _, _, op) => {
                Some((by, op)).filter(|(by, op)| !op.trusted && by.site != SiteId(0))
            }
            _ => None,
        }
    }

    /// The halves of its order that could be stronger.
    fn missing(&self) -> impl Iterator<Item = Half> {
        let half = |acquires: bool, wanted: bool| {
            let (by, op) = self.atomic().filter(|_| wanted)?;
            let has = if acquires { op.order.acquires() } else { op.order.releases() };
            (!has).then_some(Half { site: by.site, acquires })
        };
        let acquires = half(true, matches!(self, Self::Read(..) | Self::Update(..)));
        let releases = half(false, matches!(self, Self::Write(..) | Self::Update(..)));
        acquires.into_iter().chain(releases)
    }

    /// The same with these halves of its order added.
    fn stronger(mut self, halves: &[Half]) -> Self {
        let added: Vec<Half> = self.missing().filter(|half| halves.contains(half)).collect();
        if let Self::Read(_, _, _, op) | Self::Write(_, _, _, op) | Self::Update(_, _, _, op) =
            &mut self
        {
            for half in added {
                op.order = with(op.order, half.acquires);
                if let Access::Update { acquires, releases, .. } = &mut op.access {
                    *acquires |= half.acquires;
                    *releases |= !half.acquires;
                }
            }
        }
        self
    }

    fn report(self, detector: &mut Detector) -> Option<Race> {
        match self {
            Self::Spawn(parent, child) => detector.spawn(parent, child),
            Self::Join(joiner, ended) => detector.join(joiner, ended),
            Self::Fence(thread, order) => detector.fence(thread, order),
            Self::Read(by, addr, size, op) => return detector.atomic_read(by, addr, size, op),
            Self::Write(by, addr, size, op) => return detector.atomic_write(by, addr, size, op),
            Self::Update(by, addr, size, op) => return detector.atomic_rmw(by, addr, size, op),
            Self::Pass(thread, channel, passing) => detector.pass(thread, channel, passing),
            Self::Resume(thread, channel, taken) => detector.resume(thread, channel, taken),
        }
        None
    }
}

/// An order that acquires, or releases, as well.
const fn with(order: Order, acquires: bool) -> Order {
    let (acquires, releases) = (order.acquires() || acquires, order.releases() || !acquires);
    match (order, acquires, releases) {
        (Order::SeqCst, ..) => Order::SeqCst,
        (_, true, true) => Order::AcqRel,
        (_, true, false) => Order::Acquire,
        (_, false, _) => Order::Release,
    }
}

impl Detector {
    /// Keeps what it is notified of synchronisation from now on, so that [`Self::too_weak`] has
    /// something to say.
    pub fn keep_events(&mut self) {
        self.events.get_or_insert_default();
    }

    /// How much it has kept in this execution.
    pub fn events(&self) -> usize {
        self.events.as_ref().map_or(0, Vec::len)
    }

    #[inline]
    pub(super) fn keep(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// The atomic operations, a smallest set of them, with whose orders made stronger a race that
    /// was just answered would be none. `before`: events kept before the earlier access. Empty if
    /// there are no such, or nothing was kept.
    #[must_use]
    pub fn too_weak(&self, race: &Race, before: usize) -> Vec<TooWeak> {
        let Some(events) = &self.events else { return Vec::new() };
        let mut halves: Vec<Half> = Vec::new();
        for half in events.iter().flat_map(Event::missing) {
            if !halves.contains(&half) {
                halves.push(half);
            }
        }
        if halves.is_empty() || events.len().saturating_mul(halves.len()) > MOST_WORK {
            return Vec::new();
        }
        let mut again = Self::new(&[]);
        let mut races = |halves: &[Half]| again.races(events, before, race, halves);
        if !races(&[]) || races(&halves) {
            return Vec::new();
        }
        let mut index = 0;
        while index < halves.len() {
            let half = halves.remove(index);
            if races(&halves) {
                halves.insert(index, half);
                index += 1;
            }
        }
        let mut found: Vec<TooWeak> = Vec::new();
        for event in events {
            let Some((by, op)) = event.atomic() else { continue };
            let needs = event.stronger(&halves).atomic().map_or(op.order, |(_, op)| op.order);
            if needs != op.order && !found.iter().any(|known| known.by.site == by.site) {
                found.push(TooWeak { by, has: op.order, needs });
            }
        }
        found
    }

    /// Whether the two accesses of a race still race when these halves of orders are added.
    fn races(&mut self, events: &[Event], before: usize, race: &Race, halves: &[Half]) -> bool {
        self.reset();
        let mut last = None;
        for (index, event) in events.iter().enumerate() {
            if index == before {
                self.again(&race.earlier);
            }
            last = event.stronger(halves).report(self);
        }
        if events.len() <= before {
            self.again(&race.earlier);
        }
        match race.later.kind {
            // It is the last event.
            AccessKind::AtomicRead | AccessKind::AtomicWrite => last,
            _ => self.again(&race.later),
        }
        .is_some()
    }

    /// Reports a plain access again; an atomic one is among the events.
    fn again(&mut self, access: &AccessInfo) -> Option<Race> {
        let by = By { thread: access.thread, site: access.site, stack: access.stack };
        match access.kind {
            AccessKind::Read => self.read(by, access.addr, access.size),
            AccessKind::Write => self.write(by, access.addr, access.size),
            AccessKind::Free => self.freed(by, access.addr, access.size),
            AccessKind::Allocation => self.write(by, access.addr, access.size),
            AccessKind::AtomicRead | AccessKind::AtomicWrite => None,
        }
    }
}
