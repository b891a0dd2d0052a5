//! The status file as the session reads it. The process maps it shared; reading the file sees the
//! same pages.

use super::death::LastWords;
use lockred_protocol::message::Counts;
use lockred_protocol::schedule::Schedule;
use lockred_protocol::session::{
    DEATH_FRAMES, Phase, SCHEDULE_CAPACITY, STATUS_DEATH, STATUS_SCHEDULE, StatusWord,
    decode_choice, decode_share,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// What a process has done so far.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Progress {
    /// Grows while it makes progress.
    pub heartbeat: u64,
    /// Whether the first thread was created.
    pub below_root: bool,
    /// Whether the response is written.
    pub responded: bool,
    /// Counts so far.
    pub counts: Counts,
    /// Bugs found so far.
    pub bugs: u64,
    /// About the share of the search that is done, where that can be reported.
    pub share: Option<f64>,
    /// Preemptions up to which executions are explored now, where these are counted.
    pub preemptions: Option<u64>,
    /// What is being done, where a test is searched in several ways.
    pub doing: Option<&'static str>,
    /// Processor time that the process has used.
    pub elapsed: Duration,
}

/// Words of the counter page.
const WORDS: usize = StatusWord::Preemptions as usize + 1;

/// Reads the counters. A file that cannot be read counts as one that does not change: the watchdog
/// ends that.
pub fn progress(file: &File, elapsed: Duration) -> Progress {
    let mut bytes = [0; WORDS * 8];
    if file.read_exact_at(&mut bytes, 0).is_err() {
        return Progress { elapsed, ..Progress::default() };
    }
    let word = |word: StatusWord| {
        let start = word as usize * 8;
        u64::from_ne_bytes(bytes[start..start + 8].try_into().expect("eight bytes"))
    };
    let phase = word(StatusWord::Phase);
    Progress {
        heartbeat: word(StatusWord::Heartbeat),
        below_root: phase == Phase::BelowRoot as u64,
        responded: phase == Phase::Responded as u64,
        counts: Counts {
            executions: word(StatusWord::Executions),
            blocked: word(StatusWord::Blocked),
            refinements: word(StatusWord::Refinements),
            transactions: word(StatusWord::Transactions),
            operations: word(StatusWord::Operations),
        },
        bugs: word(StatusWord::Bugs),
        share: decode_share(word(StatusWord::Share)),
        preemptions: word(StatusWord::Preemptions).checked_sub(1),
        doing: None,
        elapsed,
    }
}

/// Reads what a process noted about a fatal signal; `None` if there was none.
pub fn last_words(file: &File) -> Option<LastWords> {
    let mut bytes = vec![0; STATUS_SCHEDULE];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let at = |offset: usize| {
        u64::from_ne_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes"))
    };
    let word = |word: StatusWord| at(word as usize * 8);
    if word(StatusWord::DeathSignal) == 0 {
        return None;
    }
    let frames = usize::try_from(word(StatusWord::DeathFrames)).unwrap_or(0).min(DEATH_FRAMES);
    Some(LastWords {
        signal: i32::try_from(word(StatusWord::DeathSignal)).ok()?,
        address: word(StatusWord::DeathAddress),
        thread: u32::try_from(word(StatusWord::DeathThread)).ok()?.checked_sub(1),
        stack: (0..frames)
            .map(|index| at(STATUS_DEATH + index * 8))
            .filter(|address| *address != 0)
            .collect(),
    })
}

/// Reads the schedule of the execution under way, as far as it was written.
pub fn schedule_log(file: &File) -> Schedule {
    let mut word = [0; 8];
    let at = StatusWord::ScheduleLength as u64 * 8;
    if file.read_exact_at(&mut word, at).is_err() {
        return Schedule::default();
    }
    let length = usize::try_from(u64::from_ne_bytes(word)).unwrap_or(SCHEDULE_CAPACITY);
    let mut bytes = vec![0; length.min(SCHEDULE_CAPACITY) * 8];
    if file.read_exact_at(&mut bytes, STATUS_SCHEDULE as u64).is_err() {
        return Schedule::default();
    }
    let words = bytes.chunks_exact(8);
    let choice = |word: &[u8]| {
        decode_choice(u64::from_ne_bytes(word.try_into().expect("chunks of eight bytes")))
    };
    Schedule(words.map(choice).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::schedule::Choice;
    use lockred_protocol::session::{STATUS_BYTES, encode_choice, encode_share};

    #[test]
    fn counters_and_schedule_log_are_read_back() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(STATUS_BYTES as u64).unwrap();
        assert_eq!(schedule_log(&file), Schedule::default());
        let write = |word: StatusWord, value: u64| {
            file.write_all_at(&value.to_ne_bytes(), word as u64 * 8).unwrap();
        };
        write(StatusWord::Heartbeat, 7);
        write(StatusWord::Phase, Phase::BelowRoot as u64);
        write(StatusWord::Executions, 3);
        write(StatusWord::Bugs, 1);
        assert_eq!(progress(&file, Duration::ZERO).share, None);
        write(StatusWord::Share, encode_share(0.5));
        let seen = progress(&file, Duration::ZERO);
        assert_eq!((seen.heartbeat, seen.below_root, seen.responded), (7, true, false));
        assert_eq!((seen.counts.executions, seen.bugs, seen.share), (3, 1, Some(0.5)));

        let schedule = Schedule(vec![Choice::Thread(1), Choice::Value { picked: 1, of: 2 }]);
        for (index, choice) in schedule.0.iter().enumerate() {
            let at = (STATUS_SCHEDULE + index * 8) as u64;
            file.write_all_at(&encode_choice(*choice).to_ne_bytes(), at).unwrap();
        }
        assert_eq!(last_words(&file), None);
        write(StatusWord::DeathSignal, 11);
        write(StatusWord::DeathThread, 3);
        write(StatusWord::DeathFrames, 2);
        file.write_all_at(&5_u64.to_ne_bytes(), STATUS_DEATH as u64 + 8).unwrap();
        let words = last_words(&file).unwrap();
        assert_eq!((words.signal, words.thread), (11, Some(2)));
        assert_eq!(words.stack, [5]);
        write(StatusWord::ScheduleLength, 2);
        assert_eq!(schedule_log(&file), schedule);
        write(StatusWord::ScheduleLength, u64::MAX);
        assert_eq!(schedule_log(&file).0.len(), SCHEDULE_CAPACITY);
    }
}
