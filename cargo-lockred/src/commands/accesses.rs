//! `cargo lockred audit --accesses`: which accesses of a program have hooks, and by which rule the
//! others have none.

use crate::build::artifact::Built;
use crate::cli::audit::AuditOptions;
use crate::cli::format::{self, Format, FormatName};
use crate::error::{Error, Result};
use crate::executable::sidecar;
use crate::exit::Exit;
use crate::interrupt;
use crate::lock_order::Reported;
use crate::printing::console::Console;
use crate::printing::line;
use crate::protection;
use crate::under_check::UnderCheck;
use lockred_protocol::addresses::{Addresses, Followed};
use lockred_protocol::lock_order::{LockOrder, Programs};
use lockred_protocol::plan::{Plan, Reason, Row};
use lockred_protocol::protection::Protection;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// A line of JSON: accesses of one line of source for one reason.
#[derive(Serialize)]
struct Accesses<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    function: &'a str,
    file: &'a str,
    line: u32,
    decision: &'static str,
    rule: &'static str,
    count: u32,
}

/// The line of JSON after those of an executable, of all its accesses.
#[derive(Serialize)]
struct Summary<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    package: &'a str,
    executable: &'a Path,
    accesses: u64,
    rules: Vec<Share>,
    addresses: Addresses,
}

/// All accesses of one reason.
#[derive(Serialize, PartialEq, Debug)]
struct Share {
    decision: &'static str,
    rule: &'static str,
    count: u64,
    why: &'static str,
}

/// Which functions are listed.
struct Choice<'a> {
    filters: &'a [String],
    root: &'a Path,
}

impl Choice<'_> {
    fn takes(&self, function: &str, file: &str) -> bool {
        if self.filters.is_empty() {
            let file = Path::new(file);
            // rustc writes the files of a workspace's members relative to its root.
            return !file.as_os_str().is_empty()
                && (file.is_relative() || file.starts_with(self.root));
        }
        self.filters.iter().any(|filter| function.contains(filter))
    }
}

/// Lists them.
///
/// # Errors
/// When the build fails, or builds nothing.
pub fn run(options: &AuditOptions) -> Result<Exit> {
    let display = &options.selection.display;
    let console = Console::new(display.color, display.quiet);
    let directory = std::env::current_dir()
        .map_err(|e| Error::usage(format!("there is no current directory: {e}")))?;
    let formats = format::wanted(&options.message_format, false).map_err(Error::usage)?;
    let json = match &formats[..] {
        [] => false,
        [Format { name: FormatName::Json, file: None }] => true,
        _ => return Err(Error::usage("accesses are printed as human or json, to stdout")),
    };
    interrupt::listen();
    let under_check = UnderCheck::find(&directory, &options.selection, &console)?;
    let built = under_check.build(&options.selection)?;
    let choice = Choice { filters: &options.filter.filters, root: &under_check.project.root };
    let mut text = String::new();
    for built in built.iter().filter(|built| built.kind != "proc-macro") {
        let plan: Plan = sidecar::carried(&built.executable)?;
        let analysis = &options.selection.analysis;
        let finds_order = analysis.order() == Programs::All;
        let names = finds_order || analysis.finds_protection();
        let sites = if names { sidecar::read(&built.executable)? } else { Default::default() };
        let (sidecar, root, target) = (&sites, &*under_check.project.root, &*built.label());
        let order: Option<LockOrder> =
            finds_order.then(|| sidecar::carried(&built.executable)).transpose()?;
        let order = order.as_ref().map(|order| Reported { order, sidecar, root, target });
        let protection: Option<Protection> =
            analysis.finds_protection().then(|| sidecar::carried(&built.executable)).transpose()?;
        let protection = protection.as_ref().map(|protection| {
            let reported = protection::Reported { protection, sidecar, root, target };
            if json { reported.json() } else { reported.human() }
        });
        let protection = protection.unwrap_or_default();
        // The last line of JSON is of the whole program.
        text += &match json {
            true => {
                let order = order.map(|order| order.json()).unwrap_or_default();
                protection + &order + &lines(&plan, built, &choice)
            }
            false => {
                let order = order.map(|order| order.human()).unwrap_or_default();
                human(&plan, built, &choice) + &protection + &order
            }
        };
    }
    if text.is_empty() {
        return Err(Error::usage("nothing was built that has a plan"));
    }
    // Who stops reading has read enough.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(Exit::Success)
}

/// How often each reason holds, in their order.
fn shares(plan: &Plan) -> Vec<Share> {
    let count = |reason| {
        let rows = plan.rows.iter().filter(|row| row.reason == reason);
        rows.map(|row| u64::from(row.count)).sum()
    };
    let share = |reason: Reason| Share {
        decision: reason.decision().text(),
        rule: reason.name(),
        count: count(reason),
        why: reason.why(),
    };
    Reason::ALL.into_iter().map(share).collect()
}

