//! Random types made of enums, tuples and what threads may share, with values of them, and code
//! that looks at or changes such values.

use std::fmt::Write as _;

/// A sequence of numbers that look random (splitmix64).
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    /// One of these.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Types that can be copied, and two values of each.
const PLAIN: &[(&str, [&str; 2])] = &[
    ("u8", ["1", "2"]),
    ("u16", ["1", "2"]),
    ("u32", ["1", "2"]),
    ("u64", ["1", "2"]),
    ("u128", ["1", "2"]),
    ("bool", ["false", "true"]),
    ("char", ["'a'", "'b'"]),
    ("NonZeroU32", ["NonZeroU32::MIN", "NonZeroU32::MAX"]),
    ("&'static u32", ["&1", "&2"]),
    ("Ordering", ["Ordering::Less", "Ordering::Greater"]),
    ("[u8; 3]", ["[1; 3]", "[2; 3]"]),
];

/// Types of which one value can be used by several threads: value, and what a thread does to one.
const SHARED: &[(&str, &str, &str)] = &[
    ("Word", "Word::new(0)", "add"),
    ("Byte", "Byte::new(0)", "add"),
    ("AtomicU32", "AtomicU32::new(0)", "fetch_add"),
    ("AtomicBool", "AtomicBool::new(false)", "fetch_or"),
];

/// A type.
#[derive(Clone, Debug)]
pub enum Shape {
    /// One of [`PLAIN`].
    Plain(usize),
    /// One of [`SHARED`].
    Shared(usize),
    /// `Sealed` of a type that can be copied: changed under a lock that is elsewhere.
    Sealed(Box<Shape>),
    /// `Mutex` of such a type.
    Locked(Box<Shape>),
    /// A type made of others.
    Made(&'static Maker, Vec<Shape>),
}

/// How a type is made of others.
#[derive(Debug)]
pub struct Maker {
    /// Its name and, with `A` and `B`, its parameters.
    name: &'static str,
    /// Its values, with `a` and `b` for values of the parameters. The first has all of them that
    /// one value can have.
    values: &'static [&'static str],
    /// Ways to look at a value `P` by reference, with `[x]` and `[y]` for what is done to parts of
    /// the first and second type, which `x` and `y` are then.
    looks: &'static [&'static str],
    /// The same for `P` that may be changed: of the first of `values`, all parts are gone through.
    change: &'static str,
}

/// How types are made.
const MAKERS: &[Maker] = &[
    Maker {
        name: "Option<A>",
        values: &["Some(a)", "None"],
        looks: &[
            "if let Some(x) = P { [x] }",
            "match P { Some(x) => { [x] } None => {} }",
            "black_box(P.is_some());",
            "black_box(matches!(P, Some(_)));",
            "if let Some(_) = P { black_box(1); }",
            "if let Some(x) = P.as_ref() { [x] }",
            "black_box(discriminant(P));",
            "'out: { let Some(x) = P else { break 'out }; [x] }",
            "P.iter().for_each(|x| { [x] });",
            "let _ = *P;",
            "if let Some(ref x) = *P { [x] }",
            "let _ = P.as_ref().map(|x| { [x] });",
            "let Q = P; match (Q, P) { (Some(x), Some(_)) => { [x] } _ => {} }",
        ],
        change: "if let Some(x) = P { [x] }",
    },
    Maker {
        name: "Result<A, B>",
        values: &["Ok(a)", "Err(b)"],
        looks: &[
            "match P { Ok(x) => { [x] } Err(y) => { [y] } }",
            "if let Ok(x) = P { [x] }",
            "if let Err(y) = P.as_ref() { [y] }",
            "black_box(P.is_ok());",
            "black_box(discriminant(P));",
            "if let Some(x) = P.as_ref().ok() { [x] }",
        ],
        change: "match P { Ok(x) => { [x] } Err(y) => { [y] } }",
    },
    Maker {
        name: "(A, B)",
        values: &["(a, b)"],
        looks: &[
            "let (x, y) = P; [x] [y]",
            "let (x, _) = P; [x]",
            "let (_, ref y) = *P; [y]",
            "let y = &P.1; [y] let x = &P.0; [x]",
        ],
        change: "let (x, y) = P; [x] [y]",
    },
    Maker {
        name: "Either<A, B>",
        values: &["Either::Left(a)", "Either::Right(b)"],
        looks: &[
            "match P { Either::Left(x) => { [x] } Either::Right(y) => { [y] } }",
            "if let Either::Right(y) = P { [y] }",
            "black_box(matches!(P, Either::Left(_)));",
        ],
        change: "match P { Either::Left(x) => { [x] } Either::Right(y) => { [y] } }",
    },
    Maker {
        name: "Many<A>",
        values: &["Many::Once { it: a }", "Many::With(3, a)", "Many::No", "Many::Never"],
        looks: &[
            "match P { Many::No | Many::Never => {} Many::Once { it: x } | Many::With(_, x) => { [x] } }",
            "if let Many::With(n, _) = P { black_box(n); }",
            "if let Many::No = P { black_box(1); } else { black_box(2); }",
        ],
        change: "if let Many::Once { it: x } | Many::With(_, x) = P { [x] }",
    },
    Maker {
        name: "Small<A>",
        values: &["Small::On(a)", "Small::Off"],
        looks: &[
            "if let Small::On(x) = P { [x] }",
            "black_box(matches!(P, Small::Off));",
            "match *P { Small::On(ref x) => { [x] } Small::Off => {} }",
        ],
        change: "if let Small::On(x) = P { [x] }",
    },
    Maker {
        name: "AsInC<A>",
        values: &["AsInC::On(a)", "AsInC::Off"],
        looks: &["if let AsInC::On(x) = P { [x] }", "black_box(discriminant(P));"],
        change: "if let AsInC::On(x) = P { [x] }",
    },
    Maker {
        name: "Duo<A, B>",
        values: &["Duo { first: a, second: b }"],
        looks: &["let x = &P.first; [x]", "let Duo { second: y, .. } = P; [y]"],
        change: "let Duo { first: x, second: y } = P; [x] [y]",
    },
];

