//! Blocks of code that are meant to be atomic (`#[lockred::atomic]`), judged in every execution.
//!
//! An execution is made of transactions: a block as a whole, and every other access by itself. Of
//! two accesses that do not commute, the transaction of the earlier one comes before that of the
//! later one, as do those of one thread. A cycle says that no order of whole transactions gives
//! the same result: what Velodrome does (Flanagan, Freund and Yi, PLDI 2008), which reports all of
//! these executions and no others. As one execution of each class is explored, that is an answer
//! for all of them. (Lipton's movers would have to be shown for each operation: a second atomic
//! operation that nobody minds, or a second critical section, would be reported.) Locks and other
//! primitives order nothing here, as which of two critical sections comes first matters only for
//! the data. What a thread does that is created in a block belongs to that.

use crate::record::failure::place;
use lockred_protocol::codes::WarningKind;
use lockred_protocol::message::{Place, Role, Warning};
use lockred_protocol::schedule::Schedule;
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::Access;
use std::collections::{BTreeMap, BTreeSet};

/// A block's name, in the program's constants. There may be several copies of one name, as of
/// functions that are generic.
pub type Name = &'static [u8];

/// An access of the execution under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Act {
    /// Who.
    pub thread: u32,
    /// Where.
    pub site: SiteId,
    /// What.
    pub role: Role,
    /// Only while recording.
    pub stack: Vec<u64>,
}

/// A transaction.
#[derive(Clone, Debug)]
struct Node {
    /// If it is a block, its name.
    block: Option<Name>,
    /// Transactions that come later: which, by what of each.
    later: Vec<(usize, Option<[Act; 2]>)>,
}

/// What is known since there was no block under way.
#[derive(Clone, Default, Debug)]
pub struct Blocks {
    nodes: Vec<Node>,
    /// By thread: the block that it is in.
    inside: BTreeMap<u32, usize>,
    /// How deep threads are in blocks within blocks, by the thread that began them.
    depths: BTreeMap<u32, u32>,
    /// By thread: its last transaction.
    last: BTreeMap<u32, usize>,
    /// By byte: the last access of each thread and kind.
    bytes: BTreeMap<usize, Vec<(u32, Access, usize, Act)>>,
    /// Cycles.
    found: Vec<Cycle>,
}

/// A block that is not atomic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    block: Name,
    /// What the block did, what others did after that and before what comes, and what the block
    /// does then.
    acts: Vec<Act>,
}

/// What was found in all executions.
#[derive(Default, Debug)]
pub struct Atomicity {
    cycles: Vec<(Cycle, Schedule)>,
}

/// Adds what was found, but for blocks that another process has reported that searched before.
pub fn report(found: &Atomicity, warnings: &mut Vec<Warning>) {
    // After the name, it says who comes in between, which is another thread each time.
    let block = |warning: &Warning| warning.message.split('`').nth(1).map(str::to_owned);
    for warning in found.warnings() {
        let same = |known: &Warning| known.kind == warning.kind && block(known) == block(&warning);
        if !warnings.iter().any(same) {
            warnings.push(warning);
        }
    }
}

impl Atomicity {
    /// Whether the block of a cycle is known not to be atomic.
    pub fn knows(&self, cycle: &Cycle) -> bool {
        self.cycles.iter().any(|(known, _)| known.block == cycle.block)
    }

    /// Adds a cycle, and how to come to it.
    pub fn add(&mut self, cycle: Cycle, schedule: Schedule) {
        self.cycles.push((cycle, schedule));
    }

    /// What was found, a warning a block.
    pub fn warnings(&self) -> Vec<Warning> {
        self.cycles.iter().map(|(cycle, schedule)| cycle.warning(schedule)).collect()
    }
}

impl Blocks {
    /// Whether some thread is in a block.
    pub fn are_open(&self) -> bool {
        !self.inside.is_empty()
    }

    /// What was found in the execution.
    pub fn take_found(&mut self) -> Vec<Cycle> {
        std::mem::take(&mut self.found)
    }

    /// A thread begins a block.
    pub fn begin(&mut self, thread: u32, name: Name) {
        let depth = self.depths.entry(thread).or_insert(0);
        *depth += 1;
        if *depth == 1 && !self.inside.contains_key(&thread) {
            let node = self.node(thread, Some(name));
            self.inside.insert(thread, node);
        }
    }

