//! What inline assembly is known to do.

/// Instructions behind `lock` that are used as fences.
const UPDATES: &[&str] = &["or", "add", "not", "xor", "and", "sub"];

/// Updates that leave 0 behind where they are given 0: what they are given is then what they leave.
const KEEPING: &[&str] = &["or", "add", "xor", "sub"];

/// Whether assembly touches no memory and keeps nothing: it is empty (a barrier for the optimiser), or only asks the processor.
pub fn is_harmless(text: &str) -> bool {
    crate::processor::only_asks(text)
}

/// Assembly that is one sequentially consistent fence of x86-64, and nothing else that others can see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fence {
    /// It changes no memory: `mfence`, or a locked update that keeps the top of the stack as it is.
    Pure,
    /// A locked update of what its operand points to: a fence only if that is a local variable.
    UpdatesOperand,
}

/// What fence assembly is, if it is one. Both syntaxes are read.
pub fn fence(text: &str) -> Option<Fence> {
    let lines = text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty());
    let instruction = match lines.collect::<Vec<_>>()[..] {
        [one] => one.to_owned(),
        ["lock", update] => format!("lock {update}"),
        _ => return None,
    };
    let words = instruction.split(|c: char| !c.is_ascii_alphanumeric());
    match words.filter(|word| !word.is_empty()).collect::<Vec<_>>()[..] {
        ["mfence"] => Some(Fence::Pure),
        ["lock", update, ref rest @ ..] => {
            let update = update.strip_suffix(['l', 'q']).unwrap_or(update);
            let on_stack = rest.iter().any(|word| ["rsp", "esp"].contains(word));
            // The constant is the last word in Intel's syntax, and the first in AT&T's.
            let zero = rest.last() == Some(&"0") || rest.first() == Some(&"0");
            if on_stack {
                return (KEEPING.contains(&update) && zero).then_some(Fence::Pure);
            }
            (UPDATES.contains(&update) && instruction.contains('$'))
                .then_some(Fence::UpdatesOperand)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_read_in_both_syntaxes() {
        for pure in [
            "mfence",
            "lock or dword ptr [rsp], 0",
            "lock or qword ptr [rsp - 8], 0",
            "lock; orl $$0,(%rsp)",
            "lock; addl $$0,-4(%esp)",
        ] {
            assert_eq!(fence(pure), Some(Fence::Pure), "{pure}");
        }
        for update in
            ["lock not qword ptr [${0:q}]", "lock or dword ptr [$0], 0", "lock; notq ($0)"]
        {
            assert_eq!(fence(update), Some(Fence::UpdatesOperand), "{update}");
        }
    }

    #[test]
    fn what_does_more_is_no_fence() {
        for other in [
            "",
            "nop",
            "mfence\nmov eax, 1",
            "lock add dword ptr [rsp], 4",
            "lock and dword ptr [rsp], 0",
            "lock; addl $$4, 0(%rsp)",
            "lock xadd dword ptr [$0], $1",
            "lock cmpxchg dword ptr [$0], $1",
            "lock or dword ptr [counter], 1",
        ] {
            assert_eq!(fence(other), None, "{other}");
        }
    }
}
