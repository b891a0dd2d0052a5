//! Predicates of who may access a field (`#[lockred::exclusive_when]`): where they are in the
//! executable, and which memory they are about.
//!
//! The walks of a test are made twice: the first round shows which memory the field is, the second
//! asks the predicates. They decide nothing, so a wrong predicate costs a warning.

use super::annotated::{is_in, known_as};
use crate::executable::symbols::Symbols;
use lockred_protocol::message::Observation;
use lockred_protocol::notes::{Note, PREDICATE};
use lockred_protocol::session::Watch;
use object::{Object, ObjectSymbol};
use std::path::Path;

/// The kind of their notes.
pub const KIND: &str = "exclusive_when";

/// The memory that was seen and that predicates are about.
pub fn watches(
    observation: &Observation,
    symbols: &Symbols,
    notes: &[Note],
    executable: &Path,
) -> Vec<Watch> {
    let notes = notes.iter().filter(|note| note.kind == KIND);
    let known = notes.filter_map(|note| Some((known_as(note)?, address(note, executable)?)));
    let known: Vec<(String, u64)> = known.collect();
    let mut watches: Vec<Watch> = Vec::new();
    for access in observation.accesses.iter().filter(|_| !known.is_empty()) {
        let Some(name) = symbols.name_of(&access.memory) else { continue };
        for (field, predicate) in &known {
            let places = name.names.iter().zip(&name.offsets);
            for (_, back) in places.filter(|(name, _)| is_in(std::slice::from_ref(name), field)) {
                let memory = access.memory.clone();
                let watch = Watch { memory, back: *back, predicate: *predicate };
                if !watches.contains(&watch) {
                    watches.push(watch);
                }
            }
        }
    }
    watches
}

/// Where the predicate of a note is, which its name says.
pub fn address(note: &Note, executable: &Path) -> Option<u64> {
    let (_, name) = note.subject.rsplit_once("::")?;
    let (owner, field) = name.split_once('.')?;
    let name = format!("{PREDICATE}_{}_{owner}_{field}_E", note.line);
    let bytes = std::fs::read(executable).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let is_this =
        |symbol: &object::Symbol<'_, '_>| symbol.name().is_ok_and(|symbol| symbol.contains(&name));
    file.symbols().find(is_this).map(|symbol| symbol.address())
}
