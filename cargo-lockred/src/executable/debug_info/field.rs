//! From a type and an offset to a name as a Rust programmer would write it: `Pool.free`,
//! `Pool.slots[_]`, `COUNTER`.
//!
//! Names begin with the static, or else with the type that has the field, or, where no type of the
//! program's own is passed, with the variable. Types of libraries that wrap others are not
//! reported: what is in a `Mutex<Pool>` is in `Pool`, and what is in a `Mutex<u64>` in the field
//! `total` of `Account` is `*Account.total`, while the lock itself is `Account.total`. What is
//! inside of other types of libraries (the length of a `Vec`) is reported as the field that has
//! them. Variants of an enum are not told apart, as its memory would have to be read.

use super::types::{Field, Shape, Type};

/// Crates whose types are named by what is in them, or by the field that has them.
const LIBRARIES: &[&str] = &[
    "core",
    "alloc",
    "std",
    "hashbrown",
    "parking_lot",
    "parking_lot_core",
    "lock_api",
    "spin",
    "once_cell",
    "crossbeam_utils",
    "crossbeam_channel",
    "crossbeam_epoch",
];

/// Types of libraries whose field `data` is what they protect.
const LOCKS: &[&str] = &["Mutex", "RwLock", "ReentrantLock", "ReentrantMutex", "SpinMutex"];

/// The way from the outermost type inwards.
struct Way {
    /// The type, or variable, that the name begins with.
    owner: Option<String>,
    /// The owner is a variable, which the first type of the program's own replaces.
    variable: bool,
    /// What comes after the owner.
    path: String,
    /// Went into what a lock protects, and no type of the program's own has come since.
    inside: bool,
    /// Went into what a lock protects.
    guarded: bool,
    /// The type of the lock that was passed last.
    lock: Option<String>,
    /// See [`Name::names`], with whether each goes into what a lock protects.
    names: Vec<(String, bool, u64)>,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub enum Root<'a> {
    /// In a static of this name.
    Static(&'a str),
    /// In a local variable of this name.
    Variable(&'a str),
    /// In a block of the heap.
    Block,
}

/// What memory is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// In words.
    pub text: String,
    /// It is a local variable, or in one, and in no type of the program's own.
    pub is_local: bool,
    /// What it is in each of the program's own types that it is in, from the outermost on:
    /// `krate::Type.field`. Of a static `static NAME`, and what is in that. What a lock protects is
    /// no part of the type that has the lock.
    pub names: Vec<String>,
    /// Of each of these, the bytes before it in that type, or static.
    pub offsets: Vec<u64>,
    /// A lock's own type lets nobody to it without the lock, but who has the lock to himself.
    pub is_guarded: bool,
}

/// The name of `size` bytes at an offset into a value of a type. A lock that is in nothing with a
/// name is given by its type. `None` if nothing in it has a name, or the bytes are in none of its
/// fields.
pub fn name(root: Root<'_>, of: &Type, offset: u64, size: u64) -> Option<Name> {
    if offset + size > of.size {
        return None;
    }
    let (owner, variable) = match root {
        Root::Static(name) => (Some(name.to_owned()), false),
        Root::Variable(name) => (Some(name.to_owned()), true),
        Root::Block => (None, false),
    };
    let names = match root {
        Root::Static(name) => vec![(format!("static {name}"), false, offset)],
        Root::Variable(_) | Root::Block => Vec::new(),
    };
    let mut way = Way {
        variable,
        owner,
        path: String::new(),
        inside: false,
        guarded: false,
        lock: None,
        names,
    };
    way.goes_into(of, offset, size);
    let Way { owner, path, inside, guarded, lock, variable, names } = way;
    let names = names.into_iter().filter(|(_, inside, _)| !inside);
    let (names, offsets) = names.map(|(name, _, offset)| (name, offset)).unzip();
    let star = if inside { "*" } else { "" };
    let text = match owner {
        Some(owner) => format!("{star}{owner}{path}"),
        None => lock.filter(|_| !inside)?,
    };
    Some(Name { text, is_local: variable, names, offsets, is_guarded: guarded })
}

impl Way {
    fn goes_into(&mut self, of: &Type, offset: u64, size: u64) {
        let is_library = LIBRARIES.contains(&of.krate.as_str());
        let is_own = !is_library && !of.krate.is_empty() && !of.name.starts_with('{');
        if is_own && (self.owner.is_none() || self.variable || self.inside) {
            let owner = Some(plain_name(&of.name).to_owned());
            (self.owner, self.variable, self.inside) = (owner, false, false);
            self.path.clear();
        }
        if is_own {
            self.names.push((format!("{}::{}", of.krate, plain_name(&of.name)), false, offset));
        }
        let field = match &of.shape {
            Shape::Plain => return,
            Shape::Array(element)
                if element.size > 0 && offset % element.size + size <= element.size =>
            {
                if !self.inside {
                    self.path.push_str("[_]");
                }
                self.extend("[_]");
                return self.goes_into(element, offset % element.size, size);
            }
            Shape::Array(_) => return,
            Shape::Fields(fields) => only_field(fields, offset, size),
            // Which variant of the program's own enum it is changes what the field is called.
            Shape::Variants(_) if is_own => None,
            Shape::Variants(only) => only.as_ref().filter(|field| has(field, offset, size)),
        };
        let Some(field) = field else { return };
        if is_library {
            if LOCKS.contains(&plain_name(&of.name)) && of.name.contains('<') {
                self.lock = Some(short(&of.name));
                self.inside |= field.name == "data";
                self.guarded |= field.name == "data";
                if field.name == "data" {
                    self.names.iter_mut().for_each(|(_, inside, _)| *inside = true);
                }
            }
            return self.goes_into(&field.of, offset - field.at, size);
        }
        let name = field.name.strip_prefix("__").unwrap_or(&field.name);
        if is_own || !of.krate.is_empty() || field.name.starts_with("__") {
            self.extend(&format!(".{name}"));
        }
        if self.owner.is_some() && !self.inside {
            self.path.push('.');
            self.path.push_str(name);
        }
        self.goes_into(&field.of, offset - field.at, size);
    }

