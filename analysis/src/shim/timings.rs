//! How long each phase of a link took, and the most memory used until its end: printed when
//! `LOCKRED_SHIM_TIMINGS=1`, added to the file that it names otherwise.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::time::Instant;

/// A stop watch of named phases.
#[derive(Debug)]
pub struct Timings {
    wanted: Option<String>,
    since: Instant,
    phases: Vec<Phase>,
}

#[derive(Debug)]
struct Phase {
    name: &'static str,
    seconds: f64,
    /// The most memory of the process so far, in megabytes.
    megabytes: u64,
}

impl Timings {
    /// Starts the watch.
    #[must_use]
    pub fn start() -> Self {
        let wanted = std::env::var("LOCKRED_SHIM_TIMINGS").ok().filter(|v| !v.is_empty());
        Self { wanted, since: Instant::now(), phases: Vec::new() }
    }

    /// Ends a phase and starts the next.
    pub fn phase(&mut self, name: &'static str) {
        if self.wanted.is_some() {
            let (seconds, megabytes) = (self.since.elapsed().as_secs_f64(), most_memory());
            self.phases.push(Phase { name, seconds, megabytes });
            self.since = Instant::now();
        }
    }

    /// Prints what was asked for.
    pub fn report(&self) {
        let Some(place) = &self.wanted else { return };
        let total: f64 = self.phases.iter().map(|phase| phase.seconds).sum();
        let line = |Phase { name, seconds, megabytes }: &Phase| {
            format!("lockred-shim: {seconds:7.3} s {megabytes:5} MB {name}\n")
        };
        let mut text: String = self.phases.iter().map(line).collect();
        text += &format!("lockred-shim: {total:7.3} s {:5} MB in all\n", most_memory());
        if place == "1" {
            eprint!("{text}");
        } else if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(place) {
            // A file that cannot be written is missed by who asked for it.
            let _ = file.write_all(text.as_bytes());
        }
    }
}

/// The most memory that this process had so far, in megabytes; 0 where the system does not say.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
