//! Random programs of threads that do the same several times, and programs in which states differ
//! in nothing but what threads know of accesses.

use lockred_model::Program;
use proptest::collection::vec;
use proptest::prelude::*;

const DECLARED: &str = "plain x y; atomic f g s = 1; mutex a b; condvar c; fifo w;
    barrier m = 2; channel q = 1 p = 255 z = 0;";

/// Parts of threads. Registers that are not looked at again are cleared, so that states converge.
const PARTS: &[&str] = &[
    "lock a; r = x; x = r + 1; r = 0; unlock a",
    "lock a; x = 1; unlock a",
    "lock a; r = x; r = 0; unlock a",
    "lock b; y = 1; unlock b",
    "lock a; lock b; r = y; r = 0; unlock b; unlock a",
    "lock b; lock a; x = 2; unlock a; unlock b",
    "read a; r = x; r = 0; unread a",
    "read a; r = x; unread a; if r == 0 { lock a; x = 1; unlock a } r = 0",
    "lock a; x = 3; downgrade a; r = x; r = 0; unread a",
    "r = try a; if r == 1 { x = 1; unlock a } r = 0",
    "r = tryread a; if r == 1 { r = x; unread a } r = 0",
    "lock a; if r == 0 { wait c a } unlock a",
    "lock a; r = x; if r == 0 { wait c a } r = 0; unlock a",
    "lock a; x = 1; notify_one c; unlock a",
    "lock a; notify_all c; unlock a",
    "notify_all c",
    "lock b; wait w b; unlock b",
    "lock b; notify_one w; unlock b",
    "arrive m",
    "r = arrive m; if r == 1 { x = 5 } r = 0",
    "send q 1",
    "r = recv q; r = 0",
    "x = 1; send q 1",
    "r = recv q; r = x; r = 0",
    "send p 1",
    "r = recv p; r = 0",
    "y = 1; send p 2",
    "r = recv p; r = y; r = 0",
    "send z 1",
    "r = recv z; r = 0",
    "x = 4; send z 1; r = x; r = 0",
    "r = f; f = r + 1; r = 0",
    "f += 1",
    "r = f += 1; r = 0",
    "r = f += 1",
    "relaxed f = 1",
    "release f = 1",
    "acquire r = f; r = 0",
    "relaxed r = f; r = 0",
    "relaxed r = g += 1; r = 0",
    "x = 1; release f = 1",
    "acquire r = f; if r == 1 { r = x } r = 0",
    "y = 1; fence release; relaxed g = 1",
    "relaxed r = g; fence acquire; if r == 1 { r = y } r = 0",
    "r = cas f 0 1; if r == 1 { x = 7; release f = 0 } r = 0",
    "r = swap f 1; if r == 0 { y = 7; f = 0 } r = 0",
    "down s; y = 3; release s += 1",
    "await f == 1",
    "await g == 0; r = y; r = 0",
    "x = 1",
    "r = x; r = 0",
    "lock a",
    "lock b",
    "r = f; assert r != 2; r = 0",
    "r = any 2; if r == 1 { g = 1 } r = 0",
];

/// Parts whose values are dead where the thread goes on.
const KNOWING: &[&str] = &[
    "x = 1; release f = 1; relaxed g = 1",
    "x = 2; relaxed f = 1; release g = 1",
    "acquire r = f; r = 0",
    "acquire r = g; r = 0",
    "relaxed r = f; r = 0; fence acquire",
    "relaxed r = g; if r == 1 { r = x } r = 0",
    "relaxed r = f; if r == 1 { r = x } r = 0",
    "acquire r = f; r = 0; relaxed r = g; if r == 1 { r = x } r = 0",
    "acquire r = g; if r == 1 { x = 1 } r = 0",
    "fence release; relaxed g = 1",
    "relaxed f = 1",
    "relaxed g = 0",
    "release f = 0",
    "acqrel r = f += 1; r = 0",
    "relaxed r = f += 1; r = 0",
    "relaxed g += 1",
    "lock a; unlock a",
    "lock a; y = 1; unlock a",
    "lock a; r = y; unlock a; if r == 1 { r = x } r = 0",
    "x = 1; lock a; unlock a",
    "lock a; unlock a; relaxed r = g; if r == 1 { r = x } r = 0",
    "r = x; r = 0",
    "send p 1",
    "r = recv p; r = 0",
    "arrive m",
];

/// Threads, and parts that each may have.
const SIZES: [(usize, usize); 3] = [(2, 3), (3, 2), (4, 1)];

fn of(
    parts: &'static [&'static str],
    sizes: &'static [(usize, usize)],
    rounds: u32,
) -> impl Strategy<Value = Program> {
    (0..sizes.len()).prop_flat_map(move |size| {
        let (threads, length) = sizes[size];
        let part = (0..parts.len(), 1..=rounds);
        let body = vec(part, 1..=length);
        (vec(body, threads), 0..8u8, 0..6u8).prop_map(move |(bodies, spawns, spurious)| {
            let mut text = format!("{DECLARED} spurious {};", spurious / 5);
            let last = bodies.len() - 1;
            for (number, body) in bodies.iter().enumerate() {
                let parts = body.iter().map(|&(part, rounds)| match rounds {
                    1 => parts[part].to_owned(),
                    _ => format!("repeat {rounds} {{ {} }}", parts[part]),
                });
                let mut parts: Vec<String> = parts.collect();
                if spawns < 2 && number == last {
                    let others = |act: &str| -> Vec<String> {
                        (0..last).map(|other| format!("{act} T{other}")).collect()
                    };
                    let middle = parts.len() / 2;
                    parts.splice(middle..middle, others("spawn"));
                    if spawns == 1 {
                        parts.extend(others("join"));
                    }
                }
                text.push_str(&format!("thread T{number} {{ {} }}\n", parts.join("; ")));
            }
            text.parse().unwrap_or_else(|error| panic!("{error} in {text}"))
        })
    })
}

/// Programs whose parts are done up to four times.
pub fn program() -> impl Strategy<Value = Program> {
    of(PARTS, &SIZES, 4)
}

/// Programs in which states differ in knowledge only.
pub fn knowing() -> impl Strategy<Value = Program> {
    of(KNOWING, &[(2, 5), (3, 3), (3, 2), (4, 2)], 2)
}
