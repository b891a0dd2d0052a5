//! The text form of model programs.
//!
//! ```text
//! plain x; atomic f = 1; mutex a; reentrant b; condvar c; fifo d; once o; barrier b = 2; spurious 1;
//! thread T0 { lock a; x = 1; unlock a; spawn T1; join T1 }
//! thread T1 { r = x; if r == 0 { f += 1 } else { repeat 2 { q = f += 1 } } }
//! ```
//! Access predicates ([`lockred_papers::flanagan_qadeer`]): `exclusive x when held a and f == 0 or
//! by T1;`, `exclusive f when never;`. Procedures: `proc P(n) { if n != 0 { n = n + -1; call P(n) }
//! return n }`. A name that is not declared is a register of its thread or procedure; `r3` is
//! register 3. Statements: see [`Statement`].

use std::fmt;
use std::str::FromStr;

use super::machine as object;
use super::program::{
    Barrier, Body, CLOSED, Channel, Comparison, Condition, Condvar, Declaration, Mutex, Once,
    Operand, Order, Procedure, Program, Register, Statement, Variable,
};
use lockred_papers::flanagan_qadeer::{Atom, Predicate};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// Why a text is no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The word (counted from 0) that was not expected.
    pub word: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "word {}: expected {}", self.word, self.expected)
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Program {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { words: split(text), ..Parser::default() };
        parser.program()
    }
}

fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut glued = false;
    for symbol in text.chars() {
        let wordy = symbol.is_alphanumeric() || symbol == '_' || symbol == '-';
        let operator = "+=!<".contains(symbol);
        match words.last_mut() {
            Some(last) if glued && (wordy || operator) => {
                let last_wordy =
                    last.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
                if last_wordy == wordy {
                    last.push(symbol);
                } else {
                    words.push(symbol.to_string());
                }
            }
            _ if !symbol.is_whitespace() => words.push(symbol.to_string()),
            _ => {}
        }
        glued = wordy || operator;
    }
    words
}

#[derive(Default)]
struct Parser {
    words: Vec<String>,
    at: usize,
    variables: Vec<String>,
    mutexes: Vec<String>,
    condvars: Vec<String>,
    onces: Vec<String>,
    barriers: Vec<String>,
    channels: Vec<String>,
    threads: Vec<String>,
    procedures: Vec<String>,
    registers: Vec<String>,
    /// Registers below this one are named by their numbers.
    numbered: u8,
}

type Parsed<T> = Result<T, ParseError>;

fn index_in(names: &[String], name: &str) -> Option<u8> {
    names.iter().position(|known| known == name).map(|index| index as u8)
}

/// The number of a register that is named by it: 1 for `r1`.
fn numbered(name: &str) -> Option<u8> {
    name.strip_prefix('r')?.parse().ok()
}

