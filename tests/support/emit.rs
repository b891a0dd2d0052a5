//! Model programs of [`crate::generate`]'s sub-language written as Rust tests.
//!
//! A thread of the program becomes a function that a thread calls with a shared reference (so that
//! nothing is dropped with its closure); the test itself only starts threads and waits. Registers
//! are locals, guards are locals in an `Option`, and what is still held at the end of a thread is
//! forgotten, so that it stays locked as in the model.

use crate::generate::{CONDVAR, MUTEXES, PLAIN, RWLOCK};
use lockred_model::Program;
use lockred_model::program::{
    Comparison, Condition, Mutex, Operand, Order, Register, Statement, Variable,
};
use std::fmt::Write as _;
use std::path::Path;

/// How the threads of a test are started and waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// By `std::thread::scope`.
    Scoped,
    /// By `std::thread::spawn`, over a leaked object, and `join` in the order of the threads.
    Joined,
}

/// What all tests of a crate share.
const PRELUDE: &str = "\
#![allow(unused)]
use std::cell::UnsafeCell;
use std::mem::forget;
use std::sync::atomic::{AtomicI32, Ordering::*};

#[derive(Default)]
struct Shared {
    x0: UnsafeCell<i32>,
    x1: UnsafeCell<i32>,
    f0: AtomicI32,
    f1: AtomicI32,
    a: Mutex<()>,
    b: Mutex<()>,
    l: RwLock<()>,
    c: Condvar,
}
unsafe impl Sync for Shared {}
";

/// Whose locks and condition variables a crate uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Locks {
    /// std's.
    Std,
    /// parking_lot's.
    ParkingLot,
    /// Those of its release 0.13, which are made anew.
    ParkingLot013,
}

impl Locks {
    /// What a crate's manifest has for them.
    const fn dependency(self) -> &'static str {
        match self {
            Self::Std => "",
            Self::ParkingLot => "parking_lot = \"0.12\"\n",
            Self::ParkingLot013 => "parking_lot = \"0.13\"\n",
        }
    }

    /// The types of the locks, with the functions that std's have.
    const fn types(self) -> &'static str {
        match self {
            Self::Std => {
                "use std::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};\n"
            }
            Self::ParkingLot | Self::ParkingLot013 => PARKING_LOT,
        }
    }
}

/// parking_lot's locks in the clothes of std's.
const PARKING_LOT: &str = "\
use parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

#[derive(Default)]
struct Mutex<T>(parking_lot::Mutex<T>);
impl<T> Mutex<T> {
    fn lock(&self) -> Result<MutexGuard<'_, T>, ()> {
        Ok(self.0.lock())
    }
    fn try_lock(&self) -> Result<MutexGuard<'_, T>, ()> {
        self.0.try_lock().ok_or(())
    }
}

#[derive(Default)]
struct RwLock<T>(parking_lot::RwLock<T>);
impl<T> RwLock<T> {
    fn read(&self) -> Result<RwLockReadGuard<'_, T>, ()> {
        Ok(self.0.read())
    }
    fn write(&self) -> Result<RwLockWriteGuard<'_, T>, ()> {
        Ok(self.0.write())
    }
}

#[derive(Default)]
struct Condvar(parking_lot::Condvar);
impl Condvar {
    fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> Result<MutexGuard<'a, T>, ()> {
        self.0.wait(&mut guard);
        Ok(guard)
    }
    fn notify_one(&self) {
        self.0.notify_one();
    }
    fn notify_all(&self) {
        self.0.notify_all();
    }
}
";

/// The guards of a thread.
const GUARDS: &str = "        \
        let (mut a, mut b): (Option<MutexGuard<()>>, Option<MutexGuard<()>>) = (None, None);
        let mut l: Option<RwLockWriteGuard<()>> = None;
        let mut l_read: Option<RwLockReadGuard<()>> = None;
";

/// A crate's only file: one test for each program, as [`name`] says.
#[must_use]
pub fn file(programs: &[Program], threads: Threads, locks: Locks) -> String {
    let tests =
        programs.iter().enumerate().map(|(number, program)| test(&name(number), program, threads));
    [PRELUDE.to_owned(), locks.types().to_owned()].into_iter().chain(tests).collect()
}

/// Writes programs as a crate, where it differs from what is there.
///
/// # Errors
/// When it cannot be written.
pub fn write_crate(
    root: &Path,
    programs: &[Program],
    threads: Threads,
    locks: Locks,
) -> std::io::Result<()> {
    let annotations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/annotations");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"native-oracle\"\nedition = \"2024\"\n\n\
         [dependencies]\nlockred = {{ path = {annotations:?} }}\n"
    );
    std::fs::create_dir_all(root.join("src"))?;
    let files = [
        ("Cargo.toml", format!("{manifest}{}", locks.dependency())),
        ("src/lib.rs", file(programs, threads, locks)),
    ];
    for (name, text) in files {
        let path = root.join(name);
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            std::fs::write(path, text)?;
        }
    }
    Ok(())
}

/// The name of the test of a program.
#[must_use]
pub fn name(number: usize) -> String {
    format!("program_{number:03}")
}

/// The test of one program.
///
/// # Panics
/// When the program is outside of the sub-language.
#[must_use]
pub fn test(name: &str, program: &Program, threads: Threads) -> String {
    let mut text = format!("\n#[test]\nfn {name}() {{\n");
    for (number, body) in program.threads.iter().enumerate() {
        let _ = writeln!(text, "    fn thread_{number}(s: &Shared) {{");
        text += "        let (mut r0, mut r1) = (0_i32, 0_i32);\n";
        text += GUARDS;
        block(&mut text, body, 2);
        text += "        forget((a, b, l, l_read));\n    }\n";
    }
    text + &start(threads, program.threads.len())
}

