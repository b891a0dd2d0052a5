//! What types of the package are made of, as far as threads are concerned.

use super::Position;
use quote::ToTokens;
use syn::{GenericArgument, PathArguments};

/// What a field holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Holds {
    /// An atomic variable.
    Atomic,
    /// A lock, with the data inside.
    Lock,
    /// Something else that synchronises: a condition variable, a channel's end, a once.
    Synchronisation,
    /// What can be written through a shared reference: an `UnsafeCell`, or what is made of one.
    Cell,
    /// A raw pointer.
    Pointer,
    /// Nothing.
    Phantom,
    /// Anything else.
    Plain,
}

/// A name in a type, and the type whose argument it is, with the number of that.
pub type Use = (String, Option<(String, usize)>);

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name, or number.
    pub name: String,
    /// Its type, as it is written.
    pub text: String,
    /// What it holds.
    pub holds: Holds,
    /// The names of all types in it.
    pub mentions: Vec<String>,
    /// The names in it that have no arguments: parameters are among them.
    pub uses: Vec<Use>,
    /// It is visible outside of the crate.
    pub public: bool,
}

/// A type.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Its path in the crate.
    pub path: String,
    /// Where.
    pub at: Position,
    /// Its type parameters.
    pub parameters: Vec<String>,
    /// Its fields; of an enumeration, those of all variants.
    pub fields: Vec<Field>,
    /// It borrows: it has a lifetime, as a guard has.
    pub borrows: bool,
}

/// A static variable.
#[derive(Clone, Debug)]
pub struct Static {
    /// Its name.
    pub name: String,
    /// Its path in the crate.
    pub path: String,
    /// Its type, as it is written.
    pub text: String,
    /// What it holds.
    pub holds: Holds,
    /// The names of all types in it.
    pub mentions: Vec<String>,
    /// `static mut`.
    pub mutable: bool,
    /// It is visible outside of the crate.
    pub public: bool,
    /// Where.
    pub at: Position,
}

/// Around what matters.
const WRAPPERS: &[&str] = &[
    "CachePadded",
    "CacheLine",
    "Arc",
    "Box",
    "Option",
    "ManuallyDrop",
    "MaybeUninit",
    "Vec",
    "Pin",
    "NonNull",
];
const LOCKS: &[&str] = &[
    "Mutex",
    "RwLock",
    "FairMutex",
    "ReentrantMutex",
    "ReentrantLock",
    "SpinMutex",
    "SpinRwLock",
    "ShardedLock",
];
const OTHERS: &[&str] = &[
    "Condvar",
    "Once",
    "OnceLock",
    "OnceCell",
    "LazyLock",
    "Lazy",
    "Barrier",
    "Sender",
    "SyncSender",
    "Receiver",
    "Thread",
    "JoinHandle",
    "WaitGroup",
    "Parker",
    "Unparker",
];
const CELLS: &[&str] = &["UnsafeCell", "Cell", "RefCell", "SyncUnsafeCell"];

/// What a type holds.
pub fn holds(of: &syn::Type) -> Holds {
    match of {
        syn::Type::Ptr(_) => Holds::Pointer,
        syn::Type::Paren(inner) => holds(&inner.elem),
        syn::Type::Group(inner) => holds(&inner.elem),
        syn::Type::Array(inner) => holds(&inner.elem),
        syn::Type::Slice(inner) => holds(&inner.elem),
        syn::Type::Reference(inner) => holds(&inner.elem),
        syn::Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return Holds::Plain };
            let name = last.ident.to_string();
            let is = |list: &[&str]| list.contains(&name.as_str());
            if name.starts_with("Atomic") {
                return Holds::Atomic;
            }
            if is(LOCKS) {
                return Holds::Lock;
            }
            if is(OTHERS) {
                return Holds::Synchronisation;
            }
            if is(CELLS) {
                return Holds::Cell;
            }
            if name == "PhantomData" {
                return Holds::Phantom;
            }
            match (&last.arguments, is(WRAPPERS)) {
                (PathArguments::AngleBracketed(arguments), true) => {
                    let inner = arguments.args.iter().find_map(|argument| match argument {
                        GenericArgument::Type(inner) => Some(holds(inner)),
                        _ => None,
                    });
                    match inner {
                        Some(Holds::Plain) | None if name == "NonNull" => Holds::Pointer,
                        inner => inner.unwrap_or(Holds::Plain),
                    }
                }
                _ => Holds::Plain,
            }
        }
        _ => Holds::Plain,
    }
}

