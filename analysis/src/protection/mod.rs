//! Protected variables (Corbett's analysis): by abstract object and byte, the locks that are held
//! at all accesses since it was published.
//!
//! An object is looked at if several threads can reach it ([`crate::sharing`]) and all that
//! accesses it is known: what harnesses do after a test is not, so nothing is said of std's own
//! variables in tests, and of what they lead to. Of its accesses count those that others may see:
//! not those in a program of one thread ([`alone`]), nor those to memory that was given to nobody
//! yet ([`fresh`]), nor those by who dropped the last reference. Callers are told apart by the
//! object whose address they pass ([`passed`]). The locks that are surely held
//! ([`crate::locksets`]) have names relative to what is accessed, which become names relative to
//! the object ([`places`]): what is `At(0)` in an object is the lock at the beginning of whichever
//! block it is. Bytes are *locked* if one lock is held at all of those accesses, alone at those
//! that write; and *unwritten* if none of them writes. Everything else, atomic variables and what
//! functions outside of the program access included, is shared.
//!
//! Nothing is trusted: the claims hold for every execution, that of a wrong program too, and builds
//! with `--check-static` compare them with each access.

mod alone;
mod classes;
mod fresh;
mod outside;
mod passed;
mod places;

pub use classes::{Act, Class, Guard};
pub use fresh::Stored;

use crate::facts::flow::{BlockId, Call, Flow, Point, Step, Value};
use crate::facts::{Facts, FunctionId, Operand};
use crate::locksets::{Held, Lock, Locksets};
use crate::points_to::{Kind, ObjectId};
use crate::recognise::{demangle, is_of_std, path_of};
use crate::sharing::Sharing;
use alone::Alone;
use classes::{Classes, Use};
use fresh::Fresh;
use lockred_protocol::plan::Flaw;
pub use passed::drops_last;
use passed::{Passed, PassedTo};
use places::Place;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A plain access, or an atomic operation.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Its function.
    pub function: FunctionId,
    /// Its block.
    pub block: BlockId,
    /// Its instruction.
    pub point: Point,
    /// Its number among the accesses of the instruction.
    pub number: usize,
    /// Where it goes; `None`: that is not described.
    pub address: Option<Operand>,
    /// Bytes, if known.
    pub size: Option<u64>,
    /// What it does.
    pub act: Act,
}

/// What is known of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protected {
    /// Nobody else can have accessed the memory yet.
    Unpublished,
    /// All of what it touches is protected by this lock.
    By(Lock),
    /// All of what it touches is protected by some lock, which has no one name at the access.
    BySome,
    /// Nobody writes what it touches.
    Unwritten,
    /// Nobody else has what it touches: not yet, or not any more.
    Owned,
}

/// What is known of a program.
pub struct Input<'a> {
    /// Its facts.
    pub facts: &'a Facts,
    /// Its control flow.
    pub flows: &'a [Flow],
    /// What threads share.
    pub sharing: &'a Sharing<'a>,
    /// The locks that are held.
    pub locksets: &'a Locksets,
    /// All plain accesses and atomic operations.
    pub accesses: &'a [Access],
    /// By function, atomic operations that write.
    pub stored: &'a HashMap<FunctionId, Vec<Stored>>,
    /// Where the program, and each of its tests, begins.
    pub begins: &'a BTreeSet<FunctionId>,
    /// Whether a function is the user's own.
    pub users: &'a dyn Fn(FunctionId) -> bool,
    /// An error that a test asks for.
    pub flaw: Option<Flaw>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Protection {
    accesses: HashMap<(Point, usize), Protected>,
    objects: BTreeMap<ObjectId, Classes>,
    users: BTreeSet<(ObjectId, FunctionId)>,
}

