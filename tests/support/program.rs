//! The programs of the corpus: each test function with its directives and the lines marked as the
//! bug.

use crate::directive::{self, Directive, Expectation};
use std::iter::once;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// One test of the corpus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// As libtest names it.
    pub name: String,
    /// The file, relative to the corpus crate.
    pub file: String,
    /// The line of the function, from 1.
    pub line: u32,
    /// The expected verdict.
    pub expectation: Expectation,
    /// How many executions the search may need.
    pub executions: Option<RangeInclusive<u64>>,
    /// How many preemptions the schedule of the bug must have.
    pub preemptions: Option<u32>,
    /// The lines that a report must name.
    pub bug_lines: Vec<u32>,
    /// The verdicts with other options, one at a time.
    pub with: Vec<(String, Expectation)>,
}

impl Program {
    /// Whether the program is right.
    #[must_use]
    pub fn is_correct(&self) -> bool {
        self.verdicts().all(Expectation::is_correct)
    }

    /// Whether the program passes under plain `cargo test`, on a busy machine too.
    #[must_use]
    pub fn passes_plainly(&self) -> bool {
        self.verdicts().all(Expectation::passes_plainly)
    }

    /// The verdicts that it must get: without options, and with each.
    fn verdicts(&self) -> impl Iterator<Item = &Expectation> {
        once(&self.expectation).chain(self.with.iter().map(|(_, verdict)| verdict))
    }

    /// The program with the verdict that it must get with an option, if that is said.
    #[must_use]
    pub fn with(&self, option: &str) -> Option<Self> {
        let (_, verdict) = self.with.iter().find(|(known, _)| known == option)?;
        Some(Self {
            expectation: verdict.clone(),
            executions: None,
            preemptions: None,
            ..self.clone()
        })
    }
}

/// The corpus crate.
#[must_use]
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// All programs of a crate, by file and line.
///
/// # Errors
/// Every ill-formed directive, one sentence each with its place.
pub fn load(root: &Path) -> Result<Vec<Program>, Vec<String>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("src"))
        .map_err(|e| vec![format!("{}: {e}", root.display())])?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "rs") && !path.ends_with("lib.rs"))
        .collect();
    files.sort();
    let (mut programs, mut errors) = (Vec::new(), Vec::new());
    for path in files {
        let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match std::fs::read_to_string(&path) {
            Ok(text) => match parse(&module, &text) {
                Ok(found) => programs.extend(found),
                Err(found) => errors.extend(found),
            },
            Err(e) => errors.push(format!("{}: {e}", path.display())),
        }
    }
    if errors.is_empty() { Ok(programs) } else { Err(errors) }
}

/// The programs of one module.
///
/// # Errors
/// As [`load`].
pub fn parse(module: &str, text: &str) -> Result<Vec<Program>, Vec<String>> {
    let mut parser = Parser::new(module);
    for (line, number) in text.lines().zip(1..) {
        parser.line(line, number);
    }
    parser.finish()
}

/// A reader of one module, line by line.
struct Parser {
    module: String,
    file: String,
    programs: Vec<Program>,
    errors: Vec<String>,
    /// Directives that wait for their function.
    verdict: Option<Expectation>,
    executions: Option<RangeInclusive<u64>>,
    preemptions: Option<u32>,
    with: Vec<(String, Expectation)>,
    /// Bug lines in what tests share, with the tests' names: these stand below.
    shared_lines: Vec<(u32, Vec<String>)>,
    /// Whether `#[test]` stands before the next function.
    is_test: bool,
    /// Whether the lines belong to the last program.
    in_program: bool,
}

impl Parser {
    fn new(module: &str) -> Self {
        Self {
            module: module.to_owned(),
            file: format!("src/{module}.rs"),
            programs: Vec::new(),
            errors: Vec::new(),
            verdict: None,
            executions: None,
            preemptions: None,
            with: Vec::new(),
            shared_lines: Vec::new(),
            is_test: false,
            in_program: false,
        }
    }

    fn line(&mut self, line: &str, number: u32) {
        if let Some(text) = line.strip_prefix("//@") {
            match directive::parse(text) {
                Ok(Directive::Verdict(verdict)) if self.verdict.is_none() => {
                    self.verdict = Some(verdict);
                }
                Ok(Directive::Verdict(_)) => self.error(number, "a second verdict"),
                Ok(Directive::Executions(bound)) => self.executions = Some(bound),
                Ok(Directive::Preemptions(number)) => self.preemptions = Some(number),
                Ok(Directive::With(option, verdict)) => self.with.push((option, verdict)),
                Err(e) => self.error(number, &e),
            }
        } else if line == "#[test]" {
            self.is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            self.function(rest.split('(').next().unwrap_or_default(), number);
        } else if line == "}" {
            self.in_program = false;
        } else if line.trim_start().starts_with("//@") {
            self.error(number, "a directive inside something");
        }
        match line.split_once("//~") {
            None => {}
            Some((code, " bug")) if !code.trim().is_empty() => match self.programs.last_mut() {
                Some(program) if self.in_program => program.bug_lines.push(number),
                _ => self.error(number, "a bug line outside of a test"),
            },
            Some((code, mark)) if !code.trim().is_empty() && mark.starts_with(" bug of ") => {
                let names = mark[" bug of ".len()..].split(", ").map(str::to_owned).collect();
                self.shared_lines.push((number, names));
            }
            Some(_) => self.error(number, "a mark that is not a trailing `//~ bug`"),
        }
    }

