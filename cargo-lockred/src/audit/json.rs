//! An audit as lines of JSON: one for each thing, and one for the package after them.

use super::report::{Audit, Seen};
use serde::Serialize;

/// Version of the lines.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Line<'a, T> {
    reason: &'static str,
    v: u32,
    package: &'a str,
    #[serde(flatten)]
    of: T,
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    seen: &'a Seen,
    impls: usize,
    objects: usize,
    atomics: usize,
    warnings: usize,
    denied: usize,
}

/// The lines of some packages.
pub fn lines(audits: &[Audit]) -> String {
    audits.iter().map(package).collect()
}

fn package(audit: &Audit) -> String {
    let mut text = String::new();
    for it in &audit.impls {
        add(&mut text, "unsafe-impl", audit, it);
    }
    for it in &audit.objects {
        add(&mut text, "object", audit, it);
    }
    for it in &audit.atomics {
        add(&mut text, "atomic", audit, it);
    }
    for it in &audit.edges {
        add(&mut text, "lock-order", audit, it);
    }
    for it in &audit.held {
        add(&mut text, "held-across", audit, it);
    }
    for it in &audit.findings {
        add(&mut text, "warning", audit, it);
    }
    let summary = Summary {
        seen: &audit.seen,
        impls: audit.impls.len(),
        objects: audit.objects.len(),
        atomics: audit.atomics.len(),
        warnings: audit.findings.len(),
        denied: audit.findings.iter().filter(|finding| finding.denied).count(),
    };
    add(&mut text, "audit-finished", audit, &summary);
    text
}

fn add(text: &mut String, reason: &'static str, audit: &Audit, of: &impl Serialize) {
    let line = Line { reason, v: VERSION, package: &audit.package, of };
    *text += &serde_json::to_string(&line).expect("names and numbers can be written");
    text.push('\n');
}
