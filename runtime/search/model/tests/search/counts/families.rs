//! Programs of the table of counts that come in sizes.

use super::Row;
use crate::check::texts::{philosophers, same};

/// All of them, in the order of the table.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    atomics(&mut rows);
    locks(&mut rows);
    searched(&mut rows);
    bugs(&mut rows);
    waiting(&mut rows);
    barriers(&mut rows);
    rows
}

fn factorial(number: u32) -> u64 {
    (1..=u64::from(number)).product()
}

fn binomial(rounds: u32) -> u64 {
    (1..=u64::from(rounds)).fold(1, |product, i| product * (u64::from(rounds) + i) / i)
}

fn atomics(rows: &mut Vec<Row>) {
    let row = Row::new;
    for n in 2..=6 {
        let text = same("atomic f;", n, "r = f += 1");
        rows.push(row(format!("ainc {n}"), text).published(factorial(n), "GenMC synthetic: N!"));
    }
    for n in [2, 5] {
        let text = same("atomic f;", n, "f += 1");
        rows.push(row(format!("ainc, results unused {n}"), text).published(1, "they commute"));
    }
    for (n, count) in [(2, 4), (3, 36), (4, 576)] {
        let count = |text| row(format!("{{}} {n}"), text).published(count, "GenMC synthetic: N!^2");
        rows.push(count(same("atomic f;", n, "r = f; f = r + 1")).named("inc"));
        rows.push(count(same("atomic f;", n, "r = f; f = #")).named("rw"));
        rows.push(count(same("atomic f g;", n, "r = f += 1; r = g += 1")).named("binc"));
    }
    for (n, count) in [(2, 8), (3, 216), (4, 13824)] {
        let text = same("atomic f g h;", n, "r = f += 1; r = g += 1; r = h += 1");
        rows.push(row(format!("cinc {n}"), text).published(count, "GenMC synthetic: N!^3"));
    }
    for n in 2..=5 {
        let text = same("atomic f;", n, "r = cas f 0 7");
        rows.push(row(format!("cas {n}"), text).published(n.into(), "GenMC synthetic: N"));
    }
    // A thread that is woken by another one's exchange fell asleep before that one's read: what it
    // carries must ask for nothing.
    for n in 2..=4 {
        let text = same("atomic f g;", n, "q = g; r = cas f 0 7");
        rows.push(row(format!("cas after a read {n}"), text));
    }
    for (n, count) in [(2, 2), (3, 5), (4, 14), (5, 43), (6, 144), (7, 523)] {
        let text = same("atomic f;", n, "r = cas f # >");
        rows.push(row(format!("casrot {n}"), text).published(count, "GenMC synthetic"));
    }
    for (n, count) in [(2, 6), (3, 66), (4, 1200), (5, 32880)] {
        let text = same("atomic f;", n, "r = cas f 0 1; f = 2");
        rows.push(row(format!("casw {n}"), text).published(count, "GenMC synthetic").deep(n > 4));
    }
    for (n, count) in [(2, 5), (3, 13), (4, 33), (5, 81), (6, 193)] {
        let text = same("atomic f; thread W { f = 2 }", n, "r = cas f 2 3");
        rows.push(row(format!("wcas {n}"), text).published(count, "GenMC synthetic"));
    }
    for (n, count) in [(2, 4), (8, 256), (13, 8192)] {
        let text = same("atomic f; thread W { f = 1 }", n, "r = f");
        rows.push(row(format!("readers {n}"), text).published(count, "GenMC synthetic: 2^N"));
    }
    for n in 1..=3 {
        let text =
            same("plain x; atomic f; thread W { x = 1; f = 1 }", n, "r = f; if r == 1 { q = x }");
        rows.push(row(format!("publication by a flag, readers {n}"), text));
    }
    let writers = same("atomic f; thread R { r = f }", 5, "f = #");
    rows.push(Row::new("N-writers 4", writers).published(720, "GenMC synthetic: (N+1)! (N+2)"));
    for (n, count) in [(1, 4), (2, 15), (3, 130), (4, 2028), (5, 49776)] {
        let first = "thread A { x = 1; r = y; r = x } thread B { x = 2; r = z; r = x }";
        let text = same(&format!("atomic x y z; {first}"), n - 1, "y = #; z = #");
        rows.push(row(format!("CoA {n}"), text).published(count, "GenMC synthetic").deep(n > 4));
    }
    for n in [3, 4, 5, 10] {
        let count = u64::from(n + 3) << (n - 2);
        let atomic = row(format!("lastzero {n}"), last_zero(n, false));
        rows.push(atomic.published(count, "GenMC synthetic: (N+3) 2^(N-2)"));
    }
    rows.push(
        Row::new("lastzero 15", last_zero(15, false))
            .published(147_456, "GenMC synthetic")
            .deep(true),
    );
    for (n, count) in [(1, 3), (2, 19), (3, 141)] {
        rows.push(
            row(format!("fib_bench {n}, no third thread"), fibonacci(n, ""))
                .published(count, "enumerated"),
        );
    }
    let third = "thread C { r = i; q = j }";
    rows.push(
        Row::new("fib_bench 5", fibonacci(5, third))
            .published(218_243, "GenMC synthetic")
            .deep(true),
    );
    rows.push(Row::new("eratosthenes 5", sieve(5)).published(398, "GenMC synthetic"));
    for n in [2, 4, 6] {
        let pairs =
            (0..n).map(|i| format!("thread A{i} {{ x{i} = 1 }} thread B{i} {{ x{i} = 2 }}\n"));
        let text = format!("atomic x0 x1 x2 x3 x4 x5;\n{}", pairs.collect::<String>());
        rows.push(row(format!("ccnf {n}"), text).published(1 << n, "DPU: 2^N"));
    }
}

