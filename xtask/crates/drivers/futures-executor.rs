//! Executors of futures: on the thread that waits, on a pool of one thread, and on a pool of
//! several.

use futures::channel::{mpsc, oneshot};
use futures::future::{join, pending, ready};
use futures::lock::Mutex;
use futures::stream::StreamExt;
use futures::task::{LocalSpawnExt, SpawnExt};
use futures_executor::{block_on, block_on_stream, LocalPool, ThreadPool};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn a_thread_is_woken_by_another() {
    let (sender, receiver) = oneshot::channel();
    let thread = spawn(move || sender.send(7).unwrap());
    assert_eq!(block_on(receiver), Ok(7));
    thread.join().unwrap();
}

#[test]
fn a_thread_is_woken_by_two_others() {
    let (first, second) = (oneshot::channel(), oneshot::channel());
    let threads = [first.0, second.0].map(|sender| spawn(move || sender.send(1).unwrap()));
    assert_eq!(block_on(join(first.1, second.1)), (Ok(1), Ok(1)));
    threads.map(|thread| thread.join().unwrap());
}

#[test]
fn a_sender_that_is_dropped_wakes() {
    let (sender, receiver) = oneshot::channel::<i32>();
    let thread = spawn(move || drop(sender));
    assert!(block_on(receiver).is_err());
    thread.join().unwrap();
}

#[test]
fn a_stream_is_waited_for() {
    let (sender, receiver) = mpsc::unbounded();
    let thread = spawn(move || {
        for number in 0..2 {
            sender.unbounded_send(number).unwrap();
        }
    });
    assert_eq!(block_on_stream(receiver).collect::<Vec<_>>(), [0, 1]);
    thread.join().unwrap();
}

#[test]
fn a_local_pool_runs_what_others_wake() {
    let (sender, receiver) = oneshot::channel();
    let thread = spawn(move || sender.send(3).unwrap());
    let mut pool = LocalPool::new();
    let got = Rc::new(Cell::new(0));
    let put = Rc::clone(&got);
    let task = async move { put.set(receiver.await.unwrap()) };
    pool.spawner().spawn_local(task).unwrap();
    pool.run();
    assert_eq!(got.get(), 3);
    thread.join().unwrap();
}

#[test]
fn a_local_pool_ends_when_nothing_can_go_on() {
    let mut pool = LocalPool::new();
    pool.spawner().spawn_local(pending()).unwrap();
    let (sender, receiver) = oneshot::channel();
    let thread = spawn(move || sender.send(1).unwrap());
    assert_eq!(pool.run_until(receiver), Ok(1));
    pool.run_until_stalled();
    thread.join().unwrap();
}

#[test]
fn a_pool_runs_a_task_and_gives_its_result_back() {
    let pool = ThreadPool::builder().pool_size(1).create().unwrap();
    let result = pool.spawn_with_handle(ready(5)).unwrap();
    assert_eq!(block_on(result), 5);
}

#[test]
fn tasks_of_a_pool_share_a_lock() {
    let pool = ThreadPool::builder().pool_size(2).create().unwrap();
    let sum = Arc::new(Mutex::new(0));
    let tasks = [1, 2].map(|number| {
        let sum = Arc::clone(&sum);
        pool.spawn_with_handle(async move { *sum.lock().await += number }).unwrap()
    });
    let [first, second] = tasks;
    block_on(join(first, second));
    assert_eq!(block_on(async { *sum.lock().await }), 3);
}

#[test]
fn tasks_of_a_pool_send_to_each_other() {
    let pool = ThreadPool::builder().pool_size(2).create().unwrap();
    let (mut sender, mut receiver) = mpsc::channel(1);
    pool.spawn_ok(async move { sender.try_send(9).unwrap() });
    let got = pool.spawn_with_handle(async move { receiver.next().await }).unwrap();
    assert_eq!(block_on(got), Some(9));
}
