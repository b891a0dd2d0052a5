//! From addresses and sites to frames: function, source file, line, column, and whose code it is.

use super::debug_info::{DebugInfo, Name};
use super::source::Sources;
use addr2line::Loader;
use lockred_protocol::message::{Home, Memory, Object};
use lockred_protocol::sites::{Sidecar, SiteId};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// One frame of a stack, inlined ones included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The function's path, without hash.
    pub function: String,
    /// The source file, relative to the workspace root where it lies in it; empty when it is
    /// unknown.
    pub file: String,
    /// From 1; 0 when it is unknown.
    pub line: u32,
    /// In characters, from 1; 0 when it is unknown.
    pub column: u32,
    /// Whose code it is.
    pub origin: Origin,
}

/// Whose code a frame is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A member of the workspace.
    User,
    /// A dependency.
    Dependency,
    /// The standard library.
    Std,
    /// lockred's runtime.
    Runtime,
}

/// Where whose code lies.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The root of the workspace.
    pub root: PathBuf,
    /// The same without symbolic links.
    pub real_root: PathBuf,
    /// The directories of its members.
    pub members: Vec<PathBuf>,
    /// The target directory: generated code in it is not the user's.
    pub target: PathBuf,
    /// The toolchain's sysroot.
    pub sysroot: PathBuf,
    /// Where the runtime was compiled.
    pub runtime: PathBuf,
}

impl Places {
    /// A path as the workspace was asked for: rustc writes the directory after symbolic links.
    fn as_asked(&self, path: PathBuf) -> PathBuf {
        match path.strip_prefix(&self.real_root) {
            Ok(inside) if !self.real_root.as_os_str().is_empty() => self.root.join(inside),
            _ => path,
        }
    }
}

/// The frames of one executable.
pub struct Symbols {
    /// `None` in tests, which have sites only.
    loader: Option<Loader>,
    executable: PathBuf,
    /// Read when something is to be named.
    debug_info: OnceCell<Option<DebugInfo>>,
    sidecar: Sidecar,
    places: Places,
    sources: Sources,
    /// Frames of addresses that were asked for before: a long execution passes the same places
    /// again and again.
    known: RefCell<HashMap<u64, Rc<[Frame]>>>,
}

impl Symbols {
    /// Of an executable with its sidecar.
    pub fn open(executable: &Path, sidecar: Sidecar, places: Places) -> Self {
        // Without debug information the site table still gives the innermost places.
        let loader = Loader::new(executable).ok();
        Self { loader, executable: executable.to_owned(), ..Self::of_sites(sidecar, places) }
    }

    /// Frames from the site table alone.
    pub fn of_sites(sidecar: Sidecar, places: Places) -> Self {
        let sources = Sources::new(&places.root);
        Self {
            loader: None,
            executable: PathBuf::new(),
            debug_info: OnceCell::new(),
            sidecar,
            places,
            sources,
            known: RefCell::default(),
        }
    }

    /// The source files.
    pub const fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The field, static or variable that an object is, if that is known.
    pub fn name(&self, object: &Object) -> Option<String> {
        let Object { address, size, ref home, .. } = *object;
        let memory = Memory { address, size: size.unwrap_or(1), home: home.clone() };
        self.name_of(&memory).map(|name| name.text)
    }

    /// What memory is called, if that is known.
    pub fn name_of(&self, memory: &Memory) -> Option<Name> {
        self.debug_info()?.name(memory)
    }

    /// The type of what is in a block, or of its elements, if that is known.
    pub fn type_of(&self, block: &Home) -> Option<String> {
        self.debug_info()?.type_of(block)
    }

    fn debug_info(&self) -> Option<&DebugInfo> {
        // Without frames there are no functions either.
        self.loader.as_ref()?;
        self.debug_info.get_or_init(|| DebugInfo::open(&self.executable)).as_ref()
    }

    /// The frames of a stack of return addresses, innermost first. The site, where it is known, is
    /// more exact than the innermost address: it takes the place of the frames there.
    pub fn frames(&self, site: SiteId, stack: &[u64]) -> Vec<Frame> {
        let mut frames: Vec<Frame> =
            self.sidecar.chain(site).map(|site| self.frame_of_site(site)).collect();
        let found: Vec<Rc<[Frame]>> = stack
            .iter()
            .map(|address| self.frames_at(*address))
            .filter(|f| !f.is_empty())
            .collect();
        // The site takes the place of the innermost address.
        let replaced = usize::from(!frames.is_empty());
        frames.extend(of_program(&found).iter().skip(replaced).flat_map(|frames| frames.to_vec()));
        frames
    }

