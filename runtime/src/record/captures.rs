//! Captures of a recorded execution, for reports of races: who did what, with its stack.
//!
//! A loop may access memory a million times without a visible operation. So that its replay takes
//! about as long as its search, and no more memory, the stack is not walked again where it is what
//! it was, and what has the same capture shares it.

use crate::coroutine::unwind::Walk;
use crate::record::held::Held;
use lockred_protocol::sites::SiteId;

/// What a thread did that may be part of a race.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    /// Steps recorded before it.
    pub step: usize,
    /// Events that the race detector had kept.
    pub events: usize,
    /// Locks that the thread held.
    pub held: Vec<Held>,
}

/// Where a thread does something, as far as that is known without a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// Who.
    pub thread: u32,
    /// The instruction.
    pub site: SiteId,
    /// A stack pointer at a fixed place in the runtime.
    pub pointer: usize,
}

/// A walk that was made at a spot, and the capture that it belongs to.
#[derive(Debug)]
struct Known {
    spot: Spot,
    walk: Walk,
    capture: u32,
}

/// Walks that are remembered: more than the accesses of most loops.
const KNOWN: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub struct Captures {
    all: Vec<Capture>,
    /// By a hash of the spot.
    known: Vec<Option<Known>>,
    /// The id that was given last.
    last: u32,
}

fn place(spot: &Spot) -> usize {
    let mixed = (spot.pointer as u64 ^ u64::from(spot.site.0) << 32 ^ u64::from(spot.thread))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize % KNOWN
}

impl Captures {
    /// The id, from 1, of a capture at this spot. `held`: the locks that the thread holds.
    pub fn keep<'a>(
        &mut self,
        spot: Spot,
        (step, events): (usize, usize),
        held: impl Iterator<Item = &'a Held> + Clone,
    ) -> u32 {
        self.last = self.again(&spot, (step, events), held.clone()).unwrap_or_else(|| {
            let walk = Walk::new(spot.pointer);
            let stack = match &walk {
                Some(walk) => walk.stack.clone(),
                None => crate::coroutine::unwind::stack(),
            };
            self.all.push(Capture { stack, step, events, held: held.cloned().collect() });
            let capture = self.all.len() as u32;
            self.known.resize_with(KNOWN, || None);
            self.known[place(&spot)] = walk.map(|walk| Known { spot, walk, capture });
            capture
        });
        self.last
    }

    /// The capture that was kept at this spot last, if everything is as it was then.
    fn again<'a>(
        &self,
        spot: &Spot,
        now: (usize, usize),
        held: impl Iterator<Item = &'a Held>,
    ) -> Option<u32> {
        let known = self.known.get(place(spot))?.as_ref().filter(|known| known.spot == *spot)?;
        let kept = &self.all[known.capture as usize - 1];
        let alike = (kept.step, kept.events) == now && are_same(held, &kept.held);
        (alike && known.walk.is_as_it_was()).then_some(known.capture)
    }

    /// The id that was given last; 0 if none was.
    pub const fn last(&self) -> u32 {
        self.last
    }

    /// The capture with an id.
    pub fn of(&self, id: u32) -> Capture {
        self.all.get((id as usize).wrapping_sub(1)).cloned().unwrap_or_default()
    }
}

/// Whether locks that are held are the same ones.
fn are_same<'a>(mut held: impl Iterator<Item = &'a Held>, others: &[Held]) -> bool {
    let what = |held: &Held| (held.address, held.site, held.step);
    others.iter().all(|other| held.next().map(what) == Some(what(other))) && held.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coroutine::context::stack_pointer;

    fn held(site: u32) -> Held {
        let (address, thread, shared, step) = (16, 1, false, None);
        Held { address, thread, site: SiteId(site), shared, step, stack: Vec::new() }
    }

    #[test]
    fn what_a_loop_does_over_and_over_is_one_capture() {
        let mut captures = Captures::default();
        let mut keep = |site, step, held: &[Held]| {
            let spot = Spot { thread: 1, site: SiteId(site), pointer: stack_pointer() };
            captures.keep(spot, (step, 0), held.iter())
        };
        let mut seen = Vec::new();
        // The first and the last three differ in what they pass only.
        for (site, step, held) in [
            (1, 0, vec![]),
            (2, 0, vec![]),
            (1, 0, vec![]),
            (2, 0, vec![]),
            (1, 1, vec![]),
            (1, 1, vec![held(1)]),
            (1, 1, vec![held(1)]),
            (1, 1, vec![held(2)]),
        ] {
            seen.push(keep(site, step, &held));
        }
        assert_eq!(seen, [1, 2, 1, 2, 3, 4, 4, 5]);
        assert_eq!((captures.last(), captures.all.len()), (5, 5));
        assert_eq!(captures.of(4).held.len(), 1);
        assert!(captures.of(1).stack.len() > 1 && captures.of(0).stack.is_empty());
    }

    #[test]
    fn callers_tell_captures_apart() {
        #[inline(never)]
        fn access(captures: &mut Captures) -> u32 {
            let spot = Spot { thread: 0, site: SiteId(1), pointer: stack_pointer() };
            std::hint::black_box(captures.keep(spot, (0, 0), [].iter()))
        }
        let mut captures = Captures::default();
        let one = access(&mut captures);
        let other = access(&mut captures);
        assert_ne!(one, other);
    }
}