/// What these types are in the programs.
pub const PRELUDE: &str = "\
#[derive(Clone, Copy, PartialEq)]
enum Either<A, B> { Left(A), Right(B) }
#[derive(Clone, Copy, PartialEq)]
enum Many<A> { No, Never, Once { it: A }, With(u8, A) }
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum Small<A> { Off, On(A) }
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
enum AsInC<A> { Off, On(A) }
#[derive(Clone, Copy, PartialEq)]
struct Duo<A, B> { first: A, second: B }

/// What is changed under one lock for all, as large values of crossbeam's `AtomicCell` are.
struct Sealed<T>(UnsafeCell<T>);
static SEAL: Mutex<()> = Mutex::new(());
unsafe impl<T: Send> Sync for Sealed<T> {}
impl<T> Sealed<T> {
    const fn new(value: T) -> Self { Self(UnsafeCell::new(value)) }
    fn with(&self, does: impl FnOnce(&mut T)) {
        let _held = SEAL.lock().unwrap();
        does(unsafe { &mut *self.0.get() });
    }
}
/// Atomic integers that are no more than a scalar, as small values of crossbeam's `AtomicCell` are.
struct Word(UnsafeCell<u64>);
unsafe impl Sync for Word {}
impl Word {
    const fn new(value: u64) -> Self { Self(UnsafeCell::new(value)) }
    fn add(&self, by: u64, order: Atomic) { unsafe { AtomicU64::from_ptr(self.0.get()) }.fetch_add(by, order); }
}
struct Byte(UnsafeCell<u8>);
unsafe impl Sync for Byte {}
impl Byte {
    const fn new(value: u8) -> Self { Self(UnsafeCell::new(value)) }
    fn add(&self, by: u8, order: Atomic) { unsafe { AtomicU8::from_ptr(self.0.get()) }.fetch_add(by, order); }
}
";

impl Shape {
    /// A type of at most this depth, that can be copied if `plain`.
    pub fn random(dice: &mut Dice, depth: usize, plain: bool) -> Self {
        let made = depth > 0 && dice.below(8) > 0;
        if made {
            let maker = &MAKERS[dice.below(MAKERS.len())];
            // Payloads of one scalar are what is laid out in pairs.
            let mut part = || {
                let depth = if dice.below(2) == 0 { 0 } else { depth - 1 };
                Self::random(dice, depth, plain)
            };
            return Self::Made(maker, vec![part(), part()]);
        }
        if plain {
            return Self::Plain(dice.below(PLAIN.len()));
        }
        match dice.below(6) {
            0 => Self::Plain(dice.below(PLAIN.len())),
            1 | 2 => Self::Sealed(Box::new(Self::random(dice, depth.min(1), true))),
            3 => Self::Locked(Box::new(Self::random(dice, depth.min(1), true))),
            _ => Self::Shared(dice.below(SHARED.len())),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Plain(which) => PLAIN[*which].0.to_owned(),
            Self::Shared(which) => SHARED[*which].0.to_owned(),
            Self::Sealed(of) => format!("Sealed<{}>", of.name()),
            Self::Locked(of) => format!("Mutex<{}>", of.name()),
            Self::Made(maker, parts) => replaced(maker.name, &|letter| match letter {
                'A' => Some(parts[0].name()),
                'B' => Some(parts[1].name()),
                _ => None,
            }),
        }
    }

    /// A value, as an expression that constants may have: any, or one that has as many parts as
    /// values of the type can have.
    pub fn value(&self, dice: &mut Dice, full: bool) -> String {
        match self {
            Self::Plain(which) => dice.of(&PLAIN[*which].1).to_owned(),
            Self::Shared(which) => SHARED[*which].1.to_owned(),
            Self::Sealed(of) => format!("Sealed::new({})", of.value(dice, full)),
            Self::Locked(of) => format!("Mutex::new({})", of.value(dice, full)),
            Self::Made(maker, parts) => {
                let full = full || dice.below(3) > 0;
                let form = if full { maker.values[0] } else { dice.of(maker.values) };
                let [first, second] = [0, 1].map(|part| parts[part].value(dice, full));
                replaced(form, &|letter| match letter {
                    'a' => Some(first.clone()),
                    'b' => Some(second.clone()),
                    _ => None,
                })
            }
        }
    }

