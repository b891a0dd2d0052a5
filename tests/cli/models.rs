//! Sync models of the user's own, and distrust of those that are built in.

use crate::fixtures::{own, shared};
use lockred_protocol::codes::{BugKind, Verdict};
use lockred_tests::outcome::{Line, TestFinished};
use lockred_tests::tool::run;
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
        let reported = |code: &str| test.assumptions.iter().any(|a| a.code == code);
        (reported("user-models"), test.executions)
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
fn an_unknown_library_is_reported_with_the_known_ones() {
    let output = run(&shared("modelled"), &["check", "--distrust", "stdd"]);
    let _ = output
        .expect(2)
        .says(&["no sync model of a library `stdd`", "parking_lot, spin, std, turnstile, all"]);
}

#[test]
fn a_wrong_model_is_reported_with_its_file_and_rule_before_anything_is_built() {
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
    let output = run(&shared("outdated"), &arguments).expect(1);
    let tests = output.tests();
    let older =
        "warning: crossbeam-channel 0.5.14 is older than its model (checked from 0.5.15 on)";
    let _ = output.says(&[&format!("{older}: explored as written")]);
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

/// What a check of the three passes says that it explores as written, to people and to machines
/// alike.
fn unmodelled(directory: &Path) -> Vec<String> {
    let arguments = ["check", "--message-format", "json", "three_pass"];
    let output = run(directory, &arguments).expect(0);
    let lines = output.lines();
    let Some(Line::Finished(finished)) = lines.last() else { panic!("no last line\n{output}") };
    for text in &finished.unmodelled {
        let said = format!("warning: {text}\n");
        assert_eq!(output.stderr.matches(&said).count(), 1, "{output}");
    }
    let tests = output.tests();
    let believed = tests[0].assumptions.iter().any(|a| a.code == "user-models");
    assert_eq!(believed, finished.unmodelled.iter().all(|text| !text.contains("turnstile")));
    finished.unmodelled.clone()
}

#[test]
fn a_model_of_which_a_part_matches_nothing_is_not_used_and_that_is_reported() {
    let directory = own("modelled", "modelled-half");
    let file = directory.join("models/turnstile.toml");
    let right = std::fs::read_to_string(&file).unwrap();
    let reported = |from: &str, to: &str| {
        assert!(right.contains(from), "no {from}");
        std::fs::write(&file, right.replace(from, to)).unwrap();
        unmodelled(&directory)
    };
    let says = |why: &str| {
        [format!("modelled 0.1.0 does not fit the model of turnstile, {why}: explored as written")]
    };
    assert_eq!(reported("\"store\"", "\"store\""), [""; 0]);
    let other = "its rule `turnstile-leave` matches nothing in `modelled::Turnstile::leave`";
    assert_eq!(reported("\"store\"", "\"xchg\""), says(other));
    let renamed = "no rule matches that gives back what its rule `turnstile-enter` acquires";
    assert_eq!(reported("Turnstile::leave", "Turnstile::exit"), says(renamed));
}

#[test]
fn a_library_newer_than_its_model_is_explored_as_it_is_written_and_that_is_reported() {
    let directory = own("modelled", "modelled-newer");
    let library = directory.join("once_cell");
    std::fs::create_dir_all(library.join("src")).unwrap();
    let write = |path: &str, text: String| std::fs::write(directory.join(path), text).unwrap();
    let read = |path: &str| std::fs::read_to_string(directory.join(path)).unwrap();
    let manifest = "[package]\nname = \"once_cell\"\nversion = \"9.0.0\"\nedition = \"2024\"\n";
    write("once_cell/Cargo.toml", manifest.into());
    write("once_cell/src/lib.rs", "pub fn made() {}\n".into());
    let dependency = "[dependencies]\nonce_cell = { path = \"once_cell\" }\n";
    write("Cargo.toml", format!("{}\n{dependency}", read("Cargo.toml")));
    write("src/lib.rs", format!("{}\nuse once_cell as _;\n", read("src/lib.rs")));
    let reported = unmodelled(&directory);
    let [reported] = &*reported else { panic!("{reported:?}") };
    assert!(
        reported.starts_with("once_cell 9.0.0 is newer than its model (checked up to 1."),
        "{reported}"
    );
    assert!(reported.ends_with("): explored as written"), "{reported}");
}

#[test]
fn what_a_model_leaves_out_is_explored_where_a_program_asks_for_it() {
    let output = run(&shared("bumping"), &["check", "--message-format", "json"]);
    let tests = output.expect(1).tests();
    let kinds = |test: &TestFinished| -> Vec<_> { test.bugs.iter().map(|bug| bug.kind).collect() };
    assert_eq!(tests.iter().map(kinds).collect::<Vec<_>>(), [[BugKind::Panic], [BugKind::Panic]]);
}
