//! What a document says of the run after it: when, on which machine, with what beside it.

use std::process::Command;

/// One line for people.
pub fn line() -> String {
    let text = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = processor(&text("/proc/cpuinfo")).unwrap_or_else(|| "unknown".into());
    let kernel = text("/proc/sys/kernel/osrelease");
    format!(
        "{}, {processor}, {cores} cores, Linux {}",
        said(Command::new("date").arg("+%Y-%m-%d")),
        kernel.trim()
    )
}

/// How many processes wanted a processor in the last minute, on average.
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// The first line that a command prints, or `unknown`.
pub fn said(command: &mut Command) -> String {
    let output = command.output().ok().filter(|output| output.status.success());
    let line = output.and_then(|output| {
        String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
    });
    line.unwrap_or_else(|| "unknown".into())
}

/// The processor of a `/proc/cpuinfo`.
fn processor(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(": ")?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named() {
        let text = "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu\n";
        assert_eq!(processor(text).as_deref(), Some("Some CPU"));
        assert_eq!(processor("processor\t: 0\n"), None);
    }

    #[test]
    fn a_command_that_fails_says_nothing() {
        assert_eq!(said(Command::new("echo").arg("one\ntwo")), "one");
        assert_eq!(said(&mut Command::new("false")), "unknown");
    }
}
