//! The constraints' solver: wave propagation (Pereira and Berlin, CGO 2009) of differences over a
//! graph whose cycles are merged.
//!
//! A *node* stands for a variable: a register of a context, or what a place holds. Copies are
//! edges; everything that depends on which places a node points to is a *rule* of it. In each wave,
//! new places go along the edges in topological order; then the rules see what is new, and add
//! edges.

use super::bits::Bits;
use super::objects::PlaceId;
use crate::facts::{Distance, FunctionId, Side};

/// Index of a node.
pub type Node = u32;

/// What happens for every place that a node points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// The node gets the place so far from it.
    Offset(Node, Distance),
    /// The node gets the place, if it is in something of this side or of none.
    OfSide(Node, Side),
    /// What is at the place, offset and size in bytes, goes to a node.
    Load { to: Node, offset: u32, size: u32 },
    /// What a node points to goes to the place.
    Store { from: Node, offset: u32, size: u32 },
    /// It is where this copy of memory goes to.
    CopyTo(u32),
    /// It is where this copy of memory comes from.
    CopyFrom(u32),
    /// A function that is only found in tables of methods is offered it as its object.
    Offered(FunctionId),
    /// It was made a trait object whose table has this function.
    Paired(FunctionId),
    /// If it is a table of methods, this node's object has them.
    Table(Node),
    /// It is called.
    Call(u32),
    /// Those who are not known have it.
    Escaped,
    /// The harness calls the functions that can be reached from it.
    Tests,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    pub(super) set: Bits,
    /// What the edges have not seen.
    pub(super) fresh: Bits,
    /// What the rules have not seen.
    unseen: Bits,
    pub(super) edges: Vec<Node>,
    pub(super) rules: Vec<Rule>,
    /// Somebody asks where it points to.
    pub(super) wanted: bool,
    /// What leads here, as long as nobody does.
    pub(super) dormant: Vec<Dormant>,
    /// Numbers that are computed of addresses matter here, as some become addresses again.
    pub(super) numbers: bool,
    /// Where edges come from.
    pub(super) sources: Vec<Node>,
    /// Rules that would bring numbers here.
    pub(super) uncounted: Vec<(Node, Rule)>,
}

/// What would lead to a node if somebody asked where that points to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dormant {
    /// An edge from a node.
    Edge(Node),
    /// A rule of a node.
    Rule(Node, Rule),
}

/// The graph.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Data>,
    /// The node that a node was merged into.
    pub(super) merged: Vec<Node>,
    /// Nodes in topological order, as far as it was computed.
    order: Vec<Node>,
    /// Sets with more places than this are taken for unknown: they become this node's.
    pub(super) sink: Option<(Node, usize)>,
    /// Rules of nodes that have become unknown.
    pub(super) sunk: Vec<Rule>,
    /// The places that are numbers.
    pub(super) number_places: Bits,
    /// Rules that have become wanted, with their nodes.
    pub(super) awake: Vec<(Node, Rule)>,
    /// Edges added since the order was computed.
    new_edges: usize,
    pub(super) any_fresh: bool,
}

impl Graph {
    /// Adds nodes; the first one.
    pub fn add(&mut self, count: u32) -> Node {
        let first = self.nodes.len() as Node;
        for node in first..first + count {
            self.nodes.push(Data::default());
            self.merged.push(node);
            self.order.push(node);
        }
        first
    }

    pub fn find(&self, mut node: Node) -> Node {
        while self.merged[node as usize] != node {
            node = self.merged[node as usize];
        }
        node
    }

    /// The places that a node points to.
    pub fn set(&self, node: Node) -> &Bits {
        &self.nodes[self.find(node) as usize].set
    }

    /// A node points to a place.
    pub fn point(&mut self, node: Node, place: PlaceId) {
        let node = self.find(node);
        let data = &mut self.nodes[node as usize];
        if data.set.insert(place) {
            data.fresh.insert(place);
            self.any_fresh = true;
        }
    }

