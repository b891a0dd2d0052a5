//! Programs of the model machine: threads over plain variables, atomics, mutexes and condition
//! variables.

use lockred_papers::flanagan_qadeer::Predicate;
use lockred_search::footprint::ObjectId;

/// A variable, plain or atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Variable(pub u8);

/// A mutex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Mutex(pub u8);

/// A condition variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Condvar(pub u8);

/// A piece of code that runs once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Once(pub u8);

/// A barrier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Barrier(pub u8);

/// What is received from a channel that is empty and closed; `closed` in the text form.
pub const CLOSED: i32 = i32::MIN;

/// A first-in first-out channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Channel(pub u8);

/// A register of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Register(pub u8);

/// A thread of the program; its number is also its [`lockred_search::machine::ThreadId`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Body(pub u8);

/// A procedure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Procedure(pub u8);

/// A value that a thread computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A constant.
    Constant(i32),
    /// A register and a constant added to it (wrapping).
    Sum(Register, i32),
}

/// How two values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
}

/// A condition on a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Condition {
    /// The left side.
    pub register: Register,
    /// The comparison.
    pub comparison: Comparison,
    /// The right side.
    pub value: i32,
}

/// A memory ordering.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// `relaxed`
    Relaxed,
    /// `acquire`
    Acquire,
    /// `release`
    Release,
    /// `acqrel`
    AcqRel,
    /// `seqcst`: orders as `acqrel` does, since values are sequentially consistent all the same.
    SeqCst,
}

