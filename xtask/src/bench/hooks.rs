//! `cargo xtask bench static`: which accesses need no hook, what the others cost, and what finding
//! that out takes.
//!
//! The programs of `xtask/static` take their own time. Those without threads are run by the
//! instrumented executable outside of any session, as they would run before the first thread is
//! created: hooks are there, and off. Of the others, a random execution is taken, from the first
//! creation of a thread to the end.

use crate::command::{self, root};
use crate::setup;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Instant, SystemTime};

/// A program, and whether it creates threads.
const PROGRAMS: [(&str, bool); 5] = [
    ("loop_over_a_vec", false),
    ("parse_json", false),
    ("hash_a_lot", false),
    ("sum_in_parallel", true),
    ("share_a_cache", true),
];
/// Programs whose builds are timed, from small to large.
const LINKED: [&str; 3] = ["hello", "search", "serve"];
/// Executions of which the time of one is taken.
const EXECUTIONS: u32 = 20;
/// Runs of each program; the fastest counts.
const RUNS: usize = 3;
/// What ThreadSanitizer needs on a stable toolchain, with a std that is not instrumented.
const SANITIZER: &str = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
/// It takes what std does for races, as it does not see std's synchronisation. To print these takes
/// time, and they are no races.
const SANITIZER_OPTIONS: &str = "report_bugs=0";

/// Where everything of this bench is built.
struct Place {
    tool: PathBuf,
    programs: PathBuf,
    targets: PathBuf,
}

/// Sets up, measures, and prints tables.
pub fn run() -> command::Outcome {
    let tool = setup::run()?;
    let targets = root().join("target").join("bench-static");
    if targets.exists() {
        std::fs::remove_dir_all(&targets).map_err(|e| format!("{}: {e}", targets.display()))?;
    }
    let place = Place { tool, programs: root().join("xtask").join("static"), targets };
    let executable = place.shares()?;
    place.precision()?;
    place.slowdowns(&executable)?;
    place.builds()?;
    place.links()
}

impl Place {
    /// Accesses by decision. Gives the instrumented executable.
    fn shares(&self) -> Result<PathBuf, String> {
        let plan = self.plan(&["--lib"], None)?;
        let all = plan["accesses"].as_u64().ok_or("the plan has no accesses")?;
        println!("| decision | rule         | accesses | share |");
        println!("|----------|--------------|---------:|------:|");
        for share in plan["rules"].as_array().ok_or("the plan has no rules")? {
            let count = share["count"].as_u64().unwrap_or(0);
            let percent = 100.0 * count as f64 / all as f64;
            let text = |field: &str| share[field].as_str().unwrap_or_default().to_owned();
            println!(
                "| {:8} | {:12} | {count:>8} | {percent:>4.1}% |",
                text("decision"),
                text("rule")
            );
        }
        println!();
        Ok(plan["executable"].as_str().ok_or("the plan names no executable")?.into())
    }

    /// How many of the accesses that the right programs of `xtask/peers` make touch what one thread
    /// alone touches, or nobody writes, how many of the others what one lock protects once it is
    /// shared, or nobody writes then, and of how many of these the analysis knows it.
    fn precision(&self) -> command::Outcome {
        let mut check = Command::new(&self.tool);
        check.args(["lockred", "check", "--quiet", "--message-format", "json", "--check-static"]);
        check.args(["--max-seconds", "2", "::right"]);
        check
            .arg("--target-dir")
            .arg(&self.targets)
            .current_dir(root().join("xtask").join("peers"));
        let text = printed(&mut check, &[0])?;
        let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut counts = [0; 5];
        for proved in records.filter_map(|record| record.get("proved").cloned()) {
            for (sum, field) in
                counts.iter_mut().zip(["ran", "unshared", "proved", "protected", "known"])
            {
                *sum += proved[field].as_u64().unwrap_or(0);
            }
        }
        let [ran, unshared, proved, protected, known] = counts;
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
        println!(
            "accesses made: {ran}; unshared or never written: {unshared}; known to be: {proved} ({:.1}%)",
            percent(proved, unshared)
        );
        println!(
            "protected by one lock, or not written, since two threads came: {protected} of the others; known to be: {known} ({:.1}%)\n",
            percent(known, protected)
        );
        Ok(())
    }

