//! How much of the tree was explored, going by the path to the next branch.
//!
//! Knuth's way to weigh a tree (Estimating the efficiency of backtrack programs, 1975): the
//! branches of a node are taken to weigh the same, so that a path with `n1, n2, …` branches at its
//! nodes has the weight `1/(n1 n2 …)`. What a depth first search has explored is what stands before
//! the next branch at each node of the path. Race reversal makes more branches known as the search
//! goes on, so that the share can shrink; it is an estimate, and people are told so.

use super::Search;
use crate::drive::transactional::Transactional;

impl<M: Transactional> Search<'_, '_, M> {
    /// The present node has its next branch: reports to the observer how much was explored, if it
    /// wants to know.
    pub(super) fn report_share(&mut self) {
        let nodes = &self.nodes[..=self.depth];
        self.drive.report_share(|| {
            let (mut share, mut weight) = (0.0, 1.0);
            let mut choice = |done: f64, of: f64| {
                share += weight * done / of;
                weight /= of;
            };
            for (depth, node) in nodes.iter().enumerate() {
                let (done, of) = node.branches(depth);
                choice(done as f64, of as f64);
                for &(picked, of) in node.picks.values() {
                    choice(f64::from(picked), f64::from(of));
                }
            }
            share
        });
    }
}
