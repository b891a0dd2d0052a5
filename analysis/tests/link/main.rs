//! Programs built through the shim, with a stub runtime that does natively what it is asked,
//! must behave as they do without it.

mod kit;

use kit::{compile, outcome, run, scratch, sidecar};
use object::{Object, ObjectSymbol};
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The rules of a library that a link, which wrote how often each rule matched, did not use
/// although they are not optional.
fn unmatched(library: &str, rules: &Path) -> Vec<String> {
    let text = fs::read_to_string(rules).unwrap();
    let used: HashSet<&str> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(count, _)| *count != "0")
        .map(|(_, name)| name)
        .collect();
    let models = lockred_analysis::recognise::Models::built_in();
    let wanted = models.rules_of(library).filter(|rule| !rule.optional);
    wanted.map(|rule| rule.name.clone()).filter(|name| !used.contains(name.as_str())).collect()
}

/// Builds a program, runs it, and returns its standard output.
fn output_of(name: &str) -> String {
    let directory = scratch(name);
    run(&mut compile(&format!("{name}.rs"), &directory));
    run(&mut Command::new(directory.join(name))).stdout
}

#[test]
fn a_program_that_uses_all_of_std_runs_and_every_rule_of_the_std_model_matches() {
    let directory = scratch("all_of_std");
    let rules = directory.join("rules");
    run(compile("all_of_std.rs", &directory).env("LOCKRED_SHIM_RULES", &rules));
    let executable = directory.join("all_of_std");
    let output = run(&mut Command::new(&executable)).stdout;
    let expected = "Ok(1) Ok(2) Ok(3)\n5 4 4\ntrue true 3\n{1: 2} true true\ntrue\n";
    assert_eq!(output, expected);

    assert_eq!(
        unmatched("std", &rules),
        [""; 0],
        "these rules no longer match this toolchain's std"
    );

    let sidecar = sidecar(&executable);
    assert!(!sidecar.libtest && !sidecar.panic_abort);
    assert_eq!(sidecar.native_objects, [] as [&str; 0]);
    let source = kit::programs().join("all_of_std.rs").display().to_string();
    // A site in the user's code with its inlining chain.
    let chain_reaches_main = |site: u32| {
        let chain: Vec<_> = sidecar.chain(lockred_protocol::sites::SiteId(site)).collect();
        chain.len() > 2
            && sidecar.string(chain[0].function).starts_with("core::sync::atomic")
            && sidecar.string(chain[chain.len() - 1].function) == "all_of_std::main"
            && sidecar.string(chain[0].file).ends_with("/library/core/src/sync/atomic.rs")
            && sidecar.string(chain[chain.len() - 1].file) == source
    };
    assert!((1..sidecar.sites.len() as u32).any(chain_reaches_main));
    assert!(!sidecar.strings.iter().any(|s| s.contains("17h")), "hashes are left in names");
}

#[test]
fn every_kind_of_atomic_and_of_thread_local_does_what_it_does_natively() {
    let directory = scratch("numbers-native");
    let source = kit::programs().join("numbers.rs");
    run(Command::new("rustc")
        .args(["--edition", "2024"])
        .arg(source)
        .arg("--out-dir")
        .arg(&directory));
    let native = run(&mut Command::new(directory.join("numbers"))).stdout;
    assert_eq!(output_of("numbers"), native);
}

#[test]
fn a_global_allocator_is_used() {
    assert_eq!(output_of("allocator"), "counted\n");
}

#[test]
fn a_test_harness_lists_and_runs_its_tests() {
    let directory = scratch("harness");
    run(compile("harness.rs", &directory).arg("--test"));
    let executable = directory.join("harness");
    assert!(sidecar(&executable).libtest);
    let listed = run(Command::new(&executable).arg("--list")).stdout;
    assert!(listed.contains("passes: test") && listed.contains("returns: test"), "{listed}");
    let ran = run(&mut Command::new(&executable)).stdout;
    assert!(ran.contains("3 passed"), "{ran}");
}

#[test]
fn panics_that_abort_abort() {
    let directory = scratch("aborts");
    run(compile("aborts.rs", &directory).arg("-Cpanic=abort"));
    let executable = directory.join("aborts");
    assert!(sidecar(&executable).panic_abort);
    let ran = outcome(&mut Command::new(&executable));
    assert_eq!((ran.code, ran.stdout.as_str()), (None, "before\n"));
    assert!(ran.stderr.contains("called `Option::unwrap()`"), "{}", ran.stderr);
}

#[test]
fn a_dependency_with_a_c_part_is_linked_and_reported_and_calls_back() {
    let directory = scratch("uses c");
    let source = kit::programs().join("part.c");
    run(Command::new("cc").arg("-c").arg(source).current_dir(&directory));
    let _ = fs::remove_file(directory.join("libpart.a"));
    run(Command::new("ar").args(["qcs", "libpart.a", "part.o"]).current_dir(&directory));
    run(compile("caller_of_c.rs", &directory).args(["--crate-type", "rlib", "-lstatic=part"]));
    run(compile("uses_c.rs", &directory).arg("--extern").arg("caller_of_c"));
    let executable = directory.join("uses_c");
    assert_eq!(run(&mut Command::new(&executable)).stdout, "42\n");
    let sidecar = sidecar(&executable);
    assert_eq!(sidecar.native_objects, ["libcaller_of_c.rlib"]);
    assert!(sidecar.externals.contains(&"c_twice".to_owned()), "{:?}", sidecar.externals);
}

