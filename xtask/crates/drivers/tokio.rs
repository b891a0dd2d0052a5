//! Tokio's runtime of several threads, without drivers or with its timer, and what its tasks share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot, Mutex, Notify, RwLock, Semaphore};
use tokio::task::{spawn_blocking, yield_now, JoinSet};

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).build().unwrap()
}

#[test]
fn a_task_runs_on_another_thread() {
    let runtime = runtime(1);
    assert_eq!(runtime.block_on(async { tokio::spawn(async { 3 }).await.unwrap() }), 3);
}

#[test]
fn tasks_are_shared_out() {
    let runtime = runtime(2);
    let sum = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        let tasks = [1, 2].map(|number| {
            let sum = Arc::clone(&sum);
            tokio::spawn(async move { sum.fetch_add(number, Ordering::SeqCst) })
        });
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(sum.load(Ordering::SeqCst), 3);
}

#[test]
fn a_task_yields() {
    let runtime = runtime(1);
    let done = runtime.block_on(async {
        let task = tokio::spawn(async {
            yield_now().await;
            1
        });
        yield_now().await;
        task.await.unwrap()
    });
    assert_eq!(done, 1);
}

#[test]
fn a_task_is_aborted() {
    let runtime = runtime(1);
    let error = runtime.block_on(async {
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        task.await.unwrap_err()
    });
    assert!(error.is_cancelled());
}

#[test]
fn blocking_work_has_a_thread_of_its_own() {
    let runtime = runtime(1);
    assert_eq!(runtime.block_on(async { spawn_blocking(|| 4).await.unwrap() }), 4);
}

#[test]
fn messages_go_from_task_to_task() {
    let runtime = runtime(1);
    let got = runtime.block_on(async {
        let (sender, mut receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for number in 0..2 {
                sender.send(number).await.unwrap();
            }
        });
        let mut got = Vec::new();
        while let Some(number) = receiver.recv().await {
            got.push(number);
        }
        got
    });
    assert_eq!(got, [0, 1]);
}

#[test]
fn a_lock_is_handed_on() {
    let runtime = runtime(1);
    let sum = Arc::new(Mutex::new(0));
    runtime.block_on(async {
        let other = Arc::clone(&sum);
        let task = tokio::spawn(async move { *other.lock().await += 1 });
        *sum.lock().await += 1;
        task.await.unwrap();
        assert_eq!(*sum.lock().await, 2);
    });
}

#[test]
fn readers_and_writers() {
    let runtime = runtime(1);
    let shared = Arc::new(RwLock::new(0));
    runtime.block_on(async {
        let other = Arc::clone(&shared);
        let task = tokio::spawn(async move { *other.write().await = 1 });
        assert!(*shared.read().await <= 1);
        task.await.unwrap();
        assert_eq!(*shared.read().await, 1);
    });
}

#[test]
fn a_notification_is_kept_for_who_comes_later() {
    let runtime = runtime(1);
    let notify = Arc::new(Notify::new());
    runtime.block_on(async {
        let other = Arc::clone(&notify);
        let task = tokio::spawn(async move { other.notify_one() });
        notify.notified().await;
        task.await.unwrap();
    });
}

#[test]
fn permits_come_back() {
    let runtime = runtime(1);
    let permits = Arc::new(Semaphore::new(1));
    runtime.block_on(async {
        let other = Arc::clone(&permits);
        let task = tokio::spawn(async move { drop(other.acquire().await.unwrap()) });
        drop(permits.acquire().await.unwrap());
        task.await.unwrap();
        assert_eq!(permits.available_permits(), 1);
    });
}

#[test]
fn a_thread_outside_sends_to_a_task() {
    let runtime = runtime(1);
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::spawn(move || sender.send(8).unwrap());
    assert_eq!(runtime.block_on(async { tokio::spawn(receiver).await.unwrap() }), Ok(8));
    thread.join().unwrap();
}

#[test]
fn a_set_of_tasks_is_joined() {
    let runtime = runtime(2);
    let sum = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        tasks.spawn(async { 1 });
        tasks.spawn(async { 2 });
        let mut sum = 0;
        while let Some(done) = tasks.join_next().await {
            sum += done.unwrap();
        }
        sum
    });
    assert_eq!(sum, 3);
}

#[test]
fn a_timer_fires_or_the_work_is_done() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    runtime.block_on(async {
        let work = tokio::spawn(async { 1 });
        if let Ok(done) = tokio::time::timeout(Duration::from_millis(5), work).await {
            assert_eq!(done.unwrap(), 1);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    });
}

#[test]
fn a_runtime_of_one_thread() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::spawn(move || sender.send(8).unwrap());
    runtime.block_on(async {
        let task = tokio::spawn(async { 1 });
        assert_eq!(receiver.await, Ok(8));
        assert_eq!(task.await.unwrap(), 1);
    });
    thread.join().unwrap();
}
