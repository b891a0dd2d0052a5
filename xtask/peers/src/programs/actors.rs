//! Actors: threads that answer messages.

use super::{beside, check, two};
use crate::sync::mpsc::channel;
use crate::sync::{Condvar, Mutex};

/// Two actors ask each other; each answers before it waits for its own answer, or afterwards.
pub fn each_waits<const RIGHT: bool>() {
    let (ask_mine, asked_mine) = channel::<u32>();
    let (ask_theirs, asked_theirs) = channel::<u32>();
    let (answer_mine, answered_mine) = channel::<u32>();
    let (answer_theirs, answered_theirs) = channel::<u32>();
    beside(
        move || {
            ask_mine.send(1).unwrap();
            if RIGHT {
                answer_mine.send(asked_theirs.recv().unwrap() + 1).unwrap();
                check!(answered_theirs.recv() == Ok(2));
            } else {
                check!(answered_theirs.recv() == Ok(2));
                answer_mine.send(asked_theirs.recv().unwrap() + 1).unwrap();
            }
        },
        || {
            ask_theirs.send(1).unwrap();
            if RIGHT {
                answer_theirs.send(asked_mine.recv().unwrap() + 1).unwrap();
                check!(answered_mine.recv() == Ok(2));
            } else {
                // Looks first whether it is asked.
                if let Ok(asked) = asked_mine.try_recv() {
                    answer_theirs.send(asked + 1).unwrap();
                    check!(answered_mine.recv() == Ok(2));
                } else {
                    check!(answered_mine.recv() == Ok(2));
                    answer_theirs.send(asked_mine.recv().unwrap() + 1).unwrap();
                }
            }
        },
    );
}

/// A mailbox of one letter: a second one waits until the first was taken, or takes its place.
pub fn overwritten_letter<const RIGHT: bool>() {
    let (mine, theirs) = two((Mutex::new(None), Condvar::new()));
    beside(
        move || {
            for letter in 0..2_u32 {
                let mut place = theirs.0.lock().unwrap();
                while RIGHT && place.is_some() {
                    place = theirs.1.wait(place).unwrap();
                }
                *place = Some(letter);
                drop(place);
                theirs.1.notify_all();
            }
        },
        || {
            let mut place = mine.0.lock().unwrap();
            while place.is_none() {
                place = mine.1.wait(place).unwrap();
            }
            check!(place.take() == Some(0));
            drop(place);
            mine.1.notify_all();
        },
    );
}
