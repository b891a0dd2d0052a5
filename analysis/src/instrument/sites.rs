//! The site table under construction: one site per different source location with its inlining
//! chain.

use crate::llvm::{Context, Function, Instruction, Location, Subprogram};
use crate::recognise::{demangle, first_type, path_of};
use lockred_protocol::sites::{Site, SiteId};
use std::collections::{HashMap, HashSet};

/// Index of a plain path in [`Sites`].
type PathId = usize;

/// What is known of a function: its name in the string table, and its plain path and first generic
/// argument for the sync models.
#[derive(Clone, Copy, Debug)]
struct Name {
    text: u32,
    path: PathId,
    of: PathId,
}

/// Sites, strings and paths, each once.
#[derive(Debug)]
pub struct Sites {
    strings: Vec<String>,
    string_ids: HashMap<String, u32>,
    sites: Vec<Site>,
    site_ids: HashMap<Site, SiteId>,
    paths: Vec<String>,
    by_location: HashMap<Location, SiteId>,
    by_subprogram: HashMap<Subprogram, Name>,
    by_symbol: HashMap<String, Name>,
}

/// The atomic instructions of functions.
pub fn atomics(functions: &[Function]) -> impl Iterator<Item = (Function, Instruction)> {
    let of = |&function: &Function| {
        let all = function.blocks().into_iter().flat_map(|block| block.instructions());
        all.filter(|at| at.is_atomic()).map(move |at| (function, at))
    };
    functions.iter().flat_map(of)
}

impl Sites {
    /// A table with the unknown site and the empty string.
    pub fn new() -> Self {
        Self {
            strings: vec![String::new()],
            string_ids: HashMap::from([(String::new(), 0)]),
            sites: vec![Site::default()],
            site_ids: HashMap::from([(Site::default(), SiteId(0))]),
            paths: vec![String::new()],
            by_location: HashMap::new(),
            by_subprogram: HashMap::new(),
            by_symbol: HashMap::new(),
        }
    }

    /// Number of sites.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Strings and sites, as the sidecar holds them.
    pub fn into_tables(self) -> (Vec<String>, Vec<Site>) {
        (self.strings, self.sites)
    }

    /// The site of an instruction in a function.
    pub fn of(&mut self, context: Context, function: Function, at: Instruction) -> SiteId {
        match at.location() {
            Some(location) => self.location(context, location),
            None => {
                let name = self.symbol(function.name(), "");
                self.site(Site { function: name.text, ..Site::default() })
            }
        }
    }

    /// The plain paths in the chains of the atomic operations of functions.
    pub fn paths_of_atomics(
        &mut self,
        context: Context,
        functions: &[Function],
    ) -> HashSet<String> {
        let mut paths = HashSet::new();
        for (function, at) in atomics(functions) {
            for path in self.chain(context, function, at) {
                if !paths.contains(path) {
                    paths.insert(path.to_owned());
                }
            }
        }
        paths
    }

    /// The plain paths of the inlining chain of an instruction, innermost first.
    pub fn chain(&mut self, context: Context, function: Function, at: Instruction) -> Vec<&str> {
        self.chain_and_types(context, function, at).0
    }

    /// The same, and the first generic arguments of the functions.
    pub fn chain_and_types(
        &mut self,
        context: Context,
        function: Function,
        at: Instruction,
    ) -> (Vec<&str>, Vec<&str>) {
        let mut chain = Vec::new();
        let mut next = at.location();
        while let Some(location) = next {
            chain.push(self.name(context, location));
            next = location.inlined_at();
        }
        if chain.is_empty() {
            chain.push(self.symbol(function.name(), ""));
        }
        let text = |path: PathId| self.paths[path].as_str();
        chain.into_iter().map(|name| (text(name.path), text(name.of))).unzip()
    }

    fn location(&mut self, context: Context, location: Location) -> SiteId {
        if let Some(&site) = self.by_location.get(&location) {
            return site;
        }
        // The call site first: a site's call site has a smaller index.
        let inlined_at = location.inlined_at().map_or(SiteId(0), |l| self.location(context, l));
        let function = self.name(context, location).text;
        let file = self.string(location.file());
        let site = self.site(Site {
            file,
            line: location.line(),
            column: location.column(),
            function,
            inlined_at,
        });
        self.by_location.insert(location, site);
        site
    }

    fn name(&mut self, context: Context, location: Location) -> Name {
        let Some(subprogram) = location.subprogram(context) else {
            return Name { text: 0, path: 0, of: 0 };
        };
        if let Some(&name) = self.by_subprogram.get(&subprogram) {
            return name;
        }
        let name = self.symbol(subprogram.symbol(context), first_type(&subprogram.name(context)));
        self.by_subprogram.insert(subprogram, name);
        name
    }

    /// The function with a symbol, of which the first generic argument is `of`, as far as that is
    /// known.
    fn symbol(&mut self, symbol: String, of: &str) -> Name {
        if let Some(&name) = self.by_symbol.get(&symbol) {
            return name;
        }
        let readable = demangle(&symbol);
        self.paths.push(path_of(&readable));
        let path = self.paths.len() - 1;
        let of = match of {
            "" => 0,
            of => {
                self.paths.push(of.to_owned());
                path + 1
            }
        };
        let name = Name { text: self.string(readable), path, of };
        self.by_symbol.insert(symbol, name);
        name
    }

    fn string(&mut self, text: String) -> u32 {
        if let Some(&id) = self.string_ids.get(&text) {
            return id;
        }
        let id = self.strings.len() as u32;
        self.strings.push(text.clone());
        self.string_ids.insert(text, id);
        id
    }

    fn site(&mut self, site: Site) -> SiteId {
        let next = SiteId(self.sites.len() as u32);
        *self.site_ids.entry(site.clone()).or_insert_with(|| {
            self.sites.push(site);
            next
        })
    }
}
