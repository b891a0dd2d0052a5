//! Thread pools by hand: workers at a queue of jobs, a pool that is closed, jobs that wait for jobs; and how each goes wrong.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{JoinHandle, spawn};

/// What is wrong with a pool.
const NOTHING: u8 = 0;
/// Closing wakes one worker.
const WAKES_ONE: u8 = 1;
/// Closing does not take the lock.
const CLOSED_UNLOCKED: u8 = 2;
/// A worker looks whether the pool is closed before it looks for jobs.
const LEAVES_JOBS: u8 = 3;
/// A worker runs a job with the queue locked.
const RUNS_LOCKED: u8 = 4;
/// A job is done when it is taken.
const DONE_WHEN_TAKEN: u8 = 5;
/// A panic of a job ends its worker.
const PANICS: u8 = 6;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Jobs that are in the queue or run.
    pending: usize,
}

/// The jobs, and who waits for them.
#[derive(Default)]
struct Pool<const WRONG: u8> {
    queue: Mutex<Queue>,
    closed: AtomicBool,
    /// There is a job, or the pool is closed.
    changed: Condvar,
    /// Nothing is pending.
    idle: Condvar,
}

impl<const WRONG: u8> Pool<WRONG> {
    fn start(workers: usize) -> (Arc<Self>, Vec<JoinHandle<()>>) {
        let pool = Arc::new(Self::default());
        let worker = |_| {
            let pool = Arc::clone(&pool);
            spawn(move || pool.work())
        };
        let workers = (0..workers).map(worker).collect();
        (pool, workers)
    }

    fn submit(&self, job: impl FnOnce() + Send + 'static) {
        let mut queue = self.queue.lock().unwrap();
        queue.jobs.push_back(Box::new(job));
        queue.pending += 1;
        self.changed.notify_one();
    }

    fn work(&self) {
        let mut queue = self.queue.lock().unwrap();
        loop {
            if WRONG == LEAVES_JOBS && self.closed.load(SeqCst) {
                return;
            }
            let Some(job) = queue.jobs.pop_front() else {
                if self.closed.load(SeqCst) {
                    return;
                }
                queue = self.changed.wait(queue).unwrap(); //~ bug of a_pool_that_wakes_one_worker_at_its_end, a_pool_that_is_closed_unlocked
                continue;
            };
            if WRONG == DONE_WHEN_TAKEN {
                self.done(&mut queue);
            }
            if WRONG == RUNS_LOCKED {
                job();
            } else {
                drop(queue);
                if WRONG == PANICS {
                    job();
                } else {
                    let _ = catch_unwind(AssertUnwindSafe(job));
                }
                queue = self.queue.lock().unwrap();
            }
            if WRONG != DONE_WHEN_TAKEN {
                self.done(&mut queue);
            }
        }
    }

    fn done(&self, queue: &mut Queue) {
        queue.pending -= 1;
        if queue.pending == 0 {
            self.idle.notify_all();
        }
    }

    /// Waits until all jobs are done.
    fn wait(&self) {
        let queue = self.queue.lock().unwrap();
        drop(self.idle.wait_while(queue, |queue| queue.pending > 0).unwrap()); //~ bug of a_pool_whose_job_panics
    }

    fn close(&self) {
        let guard = (WRONG != CLOSED_UNLOCKED).then(|| self.queue.lock().unwrap());
        self.closed.store(true, SeqCst);
        drop(guard);
        if WRONG == WAKES_ONE {
            self.changed.notify_one();
        } else {
            self.changed.notify_all();
        }
    }
}

/// Workers do so many jobs, and the pool is closed.
fn all_jobs_are_done<const WRONG: u8>(workers: usize, jobs: usize) {
    let (pool, workers) = Pool::<WRONG>::start(workers);
    let done = Arc::new(Mutex::new(0));
    for _ in 0..jobs {
        let done = Arc::clone(&done);
        pool.submit(move || *done.lock().unwrap() += 1);
    }
    pool.close();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(*done.lock().unwrap(), jobs); //~ bug of a_pool_that_leaves_jobs
}

//@ verified
#[test]
fn a_pool_of_one() {
    all_jobs_are_done::<NOTHING>(1, 2);
}

//@ verified
#[test]
fn a_pool_of_two() {
    all_jobs_are_done::<NOTHING>(2, 1);
}

//@ failed deadlock
#[test]
fn a_pool_that_wakes_one_worker_at_its_end() {
    all_jobs_are_done::<WAKES_ONE>(2, 0);
}

//@ failed deadlock
#[test]
fn a_pool_that_is_closed_unlocked() {
    all_jobs_are_done::<CLOSED_UNLOCKED>(1, 0);
}

//@ failed panic
#[test]
fn a_pool_that_leaves_jobs() {
    all_jobs_are_done::<LEAVES_JOBS>(1, 1);
}

/// A job puts another into its own pool.
fn a_job_submits_a_job<const WRONG: u8>() {
    let (pool, workers) = Pool::<WRONG>::start(1);
    let (own, done) = (Arc::clone(&pool), Arc::new(AtomicBool::new(false)));
    let also = Arc::clone(&done);
    pool.submit(move || own.submit(move || also.store(true, SeqCst)));
    pool.close();
    for worker in workers {
        worker.join().unwrap();
    }
    assert!(done.load(SeqCst));
}

//@ verified
#[test]
fn a_pool_whose_job_submits_a_job() {
    a_job_submits_a_job::<NOTHING>();
}

//@ failed deadlock
#[test]
fn a_pool_that_is_locked_while_a_job_submits_a_job() {
    a_job_submits_a_job::<RUNS_LOCKED>();
}

/// A job waits for what the next one sends.
fn a_job_awaits_the_next(workers: usize) {
    let (pool, workers) = Pool::<NOTHING>::start(workers);
    let (sender, receiver) = channel();
    pool.submit(move || assert_eq!(receiver.recv(), Ok(7))); //~ bug of a_pool_too_small_for_a_job_that_awaits_the_next
    pool.submit(move || sender.send(7).unwrap());
    pool.close();
    for worker in workers {
        worker.join().unwrap();
    }
}

//@ verified
#[test]
fn a_pool_large_enough_for_a_job_that_awaits_the_next() {
    a_job_awaits_the_next(2);
}

//@ failed deadlock
#[test]
fn a_pool_too_small_for_a_job_that_awaits_the_next() {
    a_job_awaits_the_next(1);
}

/// Main waits until a job is done, without closing.
fn main_waits<const WRONG: u8>(job_panics: bool) {
    let (pool, _workers) = Pool::<WRONG>::start(1);
    let done = Arc::new(AtomicBool::new(false));
    let also = Arc::clone(&done);
    pool.submit(move || {
        also.store(true, SeqCst);
        assert!(!job_panics);
    });
    pool.wait();
    assert!(done.load(SeqCst)); //~ bug of a_pool_whose_job_is_done_when_it_is_taken
    pool.close();
}

//@ verified
#[test]
fn a_pool_that_is_waited_for() {
    main_waits::<NOTHING>(false);
}

//@ verified
#[test]
fn a_pool_that_survives_a_panic() {
    main_waits::<NOTHING>(true);
}

//@ failed panic
#[test]
fn a_pool_whose_job_is_done_when_it_is_taken() {
    main_waits::<DONE_WHEN_TAKEN>(false);
}

//@ failed deadlock
#[test]
fn a_pool_whose_job_panics() {
    main_waits::<PANICS>(true);
}
