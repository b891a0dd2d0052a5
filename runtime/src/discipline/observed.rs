//! The discipline that threads keep in a few executions at random: which memory they share, who
//! accesses it where, and which locks are held then.
//!
//! That is done in a process of its own, so that no search is slower for it. An access does not
//! count, as it needs no lock, if creating and joining threads orders it with those of all other
//! threads; if it comes before them in every execution and its thread has allocated the block; or
//! if it comes after them in every execution and its thread frees the block, or has created all
//! the others (which the end of a scope tells in its own way). Eraser's states of a location
//! (Savage and others, TOCS 1997) are the example; here locks are kept by place, so that the one
//! place that does without can be reported.

use crate::coroutine::unwind::Frame;
use lockred_protocol::message::{AccessSeen, Broken, LockSeen, Memory, Observation};
use lockred_protocol::sites::SiteId;
use lockred_search::Counts;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Accesses of an execution that are looked at: each takes a walk through the stack.
const MOST: usize = 20_000;

/// What is known of other threads by creating and joining: of each, the last of its times that
/// comes before. A time ends when it creates one.
type Clock = Rc<Vec<u64>>;

/// See the module. Outlives executions, but for what is said of the one under way.
#[derive(Debug, Default)]
pub struct Observed {
    /// Executions that came to their ends.
    executions: u64,
    /// Executions that were not cut at the limit of operations, whatever they came to.
    ended: u64,
    /// Some execution had more accesses than are looked at.
    cut: bool,
    seen: BTreeMap<(Memory, How), Tally>,
    /// Of the execution under way, by thread.
    clocks: Vec<Clock>,
    accesses: usize,
    cells: HashMap<(usize, usize), Cell>,
    /// By thread: the frames of its stack where it was last stopped.
    pub frames: HashMap<u32, Vec<Frame>>,
}

/// A place of the program, and what was held there.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct How {
    /// Where.
    pub site: SiteId,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    /// It writes.
    pub writes: bool,
    /// It is atomic.
    pub atomic: bool,
    /// Locks that its thread held.
    pub held: Vec<LockSeen>,
    /// Predicates that its thread did not satisfy.
    pub refused: Vec<u64>,
}

/// Where an access comes among those of other threads to the same memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Turn {
    /// Creating and joining threads orders it with all of them.
    Ordered,
    /// Before all of them, by who has allocated the memory.
    First,
    /// After all of them, by who ends its life, or has created their threads.
    Last,
    /// It has to be ordered with them.
    Between,
}

/// How many executions a place had which turn in.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    ordered: u64,
    first: u64,
    last: u64,
    between: u64,
}

impl Tally {
    fn add(&mut self, turn: Turn) {
        let number = match turn {
            Turn::Ordered => &mut self.ordered,
            Turn::First => &mut self.first,
            Turn::Last => &mut self.last,
            Turn::Between => &mut self.between,
        };
        *number += 1;
    }

    /// In how many executions it had to be ordered, and in how many not. What comes first in one
    /// and last in another is in no order.
    const fn counted(self) -> [u64; 2] {
        let Self { ordered, first, last, between } = self;
        if between > 0 || first > 0 && last > 0 {
            [first + last + between, ordered]
        } else {
            [0, ordered + first + last]
        }
    }
}

/// Memory of one execution.
#[derive(Debug)]
struct Cell {
    memory: Memory,
    /// The block that it is in.
    block: Option<usize>,
    accesses: Vec<Access>,
}

/// Accesses of a thread that say the same.
#[derive(Debug)]
struct Access {
    thread: u32,
    clock: Clock,
    how: How,
    /// When it was first done, and last, counted in accesses.
    first: usize,
    last: usize,
}

impl Observed {
    /// An execution begins, which has so many threads.
    pub fn begin(&mut self, threads: usize) {
        self.clocks.clear();
        self.clocks = (0..threads).map(|thread| Rc::new(self.clock(thread))).collect();
        self.accesses = 0;
        self.cells.clear();
        self.frames.clear();
    }

    /// Memory is accessed: whether that is looked at, as not too much was.
    pub const fn looks(&mut self) -> bool {
        if self.accesses == MOST {
            self.cut = true;
            return false;
        }
        self.accesses += 1;
        true
    }

    /// What is at an address, if that was looked at before.
    pub fn memory(&self, address: usize, size: usize) -> Option<&Memory> {
        self.cells.get(&(address, size)).map(|cell| &cell.memory)
    }