    /// Whatever one node points to, another one does.
    pub fn copy(&mut self, from: Node, to: Node) {
        let (from, to) = (self.find(from), self.find(to));
        if from == to {
            return;
        }
        if !self.nodes[to as usize].wanted {
            self.nodes[to as usize].dormant.push(Dormant::Edge(from));
            return;
        }
        self.want(from);
        self.connect(self.find(from), self.find(to));
    }

    /// Adds an edge between nodes that are wanted.
    pub(super) fn connect(&mut self, from: Node, to: Node) {
        if from == to {
            return;
        }
        if self.nodes[to as usize].numbers {
            self.want_numbers(from);
        }
        if self.is_sunk(from) {
            self.sink(to);
            return;
        }
        let edges = &mut self.nodes[from as usize].edges;
        if edges.len() < 8 && edges.contains(&to) {
            return;
        }
        edges.push(to);
        self.nodes[to as usize].sources.push(from);
        let edges = &mut self.nodes[from as usize].edges;
        if edges.len() > 64 && edges.len().is_power_of_two() {
            edges.sort_unstable();
            edges.dedup();
        }
        self.new_edges += 1;
        self.flow(from, to, false);
    }

    /// Moves places along an edge: all of them, or the fresh ones.
    pub(super) fn flow(&mut self, from: Node, to: Node, only_fresh: bool) {
        let Ok([source, target]) = self.nodes.get_disjoint_mut([from as usize, to as usize]) else {
            return;
        };
        let what = if only_fresh { &source.fresh } else { &source.set };
        let without;
        let what = if source.numbers && !target.numbers {
            without = what.without(&self.number_places);
            &without
        } else {
            what
        };
        if target.set.add(what, &mut target.fresh) {
            self.any_fresh = true;
        }
    }

    /// Adds a rule; the places that it has to be applied to at once.
    #[must_use]
    pub fn rule(&mut self, node: Node, rule: Rule) -> Vec<PlaceId> {
        let node = self.find(node);
        if let Rule::Offset(to, _) | Rule::OfSide(to, _) | Rule::Load { to, .. } = rule {
            let to = self.find(to);
            if !self.nodes[to as usize].wanted {
                self.nodes[to as usize].dormant.push(Dormant::Rule(node, rule));
                return Vec::new();
            }
        }
        self.want(node);
        if let Rule::Offset(to, Distance::Number) = rule {
            let to = self.find(to);
            if !self.nodes[to as usize].numbers {
                self.nodes[to as usize].uncounted.push((node, rule));
                return Vec::new();
            }
        }
        // A number that is computed of a number is one of the same address.
        if let Rule::Offset(_, Distance::Restored | Distance::Number) = rule {
            self.want_numbers(node);
        }
        let node = self.find(node);
        if self.is_sunk(node) {
            self.sunk.push(rule);
            return Vec::new();
        }
        let data = &mut self.nodes[node as usize];
        data.rules.push(rule);
        data.set.iter().collect()
    }

    /// A rule of a node; `None` if it has become unknown meanwhile.
    pub fn rule_at(&self, node: Node, at: usize) -> Option<Rule> {
        self.nodes[node as usize].rules.get(at).copied()
    }

    /// One wave along the edges. The nodes whose rules have to be applied, each with the number of
    /// rules and its new places; rules that are added from then on see those places by themselves.
    /// `None` when nothing was fresh.
    pub fn wave(&mut self) -> Option<Vec<(Node, usize, Bits)>> {
        if !std::mem::take(&mut self.any_fresh) {
            return None;
        }
        if self.new_edges * 16 > self.order.len() {
            self.sort();
        }
        let order = std::mem::take(&mut self.order);
        let mut large = Vec::new();
        for &node in &order {
            if self.nodes[node as usize].fresh.is_empty() {
                continue;
            }
            let edges = std::mem::take(&mut self.nodes[node as usize].edges);
            for &to in &edges {
                let to = self.find(to);
                if to != node {
                    self.flow(node, to, true);
                }
            }
            let data = &mut self.nodes[node as usize];
            data.edges = edges;
            if let Some((_, most)) = self.sink
                && data.set.len() > most
            {
                large.push(node);
            }
            let fresh = std::mem::take(&mut data.fresh);
            if !data.rules.is_empty() {
                data.unseen.unite(fresh);
            }
        }
        for node in large {
            if !self.is_sunk(node) {
                self.sink(node);
            }
        }
        let mut work = Vec::new();
        for &node in &order {
            let data = &mut self.nodes[node as usize];
            self.any_fresh |= !data.fresh.is_empty();
            if !data.unseen.is_empty() {
                work.push((node, data.rules.len(), std::mem::take(&mut data.unseen)));
            }
        }
        self.order = order;
        Some(work)
    }