    /// The names go on, but for those of what a lock protects.
    fn extend(&mut self, by: &str) {
        for (name, inside, _) in &mut self.names {
            if !*inside {
                name.push_str(by);
            }
        }
    }
}

fn has(field: &Field, offset: u64, size: u64) -> bool {
    field.at <= offset && offset + size <= field.at + field.of.size
}

/// The field that some bytes are in; `None` also if they are in several, as in a union.
fn only_field(fields: &[Field], offset: u64, size: u64) -> Option<&Field> {
    let mut found = fields.iter().filter(|field| has(field, offset, size));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// A type's name with those of its arguments, without the paths of these and without the allocator.
pub fn short(name: &str) -> String {
    let mut short = String::new();
    for part in
        name.replace(", alloc::alloc::Global", "").split_inclusive(['<', '(', '[', ' ', '&', '*'])
    {
        short.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    short
}

/// A type's name without generic arguments.
fn plain_name(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    fn plain(size: u64) -> Type {
        Type { name: "u32".into(), krate: String::new(), size, shape: Shape::Plain }
    }

    fn structure(path: &str, fields: &[(&str, u64, Type)]) -> Type {
        let (krate, name) = path.split_once("::").unwrap_or(("", path));
        let field = |(name, at, of): &(&str, u64, Type)| Field {
            name: (*name).into(),
            at: *at,
            of: Rc::new(of.clone()),
        };
        Type {
            name: name.into(),
            krate: krate.into(),
            size: fields.iter().map(|(_, at, of)| at + of.size).max().unwrap_or(0),
            shape: Shape::Fields(fields.iter().map(field).collect()),
        }
    }

    fn mutex(of: Type) -> Type {
        let cell = structure("core::UnsafeCell<T>", &[("value", 0, of)]);
        let word = structure("std::Mutex", &[("futex", 0, plain(4))]);
        structure(
            "std::Mutex<T>",
            &[("inner", 0, word), ("poison", 4, plain(1)), ("data", 8, cell)],
        )
    }

    fn array(of: Type, count: u64) -> Type {
        let size = of.size * count;
        Type { name: "[T]".into(), krate: String::new(), size, shape: Shape::Array(Rc::new(of)) }
    }

    fn reported(of: &Type, offset: u64, size: u64) -> Option<String> {
        name(Root::Block, of, offset, size).map(|name| name.text)
    }

    fn text(root: Root<'_>, of: &Type, offset: u64, size: u64) -> Option<String> {
        name(root, of, offset, size).map(|name| name.text)
    }

    #[test]
    fn fields_are_reported_by_the_type_that_has_them() {
        let place = structure("bank::Place<T>", &[("x", 0, plain(4)), ("y", 4, plain(4))]);
        let pool = structure("bank::Pool", &[("free", 0, plain(8)), ("at", 8, place)]);
        assert_eq!(reported(&pool, 0, 8).as_deref(), Some("Pool.free"));
        assert_eq!(reported(&pool, 2, 1).as_deref(), Some("Pool.free"));
        assert_eq!(reported(&pool, 12, 4).as_deref(), Some("Pool.at.y"));
        assert_eq!(reported(&pool, 8, 8).as_deref(), Some("Pool.at"), "the whole of it");
        assert_eq!(reported(&pool, 4, 8).as_deref(), Some("Pool"), "parts of two");
        assert_eq!(reported(&pool, 12, 8), None, "beyond it");
    }

    #[test]
    fn types_are_reported_without_paths() {
        assert_eq!(short("Mutex<bank::a::Account>"), "Mutex<Account>");
        assert_eq!(short("Vec<(a::B, &c::D), alloc::alloc::Global>"), "Vec<(B, &D)>");
    }

    #[test]
    fn statics_are_named() {
        let pool = structure("p::Pool", &[("free", 0, plain(8))]);
        assert_eq!(text(Root::Static("POOL"), &pool, 0, 8).as_deref(), Some("POOL.free"));
        assert_eq!(text(Root::Static("POOL"), &mutex(pool), 8, 8).as_deref(), Some("Pool.free"));
    }

    #[test]
    fn wrappers_are_not_reported() {
        let queue = structure("q::Queue", &[("len", 0, plain(8))]);
        let shared = structure("q::Shared", &[("cap", 0, plain(8)), ("lock", 8, mutex(queue))]);
        let counted = structure(
            "alloc::ArcInner<T>",
            &[("strong", 0, plain(8)), ("weak", 8, plain(8)), ("data", 16, shared)],
        );
        assert_eq!(reported(&counted, 24, 4).as_deref(), Some("Shared.lock"));
        assert_eq!(reported(&counted, 28, 1).as_deref(), Some("Shared.lock"), "the flag of it");
        assert_eq!(reported(&counted, 32, 8).as_deref(), Some("Queue.len"));
        assert_eq!(reported(&counted, 16, 8).as_deref(), Some("Shared.cap"));
        assert_eq!(reported(&counted, 0, 8), None, "a count is nobody's field");
    }

    #[test]
    fn what_a_lock_protects_is_reported_by_the_lock_where_it_has_no_type() {
        let account = structure("bank::Account", &[("total", 0, mutex(plain(8)))]);
        assert_eq!(reported(&account, 0, 4).as_deref(), Some("Account.total"));
        assert_eq!(reported(&account, 8, 8).as_deref(), Some("*Account.total"));
        let rows = structure("bank::Rows", &[("rows", 0, mutex(array(plain(4), 2)))]);
        assert_eq!(reported(&rows, 12, 4).as_deref(), Some("*Rows.rows"));
        assert_eq!(reported(&mutex(plain(4)), 8, 4), None);
        assert_eq!(
            reported(&mutex(plain(4)), 0, 4).as_deref(),
            Some("Mutex<T>"),
            "the lock itself"
        );
        assert_eq!(text(Root::Variable("m"), &mutex(plain(4)), 0, 4).as_deref(), Some("m"));
        assert_eq!(text(Root::Variable("m"), &mutex(plain(4)), 8, 4).as_deref(), Some("*m"));
    }

    #[test]
    fn memory_is_known_by_each_type_that_has_it() {
        let pool = structure(
            "p::Pool<T>",
            &[("free", 0, array(plain(4), 2)), ("lock", 8, mutex(plain(8)))],
        );
        let shared = structure("q::Shared", &[("cap", 0, plain(8)), ("pool", 8, pool)]);
        let names = |root, of: &Type, offset| name(root, of, offset, 4).unwrap().names;
        assert_eq!(names(Root::Block, &shared, 12), ["q::Shared.pool.free[_]", "p::Pool.free[_]"]);
        let offsets = name(Root::Block, &shared, 12, 4).unwrap().offsets;
        assert_eq!(offsets, [12, 4]);
        assert_eq!(names(Root::Block, &shared, 16), ["q::Shared.pool.lock", "p::Pool.lock"]);
        assert_eq!(names(Root::Block, &shared, 24), [""; 0], "what the lock protects");
        assert_eq!(names(Root::Static("S"), &shared, 0), ["static S.cap", "q::Shared.cap"]);
        let queue = mutex(structure("q::Queue", &[("len", 0, plain(8))]));
        assert_eq!(names(Root::Static("Q"), &queue, 8), ["q::Queue.len"]);
        assert_eq!(names(Root::Static("L"), &mutex(plain(4)), 0), ["static L"]);
    }

    #[test]
    fn what_only_a_lock_leads_to_is_known_as_guarded() {
        let queue = structure("q::Queue", &[("len", 0, plain(8))]);
        let shared = structure("q::Shared", &[("cap", 0, plain(8)), ("lock", 8, mutex(queue))]);
        let guarded = |offset| name(Root::Block, &shared, offset, 4).unwrap().is_guarded;
        assert_eq!([guarded(0), guarded(8), guarded(16)], [false, false, true]);
        let local = |of: &Type| name(Root::Variable("x"), of, 0, 4).unwrap().is_local;
        assert_eq!([local(&shared), local(&mutex(plain(4)))], [false, true]);
    }

    #[test]
    fn elements_are_reported_without_their_number() {
        let slot = structure("p::Slot", &[("used", 0, plain(1)), ("value", 4, plain(4))]);
        let pool = structure("p::Pool", &[("slots", 0, array(slot.clone(), 3))]);
        assert_eq!(reported(&pool, 20, 4).as_deref(), Some("Pool.slots[_].value"));
        assert_eq!(reported(&pool, 4, 8).as_deref(), Some("Pool.slots"), "parts of two");
        assert_eq!(reported(&array(slot, 3), 8, 1).as_deref(), Some("Slot.used"));
        assert_eq!(
            text(Root::Static("COUNTS"), &array(plain(4), 2), 4, 4).as_deref(),
            Some("COUNTS[_]")
        );
    }

    #[test]
    fn tuples_closures_and_variables() {
        let account = structure("bank::Account", &[("owner", 0, plain(8))]);
        let pair = structure("(A, A)", &[("__0", 0, account.clone()), ("__1", 8, account)]);
        assert_eq!(reported(&pair, 8, 8).as_deref(), Some("Account.owner"));
        let holder = structure("bank::Holder", &[("pair", 0, pair)]);
        assert_eq!(reported(&holder, 8, 8).as_deref(), Some("Holder.pair.1.owner"));
        let closure = structure("bank::{closure_env#0}", &[("x", 0, plain(4))]);
        assert_eq!(reported(&closure, 0, 4), None);
        assert_eq!(text(Root::Static("LIMIT"), &plain(4), 0, 4).as_deref(), Some("LIMIT"));
        assert_eq!(
            text(Root::Variable("holder"), &holder, 0, 8).as_deref(),
            Some("Holder.pair.0.owner")
        );
    }

    #[test]
    fn variants_are_reported_only_where_there_is_one_that_has_something() {
        let only = |krate: &str, of: Type| Type {
            name: "Option<T>".into(),
            krate: krate.into(),
            size: 8 + of.size,
            shape: Shape::Variants(Some(Field { name: "Some".into(), at: 8, of: Rc::new(of) })),
        };
        let job = structure("w::Job", &[("done", 0, plain(4))]);
        let inner = structure("core::Some", &[("__0", 0, job.clone())]);
        let worker = structure("w::Worker", &[("job", 0, only("core", inner))]);
        assert_eq!(reported(&worker, 8, 4).as_deref(), Some("Worker.job.done"));
        assert_eq!(reported(&worker, 0, 8).as_deref(), Some("Worker.job"));
        let state = structure("w::Worker", &[("state", 0, only("w", job))]);
        assert_eq!(
            reported(&state, 8, 4).as_deref(),
            Some("Worker.state"),
            "it may be another one"
        );
    }
}
