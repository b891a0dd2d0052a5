//! The programs of the benches are right as ordinary tests: a bench of wrong programs would measure
//! nothing. (The wrong twins of `xtask/peers` are left out: they hang, fail, or have undefined
//! behaviour.)

use std::path::Path;
use std::process::Command;

/// Runs the tests of a directory whose names contain one of these, and expects so many.
fn pass(directory: &str, filters: &[&str], count: usize) {
    let mut test = Command::new(env!("CARGO"));
    test.args(["test", "--quiet", "--target-dir"]).arg(env!("CARGO_TARGET_TMPDIR"));
    test.arg("--").args(filters);
    test.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(directory));
    let output = test.output().expect("cargo can be run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(&format!("{count} passed")), "{count} tests: {text}");
}

#[test]
fn the_programs_of_bench_engine_pass() {
    // Nine programs with 2, 3 and 4 threads.
    pass("engine", &[], 27);
}

#[test]
fn the_right_programs_of_bench_peers_pass() {
    // A twin of each pair.
    pass("peers", &["::right"], 56);
}

#[test]
fn the_programs_of_bench_peers_with_published_numbers_pass() {
    pass("peers", &["tests::counts::"], 27);
}

#[test]
fn the_programs_of_bench_growth_pass() {
    // 23 families in 36 sizes.
    pass("growth", &[], 828);
}
