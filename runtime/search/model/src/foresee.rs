//! What the threads of the model machine may still do: a fixpoint over their code, made once.

use std::collections::BTreeSet;

use super::code::{Instruction, Orders};
use super::machine::{ModelMachine, barrier, channel, condvar, mutex, once, variable};
use super::program::{Mutex, Statement};
use super::state::Phase;
use lockred_papers::foreseeing::{Foreseeing, Prospect};
use lockred_search::discipline::Ordering;
use lockred_search::footprint::{Access, ObjectId, thread_object};
use lockred_search::machine::ThreadId;

/// What may be done from one place of a thread's code on, until the procedure that it is in ends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Rest {
    accesses: BTreeSet<(ObjectId, Access)>,
    loops: bool,
}

/// Per thread and place, what may be done from there on; the last place is the end.
#[derive(Clone, Debug)]
pub(super) struct Rests(Vec<Vec<Rest>>);

impl Rests {
    /// O(instructions^2 * objects), times the depth of nested spawns.
    pub(super) fn new(code: &[Vec<Instruction>], atomic: &[bool], reentrant: &[bool]) -> Self {
        let held: Vec<_> = code.iter().map(|code| held(code, reentrant)).collect();
        let rest = |(number, code): (usize, &Vec<Instruction>)| {
            let mut rests = vec![Rest::default(); code.len() + 1];
            let end = (thread_object(ThreadId(number as u32)), Access::End);
            rests[code.len()].accesses.insert(end);
            rests
        };
        let mut rests = Self(code.iter().enumerate().map(rest).collect());
        for ((rests, code), held) in rests.0.iter_mut().zip(code).zip(&held) {
            for ((rest, instruction), held) in rests.iter_mut().zip(code).zip(held) {
                if let Instruction::Do(statement, orders) = instruction {
                    let may_hold = !held.is_empty();
                    rest.accesses.extend(accesses(statement, *orders, atomic, may_hold));
                }
            }
        }
        while (0..code.len()).any(|thread| rests.grow(thread, &code[thread])) {}
        rests
    }

    /// Makes the thread's rests larger by what follows from the others as they are. Returns whether
    /// any has grown.
    fn grow(&mut self, thread: usize, code: &[Instruction]) -> bool {
        let mut grown = false;
        for (place, instruction) in code.iter().enumerate().rev() {
            let mut rest = self.0[thread][place].clone();
            let mut add = |other: &Rest| {
                rest.loops |= other.loops;
                rest.accesses.extend(&other.accesses);
            };
            for next in successors(code, instruction, place) {
                add(&self.0[thread][next]);
            }
            if let Instruction::Do(Statement::Spawn(body), _) = instruction {
                add(&self.0[usize::from(body.0)][0]);
            }
            rest.loops |= successors(code, instruction, place).any(|next| next <= place);
            grown |= rest != self.0[thread][place];
            self.0[thread][place] = rest;
        }
        grown
    }
}

/// Where a thread may be after the instruction: after a call as well as in what is called.
/// Leaving a procedure counts as an end: what comes after it is seen at the call.
pub(super) fn successors(
    code: &[Instruction],
    instruction: &Instruction,
    place: usize,
) -> impl Iterator<Item = usize> {
    let (next, other) = match *instruction {
        // Who runs the body goes on after the jump around it.
        Instruction::Do(Statement::Once(..), _) => (place + 1, Some(place + 2)),
        Instruction::Do(..) => (place + 1, None),
        Instruction::Unless(_, target) => (place + 1, Some(target)),
        Instruction::Jump(target) => (target, None),
        Instruction::Call(ref call) => (place + 1, Some(call.entry)),
        Instruction::Return(_) => (code.len(), None),
    };
    std::iter::once(next).chain(other)
}

/// Per place, the mutexes that the thread may hold there.
fn held(code: &[Instruction], reentrant: &[bool]) -> Vec<BTreeSet<Mutex>> {
    let mut held = vec![BTreeSet::new(); code.len() + 1];
    let mut grown = true;
    while grown {
        grown = false;
        for (place, instruction) in code.iter().enumerate() {
            let mut after = held[place].clone();
            match *instruction {
                Instruction::Do(
                    Statement::Lock(a)
                    | Statement::ReadLock(a)
                    | Statement::TryLock(_, a)
                    | Statement::TryReadLock(_, a)
                    | Statement::Wait(_, a)
                    | Statement::WaitFor(_, _, a),
                    _,
                ) => {
                    after.insert(a);
                }
                // Not if it may still be held in another way.
                Instruction::Do(Statement::Unlock(a), _)
                    if !reentrant[usize::from(a.0)] && !reads(code, a) =>
                {
                    after.remove(&a);
                }
                _ => {}
            }
            let returns = matches!(instruction, Instruction::Return(_));
            let calls = code.iter().enumerate().filter(|(_, i)| matches!(i, Instruction::Call(_)));
            // A procedure may return to any call.
            let returned = calls.map(|(call, _)| call + 1).filter(|_| returns);
            for next in successors(code, instruction, place).chain(returned) {
                let before = held[next].len();
                held[next].extend(&after);
                grown |= held[next].len() > before;
            }
        }
    }
    held
}

