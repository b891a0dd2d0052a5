//! How long each phase of a link took, printed when `LOCKRED_SHIM_TIMINGS=1`.

use std::time::Instant;

/// A stop watch of named phases.
#[derive(Debug)]
pub struct Timings {
    enabled: bool,
    since: Instant,
    phases: Vec<(&'static str, f64)>,
}

impl Timings {
    /// Starts the watch.
    #[must_use]
    pub fn start() -> Self {
        let enabled = std::env::var_os("LOCKRED_SHIM_TIMINGS").is_some_and(|v| v == "1");
        Self { enabled, since: Instant::now(), phases: Vec::new() }
    }

    /// Ends a phase and starts the next.
    pub fn phase(&mut self, name: &'static str) {
        self.phases.push((name, self.since.elapsed().as_secs_f64()));
        self.since = Instant::now();
    }

    /// Prints seconds per phase to stderr, if asked for.
    pub fn report(&self) {
        if self.enabled {
            let total: f64 = self.phases.iter().map(|p| p.1).sum();
            for (name, seconds) in &self.phases {
                eprintln!("lockred-shim: {seconds:7.3} s {name}");
            }
            eprintln!("lockred-shim: {total:7.3} s in all");
        }
    }
}
