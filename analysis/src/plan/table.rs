//! The decisions of a whole program, counted by line, as the executable holds them.

use crate::llvm::{Context, Function, Instruction};
use crate::recognise::demangle;
use lockred_protocol::addresses::Addresses;
use lockred_protocol::plan::{Plan, Reason, Row};
use std::collections::{BTreeMap, HashMap};

/// See the module.
#[derive(Debug, Default)]
pub struct Table {
    strings: Vec<String>,
    ids: HashMap<String, u32>,
    /// By symbol: the name of the function in `strings`.
    functions: HashMap<String, u32>,
    rows: BTreeMap<(u32, u32, u32, Reason), u32>,
}

impl Table {
    /// An access of an instruction is treated as it is for this reason.
    pub fn add(&mut self, context: Context, function: Function, at: Instruction, reason: Reason) {
        let location = at.location();
        let subprogram = location.and_then(|location| location.subprogram(context));
        let symbol =
            subprogram.map_or_else(|| function.name(), |subprogram| subprogram.symbol(context));
        let name = match self.functions.get(&symbol) {
            Some(&name) => name,
            None => {
                let name = self.string(demangle(&symbol));
                self.functions.insert(symbol, name);
                name
            }
        };
        let file = self.string(location.map_or_else(String::new, |location| location.file()));
        let line = location.map_or(0, |location| location.line());
        *self.rows.entry((name, file, line, reason)).or_default() += 1;
    }

    fn string(&mut self, text: String) -> u32 {
        let next = self.strings.len() as u32;
        *self.ids.entry(text).or_insert_with_key(|text| {
            self.strings.push(text.clone());
            next
        })
    }

    /// As it is kept.
    #[must_use]
    pub fn into_plan(self, addresses: Addresses) -> Plan {
        let rows = self.rows.into_iter();
        let row =
            |((function, file, line, reason), count)| Row { function, file, line, reason, count };
        Plan { strings: self.strings, rows: rows.map(row).collect(), addresses }
    }
}
