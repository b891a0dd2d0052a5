//! Loops that end early, as `--scale-loops` has it: counted rounds that synchronise.

use crate::machine::hook;
use crate::machine::state::State;
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::message::Assumption;
use lockred_protocol::sites::SiteId;

/// What a loop keeps in its frame.
#[repr(C)]
pub struct Loop {
    /// The numbers in its range when it began; 0 before that.
    whole: u64,
    /// Rounds that it has finished, and in which its thread has done what others may know of.
    rounds: u64,
    /// How much its thread had done when the round began.
    acts: u64,
}

/// The numbers that are left in a range of integers of `size` bytes, at its address.
///
/// # Safety
/// It is one.
unsafe fn left(range: usize, size: u32) -> u64 {
    // SAFETY: the caller's word.
    let [start, end] = unsafe { [range, range + size as usize].map(|at| read(at, size)) };
    let unused = 64 - 8 * size;
    end.wrapping_sub(start) << unused >> unused
}

/// # Safety
/// There are `size` bytes, which is 1, 2, 4 or 8.
unsafe fn read(address: usize, size: u32) -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the caller's word.
    unsafe {
        std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size as usize);
    }
    u64::from_le_bytes(bytes)
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_round(range: usize, size: u32, counts: *mut Loop, limit: u64, site: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let state = &mut *hook::enter();
    state.knowledge.scales = true;
    // SAFETY: the hook's contract.
    let (counts, left) = unsafe { (&mut *counts, left(range, size)) };
    let thread = state.thread();
    let acts = thread.loops.acts + u64::from(thread.children);
    if counts.whole == 0 {
        *counts = Loop { whole: left, rounds: 0, acts };
        return;
    }
    if counts.acts != acts && state.is_put_back() {
        counts.rounds += 1;
    }
    counts.acts = acts;
    if counts.rounds < limit || left == 0 {
        return;
    }
    // Rounds that synchronise with nobody were made beside these.
    let made = counts.whole - left;
    report(state, format!("{made} of {} rounds", counts.whole), SiteId(site));
    // SAFETY: the hook's contract: start and end of the range.
    unsafe {
        let end = (range + size as usize) as *const u8;
        std::ptr::copy_nonoverlapping(end, range as *mut u8, size as usize);
    }
}

/// Each loop is reported once, as it ends for the first time.
fn report(state: &mut State, detail: String, site: SiteId) {
    let kind = AssumptionKind::ScaledLoops;
    if !state.verdicts.assumptions.iter().any(|known| known.kind == kind && known.site == site) {
        state.verdicts.assumptions.push(Assumption { kind, detail, site });
    }
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn what_is_left_of_a_range_does_not_depend_on_signs() {
        // SAFETY: each is a range of integers of that size.
        unsafe {
            assert_eq!(left(&raw const *&[-3_i8, 4] as usize, 1), 7);
            assert_eq!(left(&raw const *&[250_u8, 250] as usize, 1), 0);
            assert_eq!(left(&raw const *&[-1_i32, i32::MAX] as usize, 4), 1 << 31);
            assert_eq!(left(&raw const *&[7_u64, u64::MAX] as usize, 8), u64::MAX - 7);
        }
    }
}
