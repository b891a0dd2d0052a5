//! A world of fakes around `cargo lockred`: cargo, rustc, the back end and the test executable.

use lockred_protocol::FORMAT_VERSION;
use lockred_protocol::lock_order::LockOrder;
use lockred_protocol::message::Message;
use lockred_protocol::section::Section;
use lockred_protocol::sites::{Sidecar, Site};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// `rustc -vV` of a toolchain that is supported.
pub const SUPPORTED: &str =
    "rustc 9.9.9\\nhost: x86_64-unknown-linux-gnu\\nrelease: 9.9.9\\nLLVM version: 22.1.0\\n";

/// The source of the crate; sites point into it.
const SOURCE: &str = "pub fn first() {\n    second();\n}\npub fn second() {}\n";

/// A crate with one test executable, and everything around it.
pub struct World {
    root: tempfile::TempDir,
}

impl World {
    /// A world whose executable lists these tests.
    pub fn new(tests: &[&str]) -> Self {
        let world = Self { root: tempfile::tempdir().unwrap() };
        for directory in ["krate/src", "responses", "sysroot/bin", "tools"] {
            std::fs::create_dir_all(world.path(directory)).unwrap();
        }
        world.write(
            "krate/Cargo.toml",
            "[package]\nname = \"krate\"\nedition = \"2024\"\n[workspace]\n",
        );
        world.write("krate/src/lib.rs", SOURCE);
        let list: String = tests.iter().map(|test| format!("{test}: test\n")).collect();
        world.write("responses/list", &list);
        world.executable();
        world.tools(SUPPORTED);
        world
    }

    /// A path in the world.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn script(&self, name: &str, body: &str) {
        self.write(name, &format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// The test executable, with two sites: in `first`, and in `second` inlined into it.
    fn executable(&self) {
        let mut sidecar = Sidecar {
            version: FORMAT_VERSION,
            libtest: true,
            strings: ["", "src/lib.rs", "krate::first", "krate::second"].map(String::from).into(),
            sites: vec![Site::default()],
            ..Sidecar::default()
        };
        sidecar.sites.push(Site { file: 1, line: 2, column: 5, function: 2, ..Site::default() });
        sidecar.sites.push(Site { file: 1, line: 4, column: 1, function: 3, ..Site::default() });
        std::fs::write(self.path("sidecar"), sidecar.encode()).unwrap();
        std::fs::write(self.path("order"), LockOrder::default().encode()).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_backend/program.c");
        let define = |name, file| format!("-D{name}=\"{}\"", self.path(file).display());
        let defines = [define("SIDECAR", "sidecar"), define("ORDER", "order")];
        let mut compiler = Command::new("cc");
        compiler.args(defines).arg("-w").arg(source).arg("-o").arg(self.path("program"));
        assert!(compiler.status().unwrap().success());
    }

    /// cargo and rustc of the user, and the toolchain's own.
    pub fn tools(&self, version: &str) {
        let sysroot = self.path("sysroot");
        let rustc = format!(
            "case $1 in -vV) printf '{version}' ;; *) echo '{}' ;; esac",
            sysroot.display()
        );
        self.script("tools/rustc", &rustc);
        let real = std::env::var("CARGO").unwrap();
        let (artifact, arguments) = (self.path("artifact"), self.path("arguments"));
        let cargo = format!(
            "case $1 in\nmetadata|pkgid) exec '{real}' \"$@\" ;;\nesac\necho \"$@\" >> '{}'\n[ -e '{}' ] || exit 101\ncat '{}'",
            arguments.display(),
            artifact.display(),
            artifact.display()
        );
        self.script("tools/cargo", &cargo);
        self.write("artifact", &self.artifact().to_string());
        // The nested cargo "builds" a shim that makes std.bc, and a runtime.
        let nested = "while [ \"$1\" != --target-dir ]; do shift; done
            out=$2/x86_64-unknown-linux-gnu/release; mkdir -p \"$out\"; env > \"$2/environment\"
            printf '#!/bin/sh\\necho bitcode > \"$(dirname \"$0\")/std.bc\"\\n' > \"$out/lockred-shim\"
            chmod +x \"$out/lockred-shim\"; echo runtime > \"$out/liblockred_runtime.a\"
            echo '   Compiling everything' >&2";
        self.script("sysroot/bin/cargo", nested);
    }

    /// cargo's message about the test executable.
    fn artifact(&self) -> Value {
        let krate = self.path("krate");
        json!({
            "reason": "compiler-artifact",
            "package_id": format!("path+file://{}#0.0.0", krate.display()),
            "manifest_path": krate.join("Cargo.toml"),
            "target": {
                "kind": ["lib"], "crate_types": ["lib"], "name": "krate",
                "src_path": krate.join("src/lib.rs"), "edition": "2024",
                "doc": true, "doctest": true, "test": true
            },
            "profile": {
                "opt_level": "0", "debuginfo": 2, "debug_assertions": true,
                "overflow_checks": true, "test": true
            },
            "features": [], "filenames": [self.path("program")],
            "executable": self.path("program"), "fresh": true
        })
    }

    /// The executable's response to a task (`explore`, `replay`) on a test.
    pub fn response(&self, test: &str, task: &str, message: &Message) {
        let text = serde_json::to_string(message).unwrap();
        self.write(&format!("responses/{test}.{task}"), &format!("{text}\n"));
    }

    /// `cargo lockred …` in the crate, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-lockred"));
        command
            .arg("lockred")
            .args(arguments)
            .current_dir(self.path("krate"))
            .env("CARGO", self.path("tools/cargo"))
            .env("RUSTC", self.path("tools/rustc"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("CARGO_TARGET_DIR", self.path("target"))
            .env("RUSTFLAGS", "--cfg leaked")
            .env("FAKE_RESPONSES", self.path("responses"))
            .env("CARGO_TERM_COLOR", "never")
            .stdin(Stdio::null());
        command
    }

    /// `cargo lockred …` in the crate: its exit status, standard output, and standard error.
    pub fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        reported(self.command(arguments).output().unwrap())
    }

    /// The JSON lines of a check, with its exit status.
    pub fn check(&self, arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
        let (status, stdout, stderr) =
            self.run(&[&["check", "--message-format", "json"], arguments].concat());
        let line =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let lines: Vec<Value> = stdout.lines().map(line).collect();
        assert!(!lines.is_empty(), "{status:?}\n{stderr}");
        (status, lines)
    }
}

/// An output as text.
pub fn reported(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}