    /// A thread accesses memory, which is this, in a block.
    pub fn access(
        &mut self,
        thread: u32,
        place: (usize, usize),
        (memory, block): (Memory, Option<usize>),
        how: How,
    ) {
        let now = self.accesses;
        let clock = self.clocks.get(thread as usize).cloned().unwrap_or_default();
        let new = || Cell { memory, block, accesses: Vec::new() };
        let cell = self.cells.entry(place).or_insert_with(new);
        let same = |known: &&mut Access| {
            known.thread == thread && Rc::ptr_eq(&known.clock, &clock) && known.how == how
        };
        match cell.accesses.iter_mut().find(same) {
            Some(known) => known.last = now,
            None => cell.accesses.push(Access { thread, clock, how, first: now, last: now }),
        }
    }

    /// The execution is judged, so that it was not too long.
    pub const fn judged(&mut self) {
        self.ended += 1;
    }

    /// The execution has come to its end. `life`: who allocated a block, and who freed it;
    /// `parent`: who created a thread.
    pub fn ends(
        &mut self,
        life: impl Fn(usize) -> [Option<u32>; 2],
        parent: &impl Fn(u32) -> Option<u32>,
    ) {
        self.executions += 1;
        let cells = std::mem::take(&mut self.cells);
        for cell in cells.into_values().filter(Cell::is_shared) {
            let life = cell.block.map_or([None, None], &life);
            let turn = |access| cell.turn(access, life, parent);
            let turns: Vec<Turn> = cell.accesses.iter().map(turn).collect();
            let mut places: BTreeMap<How, Turn> = BTreeMap::new();
            for (access, turn) in cell.accesses.into_iter().zip(turns) {
                let known = places.entry(access.how).or_insert(turn);
                *known = turn.max(*known);
            }
            for (how, turn) in places {
                self.seen.entry((cell.memory.clone(), how)).or_default().add(turn);
            }
        }
    }

    /// What was seen, with what is wrong with predicates.
    pub fn into_observation(self, broken: Vec<Broken>) -> Observation {
        let seen = self.seen.into_iter().map(|((memory, how), tally)| {
            let [counted, apart] = tally.counted();
            let How { site, stack, writes, atomic, held, refused } = how;
            AccessSeen { memory, site, stack, writes, atomic, held, refused, counted, apart }
        });
        Observation { executions: self.executions, cut: self.cut, accesses: seen.collect(), broken }
    }

    /// Not everything was looked at.
    pub const fn cut(&mut self) {
        self.cut = true;
    }

    /// Whether what is still to come changes nothing any more: something was not looked at; or the
    /// first executions were all too long to come to their ends.
    pub const fn is_in_vain(&self, counts: &Counts) -> bool {
        const FIRST: u64 = 2;
        self.cut || self.ended == 0 && counts.executions >= FIRST
    }

    /// The clock of a thread that has just begun is its own first time.
    fn clock(&self, thread: usize) -> Vec<u64> {
        let known = self.clocks.get(thread).map(|clock| Vec::clone(clock));
        let mut clock = known.unwrap_or_default();
        clock.resize(clock.len().max(thread + 1), 0);
        clock[thread] = clock[thread].max(1);
        clock
    }

    /// A thread creates another one.
    pub fn creates(&mut self, parent: usize, child: usize) {
        let mut clock = self.clock(parent);
        if self.clocks.len() <= child.max(parent) {
            self.clocks.resize_with(child.max(parent) + 1, Clock::default);
        }
        self.clocks[child] = Rc::new(clock.clone());
        self.clocks[child] = Rc::new(self.clock(child));
        clock[parent] += 1;
        self.clocks[parent] = Rc::new(clock);
    }

    /// A thread has seen the end of another one.
    pub fn joins(&mut self, joiner: usize, target: usize) {
        let (mut mine, theirs) = (self.clock(joiner), self.clock(target));
        mine.resize(mine.len().max(theirs.len()), 0);
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            *mine = (*mine).max(theirs);
        }
        self.clocks[joiner] = Rc::new(mine);
    }
}

impl Access {
    /// Creating and joining threads puts it before another one.
    fn is_before(&self, other: &Self) -> bool {
        let time = |clock: &Clock| clock.get(self.thread as usize).copied().unwrap_or(0);
        time(&other.clock) >= time(&self.clock)
    }
}

impl Cell {
    /// Several threads access it.
    fn is_shared(&self) -> bool {
        let first = self.accesses.first().map(|access| access.thread);
        self.accesses.iter().any(|access| Some(access.thread) != first)
    }

