//! Sync models of the user's own, and distrust of those that are built in.

use crate::fixtures::{own, shared};
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::run;
use lockred_trace::codes::{BugKind, Verdict};
use std::path::Path;

fn three_pass(directory: &Path, arguments: &[&str]) -> TestFinished {
    let common = ["check", "--message-format", "json", "three_pass"];
    let tests = run(directory, &[&common, arguments].concat()).expect(0).tests();
    let [test] = <[TestFinished; 1]>::try_from(tests).unwrap();
    test
}

#[test]
fn a_model_of_the_package_is_used_and_said_unless_it_is_distrusted() {
    let believed = |test: &TestFinished| {
        let told = |code: &str| test.assumptions.iter().any(|a| a.code == code);
        (told("user-models"), test.executions)
    };
    let directory = shared("modelled");
    let with = three_pass(&directory, &[]);
    assert_eq!(believed(&with), (true, 6), "{with:?}");
    assert_eq!(with.verdict, Verdict::Passed);
    let message = &with.assumptions[0].message;
    assert!(message.ends_with("believed: turnstile"), "{message}");
    for library in ["turnstile", "all"] {
        let without = three_pass(&directory, &["--distrust", library]);
        let (said, executions) = believed(&without);
        assert!(!said && executions > 6 && without.complete, "{without:?}");
    }
    assert_eq!(believed(&three_pass(&directory, &[])), (true, 6), "builds do not mix");
}

#[test]
fn an_unknown_library_is_told_with_the_known_ones() {
    let output = run(&shared("modelled"), &["check", "--distrust", "stdd"]);
    let _ = output
        .expect(2)
        .says(&["no sync model of a library `stdd`", "parking_lot, spin, std, turnstile, all"]);
}

#[test]
fn a_wrong_model_is_told_with_its_file_and_rule_before_anything_is_built() {
    let directory = own("modelled", "modelled-wrong");
    let file = directory.join("models/turnstile.toml");
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, right.replace("\"unlock\"", "\"unlok\"")).unwrap();
    let output = run(&directory, &["check"]).expect(2);
    let output = output.says(&["models/turnstile.toml: rule `turnstile-leave`: ", "`unlok`"]);
    assert!(!output.stderr.contains("Compiling"), "{output}");

    std::fs::remove_file(&file).unwrap();
    let texts = ["cannot read the sync model", "turnstile.toml", "modelled-wrong/Cargo.toml names"];
    let _ = run(&directory, &["check"]).expect(2).says(&texts);

    let manifest = directory.join("Cargo.toml");
    let right = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, right.replace("models =", "model =")).unwrap();
    let texts = ["[package.metadata.lockred]", "unknown field `model`"];
    let _ = run(&directory, &["check"]).expect(2).says(&texts);
}

#[test]
fn a_library_older_than_its_model_is_explored_as_it_is_written() {
    let arguments = ["check", "--locked", "--message-format", "json"];
    let tests = run(&shared("outdated"), &arguments).expect(1).tests();
    let kinds: Vec<_> = tests.iter().flat_map(|test| &test.bugs).map(|bug| bug.kind).collect();
    assert_eq!(kinds, [BugKind::DoubleFree]);

    let directory = own("modelled", "modelled-older");
    let file = directory.join("models/turnstile.toml");
    let model = std::fs::read_to_string(&file).unwrap();
    for (since, believed) in [("0.1.0", true), ("0.1.1", false)] {
        let since = format!("since = {{ modelled = \"{since}\" }}\n");
        std::fs::write(&file, since + &model).unwrap();
        let test = three_pass(&directory, &[]);
        assert_eq!(test.assumptions.iter().any(|a| a.code == "user-models"), believed, "{test:?}");
    }
}

#[test]
fn what_a_model_leaves_out_is_explored_where_a_program_asks_for_it() {
    let output = run(&shared("bumping"), &["check", "--message-format", "json"]);
    let tests = output.expect(1).tests();
    let kinds = |test: &TestFinished| -> Vec<_> { test.bugs.iter().map(|bug| bug.kind).collect() };
    assert_eq!(tests.iter().map(kinds).collect::<Vec<_>>(), [[BugKind::Panic], [BugKind::Panic]]);
}