/// Two threads add each other's number to their own. (Values do not matter for the count.)
fn fibonacci(rounds: u32, third: &str) -> String {
    format!(
        "atomic i = 1 j = 1;
        thread A {{ repeat {rounds} {{ r = i; q = j; i = 7 }} }}
        thread B {{ repeat {rounds} {{ r = j; q = i; j = 7 }} }} {third}"
    )
}

/// A thread looks for the last zero of an array, N others write it.
pub fn last_zero(number: u32, locked: bool) -> String {
    let mut text = if locked { "mutex a; plain" } else { "atomic" }.to_owned();
    (0..=number).for_each(|i| text.push_str(&format!(" x{i}")));
    text.push_str(";\nthread R { ");
    let (before, after) = if locked { ("lock a;", "unlock a;") } else { ("", "") };
    for i in (0..=number).rev() {
        text.push_str(&format!("{before} r = x{i}; {after} if r != 0 {{ "));
    }
    text.push_str(&"}".repeat(number as usize + 1));
    text.push_str(" }\n");
    for i in 1..=number {
        let from = i - 1;
        text.push_str(&format!(
            "thread T{i} {{ {before} r = x{from}; {after} {before} x{i} = r + 1; {after} }}\n"
        ));
    }
    text
}

/// Two threads run Eratosthenes' sieve over one array.
fn sieve(size: u32) -> String {
    let mut body = String::new();
    for i in 0..size {
        let multiples = (2 * i + 2..size).step_by(i as usize + 2);
        let strike: String = multiples.map(|j| format!("n{j} = 2; ")).collect();
        body.push_str(&format!("r = n{i}; if r == 0 {{ n{i} = 1; {strike} }} "));
    }
    same("atomic n0 n1 n2 n3 n4;", 2, &body)
}

