//! What inline assembly is known to do.

/// Instructions after `lock` that are used as fences.
const UPDATES: &[&str] = &["or", "add", "not", "xor", "and", "sub"];

/// Updates that leave 0 behind where they are given 0: what they are given is then what they leave.
const KEEPING: &[&str] = &["or", "add", "xor", "sub"];

/// Whether assembly touches no memory and keeps nothing: it is empty (a barrier for the optimiser),
/// or only asks the processor.
pub fn is_harmless(text: &str) -> bool {
    enters_kernel(text).is_none() && crate::processor::only_asks(text)
}

/// The instruction by which assembly calls the kernel, if it has one. Both syntaxes are read, in
/// capitals, too; words in comments and labels may look like one.
pub fn enters_kernel(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let words: Vec<&str> =
        text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().find_map(|(index, word)| match *word {
        "syscall" => Some("syscall"),
        "sysenter" => Some("sysenter"),
        "int" => {
            let vector = words.get(index + 1)?;
            ["0x80", "80h", "128"].contains(vector).then_some("int 0x80")
        }
        _ => None,
    })
}

/// The functions that assembly outside of functions defines and that call the kernel: names, with
/// the instruction.
pub fn functions_entering_kernel(text: &str) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let mut labels: Vec<&str> = Vec::new();
    for line in text.lines().flat_map(|line| line.split(';')).map(str::trim) {
        if let Some(label) = line.strip_suffix(':').filter(|label| !label.contains(' ')) {
            // Labels of the assembler's own, and those that are numbers, are inside of a function.
            let is_inner =
                label.starts_with(".L") || label.starts_with(|c: char| c.is_ascii_digit());
            if !is_inner {
                labels.push(label.trim_matches('"'));
            }
        } else if line.starts_with(".size") {
            labels.clear();
        } else if let Some(instruction) = enters_kernel(line) {
            found.extend(labels.iter().map(|&label| (label.to_owned(), instruction)));
        }
    }
    found
}

/// Assembly that is one sequentially consistent fence of x86-64, and nothing else that others can
/// see.
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
    fn ways_into_the_kernel_are_seen() {
        for (text, way) in [
            ("syscall", Some("syscall")),
            ("mov eax, 39\nsyscall", Some("syscall")),
            ("int $$0x80", Some("int 0x80")),
            ("int 0x80", Some("int 0x80")),
            ("int 3", None),
            ("sysenter", Some("sysenter")),
            ("call my_syscall", None),
            ("cpuid", None),
            ("MOV EAX, 39\nSYSCALL", Some("syscall")),
            ("INT 80H", Some("int 0x80")),
        ] {
            assert_eq!(enters_kernel(text), way, "{text}");
        }
        assert!(is_harmless("cpuid") && !is_harmless("cpuid; syscall"));
    }

    #[test]
    fn functions_of_assembly_that_call_the_kernel_are_known_by_name() {
        let text = ".globl asks\nasks:\n  mov eax, 39\n2:\n  syscall\n  ret\n.size asks, . - asks\n\
            adds:\n  lea eax, [rdi + rsi]\n  ret\n";
        assert_eq!(functions_entering_kernel(text), [("asks".to_owned(), "syscall")]);
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
