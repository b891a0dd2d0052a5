//! Where and when numbers were measured.

use super::Options;
use std::process::Command;

/// A sentence with the date, the machine, the toolchain, and the budget.
pub fn sentence(options: &Options) -> Result<String, String> {
    let date = date()?;
    let rustc = said(Command::new("rustc").arg("--version"))?;
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model(&processors).unwrap_or("unknown processor");
    let Options { seconds, jobs, .. } = options;
    Ok(format!(
        "{date}, {model}, {jobs} tests at a time, {rustc}, at most {seconds} s a test where the list does not say."
    ))
}

/// The date.
pub fn date() -> Result<String, String> {
    said(Command::new("date").args(["-u", "+%Y-%m-%d"]))
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn model(processors: &str) -> Option<&str> {
    let line = processors.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_processor_is_named() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: Other\n";
        assert_eq!(super::model(text), Some("Some CPU @ 2 GHz"));
        assert_eq!(super::model(""), None);
    }
}