/// A statement. `Let`, `If`, `Repeat`, `While`, `Assert`, `Call`, `Return` are local to the thread;
/// all others are visible operations.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Statement {
    /// `r = x`
    Load(Register, Variable),
    /// `x = 1`, `x = r + 1`
    Store(Variable, Operand),
    /// `x += 1`: an addition whose result nobody uses.
    Add(Variable, i32),
    /// `r = x += 1`: the old value goes to the register.
    FetchAdd(Register, Variable, i32),
    /// `r = swap x 1`: the old value goes to the register.
    Swap(Register, Variable, Operand),
    /// `r = cas x 0 1`: if the value is 0 it becomes 1; the register becomes 1 if so, else 0.
    CompareExchange(Register, Variable, i32, Operand),
    /// `r = casweak x 0 1`: as `cas`, but it may fail (and then only reads) although the value is
    /// right.
    CompareExchangeWeak(Register, Variable, i32, Operand),
    /// `fence release`: orders atomic accesses of its thread, as C11 29.8 says.
    Fence(Order),
    /// `await x == 1`: waits until the variable has the value, and reads it.
    Await(Variable, i32),
    /// `lock a`
    Lock(Mutex),
    /// `r = try a`: the register becomes 1 if the mutex was free, else 0.
    TryLock(Register, Mutex),
    /// `unlock a`
    Unlock(Mutex),
    /// `read a`: locks shared. Every mutex is a reader-writer lock; readers do not wait for waiting
    /// writers.
    ReadLock(Mutex),
    /// `unread a`
    ReadUnlock(Mutex),
    /// `downgrade a`: a mutex that the thread has locked exclusively (and that is not re-entrant)
    /// becomes locked shared.
    Downgrade(Mutex),
    /// `r = tryread a`: the register becomes 1 if no writer held the lock, else 0.
    TryReadLock(Register, Mutex),
    /// `down x`: waits until the value is positive, and takes one away (a semaphore; its up is
    /// `release x += 1`).
    Down(Variable),
    /// `inc x`: increments a reference count.
    Increment(Variable),
    /// `r = dec x`: decrements a reference count; the register becomes 1 if it was the last
    /// reference, else 0.
    Decrement(Register, Variable),
    /// `free x`: accesses to the variable (another `free` included) are failures from now on.
    Free(Variable),
    /// `alloc x`: makes a variable that is not allocated live again, with the value 0; a failure if
    /// it is live. Nothing but the program's own synchronisation orders it after a `free` by
    /// another thread: unordered, the two are a race.
    Allocate(Variable),
    /// `send q 1`: waits while the channel is full (one with capacity 255 never is). If the
    /// capacity is 0 it offers the value, which waits while another sender offers one, and then
    /// waits until a receiver has taken it. Nothing is sent if the channel is closed.
    Send(Channel, Operand),
    /// `r = send q 1`: the register becomes 1 if the value was sent (and taken, if the capacity is
    /// 0), 0 if the channel is closed.
    SendChecked(Register, Channel, Operand),
    /// `r = recv q`: waits while the channel is empty and not closed; [`CLOSED`] if it is empty and
    /// closed.
    Receive(Register, Channel),
    /// `close q`: nothing is sent any more, and offers are withdrawn. Closing again changes
    /// nothing.
    Close(Channel),
    /// `r = any 3`: some value below 3.
    Any(Register, u32),
    /// `wait c a`: releases the mutex, waits for a notification, takes the mutex.
    Wait(Condvar, Mutex),
    /// `r = waitfor c a`: as `wait`, but it may stop waiting by itself at any time (a timeout); the
    /// register becomes 0 if it did, else 1.
    WaitFor(Register, Condvar, Mutex),
    /// `notify_one c`: wakes any one waiter, if there is one; of a `fifo` condition variable the
    /// one that waits longest.
    NotifyOne(Condvar),
    /// `notify_all c`
    NotifyAll(Condvar),
    /// `once o { .. }`: the first thread that comes runs the body; those that come while it runs
    /// wait until it is done; later ones pass. A thread that comes again from the body waits for
    /// good; so do all if the body fails.
    Once(Once, Vec<Self>),
    /// The end of such a body, which flat code has after it. Programs have no use for it.
    OnceDone(Once),
    /// `arrive b`: comes to the barrier, and waits until as many threads have come as it waits for;
    /// then these go on, and the next ones are waited for.
    Arrive(Barrier),
    /// `r = arrive b`: the register becomes 1 if the thread came last (the leader), else 0.
    ArriveAsking(Register, Barrier),
    /// `spawn T`
    Spawn(Body),
    /// `join T`
    Join(Body),
    /// `sleep 3`: goes on so much later, in machines whose time is ordered; in others at any time.
    Sleep(u8),
    /// `abort`: a failure that ends the whole execution.
    Abort,
    /// `r = 1`, `r = q + 1`
    Let(Register, Operand),
    /// `call P(1, r)`, `r = call P(1, r)`: runs the procedure with registers of its own; what it
    /// returns goes to the register. A failure that ends the thread, as an assertion does, if calls
    /// are nested deeper than [`DEEPEST`].
    Call(Option<Register>, Procedure, Vec<Operand>),
    /// `return r`, `return`: ends the procedure (which returns 0 where nothing is said), or the
    /// thread outside of any.
    Return(Operand),
    /// `assert r == 1`: if it does not hold, a failure; the thread ends, its mutexes stay locked.
    Assert(Condition),
    /// `if r == 1 { .. } else { .. }`
    If(Condition, Vec<Self>, Vec<Self>),
    /// `repeat 3 { .. }`
    Repeat(u32, Vec<Self>),
    /// `while r == 1 { .. }`; the body has to contain a visible operation.
    While(Condition, Vec<Self>),
    /// `relaxed r = x`, `acquire r = x`, `release x = 1`: an access to an atomic with a weaker
    /// ordering than sequential consistency. Values are sequentially consistent all the same; only
    /// happens-before is weaker. A compare-exchange may have two: `acqrel relaxed r = cas x 0 1`,
    /// the second one when it fails; with one it fails without its release part.
    Ordered(Order, Box<Self>),
}

/// A variable's declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Declaration {
    /// Whether it is atomic.
    pub atomic: bool,
    /// Its value at the root.
    pub initial: i32,
    /// Whether it is not allocated at the root (`heap plain x`).
    pub heap: bool,
    /// The atomic variable with which it shares memory: it is one, too, of a part of its bytes
    /// (`part w h`). Each has a value of its own all the same; what they share is which accesses
    /// conflict.
    pub part_of: Option<Variable>,
}

