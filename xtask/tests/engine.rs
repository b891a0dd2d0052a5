//! The programs of `cargo xtask bench engine` are right as ordinary tests: a bench of wrong programs would measure nothing.

use std::path::Path;
use std::process::Command;

#[test]
fn the_programs_pass_as_ordinary_tests() {
    let mut test = Command::new(env!("CARGO"));
    test.args(["test", "--quiet", "--target-dir"]).arg(env!("CARGO_TARGET_TMPDIR"));
    test.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("engine"));
    let output = test.output().expect("cargo can be run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("27 passed"), "nine programs with 2, 3 and 4 threads: {text}");
}
