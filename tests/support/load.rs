//! A machine that has much else to do.

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The one processor that is busy, the first that we may use: other tests have the others.
fn processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let list = allowed.unwrap_or_default().trim_start();
    list.chars().take_while(char::is_ascii_digit).collect()
}

/// As many on it as eight are on two.
const NUMBER: usize = 4;

/// Processes that compute for nothing on one processor, until this value goes. One at a time.
#[derive(Debug)]
pub struct Busy {
    processes: Vec<Child>,
    _alone: MutexGuard<'static, ()>,
}

impl Busy {
    /// Starts them.
    ///
    /// # Panics
    /// When there is no shell.
    #[must_use]
    pub fn start() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let process = |_| {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", &processor(), "/bin/sh", "-c", "while :; do :; done"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().expect("a shell on one processor")
        };
        Self { processes: (0..NUMBER).map(process).collect(), _alone: alone }
    }

    /// The same command beside them.
    #[must_use]
    pub fn beside(&self, command: &Command) -> Command {
        let mut beside = Command::new("taskset");
        beside
            .args(["--cpu-list", &processor()])
            .arg(command.get_program())
            .args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => beside.env(name, value),
                None => beside.env_remove(name),
            };
        }
        if let Some(directory) = command.get_current_dir() {
            beside.current_dir(directory);
        }
        beside.stdin(Stdio::null());
        beside
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
