//! Protected variables (Corbett's analysis): by abstract object and byte, the locks that are held at all accesses since it was published.
//!
//! An object is looked at if several threads can reach it ([`crate::sharing`]) and all that accesses it is known: what harnesses do behind a test is not, so
//! nothing is said of std's own variables in tests, and of what they lead to. Of its accesses count those that others may see: not
//! those in a program of one thread ([`alone`]), nor those to memory that was told to nobody yet ([`fresh`]). The locks that are surely held
//! ([`crate::locksets`]) have names relative to what is accessed, which become names relative to the object ([`places`]): what is `At(0)` in an object is the lock at the beginning
//! of whichever block it is. Bytes are *locked* if one lock is held at all of those accesses, alone at those that write; and *unwritten* if
//! none of them writes. Everything else, atomic variables and what functions outside of the program access included, is shared.
//!
//! Nothing is trusted: the claims hold for every execution, that of a wrong program too, and builds with `--check-static` compare them with each access.

mod alone;
mod classes;
mod fresh;
mod outside;
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
use lockred_trace::plan::Flaw;
use places::{Place, Places};
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
    /// Nobody writes what it touches.
    Unwritten,
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
    /// Analyses a program; `None` where something that it accesses is not known. O(accesses · objects of each), but for objects that are accessed often.
    pub fn of(input: &Input<'_>) -> Option<Self> {
        let mut search = Search::of(input);
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

    /// The bytes of objects that are accessed: of each object, first, behind the last, and what is known of them.
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
        let mut locks = access.held.clone();
        let mut unwritten = true;
        let mut shared = false;
        for place in &access.places {
            if !search.input.sharing.is_shared(place.object) {
                continue;
            }
            if search.input.sharing.is_constant(place.object) {
                locks.clear();
                continue;
            }
            if !search.is_looked_at(place.object) {
                return None;
            }
            shared = true;
            let classes = self.objects.get(&place.object)?;
            for (start, end, behind) in search.ranges(*place, access.size) {
                for class in classes.between(start, end) {
                    unwritten &= class.is_read_only();
                    locks.retain(|&lock, _| {
                        search
                            .guard(lock, *place, access.size)
                            .is_some_and(|g| class.guards().any(|c| c == g.further(behind)))
                    });
                }
            }
        }
        let by = locks.keys().next().map(|&lock| Protected::By(lock));
        by.or_else(|| unwritten.then_some(Protected::Unwritten)).filter(|_| shared)
    }
}

/// Variables of std's that a harness may access behind a test: what it does there is not looked at.
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
    places: Vec<Place>,
    size: Option<u64>,
    held: Held,
}

struct Search<'a> {
    input: &'a Input<'a>,
    alone: Alone,
    fresh: Fresh,
    held: HashMap<(Point, usize), &'a Held>,
    places: HashMap<FunctionId, Places<'a>>,
    /// Objects that are accessed by those who are not known.
    foreign: BTreeSet<ObjectId>,
    uses: BTreeMap<ObjectId, Vec<Use>>,
    plain: Vec<Plain>,
    unpublished: Vec<(Point, usize)>,
}

impl<'a> Search<'a> {
    fn of(input: &'a Input<'a>) -> Self {
        let points_to = &input.sharing.points_to;
        let mut foreign = points_to.foreign();
        foreign.extend(points_to.in_the_library());
        foreign.extend(of_the_harness(input));
        let foreign = points_to.reached_from(foreign);
        let held = input.locksets.accesses();
        Self {
            input,
            alone: Alone::of(input.facts, input.flows, points_to, input.begins),
            fresh: Fresh::of(input),
            held: held.map(|(point, number, held)| ((point, number), held)).collect(),
            places: HashMap::new(),
            foreign,
            uses: BTreeMap::new(),
            plain: Vec::new(),
            unpublished: Vec::new(),
        }
    }

    /// Whether all that accesses an object is known.
    fn is_looked_at(&self, object: ObjectId) -> bool {
        let has_one = match self.input.sharing.points_to.kind(object) {
            Kind::Variable(..) | Kind::Heap(..) => true,
            Kind::Global(id) => {
                let global = &self.input.facts.globals[id as usize];
                !global.is_constant && !global.is_thread_local && !global.is_foreign
            }
            _ => false,
        };
        has_one && !self.foreign.contains(&object)
    }

