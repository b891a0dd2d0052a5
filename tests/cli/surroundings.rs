//! Paths, configuration and callers as users have them.

use crate::fixtures::{own, shared, temporary};
use lockred_tests::tool::{self, finish, lockred, run};
use std::path::Path;

#[test]
fn cargo_finds_the_subcommand() {
    let directory = temporary().join("path");
    std::fs::create_dir_all(&directory).unwrap();
    let link = directory.join("cargo-lockred");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(tool::path(), link).unwrap();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(directory).chain(std::env::split_paths(&paths));
    let mut command = tool::clean(tool::cargo(), &shared("sample"));
    command.env("PATH", std::env::join_paths(paths).unwrap());
    let _ = finish(command.args(["lockred", "check", "tests::verified"])).expect(0);
}

#[test]
fn paths_with_spaces_and_letters_of_every_kind() {
    let fixture = own("sample", "a space, ünï ⟨cödé⟩ 'quote'");
    let arguments = ["check", "--message-format", "json", "tests::deadlocks"];
    let tests = run(&fixture, &arguments).expect(1).tests();
    let bug = &tests[0].bugs[0];
    assert!(bug.sites.iter().any(|site| site.file == "src/lib.rs"), "{bug:?}");
    let _ = run(&fixture, &["replay", &bug.id]).expect(1);
}

#[test]
fn a_manifest_elsewhere() {
    let manifest = shared("sample").join("Cargo.toml");
    let manifest = manifest.to_str().expect("a path in UTF-8");
    let arguments = ["check", "--manifest-path", manifest, "tests::verified"];
    let _ = run(Path::new("/"), &arguments).expect(0);
}

#[test]
fn the_user_s_wrapper_and_flags_of_the_configuration_stay() {
    let fixture = own("configured", "configured");
    let log = fixture.join("wrapper.log");
    let _ = std::fs::remove_file(&log);
    let source = fixture.join("src/lib.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    // Written anew, so that rustc is called in every run of this test.
    std::fs::write(&source, &text).unwrap();
    let _ = finish(lockred(&fixture, ["check"]).env("WRAPPER_LOG", &log)).expect(0);
    let log = std::fs::read_to_string(&log).expect("the wrapper was called");
    assert!(log.contains("configured") && log.contains("from_the_config"), "{log}");
}

#[test]
fn a_wrapper_from_the_environment_stays() {
    let fixture = own("sample", "wrapped");
    let wrapper = shared("configured").join("wrapper.sh");
    let log = fixture.join("wrapper.log");
    let _ = std::fs::remove_file(&log);
    let source = fixture.join("src/lib.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, &text).unwrap();
    let mut command = lockred(&fixture, ["check", "tests::verified"]);
    command.env("RUSTC_WRAPPER", wrapper).env("WRAPPER_LOG", &log);
    let _ = finish(&mut command).expect(0);
    assert!(std::fs::read_to_string(&log).expect("the wrapper was called").contains("sample"));
}

#[test]
fn flags_from_the_environment_stay() {
    let fixture = own("configured", "flags");
    std::fs::remove_dir_all(fixture.join(".cargo")).unwrap_or(());
    let _ = run(&fixture, &["check"]).expect(1);
    let mut command = lockred(&fixture, ["check"]);
    let _ = finish(command.env("RUSTFLAGS", "--cfg from_the_config")).expect(0);
}

#[test]
fn nothing_is_built_twice() {
    let fixture = shared("sample");
    let _ = run(&fixture, &["check", "tests::verified"]).expect(0);
    let output = run(&fixture, &["check", "tests::verified"]).expect(0);
    assert!(!output.stderr.contains("Compiling"), "{output}");
}