/// The rows that are listed, by function.
fn listed<'a>(plan: &'a Plan, choice: &Choice<'_>) -> Vec<&'a Row> {
    let mut rows: Vec<&Row> = plan
        .rows
        .iter()
        .filter(|row| choice.takes(plan.string(row.function), plan.string(row.file)))
        .collect();
    rows.sort_by_key(|row| {
        (plan.string(row.function), plan.string(row.file), row.line, row.reason)
    });
    rows
}

fn human(plan: &Plan, built: &Built, choice: &Choice<'_>) -> String {
    let mut text = format!("{} of {}\n", built.label(), built.package);
    let mut function = None;
    for row in listed(plan, choice) {
        let place = (row.function, row.file);
        if function.replace(place) != Some(place) {
            let (name, file) = (plan.string(row.function), plan.string(row.file));
            let _ = writeln!(text, "\n{name}\n  {file}");
        }
        let (decision, rule) = (row.reason.decision().text(), row.reason.name());
        let _ = writeln!(text, "  {:>6}  {decision:7}  {rule:12}  {}", row.line, row.count);
    }
    let shares = shares(plan);
    let all: u64 = shares.iter().map(|share| share.count).sum();
    let _ = writeln!(text, "\nthe whole program: {all} accesses");
    for Share { decision, rule, count, why } in shares {
        let percent = 100.0 * count as f64 / all.max(1) as f64;
        let _ = writeln!(text, "  {decision:7}  {rule:12}  {count:>8}  {percent:>5.1} %  {why}");
    }
    text += &addresses(&plan.addresses);
    text.push('\n');
    text
}

/// What the rules rest on that follow addresses through memory, for people.
fn addresses(known: &Addresses) -> String {
    let mut text = String::from("where addresses point to: ");
    match known.followed {
        Followed::NotAsked => text += "no rule that is used needs it\n",
        Followed::TooLarge => text += "not known, the program is too large for that\n",
        Followed::GivenUp => text += "not known, finding it out would take too long\n",
        Followed::Whole => {
            let (objects, accesses) = (known.objects, known.accesses);
            let _ = writeln!(text, "{objects} objects, {accesses} places that access them");
            text += "  what is not followed, so that anything is assumed of it:\n";
            for (number, what) in known.conservative() {
                let _ = writeln!(text, "  {number:>8}  {what}");
            }
        }
    }
    text
}

fn lines(plan: &Plan, built: &Built, choice: &Choice<'_>) -> String {
    let target = built.label();
    let access = |row: &Row| {
        let line = Accesses {
            reason: "accesses",
            v: VERSION,
            target: &target,
            function: plan.string(row.function),
            file: plan.string(row.file),
            line: row.line,
            decision: row.reason.decision().text(),
            rule: row.reason.name(),
            count: row.count,
        };
        line::json(&line)
    };
    let text: String = listed(plan, choice).into_iter().map(access).collect();
    let rules = shares(plan);
    let accesses = rules.iter().map(|share| share.count).sum();
    let package = &built.package;
    let executable = built.executable.as_path();
    let summary = Summary {
        reason: "plan",
        v: VERSION,
        target: &target,
        package,
        executable,
        accesses,
        rules,
        addresses: plan.addresses,
    };
    text + &line::json(&summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let row = |function, file, line, reason, count| Row { function, file, line, reason, count };
        Plan {
            addresses: Addresses::default(),
            strings: ["mine::f", "src/lib.rs", "core::g", "/rustc/core.rs"]
                .map(String::from)
                .into(),
            rows: vec![
                row(0, 1, 7, Reason::Stack, 3),
                row(0, 1, 9, Reason::Shared, 1),
                row(2, 3, 1, Reason::Heap, 4),
            ],
        }
    }

    #[test]
    fn functions_of_the_workspace_are_listed_and_those_that_are_asked_for() {
        let plan = plan();
        let lines = |filters: &[&str]| -> Vec<u32> {
            let filters: Vec<String> = filters.iter().map(|&filter| filter.into()).collect();
            let choice = Choice { filters: &filters, root: Path::new("/work") };
            listed(&plan, &choice).into_iter().map(|row| row.line).collect()
        };
        assert_eq!(lines(&[]), [7, 9]);
        assert_eq!(lines(&["core::"]), [1]);
        assert_eq!(lines(&["g", "f"]), [1, 7, 9]);
        assert!(lines(&["h"]).is_empty());
    }

    #[test]
    fn shares_are_of_all_accesses() {
        let shares = shares(&plan());
        let of = |rule: &str| shares.iter().find(|share| share.rule == rule).unwrap().count;
        assert_eq!([of("stack"), of("heap"), of("shared"), of("constant")], [3, 4, 1, 0]);
    }
}
