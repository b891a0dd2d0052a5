//! Randomness from the system: one seeded stream a thread, the same in every execution, or a few
//! answers to each request.

use crate::machine::hook::{self, Entered};
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::session::Random;

/// What one request of randomness is answered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// A piece of the stream of this number.
    Stream(u64),
    /// This byte, over and over.
    All(u8),
}

/// What is explored, the usual first.
const ANSWERS: [Answer; 4] =
    [Answer::Stream(0), Answer::All(0), Answer::All(0xff), Answer::Stream(1)];

/// splitmix64 (Steele, Lea, Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Answers a request of the running thread. Hash maps of std are seeded by one before anything is
/// random about the test: what is drawn before the root counts for nothing, unless it is explored.
fn answer(entered: &mut Entered, buffer: usize, length: usize) {
    let random =
        entered.config.request.as_ref().map_or(Random::Fixed, |request| request.environment.random);
    let answer = match random {
        _ if length == 0 => return,
        Random::Fixed => {
            crate::machine::limits::assume(entered, AssumptionKind::RandomnessFixed, "");
            ANSWERS[0]
        }
        Random::Explore => {
            let picked = crate::hooks::choices::value(
                entered,
                ANSWERS.len() as u32,
                [buffer as u64, length as u64, 0, 0],
                "gets random bytes, answer",
            );
            crate::machine::limits::assume(entered, AssumptionKind::RandomnessSampled, "");
            ANSWERS[picked as usize]
        }
    };
    fill(entered, buffer, length, answer);
}

/// Fills a buffer of the program.
fn fill(entered: &mut Entered, buffer: usize, length: usize, answer: Answer) {
    let state = &mut **entered;
    let seed = state.config.request.as_ref().map_or(0, |request| request.random_seed);
    let thread = state.thread();
    let of_thread = mix(seed ^ mix(u64::from(thread.region.0)));
    for offset in (0..length).step_by(8) {
        let word = match answer {
            Answer::Stream(0) => mix(of_thread ^ mix(thread.random_words)),
            Answer::Stream(number) => mix(of_thread ^ mix(thread.random_words ^ mix(number))),
            Answer::All(byte) => u64::from_le_bytes([byte; 8]),
        };
        let word = word.to_le_bytes();
        thread.random_words += 1;
        let bytes = word.len().min(length - offset);
        // SAFETY: the program passes a buffer of `length` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(word.as_ptr(), (buffer + offset) as *mut u8, bytes)
        };
    }
    crate::hooks::plain::writes(entered, buffer, length);
}

/// getrandom.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    answer(entered, buffer as usize, length);
    length as isize
}

/// getentropy.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getentropy(buffer: *mut u8, length: usize) -> i32 {
    let entered = &mut hook::enter();
    answer(entered, buffer as usize, length);
    0
}
