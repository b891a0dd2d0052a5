//! Types as debug information writes them: what rules ask of a function's first generic argument.

/// The first generic argument in a function's name (`clone<a::B<u8>, c::D>`); empty if there is
/// none.
#[must_use]
pub fn first_type(name: &str) -> &str {
    let Some((_, arguments)) = name.split_once('<') else { return "" };
    parts(arguments).next().unwrap_or_default()
}

/// The types of a list, up to the bracket that closes it.
fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let list = rest?;
        let (mut depth, mut previous) = (0_u32, ' ');
        for (at, c) in list.char_indices() {
            match c {
                '>' if previous == '-' => {}
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' if depth > 0 => depth -= 1,
                ',' if depth == 0 => {
                    rest = Some(list[at + 1..].trim_start());
                    return Some(&list[..at]);
                }
                '>' | ')' | ']' => {
                    rest = None;
                    return Some(&list[..at]);
                }
                _ => {}
            }
            previous = c;
        }
        rest = None;
        Some(list)
    })
}

/// What stands in a rule for any type that has nothing to drop.
const PLAIN: &str = "<plain>";

/// Whether a type is the one that a rule names.
pub fn is(of: &str, named: &str) -> bool {
    match named.strip_suffix(PLAIN) {
        Some(outer) => of
            .strip_prefix(outer)
            .and_then(|of| of.strip_prefix('<')?.strip_suffix('>'))
            .is_some_and(is_plain),
        None => of == named,
    }
}

/// Whether a type surely has nothing to drop.
fn is_plain(of: &str) -> bool {
    const NUMBERS: &[&str] = &[
        "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
        "i128", "isize", "f32", "f64",
    ];
    const GENERIC: &[&str] = &["core::option::Option<", "core::result::Result<"];
    let all = |list: &str| parts(list).all(|part| part.is_empty() || is_plain(part));
    if of.starts_with(['&', '*']) || NUMBERS.contains(&of) {
        return true;
    }
    if let Some(list) = of.strip_prefix('(') {
        return list.ends_with(')') && all(list);
    }
    GENERIC.iter().any(|generic| of.strip_prefix(generic).is_some_and(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_type_is_whole() {
        for (name, of) in [
            ("clone<a::Packet<()>, alloc::alloc::Global>", "a::Packet<()>"),
            ("f<(u8, [A<u8, u8>; 2])>", "(u8, [A<u8, u8>; 2])"),
            ("f<fn(u8) -> u8, u8>", "fn(u8) -> u8"),
            ("f", ""),
            ("f<", ""),
            ("f<)>", ""),
        ] {
            assert_eq!(first_type(name), of, "{name}");
        }
    }

    #[test]
    fn what_may_have_to_be_dropped_is_not_plain() {
        for (of, plain) in [
            ("()", true),
            ("usize", true),
            ("&alloc::string::String", true),
            ("&mut [a::B]", true),
            ("(u8, core::option::Option<(i32, bool)>)", true),
            ("core::result::Result<(), u8>", true),
            ("(u8, a::B)", false),
            ("core::option::Option<a::B>", false),
            ("core::result::Result<(), a::B<u8>>", false),
            ("alloc::string::String", false),
            ("usize2", false),
            ("", false),
        ] {
            assert_eq!(is(&format!("P<{of}>"), "P<plain>"), plain, "{of}");
        }
        assert!(is("P<a::B>", "P<a::B>") && !is("P<a::B>", "P"));
        assert!(!is("Q<u8>", "P<plain>") && !is("u8", "P<plain>"));
    }
}
