//! Random search: every step runs one of the threads that can run, all equally likely, again and
//! again from the root.
//!
//! A walk is not uniform over traces; it is there to compare, and to find what a bounded
//! depth-first search does not reach. It ends by a limit or by the observer only. Low-priority
//! threads take part in one of eight steps.

use crate::core::machine::{Machine, Status, ThreadId};
use crate::drive::observer::{Limits, Observer, Outcome, Stop};
use crate::drive::{After, Drive, Run};

/// Walks at random; equal seeds give equal walks.
pub fn explore<M: Machine>(
    machine: &mut M,
    seed: u64,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let mut drive = Drive::new(machine, limits, observer);
    let result = walks(&mut drive, Generator(seed));
    drive.sampled(result, seed)
}

fn walks<M: Machine>(drive: &mut Drive<'_, M>, mut random: Generator) -> Result<(), Stop> {
    let mut candidates = Vec::new();
    loop {
        drive.restart()?;
        loop {
            let low_priority_too = random.below(8) == 0;
            collect(drive.machine, low_priority_too, &mut candidates);
            if candidates.is_empty() && !low_priority_too {
                collect(drive.machine, true, &mut candidates);
            }
            if candidates.is_empty() {
                drive.finish()?;
                break;
            }
            let number = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
            let thread = candidates[random.below(number) as usize];
            match drive.run(thread, Run::Fresh, &mut |of| random.below(of))? {
                After::On => {}
                After::Over => {
                    drive.finish()?;
                    break;
                }
                After::Cut => {
                    drive.give_up();
                    break;
                }
            }
        }
    }
}

fn collect<M: Machine>(machine: &mut M, low_priority_too: bool, candidates: &mut Vec<ThreadId>) {
    candidates.clear();
    for thread in (0..machine.threads()).map(ThreadId) {
        match machine.status(thread) {
            Status::Enabled => candidates.push(thread),
            Status::LowPriority if low_priority_too => candidates.push(thread),
            _ => {}
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
pub(crate) struct Generator(pub(crate) u64);

impl Generator {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `0..bound`; the bias for bounds far below 2^32 does not matter here.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }
}
