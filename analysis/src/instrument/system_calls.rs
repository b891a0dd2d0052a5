//! The instruction that calls the kernel, in inline assembly: a call of a hook takes its place, as
//! far as it is known what it is given.

use super::Instrumenter;
use crate::llvm::{Function, Instruction, Type, TypeKind, Value};

/// Registers of a system call, in the order of the hook's parameters: the number, then the
/// arguments.
const REGISTERS: [&str; 7] = ["ax", "di", "si", "dx", "r10", "r8", "r9"];
/// Where the kernel's result is.
const RESULT: &str = "ax";

/// What a system call in assembly is given and gives.
#[derive(PartialEq, Eq, Debug)]
struct Shape {
    /// For each register of the call, which operand is in it.
    inputs: [Option<usize>; REGISTERS.len()],
    /// How many outputs there are, and which of them is the result.
    outputs: usize,
    result: Option<usize>,
}

/// A register of a constraint, without the size of its part.
fn register(constraint: &str) -> Option<&str> {
    let name = constraint.strip_prefix('{')?.strip_suffix('}')?;
    // `rax` and `eax` are parts of what LLVM calls `ax` as well; `r8` to `r15` have names of their
    // own.
    let is_numbered = name[1..].starts_with(|c: char| c.is_ascii_digit());
    Some(match name.strip_prefix(['r', 'e']) {
        Some(short) if !is_numbered && short.len() == 2 => short,
        _ => name,
    })
}

/// Reads assembly that is the instruction alone, with its constraints; `None` where something else
/// is in it.
fn shape(text: &str, constraints: &str) -> Option<Shape> {
    let text = text.to_ascii_lowercase();
    let lines = text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty());
    // After a call that does not come back there is a trap.
    if !matches!(lines.collect::<Vec<_>>()[..], ["syscall"] | ["syscall", "ud2"]) {
        return None;
    }
    let mut shape = Shape { inputs: [None; REGISTERS.len()], outputs: 0, result: None };
    let mut out: Vec<&str> = Vec::new();
    let mut operands = 0;
    for constraint in constraints.split(',').filter(|c| !c.is_empty() && !c.starts_with('~')) {
        if let Some(output) = constraint.strip_prefix('=') {
            let name = register(output.trim_start_matches('&'))?;
            if name == RESULT {
                shape.result = Some(out.len());
            }
            out.push(name);
            continue;
        }
        // An input that is a number is in the register of that output.
        let name = match constraint.parse::<usize>() {
            Ok(output) => out.get(output).copied()?,
            Err(_) => register(constraint)?,
        };
        // What is in another register, the kernel does not look at.
        if let Some(index) = REGISTERS.iter().position(|&known| known == name) {
            shape.inputs[index] = Some(operands);
        }
        operands += 1;
    }
    shape.outputs = out.len();
    // Without a number nobody knows what is called.
    shape.inputs[0].map(|_| shape)
}

impl Instrumenter<'_> {
    /// Replaces assembly that calls the kernel; what is not understood ends the test when it is
    /// reached.
    pub(super) fn system_call(
        &mut self,
        function: Function,
        at: Instruction,
        callee: Value,
        instruction: &str,
    ) {
        let shape = shape(&callee.inline_asm_text(), &callee.inline_asm_constraints());
        let replaced =
            shape.is_some_and(|shape| self.replace_system_call(function, at, &shape).is_some());
        if !replaced {
            let name = format!("inline assembly ({instruction})");
            let number = self.externals.number(&name);
            self.announce(function, at, self.hooks.unsupported_call, number);
        }
    }

    /// Replaces a system call; `None` where its values are of other kinds, or it ends its block.
    fn replace_system_call(
        &mut self,
        function: Function,
        at: Instruction,
        shape: &Shape,
    ) -> Option<()> {
        // An `invoke` has no instruction after it, and nothing is unwound from a system call.
        at.next()?;
        let value = at.value();
        let fields = value.value_type().field_types();
        let fits = match shape.outputs {
            0 => value.value_type().is_void(),
            1 => fields.is_none(),
            outputs => fields.as_ref().is_some_and(|fields| fields.len() == outputs),
        };
        let result = match &fields {
            Some(fields) => shape.result.map(|index| fields[index]),
            None => shape.result.map(|_| value.value_type()),
        };
        let is_number =
            |of: Type| matches!(of.kind(), TypeKind::Integer(1..=64) | TypeKind::Pointer);
        if !fits || !result.is_none_or(is_number) {
            return None;
        }
        let arguments = at.arguments();
        let location = self.location(function, at);
        self.hooks.builder.before(at, location);
        let builder = &self.hooks.builder;
        let wide = self.context.integer(64);
        let mut passed = Vec::new();
        for input in shape.inputs {
            passed.push(match input {
                Some(index) => builder.widen(self.context, *arguments.get(index)?)?,
                None => wide.zero(),
            });
        }
        let result = builder.call(self.hooks.system_call, &passed).value();
        if !value.value_type().is_void() {
            let new = match (&fields, shape.result) {
                (None, Some(_)) => builder.narrow(self.context, result, value.value_type()),
                (None, None) => value.value_type().zero(),
                (Some(_), None) => value.value_type().zero(),
                (Some(fields), Some(index)) => {
                    let number = builder.narrow(self.context, result, fields[index]);
                    builder.insert_field(value.value_type().zero(), number, index as u32)
                }
            };
            value.replace_all_uses(new);
        }
        at.erase();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(shape: &Shape) -> Vec<(&str, usize)> {
        let of = |(&name, input): (&&'static str, &Option<usize>)| Some((name, (*input)?));
        REGISTERS.iter().zip(&shape.inputs).filter_map(of).collect()
    }

    #[test]
    fn what_rustc_makes_of_a_system_call_is_read() {
        let constraints = "={ax},{di},{si},0,~{rcx},~{r11},~{memory}";
        let shape = shape("syscall", constraints).unwrap();
        assert_eq!(inputs(&shape), [("ax", 2), ("di", 0), ("si", 1)]);
        assert_eq!((shape.outputs, shape.result), (1, Some(0)));
    }

    #[test]
    fn outputs_that_are_not_the_result_are_counted() {
        let constraints = "=&{cx},={ax},=&{r11},{rdi},{r10},{r8},{r9},{edx},1,~{memory}";
        let shape = shape("syscall", constraints).unwrap();
        let expected = [("ax", 5), ("di", 0), ("dx", 4), ("r10", 1), ("r8", 2), ("r9", 3)];
        assert_eq!(inputs(&shape), expected);
        assert_eq!((shape.outputs, shape.result), (3, Some(1)));
    }

    #[test]
    fn capitals_are_read() {
        assert!(shape("SYSCALL", "={ax},0").is_some());
    }

    #[test]
    fn a_call_that_ends_the_process_does_not_come_back() {
        let shape = shape("syscall\nud2", "{ax},{di},~{memory}").unwrap();
        assert_eq!(inputs(&shape), [("ax", 0), ("di", 1)]);
        assert_eq!((shape.outputs, shape.result), (0, None));
    }

    #[test]
    fn what_is_not_the_instruction_alone_is_not_understood() {
        for (text, constraints) in [
            ("mov eax, 39\nsyscall", "={ax}"),
            ("syscall", "={ax},{di}"),
            ("syscall", "=r,0"),
            ("syscall", "={ax},r,0"),
            ("syscall", "=*m,{ax}"),
            ("syscall\nret", "{ax}"),
            ("int $$0x80", "={ax},0"),
        ] {
            assert_eq!(shape(text, constraints), None, "{text} {constraints}");
        }
    }
}
