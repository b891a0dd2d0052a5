//! What catches panics is put in the place of its calls.
//!
//! rustc makes one function for that, which is passed what to call. By it, whoever catches panics
//! would call whatever anybody calls under that: each thread and each test what all others do.

use crate::facts::CATCHES;
use crate::llvm::{Attribute, Context, Module};
use crate::promotion;
use std::collections::HashSet;

/// Inlines it wherever it is called.
///
/// # Errors
/// When LLVM refuses the pass.
pub fn inline(context: Context, module: &Module) -> Result<(), String> {
    let functions = module.functions().into_iter().filter(|function| !function.is_declaration());
    for function in functions {
        // Those of several crates have numbers after their names.
        let is_it = function.name().strip_prefix(CATCHES).is_some_and(is_number);
        if let (true, Some(always)) = (is_it, Attribute::named("alwaysinline")) {
            function.add(context, always);
        }
    }
    promotion::inline(module, &HashSet::new())
}

fn is_number(suffix: &str) -> bool {
    suffix.chars().all(|c| c == '.' || c.is_ascii_digit())
}
