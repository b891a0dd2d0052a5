//! What the compiled programs of a package say, over all its targets, at places of its source.

use super::source::{Function, Position, Source};
use crate::error::Result;
use crate::executable::sidecar;
use lockred_protocol::audit::{Audit, Kind, Order, Way};
use lockred_protocol::sites::{Sidecar, SiteId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A place in the package's source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The file, absolute.
    pub file: PathBuf,
    /// Where in it.
    pub at: Position,
}

/// A plain access. What is known of it in all targets is joined: it is protected if it is so in
/// each.
#[derive(Clone, Debug)]
pub struct Access {
    /// Where.
    pub place: Place,
    /// On what.
    pub object: String,
    /// It writes.
    pub write: bool,
    /// By what it is reached.
    pub way: Way,
    /// Locks that are surely held, in the programs that were analysed as a whole.
    pub locks: BTreeSet<String>,
    /// Whether there is such a program.
    pub whole: bool,
    /// Something acquired before.
    pub acquired: bool,
    /// Something releases after.
    pub released: bool,
}

/// An atomic operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Atomic {
    /// Where.
    pub place: Place,
    /// On what.
    pub object: String,
    /// What it does.
    pub kind: Kind,
    /// Its order.
    pub order: Order,
    /// Of an exchange that fails.
    pub failure: Option<Order>,
}

/// A lock, and where it is asked for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Held {
    /// Its name.
    pub lock: String,
    /// Where.
    pub place: Place,
}

/// How one lock is acquired while another one is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nested {
    /// The one is surely held then.
    pub sure: bool,
    /// The two are, or may be, one lock, or two of one kind in either order.
    pub alike: bool,
}

/// A call.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Call {
    /// Where.
    pub place: Place,
    /// Who calls: name and place.
    pub from: String,
    /// Who is called, if that is a function of the package: name and place.
    pub to: Option<String>,
    /// The path of who is called.
    pub callee: String,
    /// Locks that are held.
    pub held: Vec<Held>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Compiled {
    /// Whether all programs were analysed as a whole.
    pub known: bool,
    /// Whether the order of locks is known of all.
    pub ordered: bool,
    /// Files and lines of functions that were compiled.
    pub functions: BTreeSet<(PathBuf, u32)>,
    /// Plain accesses.
    pub accesses: Vec<Access>,
    /// Atomic operations, by file and line.
    pub atomics: BTreeMap<(PathBuf, u32), BTreeSet<Atomic>>,
    /// What is held, and what is acquired then.
    pub nested: BTreeMap<(Held, Held), Nested>,
    /// Calls.
    pub calls: BTreeSet<Call>,
    /// By file: where calls and atomic operations are compiled.
    positions: BTreeMap<PathBuf, BTreeSet<Position>>,
}

type Key = (Place, String, bool);

