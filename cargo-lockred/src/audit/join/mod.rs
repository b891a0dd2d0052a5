//! Joins what the source and the compiled programs say.

mod atomics;
mod findings;
mod held;
mod objects;
mod order;

use super::compiled::{self, Compiled};
use super::report::{Audit, Impl, Place, Seen, Type};
use super::source::{File, Position, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What there is to join.
pub struct Input<'a> {
    /// The package's name.
    pub package: &'a str,
    /// The source.
    pub source: &'a Source,
    /// What was compiled of it.
    pub compiled: &'a Compiled,
    /// The workspace's root.
    pub root: &'a Path,
    /// The targets that were compiled.
    pub targets: Vec<String>,
}

impl Input<'_> {
    fn file(&self, path: &Path) -> Option<&File> {
        self.source.files.get(path)
    }

    /// A place of the source.
    fn place(&self, file: &Path, at: Position) -> Place {
        let function = self.file(file).and_then(|file| file.function(at));
        let function = function.map_or_else(String::new, |function| function.name.clone());
        let shown = file.strip_prefix(self.root).unwrap_or(file);
        Place::new(shown.display().to_string(), at, function)
    }

    fn compiled_place(&self, place: &compiled::Place) -> Place {
        self.place(&place.file, place.at)
    }

    /// The source's text of a line.
    fn line(&self, place: &Place) -> &str {
        let path = self.root.join(&place.file);
        self.source.files.get(&path).map_or("", |file| file.line(place.line).trim())
    }

    /// Types whose values may be shared by the word of `unsafe impl`, or are in static variables, and all types in them.
    fn shareable(&self) -> BTreeSet<String> {
        let impls = self.source.all(|file| &file.impls).map(|(_, it)| it.name.clone());
        let statics = self.source.all(|file| &file.statics).flat_map(|(_, it)| it.mentions.clone());
        let mut fields: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (_, it) in self.source.all(|file| &file.types) {
            let mentioned = it.fields.iter().flat_map(|field| &field.mentions).map(|m| &**m);
            fields.entry(&it.name).or_default().extend(mentioned);
        }
        let mut found: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<String> = impls.chain(statics).collect();
        while let Some(name) = open.pop() {
            if let Some(inside) = fields.get(name.as_str())
                && found.insert(name)
            {
                open.extend(inside.iter().map(|&name| name.to_owned()));
            }
        }
        found
    }
}

/// Joins it.
pub fn audit(input: &Input<'_>) -> Audit {
    let impls = input.source.all(|file| &file.impls).map(|(file, it)| Impl {
        of: it.name.clone(),
        name: it.of.name(),
        text: it.text.clone(),
        unbounded: it.unbounded.clone(),
        place: input.place(file, it.at),
    });
    let mut audit = Audit {
        package: input.package.to_owned(),
        seen: seen(input),
        impls: impls.collect(),
        objects: objects::of(input),
        atomics: atomics::of(input),
        edges: order::edges(input),
        held: held::of(input),
        ..Audit::default()
    };
    audit.types = types(input, &audit);
    audit.findings = findings::of(input, &audit);
    audit
}

/// Types that anything is to be told of.
fn types(input: &Input<'_>, audit: &Audit) -> Vec<Type> {
    let owner = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let mut wanted: BTreeSet<String> = audit.impls.iter().map(|it| it.of.clone()).collect();
    wanted.extend(audit.objects.iter().map(|object| owner(&object.name)));
    wanted.extend(audit.atomics.iter().map(|atomic| owner(&atomic.name)));
    let mut declared: BTreeMap<String, Place> = BTreeMap::new();
    for (file, it) in input.source.all(|file| &file.types) {
        declared.entry(it.name.clone()).or_insert_with(|| input.place(file, it.at));
    }
    for (file, it) in input.source.all(|file| &file.statics) {
        declared.entry(it.name.clone()).or_insert_with(|| input.place(file, it.at));
    }
    let told = |name: String| {
        let place = declared.get(&name).cloned().unwrap_or_default();
        Type { name, place }
    };
    wanted.into_iter().map(told).collect()
}

fn seen(input: &Input<'_>) -> Seen {
    let (mut generic, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut compiled = 0;
    for (file, function) in input.source.all(|file| &file.functions) {
        let (first, second) = function.lines;
        let is_compiled = (first..=second)
            .any(|line| input.compiled.functions.contains(&(file.to_owned(), line)));
        match (is_compiled, function.generic) {
            (true, _) => compiled += 1,
            (false, true) => _ = generic.insert(function.name.clone()),
            (false, false) => _ = others.insert(function.name.clone()),
        }
    }
    let unread = input.source.unread.iter();
    let files = || input.source.files.values();
    Seen {
        targets: input.targets.clone(),
        compiled,
        generic: generic.into_iter().collect(),
        others: others.into_iter().collect(),
        whole: input.compiled.known,
        ordered: input.compiled.ordered,
        macros: files().map(|file| file.macros).sum(),
        unsafe_blocks: files().map(|file| file.unsafe_blocks).sum(),
        unsafe_functions: files().flat_map(|f| &f.functions).filter(|f| f.is_unsafe).count(),
        unread: unread.map(|(path, why)| format!("{}: {why}", path.display())).collect(),
    }
}
