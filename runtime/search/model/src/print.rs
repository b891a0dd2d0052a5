//! Model programs printed in their text form, with made-up names.

use std::fmt::{self, Display, Formatter};

use super::machine::{channel, condvar, mutex};
use super::program::{
    Barrier, Body, Channel, Comparison, Condition, Condvar, Definition, Mutex, Once, Operand,
    Order, Procedure, Program, Register, Statement, Variable,
};
use lockred_papers::flanagan_qadeer::{Atom, Predicate};
use lockred_search::footprint::ObjectId;

macro_rules! name {
    ($type:ident, $prefix:literal) => {
        impl Display for $type {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

name!(Variable, "x");
name!(Mutex, "a");
name!(Condvar, "c");
name!(Once, "o");
name!(Barrier, "b");
name!(Channel, "q");
name!(Register, "r");
name!(Body, "T");
name!(Procedure, "P");

/// Things with commas between them.
struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, one) in self.0.iter().enumerate() {
            write!(f, "{}{one}", if number == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Sum(register, 0) => write!(f, "{register}"),
            Self::Sum(register, value) => write!(f, "{register} + {value}"),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = match self.comparison {
            Comparison::Equal => "==",
            Comparison::Unequal => "!=",
            Comparison::Less => "<",
        };
        write!(f, "{} {sign} {}", self.register, self.value)
    }
}

/// An object that access predicates are about, by its name.
struct Named(ObjectId);

impl Display for Named {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = self.0.0 as u8;
        let is = |object| self.0 == object;
        if is(mutex(Mutex(number))) {
            write!(f, "{}", Mutex(number))
        } else if is(condvar(Condvar(number))) {
            write!(f, "{}", Condvar(number))
        } else if is(channel(Channel(number))) {
            write!(f, "{}", Channel(number))
        } else {
            write!(f, "{}", Variable(number))
        }
    }
}

/// A condition of an access predicate.
struct Atomic(Atom);

impl Display for Atomic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Atom::Held(lock) => write!(f, "held {}", Named(lock)),
            Atom::By(thread) => write!(f, "by {}", Body(thread.0 as u8)),
            Atom::Value(variable, value) => write!(f, "{} == {value}", Named(variable)),
        }
    }
}

/// An access predicate.
struct Either<'a>(&'a Predicate);

impl Display for Either<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Predicate(conjunctions) = self.0;
        if conjunctions.is_empty() {
            return f.write_str("never");
        }
        for (number, atoms) in conjunctions.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { " or " })?;
            for (number, &atom) in atoms.iter().enumerate() {
                write!(f, "{}{}", if number == 0 { "" } else { " and " }, Atomic(atom))?;
            }
        }
        Ok(())
    }
}

struct Block<'a>(&'a [Statement]);

impl Display for Block<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        for statement in self.0 {
            write!(f, "{statement}; ")?;
        }
        f.write_str("}")
    }
}