fn locks(rows: &mut Vec<Row>) {
    let row = Row::new;
    let push = "lock a; r = x; x = r + 1; unlock a";
    for n in 2..=6 {
        let text = same("plain x; mutex a;", n, push);
        rows.push(
            row(format!("lock + push {n}"), text).published(factorial(n), "GenMC lockinc: N!"),
        );
    }
    for (n, count) in [(2, 6), (3, 90), (4, 2520)] {
        let text = same("plain x; mutex a;", n, &format!("repeat 2 {{ {push} }}"));
        rows.push(row(format!("two pushes {n}"), text).published(count, "(2N)!/2^N"));
    }
    for n in 2..=6 {
        let text = same("plain x; mutex a;", 2, &format!("repeat {n} {{ {push} }}"));
        rows.push(row(format!("two-columns {n}"), text).published(binomial(n), "DPU: C(2N,N)"));
    }
    for n in 2..=8 {
        let text = same("plain x; mutex a;", n, "lock a; r = x; unlock a");
        rows.push(row(format!("readers under one lock {n}"), text).optimum(1, "GenMC lapor"));
    }
    let own = "plain x0 x1 x2 x3; mutex a0 a1 a2 a3;";
    for n in 2..=4 {
        let text = same(own, n, "repeat 3 { lock a#; r = x#; x# = r + 1; unlock a# }");
        rows.push(row(format!("disjoint locks {n}"), text).published(1, "disjoint"));
        let text = same(own, n, "repeat 2 { lock a0; r = x#; x# = r + 1; unlock a0 }");
        rows.push(row(format!("disjoint data under one lock {n}"), text).optimum(1, "disjoint"));
    }
    for (writers, readers) in [(1, 2), (1, 4), (2, 2), (2, 3)] {
        let mut text = "plain x; mutex a;".to_owned();
        (0..writers)
            .for_each(|i| text.push_str(&format!("thread W{i} {{ lock a; x = {i}; unlock a }}")));
        (0..readers)
            .for_each(|i| text.push_str(&format!("thread R{i} {{ lock a; r = x; unlock a }}")));
        rows.push(row(format!("writers {writers}, readers {readers} under a lock"), text));
    }
    for (n, count) in [(2, 4), (3, 36)] {
        let body = "lock a; r = x; x = r + 1; unlock a; lock b; r = y; y = r + 1; unlock b";
        let text = same("plain x y; mutex a b;", n, body);
        rows.push(row(format!("binc-locks {n}"), text).published(count, "GenMC lapor: N!^2"));
    }
    for (n, count) in [(2, 2), (3, 5), (4, 14), (5, 43)] {
        let text = same("plain x; mutex a;", n, "lock a; r = x; if r == # { x = > } unlock a");
        rows.push(row(format!("casrot-locks {n}"), text).optimum(count, "GenMC lapor"));
    }
    for (n, count) in [(2, 6), (3, 66)] {
        let body = "lock a; r = x; if r == 0 { x = 1 } unlock a; lock a; x = 2; unlock a";
        let text = same("plain x; mutex a;", n, body);
        rows.push(row(format!("casw-locks {n}"), text).optimum(count, "GenMC lapor"));
    }
    for (n, count) in [(2, 5), (3, 13), (4, 33)] {
        let first = "plain x; mutex a; thread W { lock a; x = 2; unlock a }";
        let text = same(first, n, "lock a; r = x; if r == 2 { x = 3 } unlock a");
        rows.push(row(format!("wcas-locks {n}"), text).optimum(count, "GenMC lapor"));
    }
    for n in [3, 4, 5] {
        let count = u64::from(n + 3) << (n - 2);
        let locked = row(format!("lastzero, a lock an access {n}"), last_zero(n, true));
        rows.push(locked.optimum(count, "(N+3) 2^(N-2)"));
    }
    let sum = |third: &str| {
        let declarations = "plain i = 3 j = 6; mutex a;";
        format!(
            "{declarations} thread A {{ repeat 5 {{ lock a; r = j; i = r + 1; unlock a }} }}
            thread B {{ repeat 5 {{ lock a; r = i; j = r + 1; unlock a }} }} {third}"
        )
    };
    rows.push(Row::new("triangular 5, no third thread", sum("")).published(252, "C(2N,N)"));
    let third = "thread C { lock a; r = i; unlock a; lock a; q = j; unlock a }";
    rows.push(Row::new("triangular 5", sum(third)).optimum(5922, "GenMC lapor"));
    for body in ["", "x< = 1; x> = 1;"] {
        for n in 2..=5 {
            for ordered in [false, true] {
                let name = match (ordered, body.is_empty()) {
                    (false, true) => format!("philosophers {n}"),
                    (true, true) => format!("ordered philosophers {n}"),
                    (true, false) => format!("ordered philosophers that write {n}"),
                    (false, false) => continue,
                };
                let count = (1 << n) - 1 - u64::from(ordered);
                rows.push(row(name, philosophers(n, ordered, body)).published(count, "enumerated"));
            }
        }
    }
    let body = "lock a0; x0 = #; lock a1; unlock a0; x1 = #; lock a2; unlock a1; x2 = #; unlock a2";
    for n in 2..=4 {
        let text = same("plain x0 x1 x2; mutex a0 a1 a2;", n, body);
        rows.push(row(format!("hand over hand {n}"), text).published(factorial(n), "N!"));
    }
    for n in 2..=4 {
        let text = same("plain x; mutex a;", n, "r = try a; if r == 1 { x = #; unlock a }");
        rows.push(row(format!("try_lock or skip {n}"), text));
    }
    for n in 2..=5 {
        let spawn: String = (0..n).map(|i| format!("spawn T{i}; ")).collect();
        let join: String = (0..n).map(|i| format!("join T{i}; ")).collect();
        let threads = same("plain x; mutex a;", n, push);
        let text = format!("{threads} thread M {{ {spawn} {join} r = x; assert r == {n} }}");
        rows.push(row(format!("spawn, push, join {n}"), text).published(factorial(n), "N!"));
    }
    for producers in 1..=3 {
        let mut text = "plain n x0 x1 x2; mutex a;\n".to_owned();
        for i in 0..producers {
            let body = "lock a; r = n; n = r + 1; unlock a";
            text.push_str(&format!("thread P{i} {{ x{i} = 7; {body} }}\n"));
        }
        text.push_str("thread C { lock a; r = n; unlock a; if r == 9 { q = x0 } }");
        let name = format!("payload through a locked counter {producers}");
        rows.push(row(name, text).published(factorial(producers + 1), "(N+1)!"));
    }
}

