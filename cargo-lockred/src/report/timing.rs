//! A report of what fails only where a thread is slower than another one sleeps: which sleep, how
//! long it is, and who is slower.

use super::bug::{thread_name, with_main};
use super::{Place, Report, Severity};
use crate::executable::symbols::Symbols;
use lockred_protocol::codes::WarningKind;
use lockred_protocol::message::{Overtaken, Replay, Role, Timed};
use lockred_protocol::sites::SiteId;

/// Whether a failure that shows where a sleep is overtaken is known to show nowhere else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// No schedule in which all sleeps are long enough fails in this way.
    Only,
    /// The effort ended in which to look for one.
    Perhaps,
}

/// Makes the report of a failure one of the overtaken sleeps that it takes; whether it takes them
/// is known.
pub fn of(report: Report, replay: &Replay, timing: Timing, symbols: &Symbols) -> Report {
    let mut report = report;
    report.severity = Severity::Warning;
    report.code = Some(WarningKind::Timing.code());
    let whats: Vec<String> = replay.overtaken.iter().take(2).map(|one| what(replay, one)).collect();
    let more = replay.overtaken.len().saturating_sub(whats.len());
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    report.title = format!("timing: {}, where {}{more}", report.title, whats.join(", and "));
    for overtaken in &replay.overtaken {
        for place in places(replay, overtaken, symbols) {
            let same = |other: &Place| other.label == place.label && other.frame() == place.frame();
            if !report.places.iter().any(same) {
                report.places.push(place);
            }
        }
    }
    report.notes.push(note(timing).into());
    report
}

/// What a report says of whether the failure takes an overtaken sleep.
pub const fn note(timing: Timing) -> &'static str {
    match timing {
        Timing::Only => {
            "where all sleeps, timeouts and looks at clocks are long enough, no schedule fails in this way"
        }
        Timing::Perhaps => {
            "the effort ended in which to look for a schedule that fails where all sleeps and timeouts are long enough"
        }
    }
}

/// `main's sleep of 250 ms is overtaken by thread 1`.
fn what(replay: &Replay, overtaken: &Overtaken) -> String {
    let who = thread_name(replay, overtaken.thread);
    let long = long(overtaken);
    let by = overtaken.by.map(|(by, _)| thread_name(replay, by));
    match (overtaken.what, by) {
        (Timed::Sleep, Some(by)) => format!("{who}'s sleep{long} ends before {by} has gone on"),
        (Timed::Timeout, Some(by)) => {
            format!("{who}'s timeout{long} fires before {by} has gone on")
        }
        (Timed::Sleep, None) => format!("{who}'s sleep{long} ends early"),
        (Timed::Timeout, None) => format!("{who}'s timeout{long} fires early"),
        (Timed::Look, _) => format!("{who} looks at a clock late"),
    }
}

fn long(overtaken: &Overtaken) -> String {
    match overtaken.nanoseconds {
        // Looks at clocks have taken what there was.
        ..1_000 => String::new(),
        nanoseconds => format!(" of {}", in_words(nanoseconds)),
    }
}

fn places(replay: &Replay, overtaken: &Overtaken, symbols: &Symbols) -> Vec<Place> {
    let who = thread_name(replay, overtaken.thread);
    let long = long(overtaken).replacen(" of", "", 1);
    let label = match overtaken.what {
        Timed::Sleep => format!("{who} sleeps{long} here"),
        Timed::Timeout => {
            format!("{who} waits here, and times out{}", long.replacen(' ', " after ", 1))
        }
        Timed::Look => format!("{who} looks at a clock here: {} have passed", long.trim_start()),
    };
    let frames = symbols.frames(overtaken.site, &overtaken.stack);
    let mut places =
        vec![Place { role: Some(Role::Sleeps), thread: who, label, frames, order: None }];
    if let Some((by, site)) = overtaken.by.filter(|(_, site)| *site != SiteId(0)) {
        let thread = with_main(&format!("thread {by}"));
        let label = format!("{} could have gone on here all the while", thread_name(replay, by));
        let frames = symbols.frames(site, &[]);
        places.push(Place { role: Some(Role::Slow), thread, label, frames, order: None });
    }
    places
}

/// Virtual nanoseconds that looks at clocks may have taken from a timeout before it begins: what is
/// left of one of 1 s is reported as 1 s.
const LOOKS: u64 = 20_000;

/// `250 ms`.
fn in_words(nanoseconds: u64) -> String {
    let units = [(3_600_000_000_000, "h"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let whole = units.iter().find_map(|&(unit, name)| {
        let taken = LOOKS.min(unit / 10);
        let number = (nanoseconds + taken) / unit;
        let is_near = (number * unit).abs_diff(nanoseconds) <= taken;
        (number > 0 && is_near).then(|| format!("{number} {name}"))
    });
    whole.unwrap_or_else(|| format!("{:.3} ms", nanoseconds as f64 / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_reported_in_the_largest_unit_that_fits() {
        let reported = [1_500, 250_000_000, 30_000_000_000, 24 * 3_600_000_000_000];
        assert_eq!(reported.map(in_words), ["0.002 ms", "250 ms", "30 s", "24 h"]);
        let taken = [999_999_000, 59_999_991_000, 999_000_000, 7_400_000];
        assert_eq!(taken.map(in_words), ["1 s", "60 s", "999 ms", "7400 us"]);
    }
}
