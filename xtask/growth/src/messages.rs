//! Channels.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

pub fn channels(threads: usize, operations: usize) {
    let (sender, receiver) = channel();
    let handles: Vec<_> = (0..threads)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || (0..operations).for_each(|_| sender.send(number).unwrap()))
        })
        .collect();
    drop(sender);
    assert_eq!(receiver.iter().count(), threads * operations);
    for handle in handles {
        handle.join().unwrap();
    }
}

pub fn pipelines(threads: usize, operations: usize) {
    let (first, mut end): (_, Receiver<usize>) = channel();
    let mut handles = Vec::new();
    for _ in 0..threads {
        let (next, next_end) = channel();
        let input = std::mem::replace(&mut end, next_end);
        handles.push(thread::spawn(move || {
            input.iter().for_each(|message| next.send(message + 1).unwrap());
        }));
    }
    (0..operations).for_each(|message| first.send(message).unwrap());
    drop(first);
    assert!(end.iter().eq(threads..threads + operations));
    for handle in handles {
        handle.join().unwrap();
    }
}

pub fn actors(threads: usize, operations: usize) {
    let (sender, mail) = channel::<Sender<usize>>();
    let actor = thread::spawn(move || {
        for (count, answer) in mail.iter().enumerate() {
            answer.send(count).unwrap();
        }
    });
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let sender = sender.clone();
            thread::spawn(move || {
                for _ in 0..operations {
                    let (answer, answered) = channel();
                    sender.send(answer).unwrap();
                    assert!(answered.recv().unwrap() < threads * operations);
                }
            })
        })
        .collect();
    drop(sender);
    for handle in handles {
        handle.join().unwrap();
    }
    actor.join().unwrap();
}
