//! In which order a program may acquire its locks: the part of `cargo lockred audit
//! --accesses` that reports it, and cycles for `check`.

use crate::executable::place::{Place, relative};
use crate::printing::line::json;
use lockred_protocol::lock_order::{Cycle, Kind, LockOrder, Nesting, Taken};
use lockred_protocol::sites::{Sidecar, SiteId};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// The order of locks of one executable, and what names its places.
pub struct Reported<'a> {
    pub order: &'a LockOrder,
    pub sidecar: &'a Sidecar,
    /// The workspace's root: its files are reported relative to it.
    pub root: &'a Path,
    pub target: &'a str,
}

/// A file, relative to the workspace's root if it is inside, and a line of it.
pub type Line = (String, u32);

/// A lock that is held or wanted.
#[derive(Serialize)]
struct End<'a> {
    locks: Vec<String>,
    shared: bool,
    #[serde(flatten)]
    place: Place<'a>,
}

/// A line of JSON: a lock may be acquired while another one is held.
#[derive(Serialize)]
struct NestingLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    number: usize,
    held: End<'a>,
    wanted: End<'a>,
    within: &'a str,
    apart: Option<i64>,
    sure: bool,
    gates: Vec<String>,
    threads: Vec<&'a str>,
}

/// A line of JSON: nestings that come back to where they began.
#[derive(Serialize)]
struct CycleLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    kind: Kind,
    nestings: &'a [u32],
    locks: Vec<String>,
}

/// The line of JSON after those.
#[derive(Serialize)]
struct OrderLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    known: bool,
    locks: usize,
    nestings: usize,
    cycles: usize,
}

