//! A machine that has much else to do.

use std::process::{Child, Command, Stdio};

/// Processes that compute for nothing, until this value goes.
#[derive(Debug)]
pub struct Busy(Vec<Child>);

impl Busy {
    /// Starts so many.
    ///
    /// # Panics
    /// When there is no shell.
    #[must_use]
    pub fn processes(number: usize) -> Self {
        let process = |_| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "while :; do :; done"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().expect("a shell")
        };
        Self((0..number).map(process).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
