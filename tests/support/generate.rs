//! Random model programs of the sub-language that [`crate::emit`] can write as Rust, equal for
//! equal seeds.
//!
//! Two or three threads of four to eight statements over two plain variables, two atomics, two
//! mutexes, one reader-writer lock and one condition variable; in some, one thread chooses a value.
//! In most programs every access to a plain variable is under the lock that protects it; in the
//! others it may be anywhere, or published through an atomic.

use lockred_model::Program;
use lockred_model::program::{
    Comparison, Condition, Condvar, Mutex, Operand, Order, Register, Statement, Variable,
};

/// The plain variables.
pub const PLAIN: [Variable; 2] = [Variable(0), Variable(1)];
/// The atomics.
pub const ATOMICS: [Variable; 2] = [Variable(2), Variable(3)];
/// The mutexes. Waiting is with the first one.
pub const MUTEXES: [Mutex; 2] = [Mutex(0), Mutex(1)];
/// The reader-writer lock.
pub const RWLOCK: Mutex = Mutex(2);
/// The condition variable.
pub const CONDVAR: Condvar = Condvar(0);
/// Registers of each thread.
pub const REGISTERS: [Register; 2] = [Register(0), Register(1)];

/// No register ever has this value.
const NEVER: i32 = 77;

/// The program of this seed.
#[must_use]
pub fn program(seed: u64) -> Program {
    let mut dice = Dice::new(seed);
    let mut program = Program::default();
    for atomic in [false, false, true, true] {
        program.variable(atomic);
    }
    for _ in 0..3 {
        program.mutex();
    }
    program.condvar();
    let threads = 2 + dice.below(2);
    let disciplined = dice.one_in(3, 2);
    // Where a value is chosen, if one is: the rest of the program does not depend on it.
    let mut other = Dice::new(!seed);
    let mut chooser = other.one_in(3, 1).then(|| other.below(threads));
    for thread in 0..threads {
        let length = 4 + dice.below(5);
        let mut writer = Writer { dice: &mut dice, disciplined, held: Vec::new() };
        let mut body = writer.body(length as usize);
        if chooser.take_if(|chooser| *chooser == thread).is_some() {
            let choice = Statement::Any(other.pick(&REGISTERS), 2);
            body.insert(other.below(body.len() as u64 + 1) as usize, choice);
        }
        program.thread(body);
    }
    program
}

/// The program of this seed, each thread of which begins again when it has come to its end, and
/// goes on for ever.
#[must_use]
pub fn endless(seed: u64) -> Program {
    let mut program = program(seed);
    for body in &mut program.threads {
        let always =
            Condition { register: REGISTERS[0], comparison: Comparison::Unequal, value: NEVER };
        *body = vec![Statement::While(always, std::mem::take(body))];
    }
    program
}

/// A sequence of numbers that look random (splitmix64).
struct Dice(u64);

impl Dice {
    const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    /// True in `times` of `of` cases.
    fn one_in(&mut self, of: u64, times: u64) -> bool {
        self.below(of) < times
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Writes one thread.
struct Writer<'a> {
    dice: &'a mut Dice,
    /// Whether plain variables are only accessed under their locks.
    disciplined: bool,
    /// The locks held here.
    held: Vec<Held>,
}

/// A lock that is held.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Exclusive(Mutex),
    Shared,
}