impl Protection {
    /// Analyses a program; `None` where something that it accesses is not known. O(accesses ·
    /// objects of each), but for objects that are accessed often.
    pub fn of(input: &Input<'_>) -> Option<Self> {
        let foreign = foreign(input);
        let points_to = &input.sharing.points_to;
        let others = input.locksets.called_by_others();
        let alone = Alone::of(input.facts, input.flows, points_to, input.begins, others);
        let fresh = Fresh::of(input);
        let is_looked_at = |object: ObjectId| {
            input.sharing.is_shared(object) && is_looked_at(input, &foreign, object)
        };
        let mut search = Search {
            input,
            alone: &alone,
            fresh: &fresh,
            passed: PassedTo::of(input, &alone, &fresh, &is_looked_at),
            held: input.locksets.accesses().map(|(p, number, held)| ((p, number), held)).collect(),
            foreign: &foreign,
            uses: BTreeMap::new(),
            plain: Vec::new(),
            unpublished: Vec::new(),
        };
        for access in input.accesses {
            search.access(access)?;
        }
        search.outside_calls()?;
        let uses = std::mem::take(&mut search.uses);
        let classes = |uses: &Vec<Use>| Classes::of(uses, input.users);
        let objects = uses.iter().map(|(&object, uses)| (object, classes(uses))).collect();
        let users =
            uses.iter().flat_map(|(&object, uses)| uses.iter().map(move |u| (object, u.by.0)));
        let mut protection = Self { accesses: HashMap::new(), objects, users: users.collect() };
        for access in &search.plain {
            if let Some(protected) = protection.protected(&search, access) {
                protection.accesses.insert((access.point, access.number), protected);
            }
        }
        for (point, number) in search.unpublished {
            protection.accesses.insert((point, number), Protected::Unpublished);
        }
        Some(protection)
    }

    /// What is known of accesses: by point, and number among those of the instruction.
    pub fn accesses(&self) -> impl Iterator<Item = (Point, usize, Protected)> {
        self.accesses.iter().map(|(&(point, number), &protected)| (point, number, protected))
    }

    /// The bytes of objects that are accessed: of each object, first, after the last, and what is
    /// known of them.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, u64, u64, &Class)> {
        let all = self.objects.iter();
        all.flat_map(|(&object, classes)| {
            classes.all().map(move |(start, end, class)| (object, start, end, class))
        })
    }

    /// Objects, and the functions that operate on them once they are published.
    pub const fn users(&self) -> &BTreeSet<(ObjectId, FunctionId)> {
        &self.users
    }

    /// What is known of one access, by all that it may touch.
    fn protected(&self, search: &Search<'_>, access: &Plain) -> Option<Protected> {
        let mut named: Option<BTreeSet<Lock>> = None;
        let (mut unwritten, mut constant, mut locked, mut owned) = (true, false, true, false);
        for (place, guards) in &access.places {
            if !search.input.sharing.is_shared(place.object) {
                continue;
            }
            if search.input.sharing.is_constant(place.object) {
                constant = true;
                continue;
            }
            if !is_looked_at(search.input, search.foreign, place.object) {
                return None;
            }
            let Some(guards) = guards else {
                owned = true;
                continue;
            };
            let mut guards = guards.clone();
            let classes = self.objects.get(&place.object)?;
            for (start, end, behind) in search.ranges(*place, access.size) {
                for class in classes.between(start, end) {
                    unwritten &= class.is_read_only();
                    guards.retain(|guard| class.guards().any(|c| c == guard.further(behind)));
                }
            }
            locked &= !guards.is_empty();
            let here = guards.iter().filter_map(|guard| match *guard {
                Guard::Global(id, bytes) => Some(Lock::Global(id, bytes)),
                Guard::At(at) => place.offset.map(|offset| Lock::Near(at - offset as i64)),
            });
            let here: BTreeSet<Lock> = here.collect();
            named = Some(match named {
                None => here,
                Some(named) => named.intersection(&here).copied().collect(),
            });
        }
        let Some(named) = named else { return (owned && !constant).then_some(Protected::Owned) };
        if owned {
            // Others may access that, under other locks, or write it.
            return None;
        }
        match named.first() {
            Some(&lock) if !constant => Some(Protected::By(lock)),
            _ if locked && !constant => Some(Protected::BySome),
            _ => unwritten.then_some(Protected::Unwritten),
        }
    }
}

/// Objects that are accessed by those who are not known.
fn foreign(input: &Input<'_>) -> BTreeSet<ObjectId> {
    let points_to = &input.sharing.points_to;
    let mut foreign = points_to.foreign();
    foreign.extend(points_to.in_the_library());
    foreign.extend(of_the_harness(input));
    points_to.reached_from(foreign)
}

