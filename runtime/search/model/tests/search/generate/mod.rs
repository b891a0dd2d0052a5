//! Random model programs: half of their threads' parts are single statements, half are patterns of
//! real programs.

pub mod data;
pub mod disciplined;
pub mod exchanges;
pub mod locks;
pub mod loops;
pub mod parts;
pub mod rounds;

use lockred_model::Program;
use lockred_model::program::{
    Body, Channel, Comparison, Condition, Condvar, Mutex, Operand, Order, Procedure, Register,
    Statement, Variable,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Threads, and the most statements that each may have.
const SIZES: [(usize, usize); 3] = [(2, 14), (3, 9), (4, 6)];

/// Any program.
pub fn any_program() -> impl Strategy<Value = Program> {
    (0..SIZES.len()).prop_flat_map(|size| program(SIZES[size].0, SIZES[size].1))
}

/// A program of so many threads of at most `length` statements, built from single statements or
/// from patterns.
pub fn program(threads: usize, length: usize) -> impl Strategy<Value = Program> {
    prop_oneof![single_statements(threads, length), patterns(threads, length)]
}

/// A program built from single statements.
pub fn single_statements(threads: usize, length: usize) -> impl Strategy<Value = Program> {
    of_parts(statement().prop_map(|s| vec![s]), threads, length)
}

/// A program built from patterns of real programs.
pub fn patterns(threads: usize, length: usize) -> impl Strategy<Value = Program> {
    of_parts(pattern(), threads, length)
}

fn of_parts(
    part: impl Strategy<Value = Vec<Statement>>,
    threads: usize,
    length: usize,
) -> impl Strategy<Value = Program> {
    let body = vec(part, 1..=length).prop_map(move |parts| cut(parts, length));
    (vec(body, threads), 0..8u8).prop_map(|(bodies, family)| assemble(bodies, family))
}

/// The programs with loops that wait for a value put into some; where a thread starts the others,
/// it may do something before.
pub fn looping(programs: impl Strategy<Value = Program>) -> impl Strategy<Value = Program> {
    let wait = (register(), variable(), 0..2, any::<bool>());
    let place = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    (programs, vec((place, wait), 0..3), 0..4usize).prop_map(|(mut program, loops, later)| {
        let first = &mut program.threads[0];
        let spawns = first.iter().take_while(|s| matches!(s, Statement::Spawn(_))).count();
        if spawns > 0 {
            let later = later.min(first.len() - spawns);
            first[..spawns + later].rotate_left(spawns);
        }
        for ((thread, place), (r, x, value, writes)) in loops {
            let length = program.threads.len();
            let body = &mut program.threads[thread.index(length)];
            let mut round = vec![Statement::Load(r, x)];
            if writes {
                round.insert(0, Statement::Store(Variable(2), Operand::Constant(1)));
            }
            let round = vec![Statement::While(is(r, value), round)];
            let place = place.index(body.len() + 1);
            body.splice(place..place, round);
        }
        program
    })
}

/// The programs with sleeps put into some of their threads.
pub fn sleeping(programs: impl Strategy<Value = Program>) -> impl Strategy<Value = Program> {
    let place = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    (programs, vec((place, 1..4u8), 1..5)).prop_map(|(mut program, sleeps)| {
        for ((thread, place), time) in sleeps {
            let length = program.threads.len();
            let body = &mut program.threads[thread.index(length)];
            let place = place.index(body.len() + 1);
            body.insert(place, Statement::Sleep(time));
        }
        program
    })
}

/// As many of the parts as fit.
fn cut(parts: Vec<Vec<Statement>>, length: usize) -> Vec<Statement> {
    let mut body = Vec::new();
    for part in parts {
        if body.is_empty() || body.len() + part.len() <= length {
            body.extend(part);
        }
    }
    body
}

/// Two plain variables, two atomics, two mutexes, a condition variable; in one of four programs the
/// first thread spawns the others, and may join them.
fn assemble(mut bodies: Vec<Vec<Statement>>, family: u8) -> Program {
    let mut program = Program::default();
    for atomic in [false, false, true, true] {
        program.variable(atomic);
    }
    program.mutex();
    program.mutex();
    program.condvar();
    program.channel(1 + family % 2);
    if family < 2 {
        let others = || (1..bodies.len() as u8).map(Body);
        let spawns: Vec<_> = others().map(Statement::Spawn).collect();
        let joins: Vec<_> = others().map(Statement::Join).collect();
        let first = &mut bodies[0];
        first.truncate(4);
        let middle = if family == 0 { first.len() } else { first.len() / 2 };
        first.splice(middle..middle, joins);
        first.splice(0..0, spawns);
    }
    if family % 4 == 3 {
        count_references(&mut program, &mut bodies);
    }
    for body in bodies {
        program.thread(body);
    }
    program
}

/// Every thread owns one reference to the first variable, and may make and drop another one; who
/// drops the last frees it. (Reference counts commute only if they count references.)
fn count_references(program: &mut Program, bodies: &mut [Vec<Statement>]) {
    let count = program.variable(true);
    program.variables[usize::from(count.0)].initial = bodies.len() as i32;
    for (number, body) in bodies.iter_mut().enumerate() {
        body.truncate(4);
        if number % 2 == 0 {
            let clone = [Statement::Increment(count), Statement::Decrement(Register(2), count)];
            let middle = body.len() / 2;
            body.splice(middle..middle, clone);
        }
        body.push(Statement::Decrement(Register(2), count));
        let free = vec![Statement::Free(Variable(0))];
        body.push(Statement::If(is(Register(2), 1), free, vec![]));
    }
}

fn variable() -> impl Strategy<Value = Variable> {
    (0..4u8).prop_map(Variable)
}

fn atomic() -> impl Strategy<Value = Variable> {
    (2..4u8).prop_map(Variable)
}

fn mutex() -> impl Strategy<Value = Mutex> {
    (0..2u8).prop_map(Mutex)
}

fn register() -> impl Strategy<Value = Register> {
    (0..2u8).prop_map(Register)
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        (0..3).prop_map(Operand::Constant),
        (register(), 0..2).prop_map(|(r, add)| Operand::Sum(r, add)),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let comparison =
        prop_oneof![Just(Comparison::Equal), Just(Comparison::Unequal), Just(Comparison::Less)];
    (register(), comparison, 0..3).prop_map(|(register, comparison, value)| Condition {
        register,
        comparison,
        value,
    })
}

fn is(register: Register, value: i32) -> Condition {
    Condition { register, comparison: Comparison::Equal, value }
}

fn access() -> impl Strategy<Value = Statement> {
    prop_oneof![
        4 => (register(), variable()).prop_map(|(r, x)| Statement::Load(r, x)),
        4 => (variable(), operand()).prop_map(|(x, value)| Statement::Store(x, value)),
        1 => (atomic(), 1..3).prop_map(|(x, by)| Statement::Add(x, by)),
        1 => (register(), atomic(), 1..3).prop_map(|(r, x, by)| Statement::FetchAdd(r, x, by)),
        1 => (register(), atomic(), operand()).prop_map(|(r, x, v)| Statement::Swap(r, x, v)),
        1 => (register(), atomic(), 0..2, operand())
            .prop_map(|(r, x, from, to)| Statement::CompareExchange(r, x, from, to)),
    ]
}

fn ordered() -> impl Strategy<Value = Statement> {
    let weaker = prop_oneof![
        (register(), atomic()).prop_map(|(r, x)| Statement::Load(r, x)),
        (atomic(), operand()).prop_map(|(x, value)| Statement::Store(x, value)),
        (register(), atomic(), 1..3).prop_map(|(r, x, by)| Statement::FetchAdd(r, x, by)),
        (atomic(), 1..3).prop_map(|(x, by)| Statement::Add(x, by)),
    ];
    let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
    (0..4usize, weaker).prop_map(move |(i, access)| Statement::Ordered(orders[i], Box::new(access)))
}

fn rarer() -> impl Strategy<Value = Statement> {
    let q = Channel(0);
    prop_oneof![
        mutex().prop_map(Statement::ReadLock),
        mutex().prop_map(Statement::ReadUnlock),
        mutex().prop_map(Statement::Downgrade),
        (register(), mutex()).prop_map(|(r, a)| Statement::TryReadLock(r, a)),
        atomic().prop_map(Statement::Down),
        variable().prop_map(Statement::Free),
        operand().prop_map(move |value| Statement::Send(q, value)),
        register().prop_map(move |r| Statement::Receive(r, q)),
        (register(), 2..4u32).prop_map(|(r, of)| Statement::Any(r, of)),
    ]
}

fn flat() -> impl Strategy<Value = Statement> {
    prop_oneof![
        12 => access(),
        2 => ordered(),
        2 => mutex().prop_map(Statement::Lock),
        2 => mutex().prop_map(Statement::Unlock),
        1 => (register(), mutex()).prop_map(|(r, a)| Statement::TryLock(r, a)),
        1 => mutex().prop_map(|a| Statement::Wait(Condvar(0), a)),
        1 => Just(Statement::NotifyOne(Condvar(0))),
        1 => Just(Statement::NotifyAll(Condvar(0))),
        1 => (atomic(), 0..3).prop_map(|(x, value)| Statement::Await(x, value)),
        1 => condition().prop_map(Statement::Assert),
        3 => rarer(),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    prop_oneof![
        20 => flat(),
        4 => (condition(), vec(flat(), 1..3), vec(flat(), 0..2))
            .prop_map(|(condition, yes, no)| Statement::If(condition, yes, no)),
        1 => vec(flat(), 1..2).prop_map(|body| Statement::Repeat(2, body)),
        1 => condition().prop_map(|condition| Statement::If(condition, vec![Statement::Abort], vec![])),
    ]
}

fn around(a: Mutex, inner: Vec<Statement>) -> Vec<Statement> {
    let mut section = vec![Statement::Lock(a)];
    section.extend(inner);
    section.push(Statement::Unlock(a));
    section
}

fn pattern() -> impl Strategy<Value = Vec<Statement>> {
    let r = Register(0);
    let q = Register(1);
    let locked = (mutex(), vec(access(), 0..3)).prop_map(|(a, inner)| around(a, inner));
    let nested =
        (mutex(), mutex(), access()).prop_map(|(a, b, inner)| around(a, around(b, vec![inner])));
    let tried = (mutex(), access()).prop_map(move |(a, inner)| {
        let section = vec![inner, Statement::Unlock(a)];
        vec![Statement::TryLock(r, a), Statement::If(is(r, 1), section, vec![])]
    });
    let published = (0..2u8, atomic()).prop_map(|(x, f)| {
        let one = Operand::Constant(1);
        vec![Statement::Store(Variable(x), one), Statement::Store(f, one)]
    });
    let consumed = (0..2u8, atomic()).prop_map(move |(x, f)| {
        let read = vec![Statement::Load(q, Variable(x)), Statement::Assert(is(q, 1))];
        vec![Statement::Load(r, f), Statement::If(is(r, 1), read, vec![])]
    });
    let awaited = (0..2u8, atomic())
        .prop_map(move |(x, f)| vec![Statement::Await(f, 1), Statement::Load(q, Variable(x))]);
    let waiting = (mutex(), 0..2u8).prop_map(move |(a, x)| {
        let wait = vec![Statement::Wait(Condvar(0), a)];
        let inner = vec![Statement::Load(r, Variable(x)), Statement::If(is(r, 0), wait, vec![])];
        around(a, inner)
    });
    let waking = (mutex(), 0..2u8, any::<bool>()).prop_map(|(a, x, all)| {
        let c = Condvar(0);
        let notify = if all { Statement::NotifyAll(c) } else { Statement::NotifyOne(c) };
        around(a, vec![Statement::Store(Variable(x), Operand::Constant(1)), notify])
    });
    let relaxed = (0..2u8, atomic(), any::<bool>()).prop_map(move |(x, f, publishes)| {
        let relaxed = |access| Statement::Ordered(Order::Relaxed, Box::new(access));
        if publishes {
            let one = Operand::Constant(1);
            return vec![Statement::Store(Variable(x), one), relaxed(Statement::Store(f, one))];
        }
        let read = vec![Statement::Load(q, Variable(x))];
        vec![relaxed(Statement::Load(r, f)), Statement::If(is(r, 1), read, vec![])]
    });
    let read = (mutex(), vec(access(), 0..3)).prop_map(|(a, inner)| {
        let mut section = vec![Statement::ReadLock(a)];
        section.extend(inner);
        section.push(Statement::ReadUnlock(a));
        section
    });
    let downgraded =
        (mutex(), vec(access(), 0..3), vec(access(), 0..3)).prop_map(|(a, written, read)| {
            let mut section = vec![Statement::Lock(a)];
            section.extend(written);
            section.push(Statement::Downgrade(a));
            section.extend(read);
            section.push(Statement::ReadUnlock(a));
            section
        });
    let semaphore = (atomic(), access()).prop_map(|(x, inner)| {
        let up = Statement::Ordered(Order::Release, Box::new(Statement::Add(x, 1)));
        vec![up, Statement::Down(x), inner]
    });
    let channel = (any::<bool>(), access()).prop_map(move |(sends, other)| {
        let message = Statement::Send(Channel(0), Operand::Constant(1));
        if sends { vec![other, message] } else { vec![Statement::Receive(r, Channel(0)), other] }
    });
    let leaked = mutex().prop_map(|a| vec![Statement::Lock(a)]);
    let counted = (mutex(), 0..2u8).prop_map(move |(a, x)| {
        let add = Statement::Store(Variable(x), Operand::Sum(r, 1));
        around(a, vec![Statement::Load(r, Variable(x)), add])
    });
    prop_oneof![
        3 => locked,
        2 => nested,
        2 => tried,
        2 => published,
        2 => consumed,
        1 => awaited,
        2 => waiting,
        2 => waking,
        1 => leaked,
        2 => read,
        1 => downgraded,
        1 => semaphore,
        1 => channel,

        2 => relaxed,
        2 => counted,
        2 => access().prop_map(|s| vec![s]),
        1 => ordered().prop_map(|s| vec![s]),
    ]
}
