//! Assembly that asks the processor for what differs between runs: its time stamp, its number,
//! random numbers.

/// Instructions that do.
const ASKING: &[&str] = &["rdtsc", "rdtscp", "rdpid", "rdrand", "rdseed"];
/// Instructions beside them that wait for others, or for nothing.
const WAITING: &[&str] = &["lfence", "mfence", "sfence", "nop"];
/// Instructions that only move registers.
const MOVING: &[&str] = &["mov", "xchg", "push", "pop", "nop"];

/// What an output of such assembly is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The time stamp.
    Time,
    /// Its upper half.
    UpperTime,
    /// The processor's number.
    Processor,
}

/// The instructions of assembly, as words in lower case.
pub fn instructions(text: &str) -> Vec<Vec<String>> {
    let lines = text.split(['\n', ';']);
    let words = lines.map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let words = line.split(|c: char| c.is_ascii_whitespace() || c == ',');
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect::<Vec<_>>()
    });
    words.filter(|words| !words.is_empty()).collect()
}

/// The outputs of assembly, by its constraints: a register, or a class of them.
fn outputs(constraints: &str) -> impl Iterator<Item = &str> {
    let outputs = constraints.split(',').filter_map(|constraint| constraint.strip_prefix('='));
    outputs.map(|output| output.trim_start_matches('&'))
}

/// What assembly that asks for such things gives, by output; the instruction, where it is not
/// known. `None`: it does not ask.
pub fn asked(text: &str, constraints: &str) -> Option<Result<Vec<Answer>, String>> {
    let instructions = instructions(text);
    let asks = |words: &&Vec<String>| ASKING.contains(&words[0].as_str());
    let asking = instructions.iter().find(asks)?[0].clone();
    let others: Vec<&Vec<String>> = instructions.iter().filter(|words| !asks(words)).collect();
    let joins = |words: &&&Vec<String>| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        matches!(
            words[..],
            ["shl", "rdx", "32"]
                | ["or", "rax", "rdx"]
                | ["shlq" | "shl", "$$32", "%rdx"]
                | ["orq" | "or", "%rdx", "%rax"]
        )
    };
    let joined = others.iter().filter(joins).count();
    let waits = |words: &&&Vec<String>| WAITING.contains(&words[0].as_str());
    let is_known = instructions.len() == others.len() + 1
        && others.iter().filter(waits).count() + joined == others.len()
        && matches!(joined, 0 | 2);
    let answer = |output: &str| match (asking.as_str(), output) {
        ("rdtsc" | "rdtscp", "{ax}") => Some(Answer::Time),
        ("rdtsc" | "rdtscp", "{dx}") => Some(Answer::UpperTime),
        ("rdtscp", "{cx}") | ("rdpid", _) => Some(Answer::Processor),
        _ => None,
    };
    let answers = is_known.then(|| outputs(constraints).map(answer).collect::<Option<_>>());
    Some(answers.flatten().ok_or(asking))
}

/// Where assembly that asks `cpuid` has its question and its answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identification {
    /// The argument that is the leaf.
    pub leaf: usize,
    /// By output, the register: 0 to 3, eax to edx.
    pub registers: Vec<u32>,
}

/// Assembly that asks `cpuid`, and does nothing else.
pub fn identification(text: &str, constraints: &str) -> Option<Identification> {
    let instructions = instructions(text);
    let count = |name: &str| instructions.iter().filter(|words| words[0] == name).count();
    let moves = |words: &Vec<String>| words[0] == "cpuid" || MOVING.contains(&words[0].as_str());
    if count("cpuid") != 1 || !instructions.iter().all(moves) {
        return None;
    }
    let registers = outputs(constraints).map(|output| match output {
        "{ax}" => Some(0),
        // LLVM has rbx for itself, so that it is moved to another one.
        "r" | "{bx}" => Some(1),
        "{cx}" => Some(2),
        "{dx}" => Some(3),
        _ => None,
    });
    let registers = registers.collect::<Option<Vec<u32>>>()?;
    let of_leaf = registers.iter().position(|&register| register == 0)?.to_string();
    let mut inputs = constraints.split(',').filter(|c| !c.starts_with(['=', '~']));
    let leaf = inputs.position(|input| input == of_leaf || input == "{ax}")?;
    Some(Identification { leaf, registers })
}

/// Whether assembly only moves registers, and asks the processor.
pub fn only_asks(text: &str) -> bool {
    const HARMLESS: &[&str] = &["cpuid", "xgetbv", "pause", "lfence"];
    let known = |words: &Vec<String>| {
        let name = words[0].as_str();
        [HARMLESS, MOVING].iter().any(|names| names.contains(&name))
    };
    !text.contains(['[', '(']) && instructions(text).iter().all(known)
        || matches!(asked(text, ""), Some(Ok(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUID: &str = "mov ${0:q}, rbx\ncpuid\nxchg ${0:q}, rbx";

    #[test]
    fn time_stamps_are_read_in_halves_or_as_a_whole() {
        use Answer::{Processor, Time, UpperTime};
        let flags = "~{dirflag},~{fpsr},~{flags}";
        for (text, constraints, answers) in [
            ("rdtsc", "={ax},={dx}", vec![Time, UpperTime]),
            ("lfence\nrdtsc", "=&{ax},=&{dx}", vec![Time, UpperTime]),
            ("mfence; RDTSC; lfence", "={dx},={ax}", vec![UpperTime, Time]),
            ("rdtscp", "=&{ax},=&{dx},=&{cx}", vec![Time, UpperTime, Processor]),
            ("rdtsc\nshl rdx, 32\nor rax, rdx", "={ax},={dx}", vec![Time, UpperTime]),
            ("rdpid ${0:q}", "=&r", vec![Processor]),
        ] {
            let constraints = format!("{constraints},{flags}");
            assert_eq!(asked(text, &constraints), Some(Ok(answers)), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_by_its_name() {
        for (text, constraints, name) in [
            ("rdrand ${0:q}\nsetc ${1:l}", "=r,=r", "rdrand"),
            ("rdtsc\nmov [${0:q}], eax", "={ax}", "rdtsc"),
            ("rdtsc\nmov ${0:q}, rax", "=r", "rdtsc"),
            ("rdtsc\nrdtsc", "={ax}", "rdtsc"),
        ] {
            assert_eq!(asked(text, constraints), Some(Err(name.to_owned())), "{text}");
        }
        for text in ["", "nop", CPUID, "# rdtsc"] {
            assert_eq!(asked(text, "=r"), None, "{text}");
        }
    }

    #[test]
    fn cpuid_has_a_leaf_and_four_registers() {
        let constraints = "=&r,=&{ax},=&{cx},=&{dx},1,2,~{memory}";
        let expected = Identification { leaf: 0, registers: vec![1, 0, 2, 3] };
        assert_eq!(identification(CPUID, constraints), Some(expected));
        assert_eq!(identification("cpuid\nsyscall", constraints), None);
        assert_eq!(identification("xgetbv", "={ax},={dx},{cx}"), None);
    }

    #[test]
    fn who_only_asks_touches_no_memory() {
        for text in ["", CPUID, "xgetbv", "pause", "lfence; rdtsc", "rdtscp"] {
            assert!(only_asks(text), "{text}");
        }
        for text in ["mov [rdi], eax", "cpuid\nmov (%rdi), %eax", "syscall", "cpuid\nsyscall"] {
            assert!(!only_asks(text), "{text}");
        }
    }
}