/// Whether all that accesses an object is known.
fn is_looked_at(input: &Input<'_>, foreign: &BTreeSet<ObjectId>, object: ObjectId) -> bool {
    let has_one = match input.sharing.points_to.kind(object) {
        Kind::Variable(..) | Kind::Heap(..) => true,
        Kind::Global(id) => {
            let global = &input.facts.globals[id as usize];
            !global.is_constant && !global.is_thread_local && !global.is_foreign
        }
        _ => false,
    };
    has_one && !foreign.contains(&object)
}

/// Variables of std's that a harness may access after a test: what it does there is not looked at.
fn of_the_harness(input: &Input<'_>) -> Vec<ObjectId> {
    if !input.facts.functions.iter().any(|function| function.is_harness) {
        return Vec::new();
    }
    let is_std = |name: &str| is_of_std(&path_of(&demangle(name)));
    let globals = input.facts.globals.iter().enumerate();
    let std = globals.filter(|(_, global)| !global.is_constant && is_std(&global.name));
    std.filter_map(|(id, _)| input.sharing.points_to.object_of_global(id as u32)).collect()
}

/// A plain access that others may see.
struct Plain {
    point: Point,
    number: usize,
    /// Where it goes, and which locks protect it there; `None`: whoever makes it has the object
    /// alone.
    places: Vec<(Place, Option<BTreeSet<Guard>>)>,
    size: Option<u64>,
}

struct Search<'a> {
    input: &'a Input<'a>,
    alone: &'a Alone,
    fresh: &'a Fresh,
    passed: PassedTo<'a>,
    held: HashMap<(Point, usize), &'a Held>,
    /// Objects that are accessed by those who are not known.
    foreign: &'a BTreeSet<ObjectId>,
    uses: BTreeMap<ObjectId, Vec<Use>>,
    plain: Vec<Plain>,
    unpublished: Vec<(Point, usize)>,
}