impl Parser {
    fn program(&mut self) -> Parsed<Program> {
        let mut program = Program::default();
        let named = |words: &[String], kind: &str| {
            let pairs = words.windows(2).filter(|pair| pair[0] == kind);
            pairs.map(|pair| pair[1].clone()).collect()
        };
        self.threads = named(&self.words, "thread");
        self.procedures = named(&self.words, "proc");
        let numbers = self.words.iter().filter_map(|word| numbered(word));
        self.numbered = numbers.max().map_or(0, |number| number + 1);
        while let Some(word) = self.words.get(self.at).cloned() {
            self.at += 1;
            match word.as_str() {
                "plain" | "atomic" | "heap" => {
                    let heap = word == "heap";
                    let atomic = if heap { self.eat_kind()? } else { word == "atomic" };
                    while !self.eat(";") {
                        let name = self.word("a name")?;
                        self.variables.push(name);
                        let initial = if self.eat("=") { self.number()? } else { 0 };
                        let declaration = Declaration { atomic, initial, heap, part_of: None };
                        program.variables.push(declaration);
                    }
                }
                "part" => {
                    let whole = self.word("a name")?;
                    let part_of = index_in(&self.variables, &whole).map(Variable);
                    while !self.eat(";") {
                        let name = self.word("a name")?;
                        self.variables.push(name);
                        let declaration =
                            Declaration { atomic: true, part_of, ..Declaration::default() };
                        program.variables.push(declaration);
                    }
                }
                "once" => {
                    while !self.eat(";") {
                        let name = self.word("a name")?;
                        self.onces.push(name);
                        program.once();
                    }
                }
                "barrier" => {
                    while !self.eat(";") {
                        let name = self.word("a name")?;
                        self.barriers.push(name);
                        let threads = if self.eat("=") { self.number()? } else { 2 };
                        program.barrier(threads.clamp(0, 255) as u8);
                    }
                }
                "channel" => {
                    while !self.eat(";") {
                        let name = self.word("a name")?;
                        self.channels.push(name);
                        let capacity = if self.eat("=") { self.number()? } else { 1 };
                        program.channel(capacity.clamp(0, 255) as u8);
                    }
                }
                "spurious" => {
                    program.spurious = self.number()?.clamp(0, 255) as u8;
                    self.expect(";", ";")?;
                }
                "mutex" | "reentrant" | "condvar" | "fifo" => {
                    while !self.eat(";") {
                        let name = self.word("a name")?;
                        match word.as_str() {
                            "mutex" => drop(program.mutex()),
                            "reentrant" => drop(program.reentrant_mutex()),
                            "condvar" => drop(program.condvar()),
                            _ => drop(program.fifo_condvar()),
                        }
                        let locks = matches!(word.as_str(), "mutex" | "reentrant");
                        if locks { &mut self.mutexes } else { &mut self.condvars }.push(name);
                    }
                }
                "exclusive" => {
                    let subject = self.subject()?;
                    self.expect("when", "when")?;
                    program.exclusive.push((subject, self.predicate()?));
                    self.expect(";", ";")?;
                }
                "thread" => {
                    self.word("a name")?;
                    self.registers.clear();
                    let body = self.block()?;
                    program.threads.push(body);
                }
                "proc" => {
                    self.word("a name")?;
                    self.registers.clear();
                    let parameters = self.list(|parser| {
                        let name = parser.word("a register")?;
                        Ok(parser.register(&name))
                    })?;
                    let body = self.block()?;
                    program.procedure(parameters, body);
                }
                _ => return self.back().error("a declaration, a procedure or a thread"),
            }
        }
        Ok(program)
    }