/// The names of all types in a type.
pub fn mentions(of: &impl ToTokens) -> Vec<String> {
    fn collect(tokens: proc_macro2::TokenStream, found: &mut Vec<String>) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Ident(name) => found.push(name.to_string()),
                proc_macro2::TokenTree::Group(group) => collect(group.stream(), found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    collect(of.to_token_stream(), &mut found);
    found
}

/// Code as people write it.
pub fn text(of: &impl ToTokens) -> String {
    let mut text = String::new();
    let tokens = of.to_token_stream().to_string();
    let mut previous = ' ';
    let mut characters = tokens.chars().peekable();
    while let Some(c) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let tight = c == ' '
            && (matches!(next, '<' | '>' | ',' | ':' | ')' | ']' | ';' | '(')
                || matches!(previous, '<' | '(' | '[' | '&' | '*' | '\'' | '?' | '!')
                || previous == ':' && text.ends_with("::"));
        if !tight {
            text.push(c);
        }
        previous = c;
    }
    text.trim().to_owned()
}

/// The parameters of an item that are types.
pub fn parameters(generics: &syn::Generics) -> Vec<String> {
    generics.type_params().map(|parameter| parameter.ident.to_string()).collect()
}

/// See [`Field::uses`].
fn uses(of: &syn::Type, inside: Option<(String, usize)>, found: &mut Vec<Use>) {
    match of {
        syn::Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return };
            let name = last.ident.to_string();
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                // `T::Item` is made of `T`.
                let first = path.path.segments.first().map(|first| first.ident.to_string());
                return found.push((first.unwrap_or(name), inside));
            };
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(inner) => Some(inner),
                _ => None,
            });
            for (number, inner) in types.enumerate() {
                uses(inner, Some((name.clone(), number)), found);
            }
        }
        syn::Type::Ptr(inner) => uses(&inner.elem, inside, found),
        syn::Type::Reference(inner) => uses(&inner.elem, inside, found),
        syn::Type::Paren(inner) => uses(&inner.elem, inside, found),
        syn::Type::Group(inner) => uses(&inner.elem, inside, found),
        syn::Type::Array(inner) => uses(&inner.elem, inside, found),
        syn::Type::Slice(inner) => uses(&inner.elem, inside, found),
        syn::Type::Tuple(inner) => {
            inner.elems.iter().for_each(|inner_type| uses(inner_type, inside.clone(), found));
        }
        // What a function takes or gives, it does not hold.
        syn::Type::BareFn(_) => {}
        other => found.extend(mentions(other).into_iter().map(|name| (name, inside.clone()))),
    }
}

/// A field with a type.
pub fn field(name: String, of: &syn::Type, visibility: &syn::Visibility) -> Field {
    let mut used = Vec::new();
    uses(of, None, &mut used);
    let public = matches!(visibility, syn::Visibility::Public(_));
    Field { name, holds: holds(of), mentions: mentions(of), uses: used, public, text: text(of) }
}

/// The fields of a structure or variant.
pub fn fields<'a>(of: impl IntoIterator<Item = &'a syn::Field>) -> Vec<Field> {
    let field = |(number, it): (usize, &syn::Field)| {
        let name = it.ident.as_ref().map_or_else(|| number.to_string(), ToString::to_string);
        field(name, &it.ty, &it.vis)
    };
    of.into_iter().enumerate().map(field).collect()
}