    /// A thread ends the block that it began last.
    pub fn end(&mut self, thread: u32) {
        let Some(depth) = self.depths.get_mut(&thread) else { return };
        *depth -= 1;
        if *depth > 0 {
            return;
        }
        self.depths.remove(&thread);
        // One that was begun by who created this thread ends there.
        let Some(&node) = self.inside.get(&thread) else { return };
        let outer = |other: &u32| *other != thread && self.inside.get(other) == Some(&node);
        if self.depths.keys().any(outer) {
            return;
        }
        self.inside.retain(|_, known| *known != node);
        if self.inside.is_empty() {
            let found = std::mem::take(&mut self.found);
            *self = Self { found, depths: std::mem::take(&mut self.depths), ..Self::default() };
        }
    }

    /// A thread creates another one.
    pub fn create(&mut self, parent: u32, child: u32) {
        if let Some(&node) = self.inside.get(&parent) {
            self.inside.insert(child, node);
            self.last.insert(child, node);
        } else if let Some(&node) = self.last.get(&parent) {
            self.last.insert(child, node);
        }
    }

    /// A transaction of a thread begins.
    fn node(&mut self, thread: u32, block: Option<Name>) -> usize {
        self.nodes.push(Node { block, later: Vec::new() });
        let node = self.nodes.len() - 1;
        if let Some(before) = self.last.insert(thread, node) {
            self.nodes[before].later.push((node, None));
        }
        node
    }

    /// A thread accesses memory.
    pub fn act(&mut self, bytes: std::ops::Range<usize>, access: Access, act: &Act) {
        let thread = act.thread;
        let block = self.inside.get(&thread).copied();
        let node = block.unwrap_or_else(|| self.node(thread, None));
        for byte in bytes {
            let known = self.bytes.entry(byte).or_default();
            let mut before: Vec<(usize, Act)> = Vec::new();
            known.retain(|(other, kind, at, earlier)| {
                if *at != node && kind.depends_on(access) {
                    before.push((*at, earlier.clone()));
                }
                (*other, *kind) != (thread, access)
            });
            known.push((thread, access, node, act.clone()));
            for (earlier, by) in before {
                let edges = &mut self.nodes[earlier].later;
                if edges.iter().any(|(later, acts)| *later == node && acts.is_some()) {
                    continue;
                }
                edges.push((node, Some([by, act.clone()])));
                if let Some(name) = self.nodes[node].block
                    && let Some(path) = self.path(node, earlier)
                {
                    self.keep(name, node, path, earlier, act);
                }
            }
        }
    }

    /// A way from one transaction to another, as the transactions on it after the first.
    fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = std::collections::VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            for &(later, _) in &self.nodes[node].later {
                if later != from && !came.contains_key(&later) {
                    came.insert(later, node);
                    open.push_back(later);
                }
            }
            if came.contains_key(&to) {
                break;
            }
        }
        let mut path = vec![to];
        while *path.last()? != from {
            path.push(*came.get(path.last()?)?);
        }
        path.pop();
        path.reverse();
        Some(path)
    }

    fn keep(&mut self, block: Name, node: usize, path: Vec<usize>, last: usize, act: &Act) {
        if self.found.iter().any(|known| known.block == block) {
            return;
        }
        let mut acts = Vec::new();
        let first = path.first().copied().unwrap_or(last);
        let edge = |from: usize, to: usize| {
            self.nodes[from]
                .later
                .iter()
                .find_map(|(later, acts)| acts.as_ref().filter(|_| *later == to))
        };
        if let Some(both) = edge(node, first) {
            acts.extend(both.iter().cloned());
        }
        if let Some([by, _]) = edge(last, node) {
            acts.push(by.clone());
        }
        acts.push(act.clone());
        acts.dedup();
        self.found.push(Cycle { block, acts });
    }
}