    /// What a thread does to a value that it has a shared reference to, with at most so many
    /// operations that others see.
    pub fn look(&self, dice: &mut Dice, place: &str, left: &mut usize) -> String {
        match self {
            Self::Plain(which) => match dice.below(4) {
                0 => format!("let _x = *{place};"),
                1 => format!("black_box(*{place} == {});", PLAIN[*which].1[0]),
                2 => format!("let _ = *{place};"),
                _ => format!("black_box(*{place});"),
            },
            _ if *left == 0 && !matches!(self, Self::Made(..)) => format!("let _ = &{place};"),
            Self::Shared(which) => {
                *left -= 1;
                let one = if SHARED[*which].0 == "AtomicBool" { "true" } else { "1" };
                let order = dice.of(&["Relaxed", "SeqCst"]);
                format!("{place}.{}({one}, Atomic::{order});", SHARED[*which].2)
            }
            Self::Sealed(of) => {
                *left -= 1;
                let inside = format!("inner_{}", place.len());
                format!("{place}.with(|{inside}| {{ {} }});", of.alter(dice, &inside))
            }
            Self::Locked(of) => {
                *left -= 1;
                let inside = format!("held_{}", place.len());
                let does = of.alter(dice, &inside);
                format!(
                    "{{ let mut guard = {place}.lock().unwrap(); let {inside} = &mut *guard; {does} }}"
                )
            }
            Self::Made(maker, parts) => {
                let form = dice.of(maker.looks);
                fill(form, place, &mut |part, name| parts[part].look(dice, name, left))
            }
        }
    }

    /// What is done to a value that nobody else can reach: all of it is written, or a part, or it
    /// is looked at.
    fn alter(&self, dice: &mut Dice, place: &str) -> String {
        match dice.below(3) {
            0 => format!("*{place} = {};", self.value(dice, false)),
            1 => self.change(dice, place),
            _ => format!("let {place} = &*{place}; {}", self.look(dice, place, &mut 0)),
        }
    }

    /// Writes one scalar of a value that can be copied, or several: those that are there, where the
    /// value is full.
    pub fn change(&self, dice: &mut Dice, place: &str) -> String {
        match self {
            Self::Made(maker, parts) => {
                let only = dice.below(2);
                // One of two parts, where a value has both.
                let both = maker.values[0].contains('b');
                fill(maker.change, place, &mut |part, name| {
                    if both && part != only {
                        return format!("let _ = {name};");
                    }
                    parts[part].change(dice, name)
                })
            }
            _ => format!("*{place} = {};", self.value(dice, false)),
        }
    }
}

/// A form with capital or small single letters replaced.
fn replaced(form: &str, with: &dyn Fn(char) -> Option<String>) -> String {
    let mut text = String::new();
    let letters: Vec<char> = form.chars().collect();
    let is_word = |at: Option<&char>| at.is_some_and(|c| c.is_alphanumeric());
    for (at, &letter) in letters.iter().enumerate() {
        let alone = !is_word(at.checked_sub(1).and_then(|at| letters.get(at)))
            && !is_word(letters.get(at + 1));
        match with(letter).filter(|_| alone) {
            Some(new) => text += &new,
            None => text.push(letter),
        }
    }
    text
}

/// A form of code, with the place it is about, and what is done to its parts.
fn fill(form: &str, place: &str, part: &mut dyn FnMut(usize, &str) -> String) -> String {
    let [x, y] = ["x", "y"].map(|letter| format!("{letter}{}", place.len()));
    // Names grow with the depth, so that none is that of a part around it.
    let [x, y] = [x, y].map(|name| format!("{name}{}", "_".repeat(place.len())));
    let mut text = String::new();
    let mut rest = form;
    while let Some((before, behind)) = rest.split_once('[') {
        let (which, behind) = behind.split_once(']').expect("brackets are closed");
        let (number, name) = if which == "x" { (0, &x) } else { (1, &y) };
        text += before;
        let _ = write!(text, "\u{1}{}\u{1}", part(number, name));
        rest = behind;
    }
    text += rest;
    // What is done to parts is complete: names are replaced outside of it.
    let outside = |(number, piece): (usize, &str)| match number % 2 {
        0 => replaced(piece, &|letter| match letter {
            'x' => Some(x.clone()),
            'y' => Some(y.clone()),
            'P' => Some(place.to_owned()),
            'Q' => Some(format!("same_{}", place.len())),
            _ => None,
        }),
        _ => piece.to_owned(),
    };
    text.split('\u{1}').enumerate().map(outside).collect()
}