impl Reported<'_> {
    /// For people.
    pub fn human(&self) -> String {
        let order = self.order;
        if !order.known {
            return "the order of locks: not known, the program is too large for it\n\n".into();
        }
        let mut text = format!(
            "the order of locks: {} locks, {} cycles\n",
            order.locks.len(),
            order.cycles.len()
        );
        for cycle in &order.cycles {
            text += &self.cycle(cycle);
        }
        let is_reported = |nesting: &&Nesting| {
            let (held, wanted) = (&nesting.held.locks, &nesting.wanted.locks);
            held.len() == 1 && wanted.len() == 1 && held != wanted
        };
        let reported = order.nestings.iter().filter(is_reported).map(|nesting| self.line(nesting));
        let lines: BTreeSet<String> = reported.collect();
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
        let others = order.nestings.iter().filter(|nesting| !is_reported(nesting)).count();
        if others > 0 {
            let _ = writeln!(text, "  and {others} nestings of locks that are not told apart");
        }
        text.push('\n');
        text
    }

    /// A cycle, for people: its nestings line by line.
    pub fn cycle(&self, cycle: &Cycle) -> String {
        let first = cycle.locks.first().map_or_else(String::new, |&lock| self.lock(lock));
        let mut text = format!("  {}\n", heading(cycle.kind, &first));
        for (at, nesting) in self.nestings(cycle).enumerate() {
            let before = at.checked_sub(1).unwrap_or(cycle.locks.len() - 1);
            let lock =
                |index: usize| cycle.locks.get(index).map_or_else(String::new, |&l| self.lock(l));
            let holds = if nesting.sure { "holds   " } else { "may hold" };
            let _ = writeln!(text, "    {holds} {}", self.end(&lock(before), &nesting.held));
            let _ = writeln!(text, "    acquires {}", self.end(&lock(at), &nesting.wanted));
            let _ = writeln!(text, "             {}", self.who(nesting));
        }
        text
    }

    /// A cycle, for people, in one line: its locks, and where each is acquired under another one.
    pub fn in_one_line(&self, cycle: &Cycle) -> String {
        let name = |&lock: &u32| self.lock(lock);
        let first = cycle.locks.first().map_or_else(String::new, name);
        let acquired = cycle.locks.iter().zip(self.nestings(cycle)).map(|(lock, nesting)| {
            let Place { file, line, .. } = self.place(nesting.wanted.call);
            format!("{} ({file}:{line})", name(lock))
        });
        let acquired: Vec<String> = acquired.collect();
        format!("  {}: {}", heading(cycle.kind, &first), acquired.join(", "))
    }

    fn nestings(&self, cycle: &Cycle) -> impl Iterator<Item = &Nesting> {
        cycle.nestings.iter().filter_map(|&number| self.order.nestings.get(number as usize))
    }

    /// Where a cycle's locks are acquired.
    pub fn lines(&self, cycle: &Cycle) -> BTreeSet<Line> {
        let ends = self.nestings(cycle).flat_map(|nesting| [&nesting.held, &nesting.wanted]);
        let places = ends.map(|taken| self.place(taken.call));
        places.map(|place| (place.file.to_owned(), place.line)).collect()
    }

    /// As lines of JSON.
    pub fn json(&self) -> String {
        let Self { order, target, .. } = *self;
        let names = |locks: &[u32]| locks.iter().map(|&lock| self.lock(lock)).collect();
        let mut text = String::new();
        for (number, nesting) in order.nestings.iter().enumerate() {
            let end = |taken: &Taken| End {
                locks: taken.locks.iter().map(|&lock| self.lock(lock)).collect(),
                shared: taken.shared,
                place: self.place(taken.call),
            };
            text += &json(&NestingLine {
                reason: "nesting",
                v: VERSION,
                target,
                number,
                held: end(&nesting.held),
                wanted: end(&nesting.wanted),
                within: &nesting.within,
                apart: nesting.apart,
                sure: nesting.sure,
                gates: names(&nesting.gates),
                threads: self.threads(nesting),
            });
        }
        for Cycle { kind, nestings, locks } in &order.cycles {
            let (kind, locks) = (*kind, names(locks));
            text +=
                &json(&CycleLine { reason: "cycle", v: VERSION, target, kind, nestings, locks });
        }
        text += &json(&OrderLine {
            reason: "lock-order",
            v: VERSION,
            target,
            known: order.known,
            locks: order.locks.len(),
            nestings: order.nestings.len(),
            cycles: order.cycles.len(),
        });
        text
    }

    /// A lock's name, with files relative to the workspace.
    pub fn lock(&self, lock: u32) -> String {
        relative(self.order.lock(lock), self.root)
    }

    /// The outermost line of source of a site.
    fn place(&self, site: SiteId) -> Place<'_> {
        Place::of(site, self.sidecar, self.root)
    }

    fn end(&self, lock: &str, taken: &Taken) -> String {
        let Place { function, file, line } = self.place(taken.call);
        let shared = if taken.shared { ", to read" } else { "" };
        format!("{lock}{shared}: {function} ({file}:{line})")
    }

    fn threads<'b>(&'b self, nesting: &Nesting) -> Vec<&'b str> {
        let names = nesting.threads.iter().filter_map(|&t| self.order.threads.get(t as usize));
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn who(&self, nesting: &Nesting) -> String {
        let mut text = format!("in {}", nesting.within);
        if let Some(first) = nesting.gates.first() {
            let _ = write!(text, ", behind {}", self.lock(*first));
        }
        match self.threads(nesting)[..] {
            [] => {}
            [one] => {
                let _ = write!(text, ", by {one}");
            }
            [first, ..] => {
                let _ = write!(text, ", by {first} and {} more", self.threads(nesting).len() - 1);
            }
        }
        text
    }

    /// A nesting of two locks that are known, in one line.
    fn line(&self, nesting: &Nesting) -> String {
        let side = |taken: &Taken| {
            let lock = taken.locks.first().map_or_else(String::new, |&lock| self.lock(lock));
            let Place { file, line, .. } = self.place(taken.call);
            format!("{lock} ({file}:{line})")
        };
        format!("{} -> {}", side(&nesting.held), side(&nesting.wanted))
    }
}

/// What a cycle comes to, in words.
fn heading(kind: Kind, lock: &str) -> String {
    match kind {
        Kind::Cycle => "lock-order cycle: threads may wait for each other".into(),
        Kind::Gated => {
            "lock-order cycle under a common lock, which keeps threads apart if it is the same one"
                .into()
        }
        Kind::OneThread => {
            "lock-order cycle of one thread: nobody waits unless another thread does the same"
                .into()
        }
        Kind::SameKind => {
            format!("two instances of `{lock}` may be locked in either order (or be the same lock)")
        }
    }
}