/// How deep calls may be nested.
pub const DEEPEST: usize = 32;

/// What a procedure does.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Definition {
    /// The registers that the operands of a call go to.
    pub parameters: Vec<Register>,
    /// Its statements.
    pub body: Vec<Statement>,
}

/// A program. Threads that some `spawn` names begin there, all others at the root.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Program {
    /// Variables.
    pub variables: Vec<Declaration>,
    /// Number of mutexes.
    pub mutexes: u8,
    /// The re-entrant ones among them: their owner may lock them again.
    pub reentrant: Vec<Mutex>,
    /// Number of condition variables.
    pub condvars: u8,
    /// Those of them that wake their waiters in the order in which they came.
    pub fifo: Vec<Condvar>,
    /// How often a thread may wake up from waiting on condition variables for no reason.
    pub spurious: u8,
    /// Number of onces.
    pub onces: u8,
    /// For how many threads each barrier waits.
    pub barriers: Vec<u8>,
    /// Capacities of the channels; 0 for rendezvous.
    pub channels: Vec<u8>,
    /// Threads.
    pub threads: Vec<Vec<Statement>>,
    /// Procedures.
    pub procedures: Vec<Definition>,
    /// Exclusive access predicates of variables, mutexes, condition variables and channels, for
    /// searches that take them ([`lockred_papers::flanagan_qadeer`]); they change nothing of what
    /// the program does.
    pub exclusive: Vec<(ObjectId, Predicate)>,
}

impl Program {
    /// Adds a variable that begins with 0.
    pub fn variable(&mut self, atomic: bool) -> Variable {
        self.variables.push(Declaration { atomic, ..Declaration::default() });
        Variable(self.variables.len() as u8 - 1)
    }

    /// Adds a variable that is to be allocated.
    pub fn heap_variable(&mut self, atomic: bool) -> Variable {
        self.variables.push(Declaration { atomic, heap: true, ..Declaration::default() });
        Variable(self.variables.len() as u8 - 1)
    }

    /// Adds a mutex.
    pub fn mutex(&mut self) -> Mutex {
        self.mutexes += 1;
        Mutex(self.mutexes - 1)
    }

    /// Adds a re-entrant mutex. Waiting with it gives it back wholly, and takes it again as deep as
    /// it was.
    pub fn reentrant_mutex(&mut self) -> Mutex {
        let mutex = self.mutex();
        self.reentrant.push(mutex);
        mutex
    }

    /// Adds a condition variable.
    pub fn condvar(&mut self) -> Condvar {
        self.condvars += 1;
        Condvar(self.condvars - 1)
    }

    /// Adds a condition variable that wakes its waiters in the order in which they came.
    pub fn fifo_condvar(&mut self) -> Condvar {
        let condvar = self.condvar();
        self.fifo.push(condvar);
        condvar
    }

    /// Adds a once.
    pub fn once(&mut self) -> Once {
        self.onces += 1;
        Once(self.onces - 1)
    }

    /// Adds a barrier that waits for so many threads (one that waits for none waits for one).
    pub fn barrier(&mut self, threads: u8) -> Barrier {
        self.barriers.push(threads);
        Barrier(self.barriers.len() as u8 - 1)
    }

    /// Adds a channel for `capacity` values; one of capacity 0 passes values from hand to hand.
    pub fn channel(&mut self, capacity: u8) -> Channel {
        self.channels.push(capacity);
        Channel(self.channels.len() as u8 - 1)
    }

    /// Adds a procedure. Its number is known in advance: procedures are numbered from 0 on.
    pub fn procedure(&mut self, parameters: Vec<Register>, body: Vec<Statement>) -> Procedure {
        self.procedures.push(Definition { parameters, body });
        Procedure(self.procedures.len() as u8 - 1)
    }

    /// Adds a thread.
    pub fn thread(&mut self, statements: Vec<Statement>) -> Body {
        self.threads.push(statements);
        Body(self.threads.len() as u8 - 1)
    }
}
