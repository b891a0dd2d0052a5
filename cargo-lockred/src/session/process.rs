//! Starting an exploration process, waiting for it with a deadline, sending it signals.

use super::Launch;
use super::sight::Sight;
use super::temporary::Temporary;
use crate::error::{Error, Result};
use lockred_protocol::session::ENV;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Once;
use std::time::Duration;

/// A running exploration process. It is killed when this value goes before it has ended.
pub struct Process {
    child: RefCell<Child>,
    /// Readable when the process has ended.
    handle: OwnedFd,
    /// It was asked to stop or killed: what it has started and would have waited for goes with it.
    ends: Cell<bool>,
}

/// The command of a launch: its arguments, directory and environment, nothing on standard input.
fn command(launch: &Launch) -> Command {
    let mut command = Command::new(&launch.executable);
    set_up(&mut command, launch);
    command.args(&launch.arguments).stdin(Stdio::null());
    command
}

/// Directory and environment of a launch.
pub fn set_up(command: &mut Command, launch: &Launch) {
    command
        .current_dir(&launch.directory)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        // Capturing a backtrace costs a panic a thousand times what it costs without.
        .env("RUST_BACKTRACE", "0")
        .env_remove("RUST_LIB_BACKTRACE")
        .env_remove("RUST_TEST_SHUFFLE")
        .env_remove("RUST_TEST_SHUFFLE_SEED")
        .env_remove(ENV);
}

/// Directories of a session.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The request, and the response.
    pub session: &'a Path,
    /// For temporary files of the program's.
    pub temporary: Option<&'a Temporary>,
}

impl Place<'_> {
    /// Passes them to a program.
    pub fn give(self, command: &mut Command) {
        command.env(ENV, self.session);
        if let Some(temporary) = self.temporary {
            command.env("TMPDIR", temporary.path());
        }
    }
}

impl Process {
    /// Starts a launch, in a session if there is one, with files for what it prints.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        launch: &Launch,
        place: Option<Place<'_>>,
        stdout: &File,
        stderr: &File,
    ) -> Result<Self> {
        let failed = |e: io::Error| Error::file("run", &launch.executable, &e);
        let mut command = command(launch);
        if let Some(place) = place {
            place.give(&mut command);
        } else {
            // SAFETY: `ends_with_us` makes a system call only, which is allowed between fork and
            // exec.
            unsafe { command.pre_exec(ends_with_us) };
        }
        command
            .stdout(stdout.try_clone().map_err(failed)?)
            .stderr(stderr.try_clone().map_err(failed)?)
            // Ctrl-C at the terminal is for us; we ask the process to respond with what it has.
            .process_group(0);
        prepare_for_children();
        let child = command.spawn().map_err(failed)?;
        let pid = libc::c_long::from(child.id().cast_signed());
        // SAFETY: takes two integers and returns a new descriptor, or a negative number.
        let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let mut child = child;
        if handle < 0 {
            let error = io::Error::last_os_error();
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::ours(format!("cannot watch a process (pidfd_open): {error}"))
                .hint("Linux 5.3 or newer is needed"));
        }
        let number = i32::try_from(handle).expect("descriptors are small");
        // SAFETY: the descriptor was just opened and belongs to nobody else.
        let handle = unsafe { OwnedFd::from_raw_fd(number) };
        Ok(Self { child: RefCell::new(child), handle, ends: Cell::new(false) })
    }

    /// Waits for the end, at most as long as `limit`; shorter when a signal arrives.
    ///
    /// # Errors
    /// When the system cannot wait.
    pub fn wait(&self, limit: Duration) -> Result<Option<ExitStatus>> {
        let mut entry =
            libc::pollfd { fd: self.handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let milliseconds = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: `entry` is one valid `pollfd` that lives over the call.
        let ready = unsafe { libc::poll(&raw mut entry, 1, milliseconds) };
        if ready > 0 && self.ends.get() {
            self.end_group();
        }
        let status = self.child.borrow_mut().try_wait();
        status.map_err(|e| Error::ours(format!("cannot wait for a process: {e}")))
    }

    /// What the kernel says of it now.
    pub fn sight(&self) -> Sight {
        Sight::of(self.child.borrow().id())
    }

    /// Kills what the process has started in its group. It must not have been waited for, so that
    /// the group's number is its own.
    fn end_group(&self) {
        // SAFETY: takes two integers.
        unsafe { libc::kill(-self.child.borrow().id().cast_signed(), libc::SIGKILL) };
    }

    /// Sends a signal that is to end it; one that has ended gets none.
    pub fn signal(&self, signal: i32) {
        self.ends.set(true);
        // SAFETY: passes integers and a null pointer, which the call permits.
        unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.handle.as_raw_fd(),
                signal,
                std::ptr::null::<libc::siginfo_t>(),
                0,
            );
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut child = self.child.borrow_mut();
        if matches!(child.try_wait(), Ok(None)) {
            let _ = child.kill();
            // SAFETY: takes two integers; the process was not waited for, so that its group's
            // number is its own.
            unsafe { libc::kill(-child.id().cast_signed(), libc::SIGKILL) };
            let _ = child.wait();
        }
    }
}

/// A file in memory alone.
///
/// # Errors
/// When the system has none to give.
pub fn memory_file() -> Result<File> {
    // SAFETY: the name is a constant string; gives a new descriptor, or -1.
    let number = unsafe { libc::memfd_create(c"lockred-output".as_ptr(), libc::MFD_CLOEXEC) };
    if number < 0 {
        let error = io::Error::last_os_error();
        return Err(Error::ours(format!("cannot create a file in memory (memfd_create): {error}")));
    }
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    Ok(unsafe { File::from_raw_fd(number) })
}

/// Runs in a new process that has no session, whose runtime would see to it.
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of pre_exec")]
fn ends_with_us() -> io::Result<()> {
    // SAFETY: takes integers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    Ok(())
}

/// What children inherit: addresses are to be the same in every one, and none leaves a core file.
///
/// Nothing runs in the child before its program, so that it can be started without a copy of our
/// page tables, which takes longer than many a search.
fn prepare_for_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: these calls take integers, and a pointer to a local that lives over the call. A
        // sandbox may refuse the first; then addresses of shared libraries vary, which a replay
        // would notice.
        unsafe {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        }
    });
}