    /// Things in parentheses, with commas between them.
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect("(", "(")?;
        let mut all = Vec::new();
        while !self.eat(")") {
            if !all.is_empty() {
                self.expect(",", ", or )")?;
            }
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// What an access predicate is about.
    fn subject(&mut self) -> Parsed<ObjectId> {
        let name = self.word("a name")?;
        let known = [
            index_in(&self.variables, &name).map(|index| object::variable(Variable(index))),
            index_in(&self.mutexes, &name).map(|index| object::mutex(Mutex(index))),
            index_in(&self.condvars, &name).map(|index| object::condvar(Condvar(index))),
            index_in(&self.channels, &name).map(|index| object::channel(Channel(index))),
        ];
        match known.into_iter().flatten().next() {
            Some(object) => Ok(object),
            None => self.back().error("a variable, a mutex, a condition variable or a channel"),
        }
    }

    /// An access predicate: `never`, or conjunctions with `or` between them.
    fn predicate(&mut self) -> Parsed<Predicate> {
        let next = self.words.get(self.at + 1).map(String::as_str);
        if next != Some("==") && self.eat("never") {
            return Ok(Predicate::default());
        }
        let mut conjunctions = vec![vec![self.atom()?]];
        loop {
            if self.eat("or") {
                conjunctions.push(Vec::new());
            } else if !self.eat("and") {
                return Ok(Predicate(conjunctions));
            }
            let atom = self.atom()?;
            if let Some(last) = conjunctions.last_mut() {
                last.push(atom);
            }
        }
    }

    fn atom(&mut self) -> Parsed<Atom> {
        if self.eat("held") {
            return Ok(Atom::Held(object::mutex(self.mutex()?)));
        }
        if self.eat("by") {
            return Ok(Atom::By(ThreadId(u32::from(self.body()?.0))));
        }
        let variable = self.variable()?;
        self.expect("==", "==")?;
        Ok(Atom::Value(object::variable(variable), self.number()?))
    }

    /// A call, after its keyword.
    fn call(&mut self, result: Option<Register>) -> Parsed<Statement> {
        let name = self.word("a procedure")?;
        let Some(index) = index_in(&self.procedures, &name) else {
            return self.back().error("a procedure");
        };
        Ok(Statement::Call(result, Procedure(index), self.list(Self::operand)?))
    }

    /// Whether an atomic variable is declared, not a plain one.
    fn eat_kind(&mut self) -> Parsed<bool> {
        match self.word("plain or atomic")?.as_str() {
            "plain" => Ok(false),
            "atomic" => Ok(true),
            _ => self.back().error("plain or atomic"),
        }
    }

    fn block(&mut self) -> Parsed<Vec<Statement>> {
        self.expect("{", "{")?;
        let mut statements = Vec::new();
        while !self.eat("}") {
            if !self.eat(";") {
                statements.push(self.statement()?);
            }
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let word = self.word("a statement")?;
        Ok(match word.as_str() {
            "lock" => Statement::Lock(self.mutex()?),
            "unlock" => Statement::Unlock(self.mutex()?),
            "read" => Statement::ReadLock(self.mutex()?),
            "unread" => Statement::ReadUnlock(self.mutex()?),
            "downgrade" => Statement::Downgrade(self.mutex()?),
            "down" => Statement::Down(self.variable()?),
            "inc" => Statement::Increment(self.variable()?),
            "free" => Statement::Free(self.variable()?),
            "alloc" => Statement::Allocate(self.variable()?),
            "fence" => Statement::Fence(self.order()?),
            "send" => Statement::Send(self.channel()?, self.operand()?),
            "close" => Statement::Close(self.channel()?),
            "wait" => Statement::Wait(self.condvar()?, self.mutex()?),
            "notify_one" => Statement::NotifyOne(self.condvar()?),
            "notify_all" => Statement::NotifyAll(self.condvar()?),
            "once" => Statement::Once(self.once()?, self.block()?),
            "arrive" => Statement::Arrive(self.barrier()?),
            "spawn" => Statement::Spawn(self.body()?),
            "join" => Statement::Join(self.body()?),
            "sleep" => Statement::Sleep(self.number()?.unsigned_abs().min(255) as u8),
            "abort" => Statement::Abort,
            "call" => self.call(None)?,
            "return" => {
                let next = self.words.get(self.at).map(String::as_str);
                let nothing = matches!(next, None | Some(";" | "}"));
                Statement::Return(if nothing { Operand::Constant(0) } else { self.operand()? })
            }
            "relaxed" | "acquire" | "release" | "acqrel" | "seqcst" => {
                let order = self.back().order()?;
                Statement::Ordered(order, Box::new(self.statement()?))
            }
            "await" => {
                let variable = self.variable()?;
                self.expect("==", "==")?;
                Statement::Await(variable, self.number()?)
            }
            "assert" => Statement::Assert(self.condition()?),
            "repeat" => Statement::Repeat(self.number()?.unsigned_abs(), self.block()?),
            "while" => Statement::While(self.condition()?, self.block()?),
            "if" => {
                let condition = self.condition()?;
                let yes = self.block()?;
                let no = if self.eat("else") { self.block()? } else { Vec::new() };
                Statement::If(condition, yes, no)
            }
            name => self.assignment(name)?,
        })
    }

    fn order(&mut self) -> Parsed<Order> {
        Ok(match self.word("a memory ordering")?.as_str() {
            "relaxed" => Order::Relaxed,
            "acquire" => Order::Acquire,
            "release" => Order::Release,
            "acqrel" => Order::AcqRel,
            "seqcst" => Order::SeqCst,
            _ => return self.back().error("a memory ordering"),
        })
    }

    fn assignment(&mut self, name: &str) -> Parsed<Statement> {
        if let Some(variable) = index_in(&self.variables, name).map(Variable) {
            if self.eat("+=") {
                return Ok(Statement::Add(variable, self.number()?));
            }
            self.expect("=", "= or +=")?;
            return Ok(Statement::Store(variable, self.operand()?));
        }
        let register = self.register(name);
        self.expect("=", "=")?;
        if self.eat("try") {
            return Ok(Statement::TryLock(register, self.mutex()?));
        }
        if self.eat("tryread") {
            return Ok(Statement::TryReadLock(register, self.mutex()?));
        }
        if self.eat("dec") {
            return Ok(Statement::Decrement(register, self.variable()?));
        }
        if self.eat("recv") {
            return Ok(Statement::Receive(register, self.channel()?));
        }
        if self.eat("send") {
            return Ok(Statement::SendChecked(register, self.channel()?, self.operand()?));
        }
        if self.eat("waitfor") {
            return Ok(Statement::WaitFor(register, self.condvar()?, self.mutex()?));
        }
        if self.eat("call") {
            return self.call(Some(register));
        }
        if self.eat("arrive") {
            return Ok(Statement::ArriveAsking(register, self.barrier()?));
        }
        if self.eat("any") {
            return Ok(Statement::Any(register, self.number()?.unsigned_abs().max(1)));
        }
        if self.eat("swap") {
            return Ok(Statement::Swap(register, self.variable()?, self.operand()?));
        }
        if self.eat("cas") {
            let variable = self.variable()?;
            let expected = self.number()?;
            return Ok(Statement::CompareExchange(register, variable, expected, self.operand()?));
        }
        if self.eat("casweak") {
            let (variable, expected) = (self.variable()?, self.number()?);
            let new = self.operand()?;
            return Ok(Statement::CompareExchangeWeak(register, variable, expected, new));
        }
        let source = self.words.get(self.at).and_then(|word| index_in(&self.variables, word));
        if let Some(variable) = source.map(Variable) {
            self.at += 1;
            if self.eat("+=") {
                return Ok(Statement::FetchAdd(register, variable, self.number()?));
            }
            return Ok(Statement::Load(register, variable));
        }
        Ok(Statement::Let(register, self.operand()?))
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let word = self.word("a value")?;
        if let Ok(value) = word.parse() {
            return Ok(Operand::Constant(value));
        }
        let register = self.register(&word);
        let added = if self.eat("+") { self.number()? } else { 0 };
        Ok(Operand::Sum(register, added))
    }

    fn condition(&mut self) -> Parsed<Condition> {
        let name = self.word("a register")?;
        let register = self.register(&name);
        let comparison = match self.word("a comparison")?.as_str() {
            "==" => Comparison::Equal,
            "!=" => Comparison::Unequal,
            "<" => Comparison::Less,
            _ => return self.back().error("==, != or <"),
        };
        Ok(Condition { register, comparison, value: self.number()? })
    }

    fn register(&mut self, name: &str) -> Register {
        if let Some(number) = numbered(name) {
            return Register(number);
        }
        let index = index_in(&self.registers, name).unwrap_or_else(|| {
            self.registers.push(name.to_owned());
            self.registers.len() as u8 - 1
        });
        Register(self.numbered + index)
    }

    fn variable(&mut self) -> Parsed<Variable> {
        let name = self.word("a variable")?;
        match index_in(&self.variables, &name) {
            Some(index) => Ok(Variable(index)),
            None => self.back().error("a variable"),
        }
    }

    fn mutex(&mut self) -> Parsed<Mutex> {
        let name = self.word("a mutex")?;
        match index_in(&self.mutexes, &name) {
            Some(index) => Ok(Mutex(index)),
            None => self.back().error("a mutex"),
        }
    }

    fn barrier(&mut self) -> Parsed<Barrier> {
        let name = self.word("a barrier")?;
        match index_in(&self.barriers, &name) {
            Some(index) => Ok(Barrier(index)),
            None => self.back().error("a barrier"),
        }
    }

    fn channel(&mut self) -> Parsed<Channel> {
        let name = self.word("a channel")?;
        match index_in(&self.channels, &name) {
            Some(index) => Ok(Channel(index)),
            None => self.back().error("a channel"),
        }
    }

    fn condvar(&mut self) -> Parsed<Condvar> {
        let name = self.word("a condition variable")?;
        match index_in(&self.condvars, &name) {
            Some(index) => Ok(Condvar(index)),
            None => self.back().error("a condition variable"),
        }
    }

    fn once(&mut self) -> Parsed<Once> {
        let name = self.word("a once")?;
        match index_in(&self.onces, &name) {
            Some(index) => Ok(Once(index)),
            None => self.back().error("a once"),
        }
    }

    fn body(&mut self) -> Parsed<Body> {
        let name = self.word("a thread")?;
        match index_in(&self.threads, &name) {
            Some(index) => Ok(Body(index)),
            None => self.back().error("a thread"),
        }
    }

    fn number(&mut self) -> Parsed<i32> {
        if self.eat("closed") {
            return Ok(CLOSED);
        }
        match self.word("a number")?.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.back().error("a number"),
        }
    }

    fn word(&mut self, expected: &'static str) -> Parsed<String> {
        let Some(word) = self.words.get(self.at).cloned() else { return self.error(expected) };
        self.at += 1;
        Ok(word)
    }

    fn eat(&mut self, word: &str) -> bool {
        let matches = self.words.get(self.at).is_some_and(|next| next == word);
        self.at += usize::from(matches);
        matches
    }

    fn expect(&mut self, word: &str, expected: &'static str) -> Parsed<()> {
        if self.eat(word) { Ok(()) } else { self.error(expected) }
    }

    fn back(&mut self) -> &mut Self {
        self.at -= 1;
        self
    }

    fn error<T>(&self, expected: &'static str) -> Parsed<T> {
        Err(ParseError { word: self.at, expected })
    }
}