const fn keyword(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acqrel",
        Order::SeqCst => "seqcst",
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(register, x) => write!(f, "{register} = {x}"),
            Self::Store(x, operand) => write!(f, "{x} = {operand}"),
            Self::Add(x, by) => write!(f, "{x} += {by}"),
            Self::FetchAdd(register, x, by) => write!(f, "{register} = {x} += {by}"),
            Self::Swap(register, x, operand) => write!(f, "{register} = swap {x} {operand}"),
            Self::CompareExchange(register, x, expected, operand) => {
                write!(f, "{register} = cas {x} {expected} {operand}")
            }
            Self::CompareExchangeWeak(register, x, expected, operand) => {
                write!(f, "{register} = casweak {x} {expected} {operand}")
            }
            Self::Fence(order) => write!(f, "fence {}", keyword(*order)),
            Self::Await(x, value) => write!(f, "await {x} == {value}"),
            Self::Lock(a) => write!(f, "lock {a}"),
            Self::TryLock(register, a) => write!(f, "{register} = try {a}"),
            Self::Unlock(a) => write!(f, "unlock {a}"),
            Self::ReadLock(a) => write!(f, "read {a}"),
            Self::ReadUnlock(a) => write!(f, "unread {a}"),
            Self::Downgrade(a) => write!(f, "downgrade {a}"),
            Self::TryReadLock(register, a) => write!(f, "{register} = tryread {a}"),
            Self::Down(x) => write!(f, "down {x}"),
            Self::Increment(x) => write!(f, "inc {x}"),
            Self::Decrement(register, x) => write!(f, "{register} = dec {x}"),
            Self::Free(x) => write!(f, "free {x}"),
            Self::Allocate(x) => write!(f, "alloc {x}"),
            Self::Send(q, operand) => write!(f, "send {q} {operand}"),
            Self::SendChecked(register, q, operand) => write!(f, "{register} = send {q} {operand}"),
            Self::Close(q) => write!(f, "close {q}"),
            Self::Receive(register, q) => write!(f, "{register} = recv {q}"),
            Self::Any(register, of) => write!(f, "{register} = any {of}"),
            Self::Wait(c, a) => write!(f, "wait {c} {a}"),
            Self::WaitFor(register, c, a) => write!(f, "{register} = waitfor {c} {a}"),
            Self::NotifyOne(c) => write!(f, "notify_one {c}"),
            Self::NotifyAll(c) => write!(f, "notify_all {c}"),
            Self::Once(o, body) => write!(f, "once {o} {}", Block(body)),
            Self::OnceDone(o) => write!(f, "done {o}"),
            Self::Arrive(b) => write!(f, "arrive {b}"),
            Self::ArriveAsking(register, b) => write!(f, "{register} = arrive {b}"),
            Self::Spawn(body) => write!(f, "spawn {body}"),
            Self::Join(body) => write!(f, "join {body}"),
            Self::Sleep(time) => write!(f, "sleep {time}"),
            Self::Abort => f.write_str("abort"),
            Self::Call(None, procedure, operands) => {
                write!(f, "call {procedure}({})", List(operands))
            }
            Self::Call(Some(register), procedure, operands) => {
                write!(f, "{register} = call {procedure}({})", List(operands))
            }
            Self::Return(operand) => write!(f, "return {operand}"),
            Self::Let(register, operand) => write!(f, "{register} = {operand}"),
            Self::Assert(condition) => write!(f, "assert {condition}"),
            Self::If(condition, yes, no) if no.is_empty() => {
                write!(f, "if {condition} {}", Block(yes))
            }
            Self::If(condition, yes, no) => {
                write!(f, "if {condition} {} else {}", Block(yes), Block(no))
            }
            Self::Ordered(order, access) => write!(f, "{} {access}", keyword(*order)),
            Self::While(condition, body) => write!(f, "while {condition} {}", Block(body)),
            Self::Repeat(times, body) => write!(f, "repeat {times} {}", Block(body)),
        }
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, declaration) in self.variables.iter().enumerate() {
            let kind = if declaration.atomic { "atomic" } else { "plain" };
            if let Some(whole) = declaration.part_of {
                write!(f, "part {whole} {}; ", Variable(number as u8))?;
                continue;
            }
            let heap = if declaration.heap { "heap " } else { "" };
            write!(f, "{heap}{kind} {} = {}; ", Variable(number as u8), declaration.initial)?;
        }
        for number in 0..self.mutexes {
            let kind = if self.reentrant.contains(&Mutex(number)) { "reentrant" } else { "mutex" };
            write!(f, "{kind} {}; ", Mutex(number))?;
        }
        for number in 0..self.condvars {
            let kind = if self.fifo.contains(&Condvar(number)) { "fifo" } else { "condvar" };
            write!(f, "{kind} {}; ", Condvar(number))?;
        }
        if self.spurious > 0 {
            write!(f, "spurious {}; ", self.spurious)?;
        }
        for number in 0..self.onces {
            write!(f, "once {}; ", Once(number))?;
        }
        for (number, threads) in self.barriers.iter().enumerate() {
            write!(f, "barrier {} = {threads}; ", Barrier(number as u8))?;
        }
        for (number, capacity) in self.channels.iter().enumerate() {
            write!(f, "channel {} = {capacity}; ", Channel(number as u8))?;
        }
        for (object, predicate) in &self.exclusive {
            write!(f, "exclusive {} when {}; ", Named(*object), Either(predicate))?;
        }
        for (number, definition) in self.procedures.iter().enumerate() {
            let Definition { parameters, body } = definition;
            let name = Procedure(number as u8);
            write!(f, "\nproc {name}({}) {}", List(parameters), Block(body))?;
        }
        for (number, body) in self.threads.iter().enumerate() {
            write!(f, "\nthread {} {}", Body(number as u8), Block(body))?;
        }
        Ok(())
    }
}
