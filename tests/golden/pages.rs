//! The manual's examples: each is a program of this repository, gives the code of its page, and the
//! report that the page shows.

use crate::golden::{is_blessed, same};
use crate::normal;
use lockred_tests::outcome::{self, TestFinished};
use lockred_tests::tool;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages whose code this version never gives; they say so.
const WITHOUT_EXAMPLE: [&str; 1] = ["address-reuse"];

struct Page {
    code: String,
    path: PathBuf,
    text: String,
}

/// What stands between two texts; fails with the page's name where they do not.
fn between<'a>(page: &'a Page, text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{}: no `{start}`", page.code));
    rest.split_once(end).unwrap_or_else(|| panic!("{}: no `{end}`", page.code)).0
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root().join("docs/codes"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let page = |path: PathBuf| Page {
        code: path.file_stem().unwrap().to_string_lossy().into_owned(),
        text: fs::read_to_string(&path).unwrap(),
        path,
    };
    paths.into_iter().map(page).collect()
}

/// The pages with an example.
fn examples() -> Vec<Page> {
    pages().into_iter().filter(|page| !WITHOUT_EXAMPLE.contains(&page.code.as_str())).collect()
}

impl Page {
    /// The command with its arguments, and the directory, relative to the root.
    fn command(&self) -> (Vec<&str>, &str) {
        let line = between(self, &self.text, "\n`cargo lockred ", " prints:\n");
        let (arguments, directory) = line.split_once("` in `").unwrap();
        (arguments.split(' ').collect(), directory.trim_end_matches('`'))
    }

    fn report(&self) -> &str {
        between(self, &self.text, "prints:\n\n```text\n", "```\n")
    }

    /// Compares what it shows with what is printed, or writes that into it.
    fn shows(&self, report: &str) {
        if is_blessed() {
            let text = self.text.replacen(
                &format!("prints:\n\n```text\n{}```\n", self.report()),
                &format!("prints:\n\n```text\n{report}```\n"),
                1,
            );
            fs::write(&self.path, text).unwrap();
        } else {
            same(self.report(), report, &self.code);
        }
    }
}

#[test]
fn examples_are_programs_of_this_repository() {
    for page in examples() {
        let example = between(&page, &page.text, "```rust\n", "```\n");
        let source = root().join(page.command().1).join("src");
        let files = fs::read_dir(source).unwrap().map(|entry| entry.unwrap().path());
        let flat = |text: &str| {
            text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
        };
        let texts: Vec<String> =
            files.map(|file| flat(&fs::read_to_string(file).unwrap())).collect();
        // An item, or several, each as it is in the file.
        for item in example.trim_end().split("\n\n") {
            let item = flat(item);
            assert!(texts.iter().any(|text| text.contains(&item)), "{}:\n{item}", page.code);
        }
    }
}

#[test]
fn pages_without_an_example_say_why() {
    for page in pages().iter().filter(|page| WITHOUT_EXAMPLE.contains(&page.code.as_str())) {
        assert!(!page.text.contains("```"), "{} has an example", page.code);
        let text = page.text.replace('\n', " ");
        assert!(text.contains("This version"), "{}: {text}", page.code);
    }
}

#[test]
fn examples_give_their_code_and_the_report_that_the_page_shows() {
    for page in examples() {
        let (arguments, directory) = page.command();
        let directory = root().join(directory).canonicalize().unwrap();
        // Where the corpus was built already for other tests, it is used.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(directory.file_name().unwrap());
        let mut command = tool::lockred(&directory, [arguments[0]]);
        command.arg("--target-dir").arg(target).args(&arguments[1..]);
        if arguments[0] == "audit" {
            let output = tool::finish(&mut command).expect(0);
            page.shows(&warning(&output.stdout, &page.code));
            continue;
        }
        command.args(["--message-format", "json"]);
        let output = tool::finish(&mut command);
        let lines = outcome::parse(&output.stdout).unwrap_or_else(|e| panic!("{e}\n{output}"));
        let tests = outcome::tests(&lines);
        assert_eq!(tests.len(), 1, "{}\n{output}", page.code);
        assert!(gives(tests[0], &page.code), "{} is not given\n{output}", page.code);
        page.shows(&report(&output.stderr, &directory));
    }
}

/// The first warning of an audit with a code, as it is printed.
fn warning(stdout: &str, code: &str) -> String {
    let first = format!("  warning[{code}]");
    let lines = stdout.lines().skip_while(|line| !line.starts_with(&first));
    let rest = lines.clone().skip(1).take_while(|line| line.starts_with("    "));
    lines.take(1).chain(rest).map(|line| format!("{line}\n")).collect()
}

/// Whether a test has a finding with this code, or rests on it.
fn gives(test: &TestFinished, code: &str) -> bool {
    test.bugs.iter().any(|bug| bug.code == code)
        || test.warnings.iter().any(|warning| warning["code"] == code)
        || test.assumptions.iter().any(|assumption| assumption.code == code)
}

/// What is printed for people of one test, without what changes from run to run.
fn report(stderr: &str, directory: &Path) -> String {
    let text = normal::human(stderr, directory);
    let (_, text) = text.split_once('\n').expect("a line about what is checked");
    let (text, _) = text.split_once("     Summary").expect("a summary");
    let lines = text.trim_end().lines().map(|line| match line.split_once("/var/tmp/manual-") {
        Some((head, _)) => format!("{head}/var/tmp/manual-1"),
        None => line.to_owned(),
    });
    lines.map(|line| line + "\n").collect()
}
