//! The table of frames: where in the frame of each function variables lie, as LLVM reports it when
//! it has generated the code.
//!
//! A search over states needs it to know what else is in a frame ([`lockred_protocol::frames`]).

use crate::llvm::{Context, Module};
use lockred_protocol::frames::{self, Frame, Variable};
use lockred_protocol::hooks::TEXT_SECTION;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Makes the table of the functions in an object file from what LLVM said of them. A function whose
/// frame is not known to the byte is not in it.
pub fn table(reported: &[String], object: &Path) -> Result<Vec<u8>, String> {
    let layouts: HashMap<&str, Layout> = reported.iter().filter_map(|text| layout(text)).collect();
    let bytes = fs::read(object).map_err(|e| format!("cannot read {}: {e}", object.display()))?;
    let broken = |e| format!("cannot read {}: {e}", object.display());
    let file = object::File::parse(&*bytes).map_err(broken)?;
    let section = file.section_by_name(TEXT_SECTION).map(|section| section.index());
    let mut all = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
        if symbol.section_index().is_none() || symbol.section_index() != section {
            continue;
        }
        let layout = symbol.name().ok().and_then(|name| layouts.get(name));
        if let (Some(layout), Ok(start)) = (layout, u32::try_from(symbol.address())) {
            let Layout { lowest, variables } = layout.clone();
            all.push(Frame { start, lowest, variables });
        }
    }
    all.sort_by_key(|frame| frame.start);
    Ok(frames::encode(&all))
}

/// A module that consists of the table.
pub fn module(context: Context, table: &[u8]) -> Module {
    let module = context.module("frames");
    let bytes = context.bytes(table);
    let global = module.add_global("__lr_frames", bytes.value_type());
    global.set_initialiser(bytes);
    global.set_constant(true);
    global.set_section(frames::SECTION);
    global.set_alignment(4);
    module.keep(context, &[global.value()]);
    module
}

/// What is in a frame.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Layout {
    lowest: u32,
    /// All objects but what the register allocator put there.
    variables: Vec<Variable>,
}

/// The function that LLVM reports, and its frame. `None` where there is something that is not
/// understood.
fn layout(text: &str) -> Option<(&str, Layout)> {
    let mut lines = text.lines().map(str::trim);
    let function = lines.by_ref().find_map(|line| line.strip_prefix("Function: "))?;
    let mut layout = Layout::default();
    for line in lines {
        // Names of variables, with where they are declared, are in between.
        let Some(line) = line.strip_prefix("Offset: [SP") else { continue };
        let (offset, line) = line.split_once("], Type: ")?;
        let (kind, line) = line.split_once(", Align: ")?;
        let (_, size) = line.split_once(", Size: ")?;
        let (offset, size): (i32, u32) = (offset.parse().ok()?, size.parse().ok()?);
        if offset >= 0 {
            // What the caller stored for it.
            continue;
        }
        let below = offset.unsigned_abs();
        layout.lowest = layout.lowest.max(below);
        match kind {
            "Spill" => {}
            "Variable" | "Protector" | "Fixed" => layout.variables.push(Variable { below, size }),
            _ => return None,
        }
    }
    Some((function, layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_llvm_reports_is_understood() {
        let text = "<unknown>:0:0: \nFunction: f\nOffset: [SP+8], Type: Fixed, Align: 8, Size: 8\n\
                    Offset: [SP-8], Type: Spill, Align: 8, Size: 8\nOffset: [SP-48], Type: Variable, Align: 8, Size: 40\n    \
                    a @ file.rs:3\n";
        let variables = vec![Variable { below: 48, size: 40 }];
        assert_eq!(layout(text), Some(("f", Layout { lowest: 48, variables })));
        assert_eq!(layout(&text.replace("Variable", "VariableSized")), None);
        assert_eq!(layout("something else"), None);
    }
}
