//! Descriptors of each kind, and whether others may have their other ends.

use super::*;
use std::fs::File;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

/// A descriptor that a call has given.
fn owned(fd: i32) -> OwnedFd {
    assert!(fd >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: fresh, and nobody else's.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn is_open(fd: &impl AsRawFd) -> bool {
    is_open_end(fd.as_raw_fd())
}

#[test]
fn what_only_the_process_has_is_no_open_end() {
    let (reads, writes) = std::io::pipe().unwrap();
    let (one, other) = UnixStream::pair().unwrap();
    let all: [OwnedFd; 12] = [
        File::open("/proc/self/exe").unwrap().into(),
        File::open("/").unwrap().into(),
        File::open("/dev/null").unwrap().into(),
        File::open("/dev/urandom").unwrap().into(),
        reads.into(),
        writes.into(),
        one.into(),
        UnixDatagram::unbound().unwrap().into(),
        // SAFETY: these calls take numbers only.
        owned(unsafe { libc::eventfd(0, 0) }),
        // SAFETY: as above.
        owned(unsafe { libc::epoll_create1(0) }),
        // SAFETY: as above.
        owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, 0) }),
        // SAFETY: as above.
        owned(unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) } as i32),
    ];
    for (number, fd) in all.iter().enumerate() {
        assert!(!is_open(fd), "{number}");
    }
    // Of a pair whose other end is closed, nobody has that either.
    drop(other);
    assert!(!is_open(&all[6]));
    assert!(!is_open_end(-1));
}

#[test]
fn what_others_may_have_an_end_of_is_one() {
    let directory = std::env::temp_dir().join(format!("lockred-agents-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir(&directory).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let at = UnixListener::bind(directory.join("socket")).unwrap();
    let nameless = UnixStream::connect(directory.join("socket")).unwrap();
    let fifo = directory.join("fifo");
    let name = std::ffi::CString::new(fifo.as_os_str().as_bytes()).unwrap();
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let all: [OwnedFd; 7] = [
        UdpSocket::bind("127.0.0.1:0").unwrap().into(),
        listener.into(),
        stream.into(),
        at.into(),
        nameless.into(),
        File::options().read(true).write(true).open(fifo).unwrap().into(),
        // SAFETY: takes a number only.
        owned(unsafe { libc::inotify_init1(0) }),
    ];
    for (number, fd) in all.iter().enumerate() {
        assert!(is_open(fd), "{number}");
    }
    if let Ok(terminal) = File::open("/dev/ptmx") {
        assert!(is_open(&terminal));
    }
    std::fs::remove_dir_all(directory).unwrap();
}