    /// Where an operand of a function may be; nothing if only those who are not known have it. `None`: nobody has asked.
    fn places(&mut self, function: FunctionId, address: Operand) -> Option<Vec<Place>> {
        let Input { facts, flows, sharing, .. } = *self.input;
        let points_to = &sharing.points_to;
        let places = self
            .places
            .entry(function)
            .or_insert_with(|| Places::of(facts, &flows[function as usize], points_to, function));
        match (places.at(address), address) {
            (None, Operand::Slot(slot)) if points_to.is_unknown(function, slot) => Some(Vec::new()),
            (places, _) => places,
        }
    }

    /// The bytes of an object or element that an access touches; each range with how many bytes its beginning is from that of the element before.
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

    /// A lock that is held at an access, as the object sees it that is accessed. It is so for all bytes, if they are of one element.
    fn guard(&self, lock: Lock, place: Place, size: Option<u64>) -> Option<Guard> {
        match lock {
            Lock::Global(id, bytes) => Some(Guard::Global(id, bytes)),
            Lock::Near(bytes) => {
                let (_, stride) = self.input.sharing.points_to.extent(place.object);
                let stride = u64::from(stride);
                let one = |offset: &u64| {
                    stride == 0 || size.is_some_and(|size| size < stride || offset + size <= stride)
                };
                place.offset.filter(one).map(|offset| Guard::At(offset as i64 + bytes))
            }
        }
    }

    /// An access counts, as far as others may see it.
    fn access(&mut self, access: &Access) -> Option<()> {
        let points_to = &self.input.sharing.points_to;
        if !points_to.is_reached(access.function) {
            return Some(());
        }
        let places = self.places(access.function, access.address?)?;
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
        let mut held = held.unwrap_or_default();
        held.retain(|_, shared| access.act == Act::Reads || !*shared);
        let counts = self.input.flaw != Some(Flaw::BareAccessesDoNotCount) || !held.is_empty();
        for &place in places.iter().filter(|_| counts) {
            if self.input.sharing.is_shared(place.object) && self.is_looked_at(place.object) {
                let near: BTreeSet<Guard> =
                    held.keys().filter_map(|&lock| self.guard(lock, place, access.size)).collect();
                for (start, end, behind) in self.ranges(place, access.size) {
                    let guards = near.iter().map(|guard| guard.further(behind)).collect();
                    let uses = self.uses.entry(place.object).or_default();
                    let by = (access.function, is_plain.then_some(access.point));
                    uses.push(Use { start, end, act: access.act, guards, by });
                }
            }
        }
        if is_plain {
            let Access { point, number, size, .. } = *access;
            self.plain.push(Plain { point, number, places, size, held });
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
        let at = match (self.places(function, accessed.argument), call.callee) {
            (Some(places), _) => places,
            // Of what a function outside gets, only numbers are not asked for.
            (None, Value::Function(_)) => Vec::new(),
            (None, _) => return None,
        };
        let objects: Vec<ObjectId> = at.iter().map(|place| place.object).collect();
        let ranges: Vec<(ObjectId, u64, u64)> = if accessed.size.is_some() {
            let ranges = |place: Place| {
                let all = self.ranges(place, accessed.size).into_iter();
                all.map(move |(start, end, _)| (place.object, start, end))
            };
            at.into_iter().flat_map(ranges).collect()
        } else if accessed.further {
            let all = self.input.sharing.points_to.reached_from(objects);
            all.into_iter().map(|object| (object, 0, u64::MAX)).collect()
        } else {
            objects.into_iter().map(|object| (object, 0, u64::MAX)).collect()
        };
        for (object, start, end) in ranges {
            if self.is_looked_at(object) {
                let (guards, by) = (BTreeSet::new(), (function, None));
                let used = Use { start, end, act: Act::Other, guards, by };
                self.uses.entry(object).or_default().push(used);
            }
        }
        Some(())
    }
}
