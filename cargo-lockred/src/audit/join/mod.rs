//! Joins what the source and the compiled programs say.

mod atomics;
mod findings;
mod held;
mod names;
mod objects;
mod order;
mod orders;
mod unpaired;
mod unprotected;

use super::compiled::{self, Compiled};
use super::report::{Audit, Impl, Place, Seen, Type};
use super::source::{File, Position, Source};
use names::Names;
use orders::Operation;
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
    /// What types are called.
    pub names: Names,
    /// The atomic operations.
    pub operations: Vec<Operation<'a>>,
}

impl<'a> Input<'a> {
    /// Of a package.
    pub fn new(
        package: &'a str,
        source: &'a Source,
        compiled: &'a Compiled,
        root: &'a Path,
        targets: Vec<String>,
    ) -> Self {
        let (names, operations) = (Names::of(source), orders::all(source, compiled));
        Self { package, source, compiled, root, targets, names, operations }
    }
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

    /// Types whose values may be shared by the word of `unsafe impl`, or are in static variables,
    /// and all types in them.
    fn shareable(&self) -> BTreeSet<String> {
        let Self { source, names, .. } = self;
        let meant = |file: &Path, name: &str| names.meant(source, name, file);
        let impls = source.all(|file| &file.impls).flat_map(|(file, it)| meant(file, &it.name));
        let statics = source.all(|file| &file.statics);
        let statics =
            statics.flat_map(|(file, it)| it.mentions.iter().flat_map(move |m| meant(file, m)));
        let mut open: Vec<_> = impls.chain(statics).collect();
        let files: BTreeMap<&str, &Path> =
            source.all(|file| &file.types).map(|(file, it)| (&*it.path, file)).collect();
        let mut found: BTreeSet<String> = BTreeSet::new();
        while let Some(of) = open.pop() {
            if found.insert(names.of_type(of)) {
                let file = files.get(&*of.path).copied().unwrap_or(Path::new(""));
                let mentions = of.fields.iter().flat_map(|field| &field.mentions);
                open.extend(mentions.flat_map(|name| meant(file, name)));
            }
        }
        found
    }
}

/// Joins it.
pub fn audit(input: &Input<'_>) -> Audit {
    let impls = input.source.all(|file| &file.impls).map(|(file, it)| Impl {
        of: input.names.of_impl(input.source, it, file),
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

/// Types that anything is to be reported of.
fn types(input: &Input<'_>, audit: &Audit) -> Vec<Type> {
    let owner = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let mut wanted: BTreeSet<String> = audit.impls.iter().map(|it| it.of.clone()).collect();
    wanted.extend(audit.objects.iter().map(|object| owner(&object.name)));
    wanted.extend(audit.atomics.iter().map(|atomic| owner(&atomic.name)));
    let mut declared: BTreeMap<String, Place> = BTreeMap::new();
    for (file, it) in input.source.all(|file| &file.types) {
        declared.entry(input.names.of_type(it)).or_insert_with(|| input.place(file, it.at));
    }
    for (file, it) in input.source.all(|file| &file.statics) {
        declared.entry(input.names.of_static(it)).or_insert_with(|| input.place(file, it.at));
    }
    let reported = |name: String| {
        let place = declared.get(&name).cloned().unwrap_or_default();
        Type { name, place }
    };
    wanted.into_iter().map(reported).collect()
}

fn seen(input: &Input<'_>) -> Seen {
    let (mut generic, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut compiled = 0;
    for (file, function) in input.source.all(|file| &file.functions) {
        match (input.compiled.has(file, function), function.generic) {
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
