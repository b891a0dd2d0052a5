//! An audit for people: first what may be wrong, then type by type what is shared and what protects
//! it, then locks.

use super::report::{Across, Atomic, Audit, Class, Finding, Object, Operation};
use crate::printing::style::{Paint, Style};
use crate::printing::words;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Lines of a list that are reported, unless all are wanted.
const MOST: usize = 6;

/// The text of one package.
pub fn text(audit: &Audit, style: Style, all: bool) -> String {
    let mut page = Page { audit, style, all, text: String::new() };
    page.head();
    page.types();
    page.locks();
    page.held();
    page.end();
    page.text
}

struct Page<'a> {
    audit: &'a Audit,
    style: Style,
    all: bool,
    text: String,
}

fn count(number: usize, what: &str) -> String {
    words::count(number as u64, what)
}

fn owner(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Lines, or the first of them.
fn list(lines: Vec<String>, all: bool) -> String {
    let most = if all { lines.len() } else { MOST };
    let more = lines.len().saturating_sub(most);
    let mut text: String =
        lines.iter().take(most).flat_map(|line| [line.trim_end(), "\n"]).collect();
    if more > 0 {
        let _ = writeln!(text, "    and {more} more (--verbose)");
    }
    text
}

/// A warning with its places.
pub fn warning(finding: &Finding, style: Style, all: bool) -> String {
    let (word, paint) = match finding.denied {
        true => ("error", Paint::Red),
        false => ("warning", Paint::Yellow),
    };
    let head = style.paint(paint, &format!("{word}[{}]", finding.code));
    let known = if finding.known { " (in the baseline)" } else { "" };
    let lines = finding.places.iter().map(|(label, place)| {
        let within = if place.function.is_empty() {
            String::new()
        } else {
            format!(" in {}", place.function)
        };
        format!("    {}{within}: {label}", place.text())
    });
    format!("  {head}: {}{known}\n{}", finding.message, list(lines.collect(), all))
}

impl Page<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}", text.trim_end());
    }

    fn list(&mut self, lines: Vec<String>) {
        self.text += &list(lines, self.all);
    }

    fn head(&mut self) {
        let audit = self.audit;
        let seen = &audit.seen;
        let title = format!("audit of {}", audit.package);
        let title = self.style.paint(Paint::Bold, &title);
        self.line(&format!("{title} ({})", seen.targets.join(", ")));
        self.line(&format!(
            "  {}, {} of unsafe code, {}, {}",
            count(audit.impls.len(), "unsafe impl"),
            count(seen.unsafe_blocks, "block"),
            count(seen.unsafe_functions, "unsafe function"),
            count(audit.findings.len(), "warning"),
        ));
        let mut compiled = format!("  {} compiled", count(seen.compiled, "function"));
        if !seen.generic.is_empty() {
            let _ = write!(
                compiled,
                "; not compiled: {}",
                count(seen.generic.len(), "generic function")
            );
        }
        if !seen.others.is_empty() {
            let _ = write!(compiled, "; of other platforms or features: {}", seen.others.len());
        }
        self.line(&compiled);
        if self.all {
            for name in seen.generic.iter().chain(&seen.others) {
                self.line(&format!("    {name}"));
            }
        }
        if !seen.whole {
            self.line("  some program is too large to be analysed as a whole: of it, no locks are known, and all memory counts as shared");
        } else if !seen.ordered {
            self.line("  some program is too large for the order of its locks, which is not known");
        }
        for unread in &seen.unread {
            self.line(&format!("  not read: {unread}"));
        }
        self.line("");
    }

    /// Types, the most dangerous first; each with its warnings.
    fn types(&mut self) {
        let audit = self.audit;
        let names = audit.types.iter().map(|it| it.name.as_str());
        let names: BTreeSet<&str> = names.filter(|name| !is_nameless(name)).collect();
        let first = |name: &str| audit.findings.iter().position(|it| it.subject == name);
        let worst = |name: &str| {
            let of = audit.objects.iter().filter(|object| owner(&object.name) == name);
            of.map(|object| object.class).min().unwrap_or(Class::Shared)
        };
        let has_impl = |name: &str| audit.impls.iter().any(|it| it.of == name);
        let mut order: Vec<&str> = names.iter().copied().collect();
        order.sort_by_key(|name| {
            (first(name).unwrap_or(usize::MAX), worst(name), !has_impl(name), *name)
        });
        let mut rest = 0;
        for name in order {
            let quiet = first(name).is_none() && !has_impl(name) && worst(name) > Class::Unknown;
            if quiet && !self.all && self.text.lines().count() > 120 {
                rest += 1;
                continue;
            }
            self.of_type(name);
        }
        if rest > 0 {
            self.line(&format!(
                "and {} without warnings or unsafe code (--verbose)\n",
                count(rest, "type")
            ));
        }
        let nameless: Vec<&Atomic> =
            audit.atomics.iter().filter(|it| is_nameless(&it.name)).collect();
        if !nameless.is_empty() {
            let title =
                self.style.paint(Paint::Bold, "atomic operations on what is no field in sight");
            self.line(&title);
            let lines = nameless.iter().map(|atomic| {
                let operations = atomic.operations.iter();
                let texts: Vec<String> =
                    operations.map(|it| format!("{} ({})", it.text, it.place.short())).collect();
                format!("  {}: {}", atomic.name, texts.join(", "))
            });
            self.list(lines.collect());
            self.line("");
        }
        let others: Vec<&Finding> =
            audit.findings.iter().filter(|finding| !names.contains(&*finding.subject)).collect();
        for finding in others {
            self.finding(finding);
            self.line("");
        }
    }

    fn of_type(&mut self, name: &str) {
        let audit = self.audit;
        let place = audit.types.iter().find(|it| it.name == name).map(|it| it.place.clone());
        let place = place.filter(|place| place.line > 0).map(|place| place.short());
        let title = self.style.paint(Paint::Bold, name);
        self.line(&format!("{title}  {}", place.unwrap_or_default()));
        for finding in audit.findings.iter().filter(|finding| finding.subject == name) {
            self.finding(finding);
        }
        for it in audit.impls.iter().filter(|it| it.of == name) {
            self.line(&format!("  {}  {}", it.text, it.place.short()));
        }
        let of_type = |object: &&Object| owner(&object.name) == name;
        let objects: Vec<&Object> = audit.objects.iter().filter(of_type).collect();
        let plain = |object: &&&Object| object.class == Class::Shared;
        let shared: Vec<String> =
            objects.iter().filter(plain).map(|object| field(object)).collect();
        for object in objects.iter().filter(|object| object.class != Class::Shared) {
            self.object(object);
        }
        if !shared.is_empty() {
            self.line(&format!("  {}: {}", shared.join(", "), Class::Shared.text()));
        }
        let reported: BTreeSet<&str> = objects.iter().map(|object| &*object.name).collect();
        let others = audit
            .atomics
            .iter()
            .filter(|it| owner(&it.name) == name && !reported.contains(&*it.name));
        for atomic in others {
            self.line(&format!("  {}", atomic.name));
            self.atomic(atomic);
        }
        self.line("");
    }

    fn finding(&mut self, finding: &Finding) {
        self.text += &warning(finding, self.style, self.all);
        for note in &finding.notes {
            self.line(&format!("    = {note}"));
        }
    }

    fn object(&mut self, object: &Object) {
        let name = if object.name.contains('.') { field(object) } else { object.name.clone() };
        let mut text = format!("  {name}: {}  ", object.of);
        match object.class {
            Class::Locked => {
                let _ = write!(text, "locked({})", object.locks.join(", "));
            }
            Class::Unknown if !object.through.is_empty() => {
                let methods: Vec<String> =
                    object.through.iter().map(|method| format!("`{method}`")).collect();
                let _ = write!(text, "accessed through {}, not followed", methods.join(", "));
            }
            class => {
                let painted = match class {
                    Class::Unprotected => self.style.paint(Paint::Red, class.text()),
                    _ => class.text().to_owned(),
                };
                text += &painted;
            }
        }
        let is_plain =
            !matches!(object.class, Class::Atomic | Class::Lock | Class::Synchronisation);
        if is_plain && object.reads + object.writes > 0 {
            let _ = write!(
                text,
                ", {}, {}",
                count(object.reads, "read"),
                count(object.writes, "write")
            );
        }
        if !object.unprotected.is_empty() {
            let places: Vec<String> =
                object.unprotected.iter().map(|place| place.short()).collect();
            let most = if self.all { places.len() } else { MOST };
            let more = places.len().saturating_sub(most);
            let _ = write!(
                text,
                ", without protection in unsafe code at {}",
                places[..places.len() - more].join(", ")
            );
            if more > 0 {
                let _ = write!(text, " and {more} more");
            }
        }
        self.line(&text);
        let audit = self.audit;
        if let Some(atomic) = audit.atomics.iter().find(|atomic| atomic.name == object.name) {
            self.atomic(atomic);
        }
    }

    fn atomic(&mut self, atomic: &Atomic) {
        let operations = &atomic.operations;
        let mut texts: Vec<&str> = Vec::new();
        for operation in operations {
            if !texts.contains(&&*operation.text) {
                texts.push(&operation.text);
            }
        }
        let lines = texts.into_iter().map(|text| {
            let places = operations.iter().filter(|it| it.text == text);
            let places: Vec<String> = places.map(|it| it.place.short()).collect();
            let most = if self.all { places.len() } else { 3 };
            let more = places.len().saturating_sub(most);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let places = places.into_iter().take(most).collect::<Vec<_>>().join(", ");
            format!("    {text:<28} {places}{more}")
        });
        self.list(lines.collect());
        let side = |of: fn(&(usize, usize)) -> usize| {
            let numbers: BTreeSet<usize> = atomic.pairs.iter().map(of).collect();
            let of = numbers.into_iter().filter_map(|number| operations.get(number));
            lines_of(of, self.all)
        };
        if !atomic.pairs.is_empty() {
            self.line(&format!(
                "    synchronises {} -> {}",
                side(|pair| pair.0),
                side(|pair| pair.1)
            ));
        }
    }

    fn locks(&mut self) {
        let audit = self.audit;
        if audit.edges.is_empty() {
            return;
        }
        let title = self.style.paint(Paint::Bold, "order of locks");
        self.line(&title);
        let lines = audit.edges.iter().map(|edge| {
            let sites: Vec<String> = edge
                .sites
                .iter()
                .map(|(held, wanted)| format!("{} -> {}", held.short(), wanted.short()))
                .collect();
            let most = if self.all { sites.len() } else { 2 };
            let more = sites.len().saturating_sub(most);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let sites = sites.into_iter().take(most).collect::<Vec<_>>().join(", ");
            let may = if edge.sure { "" } else { "may: " };
            format!("  {} -> {}  ({may}{sites}{more})", edge.held, edge.wanted)
        });
        self.list(lines.collect());
        self.line("");
    }

    fn held(&mut self) {
        let audit = self.audit;
        if audit.held.is_empty() {
            return;
        }
        let title = self.style.paint(Paint::Bold, "locks across calls");
        self.line(&title);
        let mut last: Option<Across> = None;
        let mut lines = Vec::new();
        for held in &audit.held {
            if last.replace(held.across).is_some_and(|last| last != held.across) {
                self.list(std::mem::take(&mut lines));
            }
            let behind =
                held.behind.as_ref().map_or_else(String::new, |it| format!(", at {}", it.short()));
            lines.push(format!(
                "  {}: {}, {}{behind}  ({} -> {})",
                held.across.text(),
                held.lock,
                held.what,
                held.acquired.short(),
                held.place.short(),
            ));
        }
        self.list(lines);
        self.line("");
    }

    fn end(&mut self) {
        let findings = &self.audit.findings;
        let denied = findings.iter().filter(|finding| finding.denied).count();
        let codes: BTreeSet<&str> = findings.iter().map(|finding| finding.code).collect();
        if codes.is_empty() {
            return;
        }
        let codes = codes.into_iter().collect::<Vec<_>>().join(", ");
        let denied = if denied > 0 { format!(", {denied} denied") } else { String::new() };
        self.line(&format!(
            "{}{denied}; `cargo lockred explain CODE` says more: {codes}\n",
            count(findings.len(), "warning"),
        ));
    }
}

/// Whether an atomic variable is neither a field of one type, nor static.
fn is_nameless(name: &str) -> bool {
    name.contains(' ')
}

/// A field without its type.
fn field(object: &Object) -> String {
    object.name.split_once('.').map_or(&*object.name, |(_, field)| field).to_owned()
}

fn lines_of<'a>(of: impl Iterator<Item = &'a Operation>, all: bool) -> String {
    let places: Vec<String> = of.map(|it| it.place.short()).collect();
    let most = if all { places.len() } else { 3 };
    let more = places.len().saturating_sub(most);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    places.into_iter().take(most).collect::<Vec<_>>().join(", ") + &more
}
