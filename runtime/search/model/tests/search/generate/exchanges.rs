//! Random programs of threads that exchange values, and do more where that succeeds or fails:
//! whether an operation writes is known only when it is executed, and so is what comes after it.

use super::*;

/// Threads, and the most statements that each may have.
const SIZES: [(usize, usize); 3] = [(3, 3), (4, 2), (3, 4)];

/// Programs of that kind.
pub fn program() -> impl Strategy<Value = Program> {
    (0..SIZES.len()).prop_flat_map(|size| {
        let (threads, length) = SIZES[size];
        of_parts(part(), threads, length)
    })
}

fn part() -> impl Strategy<Value = Vec<Statement>> {
    let acts = move || {
        prop_oneof![
            5 => exchange(),
            2 => (register(), atomic()).prop_map(|(r, x)| Statement::Load(r, x)),
            1 => (atomic(), operand()).prop_map(|(x, value)| Statement::Store(x, value)),
            1 => (register(), atomic()).prop_map(|(r, x)| Statement::FetchAdd(r, x, 1)),
            1 => atomic().prop_map(|x| Statement::Add(x, 1)),
            1 => (register(), variable()).prop_map(|(r, x)| Statement::Load(r, x)),
        ]
    };
    let lock = Mutex(0);
    prop_oneof![
        5 => acts().prop_map(|act| vec![act]),
        3 => (register(), 0..3, acts(), acts()).prop_map(|(r, value, then, otherwise)| {
            vec![Statement::If(is(r, value), vec![then], vec![otherwise])]
        }),
        1 => acts().prop_map(move |act| vec![Statement::Lock(lock), act, Statement::Unlock(lock)]),
    ]
}

/// A compare-exchange that never fails for no reason.
fn exchange() -> impl Strategy<Value = Statement> {
    (register(), atomic(), 0..2, operand())
        .prop_map(|(r, x, from, to)| Statement::CompareExchange(r, x, from, to))
}