    fn frame_of_site(&self, site: &lockred_protocol::sites::Site) -> Frame {
        let file = self.sidecar.string(site.file);
        self.frame(self.sidecar.string(site.function), file, site.line, site.column)
    }

    /// The frames at a return address, the innermost inlined one first.
    fn frames_at(&self, address: u64) -> Rc<[Frame]> {
        if let Some(known) = self.known.borrow().get(&address) {
            return Rc::clone(known);
        }
        let frames: Rc<[Frame]> = self.looked_up(address).into();
        self.known.borrow_mut().insert(address, Rc::clone(&frames));
        frames
    }

    fn looked_up(&self, address: u64) -> Vec<Frame> {
        let mut found = Vec::new();
        let Some(loader) = &self.loader else { return found };
        // A return address is that of the next instruction, which may belong to another line or
        // function.
        let probe = address.wrapping_sub(1);
        let Ok(mut frames) = loader.find_frames(probe) else { return found };
        while let Ok(Some(frame)) = frames.next() {
            let function =
                frame.function.as_ref().and_then(|name| Some(name.demangle().ok()?.into_owned()));
            let function = function.unwrap_or_default();
            let location = frame.location.as_ref();
            let file = location.and_then(|l| l.file).unwrap_or_default();
            let line = location.and_then(|l| l.line).unwrap_or(0);
            let column = location.and_then(|l| l.column).unwrap_or(0);
            found.push(self.frame(&function, file, line, column));
        }
        // Reduced debug information has bare names only; the symbol table knows the path of the
        // outermost.
        if let Some(outermost) = found.last_mut().filter(|frame| !frame.function.contains("::"))
            && let Some(symbol) = loader.find_symbol(probe)
        {
            outermost.function = plain_name(&addr2line::demangle_auto(symbol.into(), None));
        }
        found
    }

    fn frame(&self, function: &str, file: &str, line: u32, byte_column: u32) -> Frame {
        let function = plain_name(function);
        let path = self.places.as_asked(normal(&self.places.root.join(file)));
        let origin = match is_runtime(&function) {
            true => Origin::Runtime,
            false => self.origin(file, &path),
        };
        let column = match origin {
            Origin::User => self.sources.character_column(&path, line, byte_column),
            _ => byte_column,
        };
        let shown = match path.strip_prefix(&self.places.root) {
            Ok(inside) if !file.is_empty() => inside.to_string_lossy().into_owned(),
            _ => file.to_owned(),
        };
        Frame { function, file: shown, line, column, origin }
    }

    fn origin(&self, file: &str, path: &Path) -> Origin {
        if file.starts_with("/rustc/")
            || file.starts_with("/rust/deps/")
            || path.starts_with(&self.places.sysroot)
        {
            return Origin::Std;
        }
        // std's bitcode names its files relative to a directory of the machine that built it.
        if file.starts_with("library/") && !path.exists() {
            return Origin::Std;
        }
        if path.starts_with(&self.places.runtime) {
            return Origin::Runtime;
        }
        let generated = path.starts_with(&self.places.target);
        let member = self.places.members.iter().any(|member| path.starts_with(member));
        if member && !generated && !file.is_empty() { Origin::User } else { Origin::Dependency }
    }
}

/// The part of a stack that is the program's: hooks of the runtime, with what they call, lie inside
/// of it, the runtime's start of a thread outside of it.
fn of_program(stack: &[Rc<[Frame]>]) -> &[Rc<[Frame]>] {
    let has = |origin| move |frames: &Rc<[Frame]>| frames.iter().any(|f| f.origin == origin);
    let mut stack = stack;
    while let [inner @ .., last] = stack
        && has(Origin::Runtime)(last)
    {
        stack = inner;
    }
    let user = stack.iter().position(has(Origin::User)).unwrap_or(stack.len());
    let hook = stack[..user].iter().rposition(has(Origin::Runtime));
    &stack[hook.map_or(0, |hook| hook + 1)..]
}

/// A path without `.` and `..`, which debug information has where a compiler was given one.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// A demangled name without the hash of legacy mangling, and with closures spelled as in v0.
fn plain_name(function: &str) -> String {
    let name = match function.rsplit_once("::") {
        Some((name, hash))
            if hash.len() == 17
                && hash.starts_with('h')
                && hash[1..].bytes().all(|b| b.is_ascii_hexdigit()) =>
        {
            name
        }
        _ => function,
    };
    let name = name.replace("{{closure}}", "{closure}").replace("{closure#0}", "{closure}");
    without_disambiguators(&name)
}

