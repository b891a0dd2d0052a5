//! What is asked for: only nodes from which something that is asked for follows are computed.
//!
//! Where the address of an access, a call, or a copy points to is asked for, as is what functions
//! outside of the program get, and so is everything that leads there. Lengths and counters are not.
//! Numbers that are computed of addresses are followed only to where one becomes an address again.

use super::objects::PlaceId;
use super::solver::{Dormant, Graph, Node, Rule};

impl Graph {
    /// Somebody asks where a node points to.
    pub fn want(&mut self, node: Node) {
        let mut open = vec![self.find(node)];
        while let Some(node) = open.pop() {
            let data = &mut self.nodes[node as usize];
            if std::mem::replace(&mut data.wanted, true) {
                continue;
            }
            for dormant in std::mem::take(&mut data.dormant) {
                match dormant {
                    Dormant::Edge(from) => {
                        // The node may have become unknown by an edge before.
                        let (from, to) = (self.find(from), self.find(node));
                        open.push(from);
                        self.connect(from, to);
                    }
                    Dormant::Rule(from, rule) => {
                        open.push(self.find(from));
                        self.awake.push((from, rule));
                    }
                }
            }
        }
    }

    /// A number is computed of an address.
    pub fn is_number(&mut self, place: PlaceId) {
        self.number_places.insert(place);
    }

    /// Numbers matter at a node.
    pub fn want_numbers(&mut self, node: Node) {
        let mut open = vec![self.find(node)];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut self.nodes[node as usize].numbers, true) {
                continue;
            }
            for source in self.nodes[node as usize].sources.clone() {
                let source = self.find(source);
                if self.nodes[source as usize].numbers {
                    if source != node {
                        self.flow(source, node, false);
                    }
                } else {
                    open.push(source);
                }
            }
            let rules = std::mem::take(&mut self.nodes[node as usize].uncounted);
            self.awake.extend(rules);
        }
    }

    /// Whether somebody asked where a node points to.
    pub fn is_wanted(&self, node: Node) -> bool {
        self.nodes[self.find(node) as usize].wanted || self.is_sunk(node)
    }

    /// Whether numbers are followed to a node.
    #[cfg(test)]
    pub fn counts(&self, node: Node) -> bool {
        self.nodes[self.find(node) as usize].numbers
    }

    /// A rule that has become wanted, with its node.
    pub fn awake(&mut self) -> Option<(Node, Rule)> {
        self.awake.pop()
    }
}