/// Programs that search a table or a tree.
fn searched(rows: &mut Vec<Row>) {
    let row = Row::new;
    for (n, count) in [(11, 1), (12, 8), (13, 64), (15, 4096)] {
        rows.push(row(format!("indexer {n}"), indexer(n)).published(count, "GenMC synthetic, DPU"));
    }
    for (n, count) in [(13, 1), (14, 2), (16, 8), (18, 32), (19, 64)] {
        rows.push(
            row(format!("filesystem {n}"), filesystem(n)).published(count, "DPU, GenMC lapor"),
        );
    }
    for (adders, seekers, count) in [(0, 6, 1), (3, 3, 5)] {
        let name = format!("coarse-bst {adders}+{seekers}");
        rows.push(
            row(name, coarse_tree(adders, seekers)).optimum(count, "GenMC lapor (reads-from)"),
        );
    }
}

/// Each thread puts four messages into a hash table of 128 slots, into the next free one.
fn indexer(threads: u32) -> String {
    let mut text = "atomic".to_owned();
    (0..128).for_each(|slot| text.push_str(&format!(" s{slot}")));
    text.push_str(";\n");
    for thread in 0..threads {
        text.push_str(&format!("thread T{thread} {{ "));
        for message in 1..=4 {
            let word = message * 11 + thread;
            let slot = word * 7 % 128;
            for probe in 0..4 {
                let slot = (slot + probe) % 128;
                text.push_str(&format!("r = cas s{slot} 0 {word}; if r == 0 {{ "));
            }
            text.push_str("}}}} ");
        }
        text.push_str("}\n");
    }
    text
}

/// Each thread looks for a free block for its inode, under the locks of both.
fn filesystem(threads: u32) -> String {
    let mut text = String::new();
    for (kind, names) in [("plain", ["n", "y"]), ("mutex", ["i", "b"])] {
        text.push_str(kind);
        (0..32).for_each(|inode| text.push_str(&format!(" {}{inode}", names[0])));
        (0..26).for_each(|block| text.push_str(&format!(" {}{block}", names[1])));
        text.push_str(";\n");
    }
    for i in 0..threads {
        text.push_str(&format!("thread T{i} {{ lock i{i}; q = n{i}; if q == 0 {{ "));
        for probe in 0..4 {
            let b = (i * 2 + probe) % 26;
            text.push_str(&format!(
                "lock b{b}; q = y{b}; if q == 0 {{ y{b} = 1; n{i} = {}; unlock b{b} }} else {{ unlock b{b}; ",
                b + 1
            ));
        }
        text.push_str("}}}} } ");
        text.push_str(&format!("unlock i{i} }}\n"));
    }
    text
}

