//! Large sets: a node that may point to more than a bound is taken for unknown.
//!
//! Unknown is what those who are not known hold, one node: the *sink*. What it may point to is
//! shared, and whatever it is stored through or copied to becomes a part of it. So programs that
//! mix everything up cost no more than others, and what is not mixed up in them is still told
//! apart.

use super::PointsTo;
use super::objects::PlaceId;
use super::solver::{Graph, Node, Rule};

impl Graph {
    /// Whether a node points to everything that is unknown.
    pub fn is_sunk(&self, node: Node) -> bool {
        self.sink.is_some_and(|(sink, _)| self.find(node) == self.find(sink))
    }

    /// A node, and what it leads to, may point to whatever is unknown from now on.
    pub(super) fn sink(&mut self, node: Node) {
        let Some((sink, _)) = self.sink else { return };
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let (node, sink) = (self.find(node), self.find(sink));
            if node == sink {
                continue;
            }
            self.want_numbers(node);
            let data = std::mem::take(&mut self.nodes[node as usize]);
            self.merged[node as usize] = sink;
            open.extend(data.edges);
            self.sunk.extend(data.rules);
            let into = &mut self.nodes[sink as usize];
            into.sources.extend(data.sources);
            if into.set.add(&data.set, &mut into.fresh) {
                self.any_fresh = true;
            }
        }
    }

    /// From now on, whatever is large is unknown.
    pub fn start_sinking(&mut self, sink: Node, most: usize) {
        if self.sink.is_some() {
            return;
        }
        self.sink = Some((sink, most));
        let sink = self.find(sink);
        let edges = std::mem::take(&mut self.nodes[sink as usize].edges);
        for to in edges {
            self.sink(to);
        }
        for node in 0..self.nodes.len() as Node {
            let data = &self.nodes[node as usize];
            if self.merged[node as usize] == node && data.wanted && data.set.len() > most {
                self.sink(node);
            }
        }
    }

    /// A rule of a node that has become unknown.
    pub fn sunk(&mut self) -> Option<Rule> {
        self.sunk.pop()
    }

    /// A node gets a rule that is applied to its places by the caller; whether it is new.
    pub fn keep_rule(&mut self, node: Node, rule: Rule) -> bool {
        let node = self.find(node);
        let rules = &mut self.nodes[node as usize].rules;
        let new = !rules.contains(&rule);
        if new {
            rules.push(rule);
        }
        new
    }
}

impl PointsTo<'_> {
    /// A rule of a node that may point to whatever is unknown.
    pub(super) fn apply_to_unknown(&mut self, rule: Rule) {
        match rule {
            Rule::Offset(to, _) | Rule::OfSide(to, _) | Rule::Load { to, .. } => {
                self.graph.copy(self.foreign, to)
            }
            Rule::Store { from, .. } => self.graph.copy(from, self.foreign),
            Rule::CopyTo(copy) => {
                if let Some(mixed) = self.mix(copy) {
                    self.graph.copy(mixed, self.foreign);
                }
            }
            Rule::CopyFrom(copy) => {
                if let Some(mixed) = self.mix(copy) {
                    self.graph.copy(self.foreign, mixed);
                }
            }
            Rule::Offered(function) => {
                let context = self.common_context(function);
                let base = self.contexts[context as usize].base;
                self.graph.copy(self.foreign, base);
            }
            Rule::Paired(function) => {
                // It is called on whatever is unknown.
                let context = self.common_context(function);
                let base = self.contexts[context as usize].base;
                self.graph.copy(self.foreign, base);
                self.methods.set_anything(function);
                if let Some(offered) = self.methods.offered(function) {
                    self.graph.copy(offered, base);
                }
            }
            Rule::Table(data) => {
                self.graph.copy(data, self.foreign);
                self.keep(Rule::Table(self.foreign));
            }
            Rule::Call(_) | Rule::Escaped | Rule::Tests => self.keep(rule),
        }
    }

    /// What is unknown has a rule that is applied to each place.
    fn keep(&mut self, rule: Rule) {
        if self.graph.keep_rule(self.foreign, rule) {
            for place in self.graph.set(self.foreign).iter().collect::<Vec<PlaceId>>() {
                self.apply(rule, place);
            }
        }
    }
}
