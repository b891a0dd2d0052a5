//! Actors: threads that own what they work on, and do what messages say; and what goes wrong between them.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{JoinHandle, spawn};

/// What a counter understands.
enum Message {
    Add(u32),
    Set(u32),
    Get(Sender<u32>),
    Stop,
}

/// A counter, with its mailbox.
fn counter() -> (Sender<Message>, JoinHandle<u32>) {
    let (sender, mailbox) = channel();
    (sender, spawn(move || count(&mailbox)))
}

fn count(mailbox: &Receiver<Message>) -> u32 {
    let mut count = 0;
    for message in mailbox {
        match message {
            Message::Add(number) => count += number,
            Message::Set(number) => count = number,
            // Who has asked may be gone.
            Message::Get(reply) => drop(reply.send(count)),
            Message::Stop => break,
        }
    }
    count
}

fn ask(counter: &Sender<Message>) -> u32 {
    let (reply, answer) = channel();
    counter.send(Message::Get(reply)).unwrap();
    answer.recv().unwrap()
}

//@ verified
#[test]
fn two_clients_add() {
    let (mine, counter) = counter();
    let theirs = mine.clone();
    let client = spawn(move || theirs.send(Message::Add(1)).unwrap());
    mine.send(Message::Add(2)).unwrap();
    drop(mine);
    client.join().unwrap();
    assert_eq!(counter.join().unwrap(), 3);
}

//@ failed panic
#[test]
fn two_clients_ask_and_set() {
    let (mine, counter) = counter();
    let theirs = mine.clone();
    let client = spawn(move || theirs.send(Message::Set(ask(&theirs) + 1)).unwrap());
    mine.send(Message::Set(ask(&mine) + 2)).unwrap();
    drop(mine);
    client.join().unwrap();
    assert_eq!(counter.join().unwrap(), 3); //~ bug
}

//@ verified
#[test]
fn a_client_asks_behind_its_own_message() {
    let (mine, counter) = counter();
    mine.send(Message::Add(2)).unwrap();
    assert_eq!(ask(&mine), 2);
    mine.send(Message::Stop).unwrap();
    counter.join().unwrap();
}

// What another has sent need not be in the mailbox yet.
//@ failed panic
#[test]
fn a_client_asks_behind_the_message_of_another() {
    let (mine, counter) = counter();
    let theirs = mine.clone();
    let client = spawn(move || theirs.send(Message::Add(2)).unwrap());
    assert_eq!(ask(&mine), 2); //~ bug
    drop(mine);
    client.join().unwrap();
    counter.join().unwrap();
}

//@ failed deadlock
#[test]
fn a_client_keeps_its_address() {
    let (mine, counter) = counter();
    mine.send(Message::Add(1)).unwrap();
    assert_eq!(counter.join().unwrap(), 1); //~ bug
}

//@ failed panic
#[test]
fn a_client_asks_who_has_stopped() {
    let (mine, counter) = counter();
    let theirs = mine.clone();
    let client = spawn(move || drop(theirs.send(Message::Stop)));
    let (reply, answer) = channel();
    let asked = mine.send(Message::Get(reply)).is_ok();
    client.join().unwrap();
    counter.join().unwrap();
    drop(mine);
    if asked {
        assert_eq!(answer.recv(), Ok(0)); //~ bug
    }
}

//@ verified
#[test]
fn a_client_stops_whom_it_has_asked() {
    let (mine, counter) = counter();
    let theirs = mine.clone();
    let client = spawn(move || ask(&theirs));
    assert_eq!(client.join().unwrap(), 0);
    mine.send(Message::Stop).unwrap();
    assert_eq!(counter.join().unwrap(), 0);
}

/// A question with where the answer goes.
type Question = (u32, Sender<u32>);

/// Answers questions; odd ones it passes to the other, and waits for what that says.
fn answers(mailbox: &Receiver<Question>, other: &Sender<Question>) {
    while let Ok((number, reply)) = mailbox.recv() {
        if number == 0 {
            break;
        }
        let answer = if number % 2 == 0 {
            number
        } else {
            let (sender, receiver) = channel();
            other.send((number + 1, sender)).unwrap();
            receiver.recv().unwrap() //~ bug of two_actors_await_each_other
        };
        let _ = reply.send(answer);
    }
}

/// Two actors that pass questions to each other, and the questions that they are asked from outside at once.
fn two_actors(questions: [u32; 2]) {
    let ((one, first), (other, second)) = (channel(), channel());
    let (to_one, to_other) = (one.clone(), other.clone());
    let actors =
        [spawn(move || answers(&first, &to_other)), spawn(move || answers(&second, &to_one))];
    let (reply, answer) = channel();
    one.send((questions[0], reply.clone())).unwrap();
    other.send((questions[1], reply.clone())).unwrap();
    assert_eq!(answer.recv().unwrap() + answer.recv().unwrap(), 6);
    one.send((0, reply.clone())).unwrap();
    other.send((0, reply)).unwrap();
    for actor in actors {
        actor.join().unwrap();
    }
}

//@ verified
#[test]
fn an_actor_awaits_another() {
    two_actors([3, 2]);
}

//@ failed deadlock
#[test]
fn two_actors_await_each_other() {
    two_actors([3, 1]);
}

/// Passes numbers on, each so often as it says.
fn passes(mailbox: &Receiver<u32>, next: &SyncSender<u32>) {
    while let Ok(number) = mailbox.recv() {
        for _ in 0..number {
            let passed = next.send(number - 1); //~ bug of a_ring_that_is_full
            // Nobody may be there any more.
            if passed.is_err() {
                return;
            }
        }
        if number == 0 {
            return;
        }
    }
}

/// Two actors in a ring, whose mailboxes have room for one.
fn ring(first: u32) {
    let ((one, mailbox), (other, others)) = (sync_channel(1), sync_channel(1));
    one.send(first).unwrap();
    let actors = [spawn(move || passes(&mailbox, &other)), spawn(move || passes(&others, &one))];
    for actor in actors {
        actor.join().unwrap();
    }
}

//@ verified
#[test]
fn a_ring_with_room() {
    ring(1);
}

//@ failed deadlock
#[test]
fn a_ring_that_is_full() {
    ring(4);
}
