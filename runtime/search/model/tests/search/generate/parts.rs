//! Random programs built from given parts: close to a program that shows something rare, and not
//! that program.

use lockred_model::Program;
use proptest::collection::vec;
use proptest::prelude::*;

/// What programs are built from.
#[derive(Clone, Copy)]
pub struct Kit {
    /// Declarations.
    pub declared: &'static str,
    /// Parts of threads, in the text form. `a`, `b` and `d` are renamed: where a part is used they
    /// stand for these mutexes in any order.
    pub parts: &'static [&'static str],
    /// Number of threads.
    pub threads: usize,
    /// Parts that a thread may have.
    pub length: usize,
    /// The last thread starts the others: some before its own parts, some after them.
    pub spawns: bool,
}

/// Any program of the kit.
pub fn program(kit: Kit) -> impl Strategy<Value = Program> {
    let part = (0..kit.parts.len(), Just(["a", "b", "d"]).prop_shuffle());
    let body = vec(part, 1..=kit.length);
    (vec(body, kit.threads), vec(any::<bool>(), kit.threads)).prop_map(move |(bodies, late)| {
        let mut text = kit.declared.to_owned();
        let last = bodies.len() - 1;
        for (number, body) in bodies.iter().enumerate() {
            let parts = body.iter().map(|(part, locks)| renamed(kit.parts[*part], locks));
            let mut parts: Vec<String> = parts.collect();
            if kit.spawns && number == last {
                for (other, &late) in late.iter().enumerate().take(last) {
                    let spawn = format!("spawn T{other}");
                    let place = if late { parts.len() } else { 0 };
                    parts.insert(place, spawn);
                }
            }
            text.push_str(&format!("thread T{number} {{ {} }}\n", parts.join("; ")));
        }
        text.parse().unwrap_or_else(|error| panic!("{error} in {text}"))
    })
}

/// Programs built from the parts: with numbers of threads, and of parts that each may have, out of
/// `sizes`. Of more than two threads the last may start the others.
fn of_sizes(
    declared: &'static str,
    parts: &'static [&'static str],
    sizes: &'static [(usize, usize)],
) -> impl Strategy<Value = Program> {
    (0..sizes.len(), any::<bool>()).prop_flat_map(move |(size, spawns)| {
        let (threads, length) = sizes[size];
        program(Kit { declared, parts, threads, length, spawns: spawns && threads > 2 })
    })
}

/// Programs of two to four threads that meet at a barrier for two.
pub fn meetings() -> impl Strategy<Value = Program> {
    let parts = &[
        "arrive m",
        "q = arrive m",
        "if r == 0 { arrive m }",
        "r = f; if r == 0 { arrive m }",
        "lock a; arrive m; unlock a",
        "lock a; r = f; if r == 0 { arrive m } unlock a",
        "lock a; unlock a",
        "r = f",
        "f = 1",
        "q = g",
        "g += 1",
        "x = 1",
        "q = x",
    ];
    of_sizes("mutex a b d; barrier m = 2; atomic f g; plain x;", parts, &[(2, 4), (3, 3), (4, 2)])
}

/// Programs of two or three threads that wait for variables which others change and free.
pub fn awaited_and_freed() -> impl Strategy<Value = Program> {
    let parts = &[
        "await f == 0",
        "await f == 1",
        "await g == 0",
        "release f = 1",
        "f += 1",
        "f = 0",
        "g += 1",
        "r = f",
        "free f",
        "free g",
        "lock a; free f; unlock a",
        "lock a; await f == 0; unlock a",
        "lock a; r = g; unlock a",
        "x = 1",
        "q = x",
    ];
    of_sizes("mutex a b d; atomic f g; plain x;", parts, &[(2, 5), (3, 3)])
}

/// Programs of two or three threads that share what references to it are counted of.
pub fn counted() -> impl Strategy<Value = Program> {
    let parts = &[
        "q = x; r = dec c; if r == 1 { x = 1 }",
        "r = dec c; if r == 1 { x = 2 }",
        "r = dec c; if r == 1 { q = x; free y }",
        "r = dec c; if r == 1 { lock a; unlock a; x = 3 }",
        "relaxed r = dec c; if r == 1 { x = 4 }",
        "y = 1; r = dec c",
        "q = x",
        "x = 5",
        "q = y",
        "lock a; q = x; unlock a",
        "lock a; y = 2; unlock a",
        "release f = 1",
        "acquire r = f; if r == 1 { r = dec c; if r == 1 { x = 6 } }",
        "acquire r = f; if r == 1 { q = x }",
        "inc c; r = dec c",
        "r = dec c; if r == 1 { inc c; f = 2; x = 7 }",
        "await f == 2; q = x; r = dec c",
        "c = 1",
    ];
    of_sizes("mutex a b d; atomic c = 2; atomic f; plain x y;", parts, &[(2, 4), (3, 3)])
}

/// Programs of two or three threads with atomic accesses of two sizes, ordered or not.
pub fn sizes() -> impl Strategy<Value = Program> {
    let parts = &[
        "w = 1",
        "r = w",
        "r = cas w 0 1",
        "h = 1",
        "q = h",
        "l += 1",
        "await h == 1",
        "relaxed q = h; fence acquire; x = 2",
        "x = 1; release w = 1",
        "x = 1; fence release; relaxed h = 1",
        "acquire r = w; if r == 1 { q = x }",
        "acquire r = h; if r == 1 { q = x }",
        "h = 2; release f = 1",
        "w = 2; relaxed f = 1",
        "acquire r = f; if r == 1 { w = 3 }",
        "r = f; if r == 1 { q = h }",
        "lock a; h = 1; unlock a",
        "lock a; r = w; unlock a",
        "lock a; l = 1; unlock a",
    ];
    of_sizes("mutex a b d; atomic w f; part w h l; plain x;", parts, &[(2, 4), (3, 3)])
}

/// The part with its mutexes renamed.
fn renamed(part: &str, locks: &[&str]) -> String {
    let name = |word: &str| match word {
        "a" => locks[0].to_owned(),
        "b" => locks[1].to_owned(),
        "d" => locks[2].to_owned(),
        _ => word.to_owned(),
    };
    let pieces = part.split_inclusive([' ', ';']);
    pieces
        .map(|piece| {
            let word = piece.trim_end_matches([' ', ';']);
            name(word) + &piece[word.len()..]
        })
        .collect()
}
