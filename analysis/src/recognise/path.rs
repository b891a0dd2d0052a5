//! Function names: demangled for people, and reduced to plain paths for matching.
//!
//! std's own code has v0 symbols, code instantiated in the user's crates mostly legacy ones;
//! inherent methods then read `<std::…::Mutex>::lock` or `std::…::Mutex::lock`, trait methods
//! `<Arc<T> as Drop>::drop`. The plain path of all of them is type path and method:
//! `alloc::sync::Arc::drop`. Generic arguments, hashes and the numbers of closures are dropped.

/// A symbol demangled, without its hash, and without the number that merging gives to one of two
/// equal names.
#[must_use]
pub fn demangle(symbol: &str) -> String {
    let symbol = match symbol.rsplit_once('.') {
        Some((name, number)) if number.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => symbol,
    };
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// The plain path of a demangled name.
#[must_use]
pub fn path_of(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    append_path(name, &mut path);
    path
}

/// Whether a plain path is of std, or of what it is made of; so is the harness.
#[must_use]
pub fn is_of_std(path: &str) -> bool {
    ["std::", "core::", "alloc::", "test::"].iter().any(|of| path.starts_with(of))
}

fn append_path(name: &str, out: &mut String) {
    let mut rest = name.trim_start_matches(['&', '*']);
    for prefix in ["mut ", "const ", "dyn ", "impl "] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    if let Some(inner) = rest.strip_prefix('<') {
        let end = matching(inner);
        append_path(self_type(&inner[..end]), out);
        rest = inner.get(end + 1..).unwrap_or("");
    }
    while let Some(c) = rest.chars().next() {
        match c {
            '<' => {
                let end = matching(&rest[1..]);
                let inner = &rest[1..1 + end];
                if let Some(of) = inner.strip_prefix("impl ") {
                    // `core::sync::atomic::<impl AtomicU32>::load`: the type says it all.
                    out.clear();
                    append_path(self_type(of), out);
                } else if out.ends_with("::") {
                    out.truncate(out.len() - 2);
                }
                rest = rest.get(end + 2..).unwrap_or("");
            }
            '{' => {
                let end = rest.find('}').unwrap_or(rest.len());
                let label = rest[..end].trim_start_matches('{');
                let label = label.split(['#', ':']).next().unwrap_or(label);
                out.push('{');
                out.push_str(label);
                out.push('}');
                rest = rest[end..].trim_start_matches('}');
            }
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
}

/// Of `Type as Trait`, the type.
fn self_type(inner: &str) -> &str {
    let mut depth = 0_u32;
    let mut previous = ' ';
    for (at, c) in inner.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if previous != '-' => depth = depth.saturating_sub(1),
            ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && inner[at..].starts_with(" as ") => return &inner[..at],
            _ => {}
        }
        previous = c;
    }
    inner
}

/// Position of the `>` that closes a `<` just before `text`; its end when there is none.
fn matching(text: &str) -> usize {
    let mut depth = 0;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if previous == '-' => {}
            '>' if depth == 0 => return at,
            '>' => depth -= 1,
            _ => {}
        }
        previous = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_manglings_reduce_to_one_path() {
        for (name, path) in [
            (
                "<std::sys::sync::mutex::futex::Mutex>::lock",
                "std::sys::sync::mutex::futex::Mutex::lock",
            ),
            (
                "std::sys::sync::mutex::futex::Mutex::lock",
                "std::sys::sync::mutex::futex::Mutex::lock",
            ),
            ("<alloc::sync::Arc<T,A> as core::ops::drop::Drop>::drop", "alloc::sync::Arc::drop"),
            ("alloc::sync::Arc<T,A>::downgrade", "alloc::sync::Arc::downgrade"),
            (
                "<alloc::sync::Arc<fn(u8) -> <T as X>::Y> as core::clone::Clone>::clone",
                "alloc::sync::Arc::clone",
            ),
            ("core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
            (
                "core::sync::atomic::<impl core::sync::atomic::AtomicU32>::load",
                "core::sync::atomic::AtomicU32::load",
            ),
            ("a::b::{{closure}}", "a::b::{closure}"),
            ("a::b::{closure#3}::{closure#0}", "a::b::{closure}::{closure}"),
            ("<&mut T as a::Tr>::f", "T::f"),
            ("main", "main"),
        ] {
            assert_eq!(path_of(name), path, "{name}");
        }
    }

    #[test]
    fn numbers_of_merged_modules_are_no_part_of_a_name() {
        for symbol in ["_ZN1a1b17h0123456789abcdefE", "_ZN1a1b17h0123456789abcdefE.2654"] {
            assert_eq!(demangle(symbol), "a::b");
        }
    }

    #[test]
    fn damaged_names_do_not_panic() {
        for name in ["", "<", "a<", "<>", "{", "a{", "}", "<a as", "é<é", "->", "<impl "] {
            let _ = path_of(name);
        }
    }
}