    /// What `cargo lockred audit --accesses` says at its end of one target.
    fn plan(&self, target: &[&str], timings: Option<&Path>) -> Result<Value, String> {
        let mut plan = Command::new(&self.tool);
        plan.args(["lockred", "audit", "--accesses", "--quiet", "--message-format", "json"])
            .args(target);
        plan.arg("--target-dir").arg(&self.targets).current_dir(&self.programs);
        if let Some(file) = timings {
            plan.env("LOCKRED_SHIM_TIMINGS", file);
        }
        let text = printed(&mut plan, &[0])?;
        let last = text.lines().last().unwrap_or_default();
        serde_json::from_str(last).map_err(|e| format!("the plan is no JSON: {e}"))
    }

    /// Times of the programs, plain and instrumented.
    fn slowdowns(&self, executable: &Path) -> command::Outcome {
        println!(
            "| program         | dev ms | release ms | first ms | lockred ms | × dev | × release | sanitizer ms |"
        );
        println!(
            "|-----------------|-------:|-----------:|---------:|-----------:|------:|----------:|-------------:|"
        );
        for (program, has_threads) in PROGRAMS {
            let dev = fastest(|| self.plain(program, false, None))?;
            let release = fastest(|| self.plain(program, true, None))?;
            let mut first = None;
            let lockred = if has_threads {
                // The first execution also pays for what is made once: the image of the root, the
                // pages of the shadow.
                let one = fastest(|| self.executions(program, 1))?;
                let all = fastest(|| self.executions(program, EXECUTIONS))?;
                first = Some(one);
                (all - one) / f64::from(EXECUTIONS - 1)
            } else {
                // The clock is virtual there, the counter of cycles is not.
                let cycles = fastest(|| outside(executable, program))?;
                cycles * release.nanoseconds / release.cycles
            };
            let sanitized = fastest(|| self.plain(program, false, Some(SANITIZER)));
            let ms = |nanoseconds: f64| format!("{:.2}", nanoseconds / 1e6);
            println!(
                "| {program:15} | {:>6} | {:>10} | {:>8} | {:>10} | {:>5.2} | {:>9.2} | {:>12} |",
                ms(dev.nanoseconds),
                ms(release.nanoseconds),
                first.map(ms).unwrap_or_default(),
                ms(lockred),
                lockred / dev.nanoseconds,
                lockred / release.nanoseconds,
                sanitized.map_or_else(|_| "none".to_owned(), |taken| ms(taken.nanoseconds)),
            );
        }
        println!();
        Ok(())
    }

    /// What a program takes by itself.
    fn plain(&self, program: &str, release: bool, flags: Option<&str>) -> Result<Taken, String> {
        let mut test = command::cargo(&self.programs);
        test.args(["test", "--quiet", "--lib", "--target-dir"]);
        test.arg(self.targets.join(if flags.is_some() { "sanitizer" } else { "plain" }));
        if release {
            test.arg("--release");
        }
        if let Some(flags) = flags {
            // With a target named, build scripts are left as they are.
            test.args(["--target", "x86_64-unknown-linux-gnu"]);
            test.env("RUSTFLAGS", flags).env("RUSTC_BOOTSTRAP", "1");
            test.env("TSAN_OPTIONS", SANITIZER_OPTIONS);
        }
        test.args(["--", "--exact", "--nocapture", &format!("tests::{program}")]);
        taken(&printed(&mut test, &[0])?)
    }

    /// Nanoseconds of so many random executions below the root.
    fn executions(&self, program: &str, count: u32) -> Result<f64, String> {
        let mut check = Command::new(&self.tool);
        check.args(["lockred", "check", "--quiet", "--message-format", "json", "--lib", "--exact"]);
        check.args(["--search", "sample", "--max-executions", &count.to_string()]);
        check.args(["--allow", "locking-discipline", &format!("tests::{program}")]);
        check.arg("--target-dir").arg(&self.targets).current_dir(&self.programs);
        let text = printed(&mut check, &[0])?;
        let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut tests = records.filter(|record| record["reason"] == "test-finished");
        let seconds = tests.next().and_then(|test| test["seconds"].as_f64());
        Ok(seconds.ok_or_else(|| format!("no record of {program}"))? * 1e9)
    }

