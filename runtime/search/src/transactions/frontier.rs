//! A search by transactions says where it stands between two executions ([`Frontier`]), and goes
//! on from there.

use crate::drive::frontier::Frontier;
use crate::drive::node::Node;
use crate::drive::observer::Stop;
use crate::drive::transactional::{End, Transactional};

use super::reverse::Source;
use super::{Break, Search};

impl<M: Transactional> Search<'_, '_, M> {
    /// The present node has its next branch: reports to the observer what it takes to go on here,
    /// if it wants to know.
    pub(super) fn report_frontier(&mut self) {
        let (nodes, reported) = (&mut self.nodes, &mut self.reported);
        let (depth, discipline) = (self.depth, &*self.discipline);
        let kept = self.drive.report_frontier(|progress| {
            nodes.truncate(depth + 1);
            nodes.iter_mut().for_each(Node::shrink);
            Frontier {
                progress,
                discipline: discipline.clone(),
                nodes: std::mem::take(nodes),
                reported: std::mem::take(reported),
            }
        });
        if let Some(kept) = kept {
            self.nodes = kept.nodes;
            self.reported = kept.reported;
        }
    }

    /// Goes to where another search stood.
    pub(super) fn resume(&mut self, frontier: Frontier) -> Result<(), Break> {
        let Frontier { progress, discipline, nodes, reported } = frontier;
        *self.discipline = discipline;
        self.nodes = nodes;
        self.reported = reported;
        self.drive.reopen(progress);
        self.clear()?;
        for depth in 0..self.nodes.len() {
            if depth > 0 {
                let repeated = self.repeat();
                // What is run again was counted before.
                self.drive.reopen(progress);
                repeated?;
            }
            self.depth = depth;
            self.drive.machine.save(depth);
        }
        Ok(())
    }

    /// Runs the branch of the present node again.
    fn repeat(&mut self) -> Result<(), Break> {
        let other = Stop::Nondeterminism { step: self.drive.schedule.len() };
        let Some(thread) = self.nodes[self.depth].thread else { return Err(other.into()) };
        let starts = self.drive.schedule.len() == self.nodes[self.depth].schedule;
        if !starts || thread.0 >= self.drive.machine.threads() {
            return Err(other.into());
        }
        let mut picks = std::mem::take(&mut self.nodes[self.depth].picks);
        let end = self.advance(thread, &mut picks);
        self.nodes[self.depth].picks = picks;
        match end? {
            End::Boundary | End::Ended => {}
            End::Blocked if self.parks() => {}
            _ => return Err(other.into()),
        }
        self.add_inherited(thread);
        self.prepare(thread, Source::Run);
        self.append(thread)
    }
}