/// A binary search tree with the keys 4, 8, 10, 12 under one lock; threads add and look for other
/// keys. Only links that are ever written are variables: those below 12 to the right.
fn coarse_tree(adders: u32, seekers: u32) -> String {
    const KEYS: [u32; 3] = [13, 14, 15];
    let key = |thread: u32| (if thread.is_multiple_of(2) { thread } else { thread + 8 }) * 7 % 16;
    let mut text = "plain".to_owned();
    for name in ["t12".to_owned()].into_iter().chain(KEYS.map(|k| format!("l{k} t{k}"))) {
        text.push_str(&format!(" {name}"));
    }
    text.push_str("; mutex a;\n");
    for thread in 1..=adders + seekers {
        let key = key(thread);
        let body =
            if key > 12 { below("t12", key, thread <= adders, &KEYS) } else { String::new() };
        text.push_str(&format!("thread T{thread} {{ lock a; {body} unlock a }}\n"));
    }
    text
}

/// Looks for `key` after a link below which only `keys` can be.
fn below(link: &str, key: u32, adds: bool, keys: &[u32]) -> String {
    // One register a link, since what is below it is looked at in between.
    let mut text = format!("at_{link} = {link}; ");
    if adds {
        text.push_str(&format!("if at_{link} == 0 {{ {link} = {key} }} "));
    }
    for &other in keys.iter().filter(|&&other| other != key) {
        let side = if key < other { 'l' } else { 't' };
        let keys: Vec<u32> = keys.iter().copied().filter(|&k| k != other).collect();
        let deeper = below(&format!("{side}{other}"), key, adds, &keys);
        text.push_str(&format!("if at_{link} == {other} {{ {deeper} }} "));
    }
    text
}

/// Programs with a bug that only some orders show.
fn bugs(rows: &mut Vec<Row>) {
    let row = Row::new;
    for (setters, checkers, count) in [(2, 1, 56), (3, 1, 1248), (4, 1, 40032)] {
        let mut text = same("atomic a b;", setters, "a = 1; b = -1");
        for i in 0..checkers {
            let after = "if r == 0 { q = b; if q == 0 { ok = 1 } }
                if ok == 0 { r = a; if r == 1 { q = b; if q == -1 { ok = 1 } } assert ok == 1 }";
            text.push_str(&format!("thread C{i} {{ r = a; {after} }}\n"));
        }
        let name = format!("reorder {setters}+{checkers}");
        rows.push(row(name, text).published(count, "enumerated").deep(setters > 3));
    }
    for (first, second, count) in [(1, 1, 3), (2, 1, 40), (3, 1, 1080)] {
        let mut text = same(
            "plain x y; mutex a b;",
            first,
            "lock a; x = 1; unlock a; lock b; r = x; y = r + 1; unlock b",
        );
        for i in 0..second {
            let rest = "lock b; q = y; unlock b; assert q == 2";
            text.push_str(&format!(
                "thread B{i} {{ lock a; r = x; if r == 0 {{ unlock a }} else {{ p = x; unlock a; {rest} }} }}\n"
            ));
        }
        rows.push(row(format!("twostage {first}+{second}"), text).published(count, "enumerated"));
    }
    for (first, second, count) in [(1, 1, 7), (1, 2, 48), (1, 3, 360)] {
        let body = "lock a; r = v; q = v; v = q + 1; p = v; unlock a";
        let mut text = same("atomic v; mutex a b;", first, body);
        for i in 0..second {
            text.push_str(&format!("thread B{i} {{ lock b; q = v; v = q + 1; unlock b }}\n"));
        }
        rows.push(row(format!("wronglock {first}+{second}"), text).published(count, "enumerated"));
    }
    let sizes = [(1, 1), (2, 1), (1, 2)];
    for (version, counts) in [(1, [8, 154, 256]), (2, [8, 366, 312]), (3, [7, 132, 216])] {
        for ((adders, stoppers), count) in sizes.into_iter().zip(counts) {
            let name = format!("bluetooth v{version} {adders}+{stoppers}");
            let text = bluetooth(version, adders, stoppers);
            rows.push(row(name, text).published(count, "enumerated"));
        }
    }
    for n in [3, 4] {
        rows.push(row(format!("sigma {n}"), sigma(n)));
    }
}