impl Writer<'_> {
    /// Parts until there are `length` statements; a part that makes it longer than 8 is left out.
    fn body(&mut self, length: usize) -> Vec<Statement> {
        let mut body = Vec::new();
        while size(&body) < length {
            let held = self.held.clone();
            let part = self.part();
            if size(&body) + size(&part) <= 8 {
                body.extend(part);
            } else {
                self.held = held;
            }
        }
        body
    }

    fn part(&mut self) -> Vec<Statement> {
        match self.dice.below(20) {
            0..6 => self.section(),
            6..8 => self.tried(),
            8 => self.shared(),
            9 => self.waiting(),
            10 | 11 => self.waking(),
            12 if self.dice.one_in(2, 1) => self.leaked(),
            13 if !self.disciplined => self.published(),
            14 | 15 => {
                let (yes, no) = (self.accesses(2), self.accesses(1));
                vec![Statement::If(self.condition(), yes, no)]
            }
            _ => vec![self.access()],
        }
    }

    /// `count` accesses, or one less.
    fn accesses(&mut self, count: u64) -> Vec<Statement> {
        let count = count - self.dice.below(2);
        (0..count).map(|_| self.access()).collect()
    }

    fn holds(&self, a: Mutex) -> bool {
        self.held.contains(&Held::Exclusive(a))
            || (a == RWLOCK && self.held.contains(&Held::Shared))
    }

    /// A lock that is not held.
    fn lock(&mut self) -> Option<Mutex> {
        let a = self.dice.pick(&[MUTEXES[0], MUTEXES[0], MUTEXES[1], MUTEXES[1], RWLOCK]);
        (!self.holds(a)).then_some(a)
    }

    /// What `inside` writes where the lock is held.
    fn under(
        &mut self,
        held: Held,
        inside: impl FnOnce(&mut Self) -> Vec<Statement>,
    ) -> Vec<Statement> {
        self.held.push(held);
        let statements = inside(self);
        self.held.retain(|&one| one != held);
        statements
    }

    fn section(&mut self) -> Vec<Statement> {
        let Some(a) = self.lock() else { return vec![self.access()] };
        let nested = self.held.is_empty() && self.dice.one_in(3, 1);
        let inner = self.under(Held::Exclusive(a), |this| {
            let mut inner = this.accesses(2);
            if nested {
                inner.extend(this.section());
            }
            inner
        });
        around(Statement::Lock(a), inner, Statement::Unlock(a))
    }

    fn tried(&mut self) -> Vec<Statement> {
        let a = self.dice.pick(&MUTEXES);
        if self.holds(a) {
            return vec![self.access()];
        }
        let r = self.dice.pick(&REGISTERS);
        let mut inner = self.under(Held::Exclusive(a), |this| this.accesses(2));
        inner.push(Statement::Unlock(a));
        vec![Statement::TryLock(r, a), Statement::If(is(r, 1), inner, vec![])]
    }

    fn shared(&mut self) -> Vec<Statement> {
        if self.holds(RWLOCK) {
            return vec![self.access()];
        }
        if self.dice.one_in(3, 1) {
            let mut inner = self.under(Held::Exclusive(RWLOCK), |this| this.accesses(2));
            inner.push(Statement::Downgrade(RWLOCK));
            inner.extend(self.under(Held::Shared, |this| this.accesses(2)));
            return around(Statement::Lock(RWLOCK), inner, Statement::ReadUnlock(RWLOCK));
        }
        let inner = self.under(Held::Shared, |this| this.accesses(2));
        around(Statement::ReadLock(RWLOCK), inner, Statement::ReadUnlock(RWLOCK))
    }

    fn waiting(&mut self) -> Vec<Statement> {
        let (a, r) = (MUTEXES[0], self.dice.pick(&REGISTERS));
        if self.holds(a) {
            return vec![self.access()];
        }
        let x = self.dice.pick(&[PLAIN[0], ATOMICS[0]]);
        let wait = Statement::If(is(r, 0), vec![Statement::Wait(CONDVAR, a)], vec![]);
        let inner = vec![Statement::Load(r, x), wait];
        around(Statement::Lock(a), inner, Statement::Unlock(a))
    }

    fn waking(&mut self) -> Vec<Statement> {
        let a = MUTEXES[0];
        let all = self.dice.one_in(2, 1);
        let notify =
            if all { Statement::NotifyAll(CONDVAR) } else { Statement::NotifyOne(CONDVAR) };
        if self.holds(a) || self.dice.one_in(3, 1) {
            return vec![notify];
        }
        let x = self.dice.pick(&[PLAIN[0], ATOMICS[0]]);
        let inner = vec![Statement::Store(x, Operand::Constant(1)), notify];
        around(Statement::Lock(a), inner, Statement::Unlock(a))
    }

    /// A lock that is never given back.
    fn leaked(&mut self) -> Vec<Statement> {
        let Some(a) = self.lock() else { return vec![self.access()] };
        self.held.push(Held::Exclusive(a));
        vec![Statement::Lock(a), self.access()]
    }

    /// One side of a message that an atomic publishes.
    fn published(&mut self) -> Vec<Statement> {
        let (x, f) = (PLAIN[1], ATOMICS[1]);
        if self.dice.one_in(2, 1) {
            let one = Operand::Constant(1);
            return vec![Statement::Store(x, one), Statement::Store(f, one)];
        }
        let [r, q] = REGISTERS;
        vec![Statement::Load(r, f), Statement::If(is(r, 1), vec![Statement::Load(q, x)], vec![])]
    }

    fn access(&mut self) -> Statement {
        let r = self.dice.pick(&REGISTERS);
        if self.dice.one_in(5, 3)
            && let Some(x) = self.plain()
        {
            // A reader must not write, unless anything may happen.
            let only_reads = self.disciplined && self.held.contains(&Held::Shared);
            return if only_reads || self.dice.one_in(2, 1) {
                Statement::Load(r, x)
            } else {
                Statement::Store(x, self.operand())
            };
        }
        let f = self.dice.pick(&ATOMICS);
        let by = 1 + self.dice.below(2) as i32;
        match self.dice.below(7) {
            0 | 1 => Statement::Load(r, f),
            2 => Statement::Store(f, self.operand()),
            3 => Statement::Ordered(Order::Relaxed, Box::new(Statement::Add(f, by))),
            4 => Statement::FetchAdd(r, f, by),
            5 => Statement::Swap(r, f, self.operand()),
            _ => Statement::CompareExchange(r, f, self.dice.below(2) as i32, self.operand()),
        }
    }

    /// A plain variable that may be accessed here: the first one under the first mutex, the second
    /// one under the reader-writer lock.
    fn plain(&mut self) -> Option<Variable> {
        let x = self.dice.pick(&PLAIN);
        let lock = if x == PLAIN[0] { MUTEXES[0] } else { RWLOCK };
        let may = self.holds(lock) || (!self.disciplined && self.dice.one_in(2, 1));
        may.then_some(x)
    }

    fn operand(&mut self) -> Operand {
        if self.dice.one_in(2, 1) {
            Operand::Constant(self.dice.below(3) as i32)
        } else {
            Operand::Sum(self.dice.pick(&REGISTERS), self.dice.below(2) as i32)
        }
    }

    fn condition(&mut self) -> Condition {
        let comparison =
            self.dice.pick(&[Comparison::Equal, Comparison::Unequal, Comparison::Less]);
        Condition {
            register: self.dice.pick(&REGISTERS),
            comparison,
            value: self.dice.below(3) as i32,
        }
    }
}

/// Statements, those inside of others included.
fn size(statements: &[Statement]) -> usize {
    let one = |statement: &Statement| match statement {
        Statement::If(_, yes, no) => 1 + size(yes) + size(no),
        _ => 1,
    };
    statements.iter().map(one).sum()
}

fn around(first: Statement, inner: Vec<Statement>, last: Statement) -> Vec<Statement> {
    let mut section = vec![first];
    section.extend(inner);
    section.push(last);
    section
}

const fn is(register: Register, value: i32) -> Condition {
    Condition { register, comparison: Comparison::Equal, value }
}
