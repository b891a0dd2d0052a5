//! Random programs for Stoller's framework: most of their parts keep the locking discipline, and
//! threads begin with a visible transition that does nothing, so that visible transitions are pure
//! (PureVis).

use lockred_model::Program;
use proptest::collection::vec;
use proptest::prelude::*;

/// `x` is protected by `a`, `y` by `b`, and `z` is only read.
const DECLARED: &str =
    "plain x y z; atomic f s = 1; mutex a b; reentrant d; condvar c e; channel q = 1;";

const DISCIPLINED: &[&str] = &[
    "lock a; x = 1; unlock a",
    "lock a; r = x; unlock a",
    "lock a; r = x; x = r + 1; unlock a",
    "lock b; y = 1; unlock b",
    "lock b; r = y; if r == 1 { y = 2 } unlock b",
    "lock a; lock b; x = 1; r = y; unlock b; unlock a",
    "lock b; lock a; y = 1; r = x; unlock a; unlock b",
    "lock a; r = x; unlock a; if r == 1 { lock b; y = 3; unlock b }",
    "lock a; r = x; if r == 0 { wait c a } unlock a",
    "lock a; wait c a; x = 2; unlock a",
    "lock a; x = 1; notify_all c; unlock a",
    "lock a; notify_one c; unlock a",
    "lock a; r = x; if r == 1 { lock b; y = 2; unlock b; notify_one c } unlock a",
    "lock b; wait e b; unlock b",
    "notify_all e",
    "lock d; lock d; x0 = 1; unlock d; unlock d",
    "lock d; r = x0; lock a; x = 3; unlock a; unlock d",
    "lock a; r = x",
    "lock b",
    "r = z",
    "r = f",
    "f = 1",
    "f += 1",
    "f = 2; lock a; r = x; unlock a",
    "r = f; if r == 1 { lock a; x = 4; unlock a }",
    "lock a; r = f; x = r; unlock a",
    "release s += 1",
    "down s",
    "down s; lock b; y = 5; unlock b; release s += 1",
    "send q 1",
    "r = recv q",
    "lock a; x = 7; send q 2; unlock a",
    "r = any 2; if r == 1 { lock a; x = 5; unlock a }",
    "assert r != 1",
    "assert r == 0",
];

/// Parts that may break the discipline.
const UNDISCIPLINED: &[&str] =
    &["x = 1", "r = x", "lock b; x = 2; unlock b", "z = 1", "lock a; z = 2; unlock a", "y = 4"];

/// Loops that wait.
const LOOPS: &[&str] = &[
    "while r != 1 { r = f }",
    "while r == 0 { lock a; r = x; unlock a }",
    "while r != 1 { r = f; lock b; y = 1; unlock b }",
];

/// Sizes: threads, and parts that each may have.
const SIZES: [(usize, usize); 3] = [(2, 4), (3, 3), (4, 2)];

fn of(parts: Vec<&'static str>) -> impl Strategy<Value = Program> {
    (0..SIZES.len()).prop_flat_map(move |size| {
        let (threads, length) = SIZES[size];
        let parts = parts.clone();
        let part = (0..parts.len()).prop_map(move |number| parts[number]);
        vec(vec(part, 1..=length), threads).prop_map(|bodies| {
            let mut text = format!("plain x0; {DECLARED}");
            for (number, body) in bodies.iter().enumerate() {
                text.push_str(&format!("thread T{number} {{ i = any 1; {} }}\n", body.join("; ")));
            }
            text.parse().unwrap_or_else(|error| panic!("{error} in {text}"))
        })
    })
}

/// A program that keeps the discipline.
pub fn kept() -> impl Strategy<Value = Program> {
    of(DISCIPLINED.to_vec())
}

/// A program that may break it.
pub fn any() -> impl Strategy<Value = Program> {
    let parts = DISCIPLINED.iter().chain(UNDISCIPLINED).chain(UNDISCIPLINED);
    of(parts.copied().collect())
}

/// A program that keeps the discipline and may go round loops for ever.
pub fn looping() -> impl Strategy<Value = Program> {
    of(DISCIPLINED.iter().chain(LOOPS).chain(LOOPS).copied().collect())
}
