//! Random programs whose threads look at one value as the borrow checker lets them, so that they
//! have no data race, and such in which one thread copies what another one writes, which is one.

use crate::shapes::{Dice, PRELUDE, Shape};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

/// Programs that one test chooses from.
pub const GROUP: usize = 40;

/// What programs of a crate share, beside their types.
const START: &str = "\
#![allow(unused, dropping_copy_types, unpredictable_function_pointer_comparisons)]
use std::cell::UnsafeCell;
use std::cmp::Ordering;
use std::hint::black_box;
use std::mem::discriminant;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering as Atomic};
use std::sync::{Arc, Mutex};

/// What is shared as it is.
struct Raw<T>(UnsafeCell<T>);
unsafe impl<T> Sync for Raw<T> {}

fn ignore<T>(_: T) {}

fn two(other: Box<dyn FnOnce() + Send>, own: Box<dyn FnOnce()>) {
    let thread = std::thread::spawn(other);
    own();
    thread.join().unwrap();
}
";

/// Code that copies `*p`, all of it. The language reads there what is copied, whatever becomes of
/// it. (`*p;` and `let _ = { *p };` do as well, but rustc removes these before anything can see
/// them.)
const COPIES: &[&str] = &[
    "let _x = *p;",
    "let x = *p; black_box(x);",
    "let _x = p.read();",
    "let _ = p.read();",
    "drop(*p);",
    "ignore(*p);",
    "let x = *p; let _y = x;",
    "let _x = (*p, 1_u8);",
    "let _x = [*p];",
    "let _x = Some(*p);",
    "let _x = (*p).clone();",
    "let _x = p.read_unaligned();",
    "let x; x = *p; black_box(&x);",
];

/// One program in so many reads through one of two pointers.
const CHOSEN: usize = 16;

/// A program without a data race of two threads that look at one value, as a function `safe_N`.
#[must_use]
pub fn right(number: usize) -> String {
    if number.is_multiple_of(CHOSEN) { chosen(number) } else { safe(number) }
}

/// A thread follows a pointer to what another one writes only if that has been written. It is not
/// safe code: references are promises that what they refer to can be read at any time.
fn chosen(number: usize) -> String {
    let mut dice = Dice(number as u64);
    let shape = Shape::random(&mut dice, 0, true);
    let [name, value, other, own] = [
        shape.name(),
        shape.value(&mut dice, true),
        shape.value(&mut dice, true),
        shape.value(&mut dice, true),
    ];
    format!(
        "fn safe_{number}() {{\n    static VALUE: Raw<{name}> = Raw(UnsafeCell::new({value}));\n    \
         static READY: AtomicBool = AtomicBool::new(false);\n    \
         fn writes() {{ unsafe {{ *VALUE.0.get() = {other} }}; READY.store(true, Atomic::SeqCst); }}\n    \
         fn reads() {{\n        let ready = READY.load(Atomic::SeqCst);\n        let own: {name} = {own};\n        \
         let mut p = &raw const VALUE as *const {name};\n        if !ready {{ p = &raw const own; }}\n        \
         let _x = unsafe {{ *p }};\n    }}\n    two(Box::new(writes), Box::new(reads));\n}}\n"
    )
}

/// A program of two threads that look at one value through shared references.
fn safe(number: usize) -> String {
    let mut dice = Dice(number as u64);
    let shape = Shape::random(&mut dice, 3, false);
    let (name, value) = (shape.name(), shape.value(&mut dice, false));
    let mut text = String::new();
    for thread in ["one", "two"] {
        let look = shape.look(&mut dice, "v", &mut 2);
        let _ = writeln!(text, "fn looks_{number}_{thread}(v: &{name}) {{\n    {look}\n}}");
    }
    let run = |one: &str, two: &str| {
        format!(
            "two(Box::new(move || looks_{number}_one({one})), Box::new(move || looks_{number}_two({two})));"
        )
    };
    let body = match dice.below(3) {
        0 => format!("static VALUE: {name} = {value};\n    {}", run("&VALUE", "&VALUE")),
        1 => format!(
            "let value: &'static {name} = Box::leak(Box::new({value}));\n    {}",
            run("value", "value")
        ),
        _ => format!(
            "let value: Arc<{name}> = Arc::new({value});\n    let [first, second] = [value.clone(), value.clone()];\n    {}\n    \
             let all = Arc::into_inner(value).unwrap();\n    looks_{number}_one(&all);\n    ignore(all);",
            run("&first", "&second")
        ),
    };
    text + &format!("fn safe_{number}() {{\n    {body}\n}}\n")
}

/// A program in which one thread writes a part of what the other one copies, as a test `racy_N`.
#[must_use]
pub fn racy(number: usize) -> String {
    let mut dice = Dice(number as u64);
    let shape = Shape::random(&mut dice, 3, true);
    let (name, value) = (shape.name(), shape.value(&mut dice, true));
    let write = match dice.below(3) {
        0 => format!("*p = {};", shape.value(&mut dice, true)),
        _ => format!("let v = &mut *p; {}", shape.change(&mut dice, "v")),
    };
    let copy = COPIES[number % COPIES.len()];
    format!(
        "#[test]\nfn racy_{number:04}() {{\n    static VALUE: Raw<{name}> = Raw(UnsafeCell::new({value}));\n    \
         fn writes() {{ let p = VALUE.0.get(); unsafe {{ {write} }} }}\n    \
         fn copies() {{ let p = VALUE.0.get(); unsafe {{ {copy} }} }}\n    \
         two(Box::new(writes), Box::new(copies));\n}}\n"
    )
}

/// Writes a crate with programs of both kinds, to be built at a level of optimisation as cargo's
/// profiles do.
///
/// # Errors
/// When it cannot be written.
pub fn write_crate(
    root: &Path,
    level: u32,
    right_ones: Range<usize>,
    racy_ones: Range<usize>,
) -> std::io::Result<()> {
    let annotations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/annotations");
    let is_checked = level == 0;
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"safe-oracle\"\nedition = \"2024\"\n\n\
         [profile.dev]\nopt-level = {level}\ndebug-assertions = {is_checked}\noverflow-checks = {is_checked}\n\n\
         [dependencies]\nlockred = {{ path = {annotations:?} }}\n"
    );
    let mut source = [START, PRELUDE].concat();
    let all: Vec<usize> = right_ones.collect();
    for group in all.chunks(GROUP) {
        source.extend(group.iter().map(|&number| right(number)));
        let names: Vec<String> = group.iter().map(|number| format!("safe_{number}")).collect();
        let _ = writeln!(
            source,
            "#[test]\nfn group_{:04}() {{\n    [{}][lockred::choose({})]();\n}}",
            group[0],
            names.join(", "),
            names.len()
        );
    }
    source.extend(racy_ones.map(racy));
    std::fs::create_dir_all(root.join("src"))?;
    for (name, text) in [("Cargo.toml", manifest), ("src/lib.rs", source)] {
        std::fs::write(root.join(name), text)?;
    }
    Ok(())
}