/// The Windows NT Bluetooth driver (Qadeer, Wu: KISS, PLDI 2004) and two repairs.
fn bluetooth(version: u32, adders: u32, stoppers: u32) -> String {
    let leave = "r = pending += -1; if r == 1 { event = 1 }";
    let body = "s = stopped; assert s == 0;";
    let add = match version {
        1 => format!("r = flag; if r == 0 {{ r = pending += 1; {body} }} {leave}"),
        2 => {
            format!("r = pending += 1; r = flag; if r == 1 {{ {leave} }} else {{ {body} }} {leave}")
        }
        _ => {
            format!("r = pending += 1; r = flag; if r == 1 {{ {leave} }} else {{ {body} {leave} }}")
        }
    };
    let mut text = same("atomic pending = 1 flag event stopped;", adders, &add);
    for i in 0..stoppers {
        text.push_str(&format!(
            "thread S{i} {{ flag = 1; {leave} await event == 1; stopped = 1 }}\n"
        ));
    }
    text
}

/// Threads write the slot that a counter names which the main thread increments between starting
/// them.
fn sigma(threads: u32) -> String {
    let mut text = "atomic n a0 a1 a2 a3 a4;\n".to_owned();
    for i in 0..threads {
        text.push_str(&format!("thread T{i} {{ r = n; "));
        for slot in 0..=threads {
            text.push_str(&format!("if r == {slot} {{ a{slot} = 1 }} "));
        }
        text.push_str("}\n");
    }
    text.push_str("thread M { ");
    (0..threads).for_each(|i| text.push_str(&format!("spawn T{i}; n = {}; ", i + 1)));
    (0..threads).for_each(|i| text.push_str(&format!("join T{i}; ")));
    (0..threads).for_each(|i| text.push_str(&format!("s = a{i}; ")));
    text.push_str("}\n");
    text
}

/// Bounded buffers: producers and consumers wait on condition variables.
fn waiting(rows: &mut Vec<Row>) {
    for (producers, consumers, items) in [(1, 1, 1), (1, 1, 2), (1, 1, 3), (2, 1, 1), (2, 2, 1)] {
        let mut text = "plain n; mutex a; condvar full empty;\n".to_owned();
        for i in 0..producers {
            text.push_str(&format!(
                "thread P{i} {{ repeat {items} {{ lock a; r = n; while r == 1 {{ wait full a; r = n }}
                n = 1; notify_one empty; unlock a }} }}\n"
            ));
        }
        let taken = producers * items / consumers;
        for i in 0..consumers {
            text.push_str(&format!(
                "thread C{i} {{ repeat {taken} {{ lock a; r = n; while r == 0 {{ wait empty a; r = n }}
                n = 0; notify_one full; unlock a }} }}\n"
            ));
        }
        rows.push(Row::new(format!("bounded buffer {producers}+{consumers}, items {items}"), text));
    }
}

fn barriers(rows: &mut Vec<Row>) {
    let source = "GenMC synthetic";
    for n in 3..=5 {
        let rounds = |body: &str| same(&format!("barrier b = {n};"), n, body);
        rows.push(Row::new(format!("barrier1 {n}"), rounds("arrive b")).published(1, source));
        let twice = rounds("arrive b; arrive b");
        rows.push(Row::new(format!("barrier2 {n}"), twice).published(1, source));
    }
    for n in 2..=4 {
        // Its lock is a word that is exchanged.
        let locks = same(&format!("barrier b = {n}; atomic s = 1;"), n, "down s; s += 1");
        let meets = (0..n).map(|i| format!("thread M{i} {{ arrive b }}\n"));
        let text = locks + &meets.collect::<String>();
        rows.push(Row::new(format!("barrier3 {n}"), text).published(factorial(n), source));
    }
    let text = "barrier b = 2; atomic x; thread A { x = 42; arrive b } thread B { arrive b; r = x; assert r == 42 }";
    rows.push(Row::new("barrier4", text.to_owned()).published(1, source));
}