    /// Builds of programs, plain and for a check.
    fn builds(&self) -> command::Outcome {
        println!("| program | built     | plain s | lockred s |    × |");
        println!("|---------|-----------|--------:|----------:|-----:|");
        for program in LINKED {
            let place = self.targets.join("built");
            for what in ["all of it", "one file"] {
                let file = self.programs.join("src").join("bin").join(program).with_extension("rs");
                let touched =
                    std::fs::File::open(&file).and_then(|f| f.set_modified(SystemTime::now()));
                touched.map_err(|e| format!("{}: {e}", file.display()))?;
                let mut plain = command::cargo(&self.programs);
                plain.args(["build", "--quiet"]);
                let mut lockred = Command::new(&self.tool);
                lockred
                    .args(["lockred", "audit", "--accesses", "--quiet"])
                    .current_dir(&self.programs);
                let [plain, lockred] = [plain, lockred].map(|mut build| {
                    build.args(["--bin", program, "--target-dir"]).arg(&place);
                    let start = Instant::now();
                    printed(&mut build, &[0]).map(|_| start.elapsed().as_secs_f64())
                });
                let (plain, lockred) = (plain?, lockred?);
                let times = lockred / plain;
                println!("| {program:7} | {what} | {plain:>7.2} | {lockred:>9.2} | {times:>4.1} |");
            }
            std::fs::remove_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
        }
        println!();
        Ok(())
    }

    /// Phases of the links of programs.
    fn links(&self) -> command::Outcome {
        println!("| program | accesses | phase of the link              | seconds | MB so far |");
        println!("|---------|---------:|--------------------------------|--------:|----------:|");
        for program in LINKED {
            let file = self.targets.join(format!("{program}.timings"));
            let plan = self.plan(&["--bin", program], Some(&file))?;
            let accesses = plan["accesses"].as_u64().unwrap_or(0);
            let text = std::fs::read_to_string(&file)
                .map_err(|e| format!("the shim left no {}: {e}", file.display()))?;
            for (phase, seconds, megabytes) in text.lines().filter_map(phase) {
                println!(
                    "| {program:7} | {accesses:>8} | {phase:30} | {seconds:>7} | {megabytes:>9} |"
                );
            }
        }
        Ok(())
    }
}

/// What a run of a program took.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Taken {
    cycles: f64,
    nanoseconds: f64,
}

/// A time, of which the smaller one is the better.
trait Time: Copy {
    fn is_better(self, than: Self) -> bool;
}

impl Time for Taken {
    fn is_better(self, than: Self) -> bool {
        self.nanoseconds < than.nanoseconds
    }
}

impl Time for f64 {
    fn is_better(self, than: Self) -> bool {
        self < than
    }
}

/// The best of some runs.
fn fastest<T: Time>(mut run: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let mut best = run()?;
    for _ in 1..RUNS {
        let next = run()?;
        if next.is_better(best) {
            best = next;
        }
    }
    Ok(best)
}

/// Cycles that a program takes in the instrumented executable, outside of any session.
fn outside(executable: &Path, program: &str) -> Result<f64, String> {
    let mut run = Command::new(executable);
    run.args(["--exact", "--nocapture", "--test-threads=1", &format!("tests::{program}")]);
    Ok(taken(&printed(&mut run, &[0])?)?.cycles)
}

/// The line that a program prints of itself.
fn taken(text: &str) -> Result<Taken, String> {
    let line = text.lines().find_map(|line| line.strip_prefix("measured "));
    let numbers: Option<Vec<f64>> =
        line.map(|line| line.split(' ').filter_map(|number| number.parse().ok()).collect());
    match numbers.as_deref() {
        Some(&[cycles, nanoseconds]) => Ok(Taken { cycles, nanoseconds }),
        _ => Err(format!("a program does not say what it took:\n{text}")),
    }
}

/// A phase of the shim's timings: its name, seconds, megabytes.
fn phase(line: &str) -> Option<(&str, &str, &str)> {
    let (seconds, rest) = line.strip_prefix("lockred-shim:")?.split_once(" s ")?;
    let (megabytes, name) = rest.split_once(" MB ")?;
    Some((name, seconds.trim(), megabytes.trim()))
}

/// What a command prints on standard output, if it ends with one of these.
fn printed(command: &mut Command, good: &[i32]) -> Result<String, String> {
    let Output { status, stdout, stderr } =
        command.output().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    if status.code().is_some_and(|code| good.contains(&code)) {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    Err(format!("{command:?} ended with {status}:\n{}", String::from_utf8_lossy(&stderr)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_the_shim_are_understood() {
        let reported = "\nrunning 1 test\n\nmeasured 300 100\n.\n";
        assert_eq!(taken(reported), Ok(Taken { cycles: 300.0, nanoseconds: 100.0 }));
        assert!(taken("measured 300\n").is_err());
        let line = "lockred-shim:   0.123 s    45 MB pull in std";
        assert_eq!(phase(line), Some(("pull in std", "0.123", "45")));
        assert_eq!(phase("warning: lockred-shim"), None);
    }
}
