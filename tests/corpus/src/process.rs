//! Ends of the process, and calls that lockred must refuse by name.

use std::process::{Command, abort, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::spawn;

/// Runs `act` in the interleavings in which the other thread comes first.
fn in_some_orders(act: fn()) {
    let flag = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(1, SeqCst));
    if flag.load(SeqCst) == 1 {
        act();
    }
    thread.join().unwrap();
}

//@ failed abort
#[test]
fn aborts_in_some_orders() {
    in_some_orders(|| abort()); //~ bug
}

//@ failed exit
#[test]
fn exits_in_some_orders() {
    in_some_orders(|| exit(0)); //~ bug
}

//@ failed exit
#[test]
fn exits_with_a_status_from_a_thread() {
    let thread = spawn(|| exit(3)); //~ bug
    let _: Result<(), _> = thread.join();
}

//@ failed abort
#[test]
fn a_null_pointer_written_in_a_thread() {
    let thread = spawn(|| {
        let nowhere = std::ptr::null_mut::<u32>();
        // Debug assertions make a panic that cannot unwind of it.
        unsafe { *nowhere = 1 }; //~ bug
    });
    let _ = thread.join();
}

//@ failed signal
#[test]
fn unmapped_memory_written_in_a_thread() {
    let thread = spawn(|| {
        let nowhere = std::ptr::without_provenance_mut::<u32>(64);
        unsafe { *nowhere = 1 }; //~ bug
    });
    let _ = thread.join();
}

//@ failed signal
#[test]
fn a_stack_overflows() {
    fn deeper(depth: u64) -> u64 {
        let frame = std::hint::black_box([depth; 64]);
        if frame[0] == u64::MAX { 0 } else { deeper(frame[0] + 1) + frame[1] }
    }
    let thread = spawn(|| deeper(0));
    let _ = thread.join();
}

//@ unsupported posix_spawn
#[test]
fn starts_a_process() {
    let thread = spawn(|| Command::new("true").status().unwrap().success());
    assert!(thread.join().unwrap());
}

//@ unsupported socket
#[test]
fn opens_a_socket() {
    let thread = spawn(|| std::net::TcpListener::bind("127.0.0.1:0").is_ok());
    thread.join().unwrap();
}

/// While there is one thread, the real kernel answers.
//@ verified
#[test]
fn opens_a_socket_without_any_thread() {
    assert!(std::net::UdpSocket::bind("127.0.0.1:0").is_ok());
}

//@ verified
#[test]
fn starts_a_process_without_any_thread() {
    assert!(Command::new("true").status().unwrap().success());
}

//@ unsupported pipe
#[test]
fn a_pipe_made_before_the_thread_that_reads_it() {
    let (mut from, mut to) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut to, b"x").unwrap();
    spawn(move || std::io::Read::read(&mut from, &mut [0; 1]).is_ok()).join().unwrap();
}

/// One thread makes a file, the other looks for it: which comes first is not explored, and must be said.
//@ passed file-change
#[test]
fn files_are_no_objects_of_the_search() {
    let path = std::env::temp_dir().join(format!("lockred-corpus-{}", std::process::id()));
    let made = path.clone();
    let thread = spawn(move || std::fs::write(made, "made").unwrap());
    let _seen = path.exists();
    thread.join().unwrap();
    std::fs::remove_file(path).unwrap();
}