    /// When an access comes. `life`: who allocated the block, and who freed it; `parent`: who
    /// created a thread.
    fn turn(
        &self,
        access: &Access,
        life: [Option<u32>; 2],
        parent: impl Fn(u32) -> Option<u32>,
    ) -> Turn {
        let others = || self.accesses.iter().filter(|other| other.thread != access.thread);
        let created = |thread: u32| parent(thread) == Some(access.thread);
        let [allocated, freed] = life.map(|thread| thread == Some(access.thread));
        if others().all(|other| access.is_before(other) || other.is_before(access)) {
            Turn::Ordered
        } else if allocated && others().all(|other| access.last < other.first) {
            Turn::First
        } else if others().all(|other| access.first > other.last)
            && (freed || others().all(|other| created(other.thread)))
        {
            Turn::Last
        } else {
            Turn::Between
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turn::{Between, First, Last, Ordered};
    use super::*;

    /// An execution by hand, on one cell.
    #[derive(Default)]
    struct Story {
        observed: Observed,
        accesses: Vec<Access>,
        parents: Vec<Option<u32>>,
    }

    impl Story {
        fn new(parents: &[Option<u32>]) -> Self {
            let mut story = Self { parents: parents.to_vec(), ..Self::default() };
            story.observed.clocks = vec![Rc::new(vec![1])];
            story
        }

        fn creates(mut self, parent: usize, child: usize) -> Self {
            self.observed.creates(parent, child);
            self
        }

        fn joins(mut self, joiner: usize, target: usize) -> Self {
            self.observed.joins(joiner, target);
            self
        }

        fn accesses(mut self, thread: u32) -> Self {
            let clock = Rc::clone(&self.observed.clocks[thread as usize]);
            let (site, held) = (SiteId(0), Vec::new());
            let (stack, refused) = (Vec::new(), Vec::new());
            let how = How { site, stack, writes: true, atomic: false, held, refused };
            let now = self.accesses.len();
            self.accesses.push(Access { thread, clock, how, first: now, last: now });
            self
        }

        /// The turns of the accesses.
        fn turns(self, life: [Option<u32>; 2]) -> Vec<Turn> {
            let cell = Cell { memory: Memory::default(), block: None, accesses: self.accesses };
            let parent = |thread: u32| self.parents[thread as usize];
            cell.accesses.iter().map(|access| cell.turn(access, life, parent)).collect()
        }
    }

    const PAIR: [Option<u32>; 3] = [None, Some(0), Some(0)];

    #[test]
    fn what_comes_to_no_end_is_looked_at_twice_only() {
        let counts = |executions| Counts { executions, ..Counts::default() };
        let mut observed = Observed::default();
        assert!(!observed.is_in_vain(&counts(1)));
        assert!(observed.is_in_vain(&counts(2)));
        observed.ended = 1;
        assert!(!observed.is_in_vain(&counts(16)));
        observed.cut();
        assert!(observed.is_in_vain(&counts(1)));
    }

    #[test]
    fn what_creating_and_joining_orders_does_not_count() {
        let story = Story::new(&PAIR).accesses(0).creates(0, 1).accesses(1).joins(0, 1).accesses(0);
        assert_eq!(story.turns([None; 2]), [Ordered; 3]);
        let pair = Story::new(&PAIR).creates(0, 1).creates(0, 2).accesses(1).accesses(2);
        assert_eq!(pair.turns([None; 2]), [Between; 2]);
        let after =
            Story::new(&PAIR).creates(0, 1).accesses(1).joins(0, 1).creates(0, 2).accesses(2);
        assert_eq!(after.turns([None; 2]), [Ordered; 2], "one thread after the other");
        let between =
            Story::new(&PAIR).creates(0, 1).accesses(0).creates(0, 2).accesses(1).accesses(2);
        assert_eq!(between.turns([None; 2]), [Between; 3], "the other is there already");
    }

    #[test]
    fn who_allocates_it_may_come_first_and_who_frees_it_last() {
        let story = || Story::new(&PAIR).creates(0, 1).creates(0, 2).accesses(1).accesses(2);
        assert_eq!(story().turns([Some(1), None]), [First, Between]);
        assert_eq!(story().turns([Some(2), None]), [Between, Between]);
        assert_eq!(story().turns([None, Some(2)]), [Between, Last]);
        assert_eq!(story().accesses(1).turns([Some(1), None]), [First, Between, Between]);
    }

    #[test]
    fn who_has_created_all_the_others_may_come_last() {
        let story = Story::new(&PAIR).creates(0, 1).accesses(0).accesses(1).accesses(0);
        assert_eq!(story.turns([None; 2]), [Between, Between, Last]);
        let sibling = Story::new(&PAIR).creates(0, 1).creates(0, 2).accesses(2).accesses(1);
        assert_eq!(sibling.turns([None; 2]), [Between; 2]);
    }

    #[test]
    fn what_comes_first_here_and_last_there_is_in_no_order() {
        let counted = |turns: &[Turn]| {
            let mut tally = Tally::default();
            turns.iter().for_each(|turn| tally.add(*turn));
            tally.counted()
        };
        assert_eq!(counted(&[First, First, Ordered]), [0, 3]);
        assert_eq!(counted(&[Last, Last]), [0, 2]);
        assert_eq!(counted(&[First, Last, Ordered]), [2, 1]);
        assert_eq!(counted(&[First, Between]), [2, 0]);
    }
}