impl Cycle {
    fn warning(&self, schedule: &Schedule) -> Warning {
        let name = String::from_utf8_lossy(self.block);
        let own = self.acts.last().map_or(0, |act| act.thread);
        let others: BTreeSet<u32> =
            self.acts.iter().map(|act| act.thread).filter(|thread| *thread != own).collect();
        let others: Vec<String> =
            others.into_iter().map(|thread| format!("thread {thread}")).collect();
        let comes = if others.len() == 1 { "comes" } else { "come" };
        let message =
            format!("atomicity: `{name}` is not atomic: {} {comes} in between", others.join(", "));
        let place =
            |act: &Act| Place { stack: act.stack.clone(), ..place(act.role, act.thread, act.site) };
        Warning {
            kind: WarningKind::Atomicity,
            message,
            site: SiteId(0),
            stack: Vec::new(),
            places: self.acts.iter().map(place).collect(),
            home: None,
            schedule: Some(schedule.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Name = b"block";

    fn act(blocks: &mut Blocks, thread: u32, address: usize, access: Access) {
        if blocks.inside.is_empty() {
            return;
        }
        let (site, role) = (SiteId(address as u32), Role::Write);
        blocks.act(address..address + 4, access, &Act { thread, site, role, stack: Vec::new() });
    }

    /// `b1`, `e1`: thread 1 begins and ends a block; `r1x`, `w1x`, `u1x`: it reads, writes, updates
    /// something.
    fn found(story: &str) -> Vec<Vec<u32>> {
        let mut blocks = Blocks::default();
        for word in story.split(' ') {
            let word = word.as_bytes();
            let thread = u32::from(word[1] - b'0');
            let address = || usize::from(word[2]) * 8;
            let update = Access::Update { family: 1, acquires: false, releases: false };
            match word[0] {
                b'b' => blocks.begin(thread, BLOCK),
                b'e' => blocks.end(thread),
                b'c' => blocks.create(thread, u32::from(word[2] - b'0')),
                b'r' => act(&mut blocks, thread, address(), Access::Read),
                b'w' => act(&mut blocks, thread, address(), Access::Write),
                _ => act(&mut blocks, thread, address(), update),
            }
        }
        if blocks.inside.is_empty() {
            assert!(blocks.nodes.is_empty() && blocks.bytes.is_empty(), "it is forgotten");
        }
        let threads = |cycle: &Cycle| cycle.acts.iter().map(|act| act.thread).collect();
        blocks.found.iter().map(threads).collect()
    }

    #[test]
    fn who_comes_in_between_is_reported() {
        assert_eq!(found("b1 r1x w2x w1x e1"), [[1, 2, 1]]);
        assert_eq!(found("b1 r1x b2 r2x w2x e2 w1x e1"), [[1, 2, 1]]);
        assert_eq!(found("b1 w1x r2x w2y r1y e1"), [[1, 2, 2, 1]]);
        assert_eq!(found("b1 w1x r2x w2y r3y w3z r1z e1"), [[1, 2, 3, 1]]);
        // Each alone could be between the parts of the other; both cannot.
        assert_eq!(found("b1 b2 r1x r2y w1y w2x e1 e2"), [[2, 1, 1, 2]]);
    }

    #[test]
    fn what_could_as_well_have_come_before_or_after_is_fine() {
        for story in [
            "b1 w1x w1y e1 r2x r2y",
            "b1 r1x r2x r1x e1",
            "b1 u1x u2x u1x e1",
            "b1 w1x r2y w2z w1u e1",
            "b1 r1x w2x r2y e1",
            "r2x b1 w1x w2z r1y e1",
            "b1 r1x w2y r1y e1",
            "b1 r1x e1 w2x b1 w1x e1",
            "b1 b1 r1x e1 r1y e1 w2x w2y",
        ] {
            assert_eq!(found(story), [[0; 0]; 0], "{story}");
        }
    }

    #[test]
    fn a_block_within_a_block_belongs_to_it_and_so_do_threads_created_there() {
        assert_eq!(found("b1 b1 r1x e1 w2x w1x e1"), [[1, 2, 1]]);
        assert_eq!(found("b1 w1x c12 r2x w2y r1y e1"), [[0; 0]; 0]);
        assert_eq!(found("b1 w1x c12 r2x b2 w2y e2 r1y e1"), [[0; 0]; 0]);
        assert_eq!(found("b1 c12 r2x w3x w2x e1"), [[2, 3, 2]]);
    }
}