/// `krate[0123456789abcdef]::f` without what is in brackets.
fn without_disambiguators(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find('[') {
        let (before, bracket) = rest.split_at(start);
        let length = bracket.find(']').unwrap_or(bracket.len() - 1);
        let inside = &bracket[1..length.max(1)];
        let hash = inside.len() >= 12 && inside.bytes().all(|b| b.is_ascii_hexdigit());
        let end = if hash { length + 1 } else { 1 };
        plain.push_str(before);
        if !hash {
            plain.push('[');
        }
        rest = &bracket[end..];
    }
    plain.push_str(rest);
    plain
}

/// Whether a function is of lockred's runtime.
fn is_runtime(function: &str) -> bool {
    let name = function.trim_start_matches(['<', '&']);
    let crates = ["lockred_runtime::", "lockred_search::", "lockred_protocol::"];
    function.starts_with("__lr_") || crates.iter().any(|krate| name.starts_with(krate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_hashes_and_disambiguators() {
        assert_eq!(plain_name("a::b::{{closure}}::h0123456789abcdef"), "a::b::{closure}");
        assert_eq!(plain_name("a[0123456789abcdef]::f::<[u8]>"), "a::f::<[u8]>");
        assert_eq!(plain_name("std::thread::spawn"), "std::thread::spawn");
        assert_eq!(plain_name("f::<[u8; 4]>::{closure#0}"), "f::<[u8; 4]>::{closure}");
    }

    #[test]
    fn hooks_and_thread_starts_are_no_part_of_a_stack() {
        let symbols = Symbols::of_sites(
            Sidecar::default(),
            Places {
                members: vec!["/w".into()],
                root: "/w".into(),
                sysroot: "/s".into(),
                runtime: "/r".into(),
                ..Places::default()
            },
        );
        let stack = |functions: &[&str]| -> Vec<String> {
            let frame = |function: &&str| -> Rc<[Frame]> {
                let file = if function.starts_with("user") { "u.rs" } else { "/rustc/1/s.rs" };
                [symbols.frame(function, file, 1, 1)].into()
            };
            let stack: Vec<_> = functions.iter().map(frame).collect();
            of_program(&stack).iter().map(|frames| frames[0].function.clone()).collect()
        };
        let (hook, start) = ("__lr_read", "lockred_runtime::thread::start");
        assert_eq!(
            stack(&["core::x", hook, "std::lock", "user::f", "std::main", start]),
            ["std::lock", "user::f", "std::main"]
        );
        assert_eq!(stack(&[hook, "std::lock", start]), ["std::lock"]);
        assert_eq!(stack(&["std::lock", "user::f"]), ["std::lock", "user::f"]);
        assert_eq!(stack(&[hook, start]), Vec::<String>::new());
    }

    #[test]
    fn code_belongs_to_whose_directory_it_is_in() {
        let places = Places {
            root: "/w".into(),
            real_root: "/real".into(),
            members: vec!["/w/a".into(), "/b".into()],
            target: "/w/a/target".into(),
            sysroot: "/s".into(),
            runtime: "/cache/source".into(),
        };
        let symbols = Symbols::of_sites(Sidecar::default(), places);
        let frame = |file| {
            let frame = symbols.frame("f", file, 1, 1);
            (frame.origin, frame.file)
        };
        assert_eq!(frame("a/src/lib.rs"), (Origin::User, "a/src/lib.rs".into()));
        assert_eq!(frame("/w/a/src/x/../lib.rs"), (Origin::User, "a/src/lib.rs".into()));
        assert_eq!(frame("/real/a/src/lib.rs"), (Origin::User, "a/src/lib.rs".into()));
        assert_eq!(frame("/b/src/lib.rs"), (Origin::User, "/b/src/lib.rs".into()));
        assert_eq!(frame("a/target/out/generated.rs").0, Origin::Dependency);
        assert_eq!(frame("vendor/x/lib.rs").0, Origin::Dependency);
        assert_eq!(frame("/rustc/123/library/std/src/lib.rs").0, Origin::Std);
        assert_eq!(frame("/s/lib/rustlib/src/x.rs").0, Origin::Std);
        assert_eq!(frame("library/std/src/lib.rs").0, Origin::Std);
        assert_eq!(frame("/cache/source/runtime/src/x.rs").0, Origin::Runtime);
        assert_eq!(frame(""), (Origin::Dependency, String::new()));
        assert_eq!(symbols.frame("__lr_read", "a/src/lib.rs", 1, 1).origin, Origin::Runtime);
    }
}