    fn function(&mut self, name: &str, number: u32) {
        let (verdict, executions) = (self.verdict.take(), self.executions.take());
        let preemptions = self.preemptions.take();
        let with = std::mem::take(&mut self.with);
        match (std::mem::take(&mut self.is_test), verdict) {
            (true, Some(expectation)) => {
                self.in_program = true;
                self.programs.push(Program {
                    name: format!("{}::{name}", self.module),
                    file: self.file.clone(),
                    line: number,
                    expectation,
                    executions,
                    preemptions,
                    bug_lines: Vec::new(),
                    with,
                });
            }
            (true, None) => self.error(number, "a test without a verdict"),
            (false, Some(_)) => self.error(number, "a verdict on what is no test"),
            (false, None) => {}
        }
    }

    fn error(&mut self, number: u32, message: &str) {
        self.errors.push(format!("{}:{number}: {message}", self.file));
    }

    fn finish(mut self) -> Result<Vec<Program>, Vec<String>> {
        if self.verdict.is_some() {
            self.errors.push(format!("{}: the last directive belongs to no test", self.file));
        }
        for (line, names) in std::mem::take(&mut self.shared_lines) {
            for name in names {
                let name_in_module = format!("{}::{name}", self.module);
                match self.programs.iter_mut().find(|program| program.name == name_in_module) {
                    Some(program) => program.bug_lines.push(line),
                    None => self.error(line, &format!("a bug line of `{name}`, which is no test")),
                }
            }
        }
        let marked_but_right = |p: &&Program| p.is_correct() && !p.bug_lines.is_empty();
        for program in self.programs.iter().filter(marked_but_right) {
            let Program { file, line, .. } = program;
            self.errors.push(format!("{file}:{line}: a bug line in a program that is right"));
        }
        if self.errors.is_empty() { Ok(self.programs) } else { Err(self.errors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
fn helper() {
}

//@ failed deadlock
//@ executions <= 3
//@ preemptions = 1
#[test]
#[should_panic]
fn first() {
    one();
    two(); //~ bug
}

//@ verified
//@ with --reuse failed panic
#[test]
fn second() {
    three(); //~ bug
}
";

    #[test]
    fn programs_are_read_with_their_marks() {
        let programs = parse("module", GOOD).unwrap();
        let [first, second] = &programs[..] else { panic!("{programs:?}") };
        assert_eq!((first.name.as_str(), first.line), ("module::first", 9));
        assert_eq!((first.executions.clone(), &first.bug_lines[..]), (Some(0..=3), &[11][..]));
        assert_eq!((first.preemptions, second.preemptions), (Some(1), None));
        assert_eq!(second.expectation, Expectation::Verified);
        assert!(!second.is_correct() && first.with("--reuse").is_none());
        let panic = Expectation::Failed(vec![lockred_protocol::codes::BugKind::Panic]);
        assert_eq!(second.with("--reuse").unwrap().expectation, panic);
    }

    #[test]
    fn a_line_that_tests_share_names_them() {
        let text = "fn f() {\n    g(); //~ bug of a, b\n}\n//@ failed panic\n#[test]\nfn a() {}\n";
        let both = format!("{text}//@ failed panic\n#[test]\nfn b() {{\n    h(); //~ bug\n}}\n");
        let lines: Vec<_> = parse("m", &both).unwrap().into_iter().map(|p| p.bug_lines).collect();
        assert_eq!(lines, [vec![2], vec![10, 2]]);
        let missing = ["src/m.rs:2: a bug line of `b`, which is no test"];
        assert_eq!(parse("m", text).unwrap_err(), missing);
    }

    #[test]
    fn what_is_ill_formed_is_named_with_its_line() {
        for (text, expected) in [
            ("#[test]\nfn f() {}\n", "src/m.rs:2: a test without a verdict"),
            ("//@ verified\nfn f() {}\n", "src/m.rs:2: a verdict on what is no test"),
            ("//@ clean\n", "src/m.rs: the last directive belongs to no test"),
            ("//@ odd\n", "src/m.rs:1: ` odd` is no directive"),
            ("f(); //~ bug\n", "src/m.rs:1: a bug line outside of a test"),
            (
                "//@ clean\n#[test]\nfn f() {\n    f(); //~ bug\n}\n",
                "src/m.rs:3: a bug line in a program that is right",
            ),
        ] {
            assert_eq!(parse("m", text).unwrap_err(), [expected]);
        }
    }
}