impl Compiled {
    /// Reads executables.
    ///
    /// # Errors
    /// When one was not made by this lockred.
    pub fn read<'a>(
        executables: impl Iterator<Item = &'a Path>,
        source: &Source,
        root: &Path,
    ) -> Result<Self> {
        let mut compiled = Self { known: true, ordered: true, ..Self::default() };
        let mut accesses = BTreeMap::new();
        for executable in executables {
            let audit: Audit = sidecar::carried(executable)?;
            let sidecar = sidecar::read(executable)?;
            let places = Places { source, root, sidecar: &sidecar };
            compiled.add(&audit, &places, &mut accesses);
        }
        compiled.accesses = accesses.into_values().collect();
        Ok(compiled)
    }

    /// Whether a function of the source was compiled.
    pub fn has(&self, file: &Path, function: &Function) -> bool {
        let (first, second) = function.lines;
        (first..=second).any(|line| self.functions.contains(&(file.to_owned(), line)))
    }

    /// Whether a call, or an atomic operation, at a position is compiled.
    pub fn has_position(&self, file: &Path, at: Position) -> bool {
        self.positions.get(file).is_some_and(|positions| positions.contains(&at))
    }

    /// Whether some call, or atomic operation, in these lines is compiled.
    pub fn has_lines(&self, file: &Path, first: u32, last: u32) -> bool {
        let begins = |line| Position { line, column: 0 };
        let within = begins(first)..begins(last + 1);
        self.positions.get(file).is_some_and(|positions| positions.range(within).next().is_some())
    }

    /// The atomic operations of a line.
    pub fn at_line(&self, file: &Path, line: u32) -> impl Iterator<Item = &Atomic> {
        self.atomics.get(&(file.to_owned(), line)).into_iter().flatten()
    }

    fn add(&mut self, audit: &Audit, places: &Places<'_>, accesses: &mut BTreeMap<Key, Access>) {
        self.known &= audit.known;
        self.ordered &= audit.ordered;
        // Closures of one function have one name.
        let name = |index: u32| {
            let function = audit.functions.get(index as usize)?;
            Some(format!("{} {}:{}", function.name, function.file, function.line))
        };
        for (file, positions) in &audit.positions {
            let positions = positions.iter().map(|&(line, column)| Position { line, column });
            self.positions.entry(places.absolute(file)).or_default().extend(positions);
        }
        for function in &audit.functions {
            self.functions.insert((places.absolute(&function.file), function.line));
        }
        for access in &audit.accesses {
            let Some(place) = places.of(access.site) else { continue };
            let locks: BTreeSet<String> = access.locks.iter().cloned().collect();
            let key = (place.clone(), access.object.clone(), access.write);
            let known = accesses.entry(key).or_insert_with(|| Access {
                place,
                object: access.object.clone(),
                write: access.write,
                way: access.way,
                locks: locks.clone(),
                whole: audit.known,
                acquired: access.acquired,
                released: access.released,
            });
            known.way = known.way.max(access.way);
            if audit.known {
                match known.whole {
                    true => known.locks.retain(|lock| locks.contains(lock)),
                    false => known.locks = locks,
                }
                known.whole = true;
            }
            known.acquired &= access.acquired;
            known.released &= access.released;
        }
        for atomic in &audit.atomics {
            if let Some(place) = places.of(atomic.site) {
                let line = (place.file.clone(), place.at.line);
                self.atomics.entry(line).or_default().insert(Atomic {
                    place,
                    object: atomic.object.clone(),
                    kind: atomic.kind,
                    order: atomic.order,
                    failure: atomic.failure,
                });
            }
        }
        let held = |held: &lockred_protocol::audit::Held| {
            Some(Held { lock: held.lock.clone(), place: places.of(held.site)? })
        };
        for acquire in &audit.acquires {
            if let (Some(place), Some(first)) =
                (places.of(acquire.site), acquire.held.as_ref().and_then(held))
            {
                let both = (first, Held { lock: acquire.lock.clone(), place });
                let known = self.nested.entry(both).or_default();
                known.sure |= acquire.sure;
                known.alike |= acquire.sure && acquire.alike;
            }
        }
        for call in &audit.calls {
            let Some(place) = places.of(call.site) else { continue };
            self.calls.insert(Call {
                place,
                from: name(call.from).unwrap_or_default(),
                to: call.to.and_then(name),
                callee: call.callee.clone(),
                held: call.held.iter().filter_map(held).collect(),
            });
        }
    }
}

/// Finds places of the source.
struct Places<'a> {
    source: &'a Source,
    root: &'a Path,
    sidecar: &'a Sidecar,
}

impl Places<'_> {
    fn absolute(&self, file: &str) -> PathBuf {
        let path = Path::new(file);
        if path.is_absolute() { path.to_owned() } else { self.root.join(path) }
    }

    /// The innermost line of the package; `None` if that is of a test.
    fn of(&self, site: SiteId) -> Option<Place> {
        self.sidecar.chain(site).find_map(|frame| {
            let path = self.absolute(self.sidecar.string(frame.file));
            let file = self.source.files.get(&path)?;
            let at = Position { line: frame.line, column: frame.column };
            Some((!file.is_test(at)).then_some(Place { file: path, at }))
        })?
    }
}
