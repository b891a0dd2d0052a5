//! Times of files: the kernel writes them by the real clock, and programs see them by the virtual
//! one.
//!
//! Moments at which both clocks are known are kept as marks: before and after each call by which
//! the program changes a file, and at each look at a file's times. A file's time is that of the
//! first mark that is not earlier. So it never lies ahead of the program's clock, is the same at
//! each look, and tells what came first as the kernel does. What is older than the first mark keeps
//! its age.
//!
//! The kernel's clock of files goes on by steps of some milliseconds. Where the program's clock has
//! gone on since the mark that it stands at (it slept), a change waits for the next step.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Nanoseconds since 1970.
pub type Moment = i128;

/// How much virtual time passes between two changes of files that bear different times.
const STEP: Moment = 4_000_000;

/// A moment at which both clocks are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mark {
    /// By the real clock.
    real: Moment,
    /// By the program's clock.
    shown: Moment,
}

/// What both clocks have shown, and times that the program has given to files.
#[derive(Debug)]
struct Times {
    /// In order of both clocks since the root.
    marks: Vec<Mark>,
    /// How many of them a restore leaves.
    of_root: usize,
    /// What the program has set, by what the kernel keeps instead.
    set: BTreeMap<Moment, Moment>,
}

impl Times {
    const fn new() -> Self {
        Self { marks: Vec::new(), of_root: 0, set: BTreeMap::new() }
    }

    /// Both clocks are known.
    fn mark(&mut self, real: Moment, shown: Moment) {
        if self.marks.last().is_none_or(|last| last.real < real) {
            self.marks.push(Mark { real, shown });
        }
    }

    /// Whether a change at these moments is to wait for the next step of the kernel's clock: what
    /// that writes now is shown as a moment that is past.
    fn is_too_early(&self, real: Moment, shown: Moment, below_root: bool) -> bool {
        let first = self.first_since(real);
        let of_root = below_root && first < self.of_root;
        self.marks.get(first).is_some_and(|mark| of_root || shown >= mark.shown + STEP)
    }

    /// The number of the first mark that is not earlier.
    fn first_since(&self, real: Moment) -> usize {
        self.marks.partition_point(|mark| mark.real < real)
    }

    /// What the program sees of a time that the kernel keeps.
    fn shown(&self, real: Moment) -> Moment {
        if let Some(&set) = self.set.get(&real) {
            return set;
        }
        let later = self.first_since(real);
        match (self.marks.get(later), self.marks.last()) {
            (Some(first), _) if later == 0 => first.shown - (first.real - real),
            (Some(mark), _) => mark.shown,
            (None, Some(last)) => last.shown + (real - last.real),
            (None, None) => real,
        }
    }

    /// What the kernel is to keep for a time that the program gives to a file.
    fn kept(&mut self, shown: Moment) -> Moment {
        let Some(first) = self.marks.first() else { return shown };
        let real = first.real + (shown - first.shown);
        self.set.insert(real, shown);
        real
    }
}

static TIMES: Mutex<Times> = Mutex::new(Times::new());

fn times() -> MutexGuard<'static, Times> {
    TIMES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn clock(which: libc::clockid_t) -> Moment {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the time.
    unsafe { libc::clock_gettime(which, &raw mut time) };
    Moment::from(time.tv_sec) * 1_000_000_000 + Moment::from(time.tv_nsec)
}

/// What the kernel writes as the time of a file from now on is not before this.
fn earliest() -> Moment {
    clock(libc::CLOCK_REALTIME_COARSE)
}

/// What it has written until now is not after this. (Newer kernels write exact times, too.)
fn latest() -> Moment {
    clock(libc::CLOCK_REALTIME)
}

/// The program is at its root, whose moment this is.
pub fn at_root(shown: Moment) {
    let times = &mut *times();
    times.mark(latest(), shown);
    times.of_root = times.marks.len();
}

/// What an execution has seen is gone.
pub fn restore() {
    let times = &mut *times();
    let of_root = times.of_root;
    times.marks.truncate(of_root);
}

/// The program is about to change a file.
pub fn before_change(shown: Moment, below_root: bool) {
    let mut now = earliest();
    while times().is_too_early(now, shown, below_root) {
        std::thread::sleep(Duration::from_millis(1));
        now = earliest();
    }
    times().mark(now, shown);
}

/// It has changed it.
pub fn after_change(shown: Moment) {
    times().mark(latest(), shown);
}

/// What the program sees, now, of a time that the kernel keeps.
pub fn look(kept: Moment, now: Moment) -> Moment {
    let times = &mut *times();
    times.mark(latest(), now);
    times.shown(kept)
}

/// What the kernel is to keep, now, for a time that the program gives to a file.
pub fn set(shown: Moment, now: Moment) -> Moment {
    let times = &mut *times();
    times.mark(latest(), now);
    times.kept(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(marks: &[(Moment, Moment)]) -> Times {
        let mut times = Times::new();
        for &(real, shown) in marks {
            times.mark(real, shown);
        }
        times
    }

    #[test]
    fn a_time_is_that_of_the_first_mark_that_is_not_earlier() {
        let times = times(&[(1000, 10), (2000, 20), (3000, 30)]);
        for (real, shown) in [(1001, 20), (2000, 20), (2001, 30), (3000, 30)] {
            assert_eq!(times.shown(real), shown, "{real}");
        }
    }

    #[test]
    fn what_is_older_keeps_its_age_and_what_is_ahead_stays_ahead() {
        let times = times(&[(1000, 10), (2000, 20)]);
        assert_eq!((times.shown(1000), times.shown(400)), (10, -590));
        assert_eq!(times.shown(2500), 520);
    }

    #[test]
    fn what_was_known_of_a_moment_stays_so() {
        let mut times = times(&[(1000, 10), (1000, 20), (900, 30)]);
        assert_eq!(times.shown(1000), 10);
        times.mark(2000, 40);
        assert_eq!((times.shown(1000), times.shown(1001)), (10, 40));
    }

    #[test]
    fn times_that_the_program_has_set_are_what_it_reads() {
        let mut times = times(&[(1000, 10), (2000, 20)]);
        for shown in [5, 15, 20, 7000] {
            let kept = times.kept(shown);
            assert_eq!(times.shown(kept), shown);
        }
    }

    #[test]
    fn a_change_waits_only_where_the_program_s_clock_has_gone_on() {
        let times = times(&[(1000, 10)]);
        assert!(times.is_too_early(1000, 10 + STEP, false));
        assert!(!times.is_too_early(1000, 9 + STEP, false));
        assert!(!times.is_too_early(1001, 10 + STEP, false));
        // Nor does a look, meanwhile, make the kernel's clock go on.
        let looked = self::times(&[(1000, 10), (1500, 10 + STEP)]);
        assert!(looked.is_too_early(1000, 10 + STEP, false));
        assert!(!looked.is_too_early(1001, 10 + STEP, false));
    }

    #[test]
    fn the_marks_of_the_root_stay_as_they_are() {
        let mut times = times(&[(1000, 10)]);
        times.of_root = 1;
        assert!(times.is_too_early(1000, 10, true));
        assert!(!times.is_too_early(1000, 10, false));
        times.mark(2000, 20);
        assert!(!times.is_too_early(2000, 20, true));
    }
}