impl Search<'_> {
    /// The bytes of an object or element that an access touches; each range with how many bytes its
    /// beginning is from that of the element before.
    fn ranges(&self, place: Place, size: Option<u64>) -> Vec<(u64, u64, i64)> {
        let (_, stride) = self.input.sharing.points_to.extent(place.object);
        let stride = u64::from(stride);
        let Some(start) = place.offset else { return vec![(0, u64::MAX, 0)] };
        let Some(size) = size else {
            let first = if stride > 0 { 0 } else { start };
            return vec![(first, u64::MAX, 0)];
        };
        let end = start.saturating_add(size);
        match stride {
            0 => vec![(start, end, 0)],
            _ if end <= stride => vec![(start, end, 0)],
            _ if size >= stride => vec![(0, u64::MAX, 0)],
            _ => vec![(start, stride, 0), (0, end - stride, stride as i64)],
        }
    }

    /// A lock that is held at an access, as the object sees it that is accessed. It is so for all
    /// bytes, if they are of one element.
    fn guard(&self, lock: Lock, place: Place, size: Option<u64>) -> Option<Guard> {
        match lock {
            Lock::Global(id, bytes) => Some(Guard::Global(id, bytes)),
            Lock::Near(bytes) => {
                let offset = place.offset.filter(|_| self.is_in_one(place, size));
                offset.map(|offset| Guard::At(offset as i64 + bytes))
            }
        }
    }

    /// Whether what an access touches is in one object, or in one element and perhaps the next one.
    fn is_in_one(&self, place: Place, size: Option<u64>) -> bool {
        let (_, stride) = self.input.sharing.points_to.extent(place.object);
        let stride = u64::from(stride);
        stride == 0
            || place.offset.is_some_and(|offset| {
                size.is_some_and(|size| size < stride || offset + size <= stride)
            })
    }

    /// An access counts, as far as others may see it.
    fn access(&mut self, access: &Access) -> Option<()> {
        let points_to = &self.input.sharing.points_to;
        if !points_to.is_reached(access.function) {
            return Some(());
        }
        let address = access.address?;
        let places = self.passed.places(access.function, address)?;
        let key = (access.point, access.number);
        let is_plain = access.act != Act::Other;
        let alone = self.alone.at(access.function, access.block, access.point)
            || self.input.flaw == Some(Flaw::ThreadsAreNotCreated);
        if alone || is_plain && self.fresh.has(access.point, access.number) {
            if is_plain {
                self.unpublished.push(key);
            }
            return Some(());
        }
        let held = self.held.get(&key).filter(|_| is_plain).map(|&held| held.clone());
        let held = held.unwrap_or_default();
        let protects = |shared: bool| access.act == Act::Reads || !shared;
        let mut all = Vec::new();
        for &place in places.iter() {
            if !self.input.sharing.is_shared(place.object)
                || !is_looked_at(self.input, self.foreign, place.object)
            {
                all.push((place, Some(BTreeSet::new())));
                continue;
            }
            let own = held.iter().filter(|(_, shared)| protects(**shared));
            let mut guards: BTreeSet<Guard> =
                own.filter_map(|(&lock, _)| self.guard(lock, place, access.size)).collect();
            let Access { function, point, .. } = *access;
            match self.passed.inherited(function, point, address, place.object) {
                Some(Passed::Owned) => {
                    all.push((place, None));
                    continue;
                }
                Some(Passed::Under(locks)) if is_plain => {
                    let one = self.is_in_one(place, access.size);
                    let locks = locks.into_iter().filter(|(guard, shared)| {
                        protects(*shared) && (one || matches!(guard, Guard::Global(..)))
                    });
                    guards.extend(locks.map(|(guard, _)| guard));
                }
                _ => {}
            }
            if self.input.flaw != Some(Flaw::BareAccessesDoNotCount) || !guards.is_empty() {
                for (start, end, behind) in self.ranges(place, access.size) {
                    let guards = guards.iter().map(|guard| guard.further(behind)).collect();
                    let uses = self.uses.entry(place.object).or_default();
                    let by = (access.function, is_plain.then_some(access.point));
                    uses.push(Use { start, end, act: access.act, guards, by });
                }
            }
            all.push((place, Some(guards)));
        }
        if is_plain {
            let Access { point, number, size, .. } = *access;
            self.plain.push(Plain { point, number, places: all, size });
        }
        Some(())
    }

    /// Functions outside of the program access what they are given.
    fn outside_calls(&mut self) -> Option<()> {
        let Input { facts, flows, sharing, .. } = *self.input;
        let points_to = &sharing.points_to;
        for function in (0..flows.len() as FunctionId).filter(|&f| points_to.is_reached(f)) {
            for (block, it) in flows[function as usize].blocks.iter().enumerate() {
                for step in &it.steps {
                    let Step::Call(call) = step else { continue };
                    if self.alone.at(function, block as BlockId, call.point) {
                        continue;
                    }
                    let (callees, _) = points_to.callees(function, call.callee);
                    let outside = callees.iter().map(|&callee| &facts.functions[callee as usize]);
                    for callee in outside.filter(|callee| callee.body.is_none()) {
                        for accessed in outside::accessed(&callee.name, call) {
                            self.accessed(function, call, &accessed)?;
                        }
                    }
                }
            }
        }
        Some(())
    }

    fn accessed(
        &mut self,
        function: FunctionId,
        call: &Call,
        accessed: &outside::Accessed,
    ) -> Option<()> {
        let at = match (self.passed.places(function, accessed.argument), call.callee) {
            (Some(places), _) => places,
            // Of what a function outside gets, only numbers are not asked for.
            (None, Value::Function(_)) => [].into(),
            (None, _) => return None,
        };
        let objects: Vec<ObjectId> = at.iter().map(|place| place.object).collect();
        let ranges: Vec<(ObjectId, u64, u64)> = if accessed.size.is_some() {
            let ranges = |place: Place| {
                let all = self.ranges(place, accessed.size).into_iter();
                all.map(move |(start, end, _)| (place.object, start, end))
            };
            at.iter().copied().flat_map(ranges).collect()
        } else if accessed.further {
            let all = self.input.sharing.points_to.reached_from(objects);
            all.into_iter().map(|object| (object, 0, u64::MAX)).collect()
        } else {
            objects.into_iter().map(|object| (object, 0, u64::MAX)).collect()
        };
        for (object, start, end) in ranges {
            if is_looked_at(self.input, self.foreign, object) {
                let (guards, by) = (BTreeSet::new(), (function, None));
                let used = Use { start, end, act: Act::Other, guards, by };
                self.uses.entry(object).or_default().push(used);
            }
        }
        Some(())
    }
}
