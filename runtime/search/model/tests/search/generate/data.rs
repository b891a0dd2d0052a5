//! Random programs with procedures, channels, fences, memory orderings, compare-exchanges that
//! fail, and allocation.

use super::*;

/// A heap variable, plain and atomic (after those of [`super::program`]).
const HEAP: [Variable; 2] = [Variable(4), Variable(5)];

/// Threads, and the most statements that each may have.
const SIZES: [(usize, usize); 3] = [(2, 6), (2, 8), (3, 4)];

/// Capacities of the channel: the last one is that of a channel that is never full.
const CAPACITIES: [u8; 4] = [0, 1, 2, u8::MAX];

/// A program with many of them.
pub fn program() -> impl Strategy<Value = Program> {
    (0..SIZES.len()).prop_flat_map(|size| {
        let (threads, length) = SIZES[size];
        let body = vec(part(), 1..=length).prop_map(move |parts| cut(parts, length));
        let procedures = vec(vec(part(), 1..3).prop_map(|parts| cut(parts, 3)), PROCEDURES);
        (vec(body, threads), procedures, proptest::sample::select(&CAPACITIES[..])).prop_map(
            |(bodies, procedures, capacity)| {
                let mut program = Program::default();
                for atomic in [false, false, true, true] {
                    program.variable(atomic);
                }
                program.heap_variable(false);
                program.heap_variable(true);
                program.mutex();
                program.mutex();
                program.condvar();
                program.channel(capacity);
                for (number, body) in procedures.into_iter().enumerate() {
                    program.procedure(vec![Register(0)], recursive(number as u8, body));
                }
                for body in bodies {
                    program.thread(body);
                }
                program
            },
        )
    })
}

const PROCEDURES: usize = 2;

/// A procedure that ends at 0, and may call itself or another one with less.
fn recursive(number: u8, mut body: Vec<Statement>) -> Vec<Statement> {
    let (n, r) = (Register(3), Register(0));
    let less = vec![Operand::Sum(n, -1)];
    body.insert(0, Statement::Let(n, Operand::Sum(r, 0)));
    let again = Statement::Call(Some(Register(1)), Procedure(1 - number), less);
    let positive = Condition { register: n, comparison: Comparison::Equal, value: 1 };
    body.push(Statement::If(positive, vec![again], vec![]));
    body.push(Statement::Return(Operand::Sum(Register(1), 0)));
    body
}

fn call() -> impl Strategy<Value = Statement> {
    (register(), 0..PROCEDURES as u8, operand(), any::<bool>()).prop_map(|(r, p, value, used)| {
        Statement::Call(used.then_some(r), Procedure(p), vec![value])
    })
}

fn part() -> impl Strategy<Value = Vec<Statement>> {
    let one = |statement| vec![statement];
    prop_oneof![
        2 => fence().prop_map(one),
        2 => exchange().prop_map(one),
        2 => heap().prop_map(one),
        4 => message(),
        3 => call().prop_map(one),
        4 => publication(),
        2 => ordered().prop_map(one),
        2 => statement().prop_map(one),
        2 => pattern(),
    ]
}

pub fn order() -> impl Strategy<Value = Order> {
    let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
    (0..orders.len()).prop_map(move |i| orders[i])
}

fn fence() -> impl Strategy<Value = Statement> {
    order().prop_map(Statement::Fence)
}

/// A compare-exchange of an atomic, strong or weak, with up to two orders.
pub fn exchange() -> impl Strategy<Value = Statement> {
    let parts = (register(), atomic(), 0..2, operand(), any::<bool>());
    (parts, vec(order(), 0..3)).prop_map(|((r, x, from, to, weak), orders)| {
        let exchange = if weak {
            Statement::CompareExchangeWeak(r, x, from, to)
        } else {
            Statement::CompareExchange(r, x, from, to)
        };
        orders
            .into_iter()
            .fold(exchange, |access, order| Statement::Ordered(order, Box::new(access)))
    })
}

/// Something that is done with a heap variable.
pub fn heap() -> impl Strategy<Value = Statement> {
    let x = || (0..2usize).prop_map(|i| HEAP[i]);
    prop_oneof![
        3 => x().prop_map(Statement::Allocate),
        2 => x().prop_map(Statement::Free),
        1 => (register(), x()).prop_map(|(r, x)| Statement::Load(r, x)),
        2 => (x(), operand()).prop_map(|(x, value)| Statement::Store(x, value)),
    ]
}

/// One side of data that is published through an atomic, by accesses or fences that order or do
/// not.
pub fn publication() -> impl Strategy<Value = Vec<Statement>> {
    let data = (0..3usize).prop_map(|i| [Variable(0), Variable(1), HEAP[0]][i]);
    (data, atomic(), order(), order(), any::<bool>(), 0..3).prop_map(
        |(x, f, fence, order, publishes, how)| {
            let (r, q) = (Register(0), Register(1));
            let one = Operand::Constant(1);
            let ordered = |access| Statement::Ordered(order, Box::new(access));
            if publishes {
                let publish = match how {
                    0 => Statement::Store(f, one),
                    1 => Statement::Add(f, 1),
                    _ => Statement::FetchAdd(r, f, 1),
                };
                return vec![Statement::Store(x, one), Statement::Fence(fence), ordered(publish)];
            }
            let read = Statement::If(is(r, 1), vec![Statement::Load(q, x)], vec![]);
            let look = match how {
                0 => Statement::Load(r, f),
                1 => Statement::Await(f, 1),
                _ => Statement::CompareExchange(r, f, 1, Operand::Constant(2)),
            };
            let read = if how == 1 { Statement::Load(q, x) } else { read };
            vec![ordered(look), Statement::Fence(fence), read]
        },
    )
}

/// A use of the channel, and perhaps of data that it orders.
pub fn message() -> impl Strategy<Value = Vec<Statement>> {
    let (r, q) = (Register(0), Channel(0));
    let passing = prop_oneof![
        3 => operand().prop_map(move |value| Statement::Send(q, value)),
        2 => operand().prop_map(move |value| Statement::SendChecked(r, q, value)),
        4 => Just(Statement::Receive(r, q)),
        1 => Just(Statement::Close(q)),
    ];
    let plain = (0..2u8, any::<bool>()).prop_map(|(x, writes)| {
        let x = Variable(x);
        if writes {
            Statement::Store(x, Operand::Constant(1))
        } else {
            Statement::Load(Register(1), x)
        }
    });
    (passing, plain, 0..4).prop_map(|(passing, plain, order)| match order {
        0 => vec![passing],
        1 => vec![passing, plain],
        2 => vec![plain, passing],
        _ => vec![passing.clone(), plain, passing],
    })
}