/// The end of a test: its threads are started and waited for.
fn start(threads: Threads, count: usize) -> String {
    let each = |one: fn(usize) -> String| (0..count).map(one).collect::<String>();
    match threads {
        Threads::Scoped => format!(
            "    let shared = Shared::default();\n    std::thread::scope(|scope| {{\n{}    }});\n}}\n",
            each(|number| format!("        scope.spawn(|| thread_{number}(&shared));\n"))
        ),
        Threads::Joined => format!(
            "    let s: &'static Shared = Box::leak(Box::default());\n{}{}}}\n",
            each(|t| format!("    let t{t} = std::thread::spawn(move || thread_{t}(s));\n")),
            each(|t| format!("    t{t}.join().unwrap();\n"))
        ),
    }
}

fn block(text: &mut String, statements: &[Statement], depth: usize) {
    let indent = "    ".repeat(depth);
    for statement in statements {
        if let Statement::While(condition, body) = statement {
            let _ = writeln!(text, "{indent}while {} {{", holds(*condition));
            block(text, body, depth + 1);
            let _ = writeln!(text, "{indent}}}");
        } else if let Statement::If(condition, yes, no) = statement {
            let _ = writeln!(text, "{indent}if {} {{", holds(*condition));
            block(text, yes, depth + 1);
            if !no.is_empty() {
                let _ = writeln!(text, "{indent}}} else {{");
                block(text, no, depth + 1);
            }
            let _ = writeln!(text, "{indent}}}");
        } else {
            let _ = writeln!(text, "{indent}{};", simple(statement));
        }
    }
}

fn simple(statement: &Statement) -> String {
    match statement {
        Statement::Load(r, x) if PLAIN.contains(x) => {
            format!("{r} = unsafe {{ {} }}", plain(*x))
        }
        Statement::Store(x, value) if PLAIN.contains(x) => {
            format!("unsafe {{ {} = {} }}", plain(*x), operand(*value))
        }
        Statement::Load(r, f) => format!("{r} = s.{}.load(SeqCst)", atomic(*f)),
        Statement::Store(f, value) => {
            format!("s.{}.store({}, SeqCst)", atomic(*f), operand(*value))
        }
        Statement::Ordered(Order::Relaxed, inner) => match &**inner {
            Statement::Add(f, by) => format!("s.{}.fetch_add({by}, Relaxed)", atomic(*f)),
            other => panic!("relaxed {other} is outside of the sub-language"),
        },
        Statement::FetchAdd(r, f, by) => format!("{r} = s.{}.fetch_add({by}, SeqCst)", atomic(*f)),
        Statement::Swap(r, f, value) => {
            format!("{r} = s.{}.swap({}, SeqCst)", atomic(*f), operand(*value))
        }
        Statement::CompareExchange(r, f, from, to) => format!(
            "{r} = i32::from(s.{}.compare_exchange({from}, {}, SeqCst, SeqCst).is_ok())",
            atomic(*f),
            operand(*to)
        ),
        Statement::Lock(RWLOCK) => "l = Some(s.l.write().unwrap())".to_owned(),
        Statement::Lock(m) => format!("{0} = Some(s.{0}.lock().unwrap())", mutex(*m)),
        Statement::TryLock(r, m) => {
            let m = mutex(*m);
            format!(
                "{r} = match s.{m}.try_lock() {{ Ok(guard) => {{ {m} = Some(guard); 1 }} Err(_) => 0 }}"
            )
        }
        Statement::Unlock(RWLOCK) => "drop(l.take())".to_owned(),
        Statement::Unlock(m) => format!("drop({}.take())", mutex(*m)),
        Statement::ReadLock(RWLOCK) => "l_read = Some(s.l.read().unwrap())".to_owned(),
        Statement::ReadUnlock(RWLOCK) => "drop(l_read.take())".to_owned(),
        Statement::Downgrade(RWLOCK) => {
            "l_read = l.take().map(RwLockWriteGuard::downgrade)".to_owned()
        }
        Statement::Wait(CONDVAR, m) => {
            format!("{0} = Some(s.c.wait({0}.take().unwrap()).unwrap())", mutex(*m))
        }
        Statement::Any(r, of) => format!("{r} = lockred::choose({of}) as i32"),
        Statement::NotifyOne(CONDVAR) => "s.c.notify_one()".to_owned(),
        Statement::NotifyAll(CONDVAR) => "s.c.notify_all()".to_owned(),
        other => panic!("{other} is outside of the sub-language"),
    }
}

fn plain(Variable(number): Variable) -> String {
    format!("*s.x{number}.get()")
}

fn atomic(Variable(number): Variable) -> String {
    format!("f{}", usize::from(number) - PLAIN.len())
}

fn mutex(m: Mutex) -> &'static str {
    match MUTEXES.iter().position(|&one| one == m) {
        Some(0) => "a",
        Some(_) => "b",
        None => panic!("{m} is no mutex"),
    }
}

fn operand(operand: Operand) -> String {
    match operand {
        Operand::Constant(value) => value.to_string(),
        Operand::Sum(Register(r), 0) => format!("r{r}"),
        Operand::Sum(Register(r), value) => format!("r{r}.wrapping_add({value})"),
    }
}

fn holds(condition: Condition) -> String {
    let sign = match condition.comparison {
        Comparison::Equal => "==",
        Comparison::Unequal => "!=",
        Comparison::Less => "<",
    };
    format!("{} {sign} {}", condition.register, condition.value)
}
