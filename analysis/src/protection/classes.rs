//! What protects the bytes of an object: from all accesses to it, each with the locks that are held
//! there.

use crate::facts::FunctionId;
use crate::facts::flow::Point;
use std::collections::{BTreeMap, BTreeSet};

/// A lock, as seen from an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Guard {
    /// So many bytes after the object's beginning, or that of its element: in the same block of
    /// memory.
    At(i64),
    /// In a global variable, so many bytes from its beginning.
    Global(u32, i64),
}

impl Guard {
    /// The same lock, as seen from so many bytes further.
    pub const fn further(self, bytes: i64) -> Self {
        match self {
            Self::At(offset) => Self::At(offset - bytes),
            Self::Global(..) => self,
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Act {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
    /// It is an atomic operation, or nothing that is known.
    Other,
}

/// An access to some bytes of an object, after that was published and before it is nobody's any
/// more.
#[derive(Clone, Debug)]
pub struct Use {
    /// The first byte; of the object or of its element.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
    /// What it does.
    pub act: Act,
    /// Locks that protect it: held at a read, or held alone.
    pub guards: BTreeSet<Guard>,
    /// Its function, and its instruction if it is a plain one.
    pub by: (FunctionId, Option<Point>),
}

/// What is known of some bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// Something else than reads and writes is done to them.
    pub other: bool,
    /// They are written.
    pub written: bool,
    /// Locks that protect all accesses.
    pub guards: BTreeSet<Guard>,
    /// A plain access in the user's own code: function and instruction.
    pub point: Option<(FunctionId, Point)>,
}

impl Class {
    /// Whether nobody writes them.
    pub const fn is_read_only(&self) -> bool {
        !self.other && !self.written
    }

    /// The locks that protect them.
    pub fn guards(&self) -> impl Iterator<Item = Guard> {
        self.guards.iter().copied().filter(|_| !self.other)
    }
}

/// Uses of an object that are told apart: of one that has more, nothing is said.
const MOST: usize = 2000;

/// The classes of an object's bytes, by the first of them; `None`: nobody accesses them.
#[derive(Clone, Debug, Default)]
pub struct Classes(BTreeMap<u64, Option<Class>>);

impl Classes {
    /// Of what is done to an object. `users`: whether a function is the user's own. O(uses²) at
    /// most.
    pub fn of(uses: &[Use], users: &dyn Fn(FunctionId) -> bool) -> Self {
        let point = |u: &Use| u.by.1.filter(|_| users(u.by.0)).map(|point| (u.by.0, point));
        if uses.len() > MOST {
            let class = Class { other: false, written: true, guards: BTreeSet::new(), point: None };
            return Self(BTreeMap::from([(0, Some(class))]));
        }
        let borders: BTreeSet<u64> = uses.iter().flat_map(|u| [u.start, u.end]).collect();
        let mut classes = BTreeMap::new();
        for &start in &borders {
            let mut class: Option<Class> = None;
            for u in uses.iter().filter(|u| (u.start..u.end).contains(&start)) {
                match &mut class {
                    None => {
                        class = Some(Class {
                            other: u.act == Act::Other,
                            written: u.act == Act::Writes,
                            guards: u.guards.clone(),
                            point: point(u),
                        });
                    }
                    Some(class) => {
                        class.point = class.point.or_else(|| point(u));
                        class.other |= u.act == Act::Other;
                        class.written |= u.act == Act::Writes;
                        class.guards.retain(|guard| u.guards.contains(guard));
                    }
                }
            }
            classes.insert(start, class);
        }
        Self(classes)
    }

    /// The classes of the bytes from one to before another, as far as they are accessed.
    pub fn between(&self, start: u64, end: u64) -> impl Iterator<Item = &Class> {
        let first = self.0.range(..=start).next_back().map_or(start, |(first, _)| *first);
        self.0.range(first..end.max(first)).filter_map(|(_, class)| class.as_ref())
    }

    /// All bytes that are accessed: first, after the last, and class.
    pub fn all(&self) -> impl Iterator<Item = (u64, u64, &Class)> {
        let next = self.0.keys().copied().skip(1).chain([u64::MAX]);
        self.0
            .iter()
            .zip(next)
            .filter_map(|((start, class), end)| Some((*start, end, class.as_ref()?)))
    }
}