    /// Merges the nodes of each cycle, and puts all into topological order (Tarjan's algorithm,
    /// iterative).
    fn sort(&mut self) {
        self.new_edges = 0;
        let count = self.nodes.len();
        let mut number = vec![0_u32; count];
        let mut low = vec![0_u32; count];
        let mut on_stack = vec![false; count];
        let (mut next, mut stack, mut path) = (1_u32, Vec::new(), Vec::<(Node, usize)>::new());
        let mut finished: Vec<Node> = Vec::with_capacity(count);
        for root in 0..count as Node {
            if self.merged[root as usize] != root || number[root as usize] != 0 {
                continue;
            }
            path.push((root, 0));
            while let Some(&mut (node, ref mut edge)) = path.last_mut() {
                let n = node as usize;
                if *edge == 0 && number[n] == 0 {
                    number[n] = next;
                    low[n] = next;
                    next += 1;
                    stack.push(node);
                    on_stack[n] = true;
                }
                if let Some(&to) = self.nodes[n].edges.get(*edge) {
                    *edge += 1;
                    let to = self.find(to);
                    let t = to as usize;
                    if number[t] == 0 {
                        path.push((to, 0));
                    } else if on_stack[t] {
                        low[n] = low[n].min(number[t]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    let p = parent as usize;
                    low[p] = low[p].min(low[n]);
                }
                if low[n] == number[n] {
                    let at = stack.iter().rposition(|&s| s == node).unwrap_or_default();
                    for member in stack.split_off(at) {
                        on_stack[member as usize] = false;
                        if member != node {
                            self.merge(member, node);
                        }
                    }
                    finished.push(node);
                }
            }
        }
        for node in 0..count as Node {
            self.merged[node as usize] = self.find(node);
        }
        finished.reverse();
        self.order = finished;
        for &node in &self.order {
            let merged = &self.merged;
            let edges = &mut self.nodes[node as usize].edges;
            for to in edges.iter_mut() {
                *to = merged[*to as usize];
            }
            edges.sort_unstable();
            edges.dedup();
            edges.retain(|&to| to != node);
        }
    }

    fn merge(&mut self, from: Node, into: Node) {
        self.merged[from as usize] = into;
        let Data { set, fresh, unseen, edges, rules, wanted, dormant, numbers, sources, uncounted } =
            std::mem::take(&mut self.nodes[from as usize]);
        let target = &mut self.nodes[into as usize];
        target.sources.extend(sources);
        target.uncounted.extend(uncounted);
        debug_assert_eq!(target.numbers, numbers);
        debug_assert!(wanted && dormant.is_empty() && target.wanted);
        let had_rules = !target.rules.is_empty();
        target.unseen.unite(unseen);
        // The edges and rules of each have not seen what only the other one has.
        let mut news = Bits::default();
        let mut mine = set.clone();
        mine.add(&target.set, &mut news);
        let mut theirs = Bits::default();
        target.set.add(&set, &mut theirs);
        target.fresh.unite(fresh);
        if !edges.is_empty() {
            target.fresh.unite(news.clone());
        }
        target.fresh.unite(theirs.clone());
        if !rules.is_empty() {
            target.unseen.unite(news);
        }
        if had_rules {
            target.unseen.unite(theirs);
        }
        target.edges.extend(edges);
        target.rules.extend(rules);
        target.rules.dedup();
        self.any_fresh = true;
    }
}
