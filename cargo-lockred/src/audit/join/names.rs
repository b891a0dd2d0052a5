//! What types and static variables are called: by their name, or, where several have it, by their
//! path in the crate.

use crate::audit::source::{Impl, Source, Static, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// See the module.
#[derive(Debug)]
pub struct Names {
    /// Paths by name.
    paths: BTreeMap<String, BTreeSet<String>>,
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

impl Names {
    /// Of all that a source declares.
    pub fn of(source: &Source) -> Self {
        let mut paths: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let types = source.all(|file| &file.types).map(|(_, it)| (&it.name, &it.path));
        let statics = source.all(|file| &file.statics).map(|(_, it)| (&it.name, &it.path));
        for (name, path) in types.chain(statics) {
            paths.entry(name.clone()).or_default().insert(path.clone());
        }
        Self { paths }
    }

    /// By the path in the crate, or in any crate.
    pub fn by_path(&self, path: &str) -> String {
        let name = last(path);
        let Some(known) = self.paths.get(name) else { return path.to_owned() };
        if known.len() == 1 {
            return name.to_owned();
        }
        let inside = path.split_once("::").map_or(path, |(_, inside)| inside);
        [path, inside].into_iter().find(|path| known.contains(*path)).unwrap_or(name).to_owned()
    }

    /// Of a field, by the path of its type; of anything else by its own.
    pub fn object(&self, name: &str) -> String {
        match name.rsplit_once('.') {
            Some((of, field)) => format!("{}.{field}", self.by_path(of)),
            None => self.by_path(name),
        }
    }

    /// The types that a name in a file may mean: the one that is declared there, or all with that
    /// name.
    pub fn meant<'a>(&self, source: &'a Source, name: &str, file: &Path) -> Vec<&'a Type> {
        let all = || source.all(|file| &file.types).filter(|(_, it)| it.name == name);
        let here: Vec<&Type> = all().filter(|(path, _)| *path == file).map(|(_, it)| it).collect();
        if here.is_empty() { all().map(|(_, it)| it).collect() } else { here }
    }

    /// What the type of an implementation is called: one of the same module, if there is one.
    pub fn of_impl(&self, source: &Source, it: &Impl, file: &Path) -> String {
        match self.paths.get(&it.name).is_some_and(|paths| paths.contains(&it.path)) {
            true => self.by_path(&it.path),
            false => self.in_file(source, &it.name, file),
        }
    }

    /// What that is called.
    pub fn in_file(&self, source: &Source, name: &str, file: &Path) -> String {
        match self.meant(source, name, file)[..] {
            [one] => self.by_path(&one.path),
            _ => name.to_owned(),
        }
    }

    /// Of a type.
    pub fn of_type(&self, of: &Type) -> String {
        self.by_path(&of.path)
    }

    /// Of a static variable.
    pub fn of_static(&self, of: &Static) -> String {
        self.by_path(&of.path)
    }
}
