//! How much memory the processes of an executable took at most, while another process runs.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

/// How often is looked. What happens between the last look and a process's end is not seen.
const INTERVAL: Duration = Duration::from_millis(1);

/// Does something, and gives the most kilobytes that a process of an executable below a directory
/// had resident meanwhile: 0 if none was seen.
pub fn watch<T>(directory: &Path, act: impl FnOnce() -> T) -> (T, u64) {
    let over = AtomicBool::new(false);
    scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(most_resident(directory));
                sleep(INTERVAL);
            }
            most
        });
        let done = act();
        over.store(true, Ordering::Relaxed);
        (done, watcher.join().unwrap_or_default())
    })
}

/// The largest peak among the processes of executables below a directory.
fn most_resident(directory: &Path) -> u64 {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let processes = processes.filter_map(|entry| Some(entry.ok()?.path()));
    let of_it = processes.filter(|process| {
        std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe.starts_with(directory))
    });
    let peaks =
        of_it.filter_map(|process| peak(&std::fs::read_to_string(process.join("status")).ok()?));
    peaks.max().unwrap_or(0)
}

/// Kilobytes of a `/proc/<process>/status`.
fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen_and_others_are_not() {
        let exe = std::env::current_exe().expect("the test has an executable");
        let directory = exe.parent().expect("it is in a directory");
        assert!(most_resident(directory) > 0);
        assert_eq!(most_resident(&directory.join("nothing")), 0);
    }

    #[test]
    fn the_peak_is_read() {
        assert_eq!(peak("VmPeak:\t 9 kB\nVmHWM:\t  1234 kB\n"), Some(1234));
        assert_eq!(peak("VmPeak:\t 9 kB\n"), None);
    }
}
