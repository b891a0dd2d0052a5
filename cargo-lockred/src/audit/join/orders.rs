//! Which atomic operations of the source there are, and the orders that each may have.
//!
//! The source has operations of code that is not compiled, too, as of generic functions that
//! nothing uses; what it says of their orders is believed. Where a function is compiled, the
//! program knows better: an order that a condition, a parameter or a function gives is one of those
//! that the compiled cases have, and an operation of which nothing is compiled is none. Of a
//! generic function, what is compiled is not all that there may be.

use super::Input;
use crate::audit::compiled::{Atomic, Compiled};
use crate::audit::source::{File, Function, Holds, Operation as Written, Orders, Position, Source};
use lockred_protocol::audit::{Kind, Order};
use std::collections::BTreeSet;
use std::path::Path;

/// An operation that there is.
pub struct Operation<'a> {
    pub file: &'a Path,
    pub written: &'a Written,
    /// Its order is one of these; of an exchange that succeeds.
    pub orders: Orders,
    /// Of an exchange that fails.
    pub failures: Orders,
}

/// The orders that Rust allows for an operation.
fn allowed(kind: Kind) -> Orders {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    BTreeSet::from_iter(match kind {
        Kind::Load => vec![Relaxed, Acquire, SeqCst],
        Kind::Store => vec![Relaxed, Release, SeqCst],
        Kind::Update | Kind::Exchange => vec![Relaxed, Acquire, Release, AcqRel, SeqCst],
        Kind::Fence => vec![Acquire, Release, AcqRel, SeqCst],
    })
}

/// All of them.
pub fn all<'a>(source: &'a Source, compiled: &Compiled) -> Vec<Operation<'a>> {
    let operation = |(path, written): (&'a Path, &'a Written)| {
        let file = source.files.get(path)?;
        let at = in_bytes(file, written.at);
        let is_it = |atomic: &&Atomic| atomic.place.at == at && atomic.kind == written.kind;
        let known: Vec<&Atomic> = compiled.at_line(path, at.line).filter(is_it).collect();
        let (orders, failures) = match &known[..] {
            [] if is_compiled_out(file, path, written.at, compiled) => return None,
            [] if written.doubtful && !is_of_atomic_field(source, written) => return None,
            [] => (written.orders.clone(), written.failures.clone()),
            known => {
                let mut orders: Orders = known.iter().map(|atomic| atomic.order).collect();
                let mut failures: Orders = known.iter().filter_map(|it| it.failure).collect();
                if file.function(written.at).is_some_and(|function| function.generic) {
                    orders.extend(written.orders.iter().flatten());
                    failures.extend(written.failures.iter().flatten());
                }
                (Some(orders), Some(failures))
            }
        };
        let orders = orders.unwrap_or_else(|| allowed(written.kind));
        Some(Operation { file: path, written, orders, failures: failures.unwrap_or_default() })
    };
    source.all(|file| &file.atomics).filter_map(operation).collect()
}

/// Whether nothing of a place is in the program, though the function around it is.
pub fn is_compiled_out(file: &File, path: &Path, at: Position, compiled: &Compiled) -> bool {
    let is_compiled = |function: &Function| !function.generic && compiled.has(path, function);
    file.function(at).is_some_and(is_compiled) && !compiled.has_position(path, in_bytes(file, at))
}

/// The compiler counts bytes in a line.
fn in_bytes(file: &File, at: Position) -> Position {
    let before: String = file.line(at.line).chars().take(at.column as usize - 1).collect();
    Position { column: before.len() as u32 + 1, ..at }
}

/// Whether all fields of this name are atomic variables, and there is one.
fn is_of_atomic_field(source: &Source, written: &Written) -> bool {
    let fields = source.all(|file| &file.types).flat_map(|(_, of)| &of.fields);
    let mut same = fields.filter(|field| written.is_field && field.name == written.on).peekable();
    same.peek().is_some() && same.all(|field| field.holds == Holds::Atomic)
}

/// Orders as they are reported: `Relaxed or Acquire`.
pub fn text(orders: &Orders, kind: Kind) -> String {
    let names: Vec<String> = orders.iter().map(|order| format!("{order:?}")).collect();
    match &names[..] {
        _ if orders.len() > 1 && *orders == allowed(kind) => "any order".into(),
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

impl Operation<'_> {
    /// As it is reported: `compare_exchange AcqRel/Acquire`.
    pub fn text(&self) -> String {
        let Written { method, kind, .. } = self.written;
        let mut text = format!("{method} {}", text(&self.orders, *kind));
        if !self.failures.is_empty() {
            text += &format!("/{}", self::text(&self.failures, Kind::Load));
        }
        text
    }
}

impl Input<'_> {
    /// Whether nothing is compiled of some lines of a function that is compiled.
    pub fn are_compiled_out(&self, path: &Path, lines: (Position, Position)) -> bool {
        let Some(file) = self.file(path) else { return false };
        let is_compiled =
            |function: &Function| !function.generic && self.compiled.has(path, function);
        file.function(lines.0).is_some_and(is_compiled)
            && !self.compiled.has_lines(path, lines.0.line, lines.1.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_reported_as_alternatives() {
        let reported = |orders: &[Order]| text(&orders.iter().copied().collect(), Kind::Load);
        assert_eq!(reported(&[Order::Acquire]), "Acquire");
        assert_eq!(reported(&[Order::Relaxed, Order::Acquire]), "Relaxed or Acquire");
        assert_eq!(reported(&[Order::Relaxed, Order::Acquire, Order::SeqCst]), "any order");
    }

    #[test]
    fn columns_are_those_of_the_compiler() {
        let file = File { lines: vec!["\u{e4}.load()".into()], ..File::default() };
        assert_eq!(in_bytes(&file, Position { line: 1, column: 3 }).column, 4);
    }
}
