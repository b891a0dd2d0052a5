//! What the link tests share: a back end with a stub runtime, programs built through the shim,
//! their output.

use lockred_protocol::hooks::LIBC_PREFIX;
use lockred_protocol::libc_functions::answered;
use lockred_protocol::sites::{SECTION, Sidecar};
use object::{Object, ObjectSection};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Source of the stub runtime.
const STUB: &str = include_str!("stub_runtime.c");

/// Where the fixtures are.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/link/programs")
}

/// A directory for a test's own files.
pub fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// The back end directory: the shim, the stub as runtime, and `std.bc`. Made once.
pub fn home() -> &'static Path {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        // The name has a space and a letter beyond ASCII: paths of users have.
        let home = scratch("back énd");
        let shim = home.join("lockred-shim");
        // A copy in use cannot be overwritten, so it is replaced.
        let _ = fs::remove_file(&shim);
        fs::copy(env!("CARGO_BIN_EXE_lockred-shim"), &shim).unwrap();
        build_stub(&home);
        let sysroot = run(Command::new(rustc()).args(["--print", "sysroot"])).stdout;
        run(Command::new(&shim).args(["--prepare", "--sysroot", sysroot.trim()]));
        home
    })
}

fn build_stub(home: &Path) {
    let forwarded =
        answered().filter(|name| !STUB.contains(&format!("{LIBC_PREFIX}{name}("))).map(|name| {
            // Another allocator is there only in programs that bring it.
            let weak =
                if name.starts_with("mi_") { format!(".weak {name}\n") } else { String::new() };
            format!("{weak}.globl {LIBC_PREFIX}{name}\n{LIBC_PREFIX}{name}: jmp {name}\n")
        });
    let assembly = format!(
        ".text\n{}.section .note.GNU-stack,\"\",@progbits\n",
        forwarded.collect::<String>()
    );
    fs::write(home.join("stub.c"), STUB).unwrap();
    fs::write(home.join("forward.s"), assembly).unwrap();
    for source in ["stub.c", "forward.s"] {
        run(Command::new("cc").args(["-c", source]).current_dir(home));
    }
    let archive = ["qcs", lockred_analysis::shim::RUNTIME, "stub.o", "forward.o"];
    let _ = fs::remove_file(home.join(lockred_analysis::shim::RUNTIME));
    run(Command::new("ar").args(archive).current_dir(home));
}

fn rustc() -> String {
    std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into())
}

/// The flags of a build of `cargo lockred check`.
pub fn flags() -> Vec<String> {
    [
        "-Clinker-plugin-lto",
        &format!("-Clinker={}", home().join("lockred-shim").display()),
        "-Clinker-flavor=gcc",
        "-Copt-level=1",
        "-Cno-prepopulate-passes",
        "-Cpasses=forceattrs",
        "-Cpasses=function(dce,sroa,sccp)",
        "-Cllvm-args=-force-attribute=sanitize_thread",
        "-Ccodegen-units=1",
        "-Cdebuginfo=2",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// rustc, about to build a fixture into a directory through the shim.
pub fn compile(source: &str, directory: &Path) -> Command {
    let mut command = Command::new(rustc());
    command.args(["--edition", "2024", "--target", lockred_analysis::llvm::TRIPLE]);
    command.args(flags()).arg(programs().join(source));
    command.arg("--out-dir").arg(directory).arg("-L").arg(directory);
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

/// What a process left behind.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command to its end.
pub fn outcome(command: &mut Command) -> Outcome {
    let output = command.env("RUST_BACKTRACE", "0").output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) -> Outcome {
    let outcome = outcome(command);
    assert_eq!(outcome.code, Some(0), "{command:?}\n{}\n{}", outcome.stdout, outcome.stderr);
    outcome
}

/// The sidecar of an executable.
pub fn sidecar(executable: &Path) -> Sidecar {
    let bytes = fs::read(executable).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let section = file.section_by_name(SECTION).expect("the executable has a sidecar");
    Sidecar::decode(section.data().unwrap()).unwrap()
}
