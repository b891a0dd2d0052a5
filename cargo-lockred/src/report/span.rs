//! Which part of a source line to underline, given only where it begins.

use crate::executable::source::line_text;

/// The byte range, within the text, of what begins at a line and character column (both from 1): a
/// name with its arguments, or the rest of the statement. Without a column it is the whole line.
pub fn range(text: &str, line: u32, column: u32) -> Option<std::ops::Range<usize>> {
    let wanted = line_text(text, line)?;
    let line_start = wanted.as_ptr() as usize - text.as_ptr() as usize;
    let trimmed = wanted.trim_end();
    let indent = trimmed.len() - trimmed.trim_start().len();
    let start = match (column as usize).checked_sub(1) {
        Some(characters) => trimmed.char_indices().nth(characters).map_or(indent, |(at, _)| at),
        None => indent,
    };
    let length = if column == 0 { trimmed.len() - start } else { length(&trimmed[start..]) };
    // An empty line has nothing to underline; annotate-snippets wants a range all the same.
    Some(line_start + start..line_start + start + length)
}

/// How far the thing that begins here goes.
fn length(rest: &str) -> usize {
    let name = path(rest);
    if name > 0 {
        return name + arguments(&rest[name..]);
    }
    let mut open = 0_usize;
    let end = rest.char_indices().find(|(at, c)| {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' if open == 0 => return true,
            ')' | ']' | '}' => open -= 1,
            ';' | ',' => return open == 0,
            '/' => return rest[*at..].starts_with("//"),
            _ => {}
        }
        false
    });
    let statement = &rest[..end.map_or(rest.len(), |(at, _)| at)];
    statement.trim_end().len().max(rest.len().min(1))
}

/// Length of a path (`a::b`), type arguments excluded.
fn path(rest: &str) -> usize {
    let mut length = 0;
    loop {
        let part = &rest[length..];
        let name = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
        length += name;
        if name == 0 || !rest[length..].starts_with("::") || rest[length..].starts_with("::<") {
            return length;
        }
        length += "::".len();
    }
}

/// Length of a call's arguments in parentheses, or of an index in brackets, with `!` or type
/// arguments before them, that end on this line.
fn arguments(rest: &str) -> usize {
    let mut open = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return at + 1;
                }
            }
            '!' | ':' | '<' | '>' => {}
            _ if open > 0 || rest.starts_with("::<") => {}
            _ => return 0,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn underlined(text: &str, line: u32, column: u32) -> &str {
        &text[range(text, line, column).unwrap()]
    }

    #[test]
    fn calls_are_underlined_with_their_arguments() {
        let text =
            "fn f() {\n    let a = x.lock().unwrap();\n    go(a, (1, 2))?;\n    assert!(x);\n";
        assert_eq!(underlined(text, 2, 15), "lock()");
        assert_eq!(underlined(text, 3, 5), "go(a, (1, 2))");
        assert_eq!(underlined(text, 4, 5), "assert!(x)");
        assert_eq!(underlined(text, 2, 13), "x");
    }

    #[test]
    fn other_places_are_underlined_to_the_end_of_the_statement() {
        let text = "    *x += 1; // why\n    é.lock();\n";
        assert_eq!(underlined(text, 1, 5), "*x += 1");
        assert_eq!(underlined(text, 2, 7), "lock()");
        assert_eq!(underlined(text, 1, 0), "*x += 1; // why");
        assert_eq!(underlined(text, 1, 99), "*x += 1", "a column after the end");
        assert_eq!(range(text, 9, 1), None);
        assert_eq!(underlined("unsafe { *x.get(a, b) = y };", 1, 10), "*x.get(a, b) = y");
        assert_eq!(underlined("f(&x[1], &y);", 1, 3), "&x[1]");
        assert_eq!(underlined("a::b::<T>::c(1) + 2", 1, 1), "a::b::<T>::c(1)");
        assert_eq!(underlined("std::net::bind(\"x\").ok()", 1, 1), "std::net::bind(\"x\")");
        assert_eq!(underlined("table[index] > 0", 1, 1), "table[index]");
    }
}
