//! Links the package to the libLLVM of the toolchain that builds it, and tells it which toolchain
//! that is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-env-changed=RUSTC");
    println!("cargo:rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let sysroot = PathBuf::from(ask(&rustc, &["--print", "sysroot"]).trim());
    let version = ask(&rustc, &["-vV"]);
    let field = |name: &str| {
        version.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").trim()
    };
    println!(
        "cargo:rustc-env=LOCKRED_RUSTC={} ({})",
        field("release:"),
        field("commit-hash:").get(..9).unwrap_or("unknown")
    );
    let llvm = field("LLVM version:");
    if !llvm.starts_with("22.") {
        println!(
            "cargo:warning=lockred supports LLVM 22; this rustc brings LLVM {llvm}, and linking or running may fail"
        );
    }
    let lib = sysroot.join("lib");
    let Some(name) = libllvm(&lib) else {
        panic!("no shared libLLVM in {}: this toolchain cannot be supported", lib.display());
    };
    println!("cargo:rustc-link-search=native={}", lib.display());
    println!("cargo:rustc-link-lib=dylib={name}");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
}

/// Standard output of a rustc call.
fn ask(rustc: &str, arguments: &[&str]) -> String {
    let output = Command::new(rustc).args(arguments).output().expect("rustc can be run");
    String::from_utf8(output.stdout).expect("rustc prints UTF-8")
}

/// The link name of rustc's libLLVM: `libLLVM-22-rust-1.95.0-stable.so` without `lib` and `.so`.
fn libllvm(lib: &Path) -> Option<String> {
    fs::read_dir(lib).ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let stem = name.strip_prefix("lib")?.strip_suffix(".so")?;
        stem.starts_with("LLVM-").then(|| stem.to_owned())
    })
}
