//! A look at a word and the compare-exchange after it, as one step: `loop { let n =
//! word.load(Relaxed); if n & 1 == 0 && word.compare_exchange(n, n | 1, Acquire, Relaxed).is_ok() {
//! break } }`.
//!
//! A load comes, whenever it finds the word good, next to a compare-exchange of the same word, and
//! that, whenever it fails, leads back to the load. Then the two are executed without a switch, as
//! an atomic region of the runtime (`opens` and `inside` of sync models). This misses nothing:
//! - a round in which the exchange fails is left out, as such rounds are in general (see the head
//!   of the directory);
//! - where it succeeds, the load could have been made right before it. It would have found the same
//!   word, if the exchange compares with what the load found, or else a good one, which is all that
//!   matters, as the exchange awaits a good one whatever the load found;
//! - the load acquires no more by that than the exchange does: an acquiring load needs an acquiring
//!   exchange;
//! - whoever races with plain reads in between races with the same reads before the load, too, for
//!   which [`Rounds`] asks;
//! - a failing exchange only reads, so that it races with nothing with which the load's own look
//!   does not. (An exchange without a comparison writes even in vain. It races with plain reads of
//!   the word, so that it stays a step of its own.)

use super::calls::Calls;
use super::condition::Condition;
use super::same::{Rounds, are_alike};
use super::walk::Walk;
use super::{Step, Wait};
use crate::llvm::{Instruction, Opcode};
use std::collections::HashMap;

/// Finds such pairs among the atomic operations in loops of a function, given with the bits of
/// their words.
pub fn find(
    atomics: &[(Instruction, u64)],
    waits: &mut HashMap<Instruction, Wait>,
    calls: &mut Calls,
) {
    for &(load, bits) in atomics.iter().filter(|(at, _)| at.opcode() == Opcode::Load) {
        for &(exchange, _) in atomics {
            let pair = Pair { load, exchange, bits };
            if exchange.opcode() == Opcode::CompareExchange && pair.is_step(waits, calls) {
                waits.entry(load).or_default().step = Step::Begins;
                waits.entry(exchange).or_default().step = Step::Ends;
            }
        }
    }
}

/// A load and a compare-exchange.
struct Pair {
    load: Instruction,
    exchange: Instruction,
    bits: u64,
}

impl Pair {
    fn is_step(&self, waits: &HashMap<Instruction, Wait>, calls: &mut Calls) -> bool {
        let Self { load, exchange, bits } = *self;
        let awaited = |at: Instruction| waits.get(&at).and_then(|wait| wait.awaits.clone());
        let acquires = exchange.compare_exchange_orders().0.acquires();
        if load.accessed_type() != exchange.accessed_type()
            || load.order().acquires() && !acquires
            || !are_alike(load.address(), exchange.address(), calls)
        {
            return false;
        }
        let good = awaited(load);
        let bad = good.as_ref().map(Condition::negated);
        let Some(onwards) = Walk::onwards(load, exchange, bits, bad, calls) else { return false };
        let same_word = exchange.operand(1) == load.value();
        let succeeds = || good?.implies(&awaited(exchange)?);
        // (What it awaits, it awaits whatever the load found: see `Rounds::are_idle`.)
        if !same_word && succeeds() != Some(true) {
            return false;
        }
        let Some(mut round) = Walk::back(exchange, load, bits, calls) else { return false };
        round.blocks.extend(onwards.blocks);
        round.blocks.extend([load.block(), exchange.block()]);
        Rounds::new(load, round, calls).are_without_effect()
    }
}
