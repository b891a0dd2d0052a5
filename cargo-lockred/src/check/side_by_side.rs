//! Several explorations at a time, whose results are taken in order: who looks at the output cannot
//! tell.
//!
//! The workers are threads that know no symbols. The taker judges and prints outcomes, in order.

use crate::error::{Error, Result};
use crate::session::Progress;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often progress is drawn.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What the workers and the taker share.
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// Per job, its result once it is there.
    results: Vec<Option<Result<T>>>,
    /// Per job, what it last reported.
    progress: Vec<Option<Progress>>,
    /// Jobs that have begun.
    begun: usize,
    /// Jobs whose results were taken.
    taken: usize,
    /// No job is to begin any more.
    over: bool,
    /// A worker has panicked.
    broken: bool,
}

/// Runs `jobs` jobs on `workers` threads, and takes their results in order, until `take` gives
/// `false` or an error. At most `workers` jobs have begun whose results were not taken. `watch` is
/// informed of the progress of the job whose result is taken next.
///
/// # Errors
/// The first one of a job or of `take`.
pub fn run<T: Send>(
    jobs: usize,
    workers: usize,
    work: impl Fn(usize, &mut dyn FnMut(&Progress)) -> Result<T> + Sync,
    watch: &mut dyn FnMut(usize, &Progress),
    mut take: impl FnMut(usize, T) -> Result<bool>,
) -> Result<()> {
    let state = State {
        results: (0..jobs).map(|_| None).collect(),
        progress: vec![None; jobs],
        begun: 0,
        taken: 0,
        over: false,
        broken: false,
    };
    let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 0..workers.min(jobs) {
            scope.spawn(|| {
                let _noticed = Noticed(&shared);
                while let Some(job) = shared.next(workers) {
                    let result = work(job, &mut |seen| shared.report(job, seen));
                    shared.change(|state| state.results[job] = Some(result));
                }
            });
        }
        // Also where `take` panics, the workers are not to begin another job.
        let _over = Over(&shared);
        for job in 0..jobs {
            let result = shared.result(job, &mut |seen| watch(job, seen))?;
            if !take(job, result)? {
                return Ok(());
            }
            shared.change(|state| state.taken = job + 1);
        }
        Ok(())
    })
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State<T>)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits for a job that may begin.
    fn next(&self, workers: usize) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.over || state.begun == state.results.len() {
                return None;
            }
            if state.begun < state.taken + workers {
                state.begun += 1;
                return Some(state.begun - 1);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn report(&self, job: usize, seen: &Progress) {
        self.lock().progress[job] = Some(*seen);
    }

    /// Waits for a job's result.
    fn result(&self, job: usize, watch: &mut dyn FnMut(&Progress)) -> Result<T> {
        let mut state = self.lock();
        loop {
            if let Some(result) = state.results[job].take() {
                return result;
            }
            if state.broken {
                return Err(Error::ours("an exploration panicked; this is a bug in lockred"));
            }
            let waited = self.changed.wait_timeout(state, LOOK_EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if let Some(seen) = state.progress[job] {
                watch(&seen);
            }
        }
    }
}

/// Lets nobody begin any more when it goes.
struct Over<'a, T>(&'a Shared<T>);

impl<T> Drop for Over<'_, T> {
    fn drop(&mut self) {
        self.0.change(|state| state.over = true);
    }
}

/// Reports the panic of its worker.
struct Noticed<'a, T>(&'a Shared<T>);

impl<T> Drop for Noticed<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.change(|state| state.broken = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn taken(workers: usize, until: usize) -> (Vec<usize>, usize) {
        let most = AtomicUsize::new(0);
        let (running, mut taken) = (AtomicUsize::new(0), Vec::new());
        let work = |job: usize, _: &mut dyn FnMut(&Progress)| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(job)
        };
        run(20, workers, work, &mut |_, _| (), |job, result| {
            assert_eq!(job, result);
            taken.push(job);
            Ok(job < until)
        })
        .unwrap();
        (taken, most.into_inner())
    }

    #[test]
    fn results_are_taken_in_order_and_no_more_run_than_may() {
        for workers in [1, 3, 50] {
            let (order, most) = taken(workers, 100);
            assert_eq!(order, (0..20).collect::<Vec<_>>());
            assert!(most <= workers, "{most}");
        }
    }

    #[test]
    fn the_taker_ends_it() {
        assert_eq!(taken(2, 5).0, (0..=5).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_error_in_order_is_given() {
        let work = |job: usize, _: &mut dyn FnMut(&Progress)| match job {
            0 => Ok(()),
            _ => Err(Error::ours(format!("job {job}"))),
        };
        let error = run(5, 3, work, &mut |_, _| (), |_, ()| Ok(true)).unwrap_err();
        assert_eq!(error.message, "job 1");
    }
}
