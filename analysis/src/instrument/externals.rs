//! Functions outside the program: modelled ones are renamed, the others are known by number.

use crate::llvm::{Context, Linkage, Module};
use lockred_protocol::hooks::{LIBC_PREFIX, PREFIX};
use lockred_protocol::libc_functions::{self as libc, is_answered};
use std::collections::HashMap;

/// What a call of an external function means for the check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// Nothing to do: modelled under another name, harmless, or ours.
    None,
    /// An assumption.
    Native,
    /// Ends the test.
    Unsupported,
}

/// What to do about a call of this external symbol.
pub fn treatment(symbol: &str) -> Treatment {
    if symbol.starts_with(PREFIX) {
        return Treatment::None;
    }
    match libc::treatment(symbol) {
        libc::Treatment::Modelled | libc::Treatment::RealAboveRoot | libc::Treatment::Harmless => {
            Treatment::None
        }
        libc::Treatment::Unsupported => Treatment::Unsupported,
        libc::Treatment::Native => Treatment::Native,
    }
}

/// External functions that are neither modelled nor harmless, numbered.
#[derive(Clone, Debug, Default)]
pub struct Externals {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Externals {
    /// The number of a name.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The names by number.
    pub fn into_names(self) -> Vec<String> {
        self.names
    }
}

/// Renames the declarations of modelled functions: every call, and every address taken, then means
/// the model. Weak declarations, by which std probes whether libc has a function, become strong
/// where there is a model; where there is none and the function is not known to be harmless, std is
/// told that libc does not have it, and falls back.
pub fn rename(context: Context, module: &Module) {
    for function in module.functions() {
        if function.is_declaration() && function.intrinsic_id() == 0 {
            let symbol = function.name();
            if is_answered(&symbol) {
                function.value().set_name(&format!("{LIBC_PREFIX}{symbol}"));
                function.externalise();
            } else if function.linkage() == Linkage::ExternWeak
                && treatment(&symbol) != Treatment::None
            {
                function.value().replace_all_uses(context.pointer().zero());
            }
        }
    }
    for global in module.globals() {
        if global.is_declaration() {
            let symbol = global.name();
            if is_answered(&symbol) {
                let model = format!("{LIBC_PREFIX}{symbol}");
                match module.function(&model) {
                    Some(function) => global.value().replace_all_uses(function.value()),
                    None => {
                        global.value().set_name(&model);
                        global.externalise();
                    }
                }
            } else if global.linkage() == Linkage::ExternWeak
                && treatment(&symbol) != Treatment::None
            {
                global.value().replace_all_uses(context.pointer().zero());
            }
        }
    }
}
