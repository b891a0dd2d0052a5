//! Reports of what fails nothing, and of what cannot be modelled.

use super::bug::with_main;
use super::{Place, Report, Severity};
use crate::executable::symbols::Symbols;
use lockred_protocol::codes::WarningKind;
use lockred_protocol::message::{self, Role, Unsupported, Warning};
use lockred_protocol::sites::SiteId;

/// The report of a warning.
pub fn warning(warning: &Warning, symbols: &Symbols) -> Report {
    let of = warning.home.as_ref().and_then(|home| symbols.type_of(home));
    let label = match (warning.kind, of) {
        (WarningKind::Leak, Some(of)) => format!("allocated here, for `{of}`"),
        (WarningKind::Leak, None) => "allocated here".to_owned(),
        _ => "here".to_owned(),
    };
    let mut places = place(warning.site, &warning.stack, &label, symbols);
    let number = warning.places.len();
    places.extend(warning.places.iter().enumerate().map(|(index, place)| match warning.kind {
        WarningKind::Atomicity => of_block(place, [index, number], symbols),
        _ => of_lock(place, symbols),
    }));
    Report {
        severity: Severity::Warning,
        code: Some(warning.kind.code()),
        title: with_main(&warning.message),
        places,
        notes: Vec::new(),
    }
}

/// A place of a cycle of locks.
fn of_lock(place: &message::Place, symbols: &Symbols) -> Place {
    let thread = with_main(&format!("thread {}", place.thread));
    let letter = place.object.and_then(|object| char::from_u32(u32::from('A') + object));
    let lock = format!("lock {}", letter.unwrap_or('?'));
    let label = match place.role {
        Role::Nests => format!("{thread} acquires {lock} here, under the other one"),
        _ => format!("{thread} acquires {lock} here"),
    };
    let frames = symbols.frames(place.site, &place.stack);
    Place { role: Some(place.role), thread, label, frames, order: None }
}

/// A place at which somebody comes in between: `index` of so many, of which the first and the last
/// are the block's.
fn of_block(place: &message::Place, [index, number]: [usize; 2], symbols: &Symbols) -> Place {
    let thread = with_main(&format!("thread {}", place.thread));
    let does = match place.role {
        Role::Read => "reads",
        Role::AtomicRead => "atomically reads",
        Role::AtomicWrite => "atomically writes",
        _ => "writes",
    };
    let label = match index {
        0 => format!("{thread} {does} this in the block"),
        _ if index + 1 == number => format!("{thread} {does} this then, still in the block"),
        1 => format!("{thread} {does} it here, in between"),
        _ => format!("and {thread} {does} this, in between"),
    };
    let frames = symbols.frames(place.site, &place.stack);
    Place { role: Some(place.role), thread, label, frames, order: None }
}

/// The report of something that cannot be modelled.
pub fn unsupported(unsupported: &Unsupported, symbols: &Symbols) -> Report {
    let message = &unsupported.message;
    let title = if message.contains(' ') {
        format!("unsupported: {message}")
    } else {
        format!("unsupported: a call of `{message}` cannot be modelled")
    };
    Report {
        severity: Severity::Error,
        code: None,
        title,
        places: place(unsupported.site, &unsupported.stack, "reached from here", symbols),
        notes: Vec::new(),
    }
}

/// The report of a step that had not come to its end when the time was up.
pub fn computing(place: &Unsupported, symbols: &Symbols) -> Report {
    Report {
        severity: Severity::Warning,
        code: None,
        title: format!("not searched to the end: {}", place.message),
        places: self::place(place.site, &place.stack, "stopped here", symbols),
        notes: Vec::new(),
    }
}

fn place(site: SiteId, stack: &[u64], label: &str, symbols: &Symbols) -> Vec<Place> {
    let frames = symbols.frames(site, stack);
    if frames.is_empty() {
        return Vec::new();
    }
    vec![Place { role: None, thread: String::new(), label: label.into(), frames, order: None }]
}