#[test]
fn a_call_that_cannot_be_modelled_is_announced_with_its_place() {
    let directory = scratch("unmodelled");
    run(&mut compile("unmodelled.rs", &directory));
    let executable = directory.join("unmodelled");
    let ran = outcome(&mut Command::new(&executable));
    assert_eq!(ran.code, Some(99));
    let sidecar = sidecar(&executable);
    let number = |after: &str| -> u32 {
        let rest = ran.stderr.split_once(after).unwrap().1;
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert_eq!(sidecar.externals[number("external ") as usize], "sigsuspend");
    let site = &sidecar.sites[number("site ") as usize];
    assert_eq!((site.line, sidecar.string(site.function)), (11, "unmodelled::main"));
}

#[test]
fn a_shared_library_is_linked_plainly() {
    let directory = scratch("plugin");
    run(compile("plugin.rs", &directory).args(["--crate-type", "cdylib"]));
    let bytes = fs::read(directory.join("libplugin.so")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let exported =
        file.dynamic_symbols().any(|s| s.is_definition() && s.name() == Ok("plugin_answer"));
    assert!(exported);
    assert!(file.section_by_name("lockred_sites").is_none());
}

/// What clang makes of `int common; int answer(void) { pthread_barrier_wait(&lock); return common +
/// 42; }`, and a constructor.
const C_BITCODE: &str = r#"
target triple = "x86_64-unknown-linux-gnu"
@common = common global i32 0, align 4
@lock = internal global [40 x i8] zeroinitializer, align 8
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @early, ptr null }]
define internal void @early() {
  store i32 1, ptr @common
  ret void
}
declare i32 @pthread_barrier_wait(ptr)
define i32 @answer(i32 %locked) {
  %c = icmp ne i32 %locked, 0
  br i1 %c, label %with, label %without
with:
  %x = call i32 @pthread_barrier_wait(ptr @lock)
  br label %without
without:
  %y = load i32, ptr @common
  %z = add i32 %y, 41
  ret i32 %z
}
"#;

#[test]
fn bitcode_of_a_c_compiler_is_merged_and_checked_like_rust() {
    let directory = scratch("uses_bitcode");
    let object = directory.join("part.o");
    let module = lockred_analysis::llvm::Context::new().parse_text(C_BITCODE).unwrap();
    fs::write(&object, module.bitcode()).unwrap();
    run(compile("uses_bitcode.rs", &directory).arg(format!("-Clink-arg={}", object.display())));
    let executable = directory.join("uses_bitcode");
    assert_eq!(run(&mut Command::new(&executable)).stdout, "42\n");
    assert_eq!(sidecar(&executable).native_objects, ["global assembly"]);
    let locked = outcome(Command::new(&executable).arg("locked"));
    assert_eq!(locked.code, Some(99), "{}", locked.stderr);
}

#[test]
fn a_program_without_std_pulls_in_core() {
    let directory = scratch("no_std");
    run(compile("no_std.rs", &directory).args(["-Cpanic=abort", "-lc"]));
    assert_eq!(run(&mut Command::new(directory.join("no_std"))).stdout, "right\n");
}

#[test]
fn std_as_a_shared_library_is_refused() {
    let directory = scratch("dynamic");
    let built = outcome(compile("aborts.rs", &directory).arg("-Cprefer-dynamic"));
    assert_ne!(built.code, Some(0));
    assert!(built.stderr.contains("as a shared library"), "{}", built.stderr);
}

#[test]
fn crates_from_crates_io_run_under_the_harness_and_the_rules_for_them_match() {
    let directory = scratch("crates_io");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/link/crates_io");
    fs::create_dir_all(directory.join("src")).unwrap();
    for (from, to) in [("manifest", "Cargo.toml"), ("src/lib.rs", "src/lib.rs")] {
        fs::copy(source.join(from), directory.join(to)).unwrap();
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--target", lockred_analysis::llvm::TRIPLE]).current_dir(&directory);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", kit::flags().join("\u{1f}"));
    cargo.env("CARGO_TARGET_DIR", directory.join("target"));
    let rules = directory.join("rules");
    let ran = run(cargo.env("LOCKRED_SHIM_RULES", &rules));
    assert!(ran.stdout.contains("9 passed"), "{}", ran.stdout);
    for library in ["parking_lot", "spin", "once_cell", "crossbeam"] {
        let unmatched = unmatched(library, &rules);
        assert_eq!(unmatched, [""; 0], "these rules no longer match the current {library}");
    }
}

#[test]
fn what_cannot_be_linked_is_named() {
    let directory = scratch("errors");
    let shim = kit::home().join("lockred-shim");
    let missing =
        outcome(Command::new(&shim).args(["nowhere.o", "-o", "out"]).current_dir(&directory));
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("cannot read nowhere.o"), "{}", missing.stderr);

    fs::write(directory.join("bad.o"), b"BC\xC0\xDEnonsense").unwrap();
    let damaged = outcome(Command::new(&shim).args(["bad.o", "-o", "out"]).current_dir(&directory));
    assert_eq!(damaged.code, Some(1));
    assert!(damaged.stderr.contains("bad.o: LLVM cannot read"), "{}", damaged.stderr);

    let empty = outcome(Command::new(&shim).args(["-o", "out"]).current_dir(&directory));
    assert!(empty.stderr.contains("no function `main`"), "{}", empty.stderr);
}