/// Whether the code may take the mutex shared.
fn reads(code: &[Instruction], a: Mutex) -> bool {
    code.iter().any(|instruction| match instruction {
        Instruction::Do(
            Statement::ReadLock(b) | Statement::TryReadLock(_, b) | Statement::Downgrade(b),
            _,
        ) => *b == a,
        _ => false,
    })
}

/// What the statement may access.
fn accesses(
    statement: &Statement,
    orders: Orders,
    atomic: &[bool],
    may_hold: bool,
) -> Vec<(ObjectId, Access)> {
    match *statement {
        Statement::Load(_, x) | Statement::Await(x, _) => vec![(variable(x), Access::Read)],
        Statement::Add(x, _) if atomic[usize::from(x.0)] => {
            let Ordering { acquires, releases, .. } = orders.or(Ordering::RELAXED);
            vec![(variable(x), Access::Update { family: 0, acquires, releases })]
        }
        Statement::Store(x, _)
        | Statement::Add(x, _)
        | Statement::FetchAdd(_, x, _)
        | Statement::Swap(_, x, _)
        | Statement::CompareExchange(_, x, ..)
        | Statement::CompareExchangeWeak(_, x, ..)
        | Statement::Down(x)
        | Statement::Increment(x)
        | Statement::Decrement(_, x)
        | Statement::Free(x)
        | Statement::Allocate(x) => vec![(variable(x), Access::Write)],
        Statement::Once(o, _) | Statement::OnceDone(o) => vec![(once(o), Access::Write)],
        Statement::Arrive(b) | Statement::ArriveAsking(_, b) => vec![(barrier(b), Access::Write)],
        Statement::Send(q, _)
        | Statement::SendChecked(_, q, _)
        | Statement::Receive(_, q)
        | Statement::Close(q) => vec![(channel(q), Access::Write)],
        Statement::Lock(a) => vec![(mutex(a), Access::Lock)],
        Statement::TryLock(_, a) | Statement::TryReadLock(_, a) => {
            vec![(mutex(a), Access::TryLock)]
        }
        Statement::Unlock(a) | Statement::Downgrade(a) => vec![(mutex(a), Access::Unlock)],
        Statement::ReadLock(a) => vec![(mutex(a), Access::ReadLock)],
        Statement::ReadUnlock(a) => vec![(mutex(a), Access::ReadUnlock)],
        // Waits may end by themselves, and queues be in order.
        Statement::Wait(c, a) | Statement::WaitFor(_, c, a) => {
            let lock = [Access::Unlock, Access::Lock].map(|access| (mutex(a), access));
            let queue = [Access::EnqueueLast, Access::Leave].map(|access| (condvar(c), access));
            lock.into_iter().chain(queue).collect()
        }
        Statement::NotifyOne(c) | Statement::NotifyAll(c) => vec![(condvar(c), Access::Wake)],
        Statement::Join(body) if may_hold => {
            vec![(thread_object(ThreadId(u32::from(body.0))), Access::LateJoin)]
        }
        // Local, or (a spawn) seen where it leads.
        Statement::Join(_)
        | Statement::Spawn(_)
        | Statement::Fence(_)
        | Statement::Any(..)
        | Statement::Sleep(_)
        | Statement::Abort
        | Statement::Let(..)
        | Statement::Assert(_)
        | Statement::Call(..)
        | Statement::Return(_)
        | Statement::If(..)
        | Statement::Ordered(..)
        | Statement::While(..)
        | Statement::Repeat(..) => Vec::new(),
    }
}

impl Foreseeing for ModelMachine {
    fn foresee(&mut self, thread: ThreadId, prospect: &mut Prospect) {
        prospect.clear();
        let rests =
            self.rests.get_or_insert_with(|| Rests::new(&self.code, &self.atomic, &self.reentrant));
        let number = thread.index();
        let state = &self.state.threads[number];
        if matches!(state.phase, Phase::Unborn | Phase::Ended) {
            return;
        }
        let callers = state.frames.iter().map(|frame| frame.place);
        for place in callers.chain([state.place]) {
            let rest = &rests.0[number][place];
            prospect.accesses.extend(&rest.accesses);
            prospect.loops |= rest.loops;
        }
        if let (Phase::Ready, Some(Statement::Join(body))) = (state.phase, self.next(number))
            && self.state.threads[usize::from(body.0)].phase != Phase::Ended
        {
            prospect.awaits = Some(ThreadId(u32::from(body.0)));
        }
    }
}
