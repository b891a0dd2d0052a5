//! Commands that see a small or read-only file system, in a mount namespace of their own.

use std::path::Path;
use std::process::{Command, Stdio};

/// What is mounted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mount {
    /// An empty file system of this many KiB.
    Small(u32),
    /// A file system of a few KiB, all of which are taken.
    Full,
    /// The directory as it is, without the right to write.
    ReadOnly,
}

/// The same command, run where `mount` covers `directory`; `None` where the system permits no
/// mount.
#[must_use]
pub fn under(mount: Mount, directory: &Path, command: &Command) -> Option<Command> {
    let covered = match mount {
        Mount::Small(kib) => format!("mount -t tmpfs -o size={kib}k none \"$0\""),
        // Of two pages, so that there is no room for anything, but for names.
        Mount::Full => {
            "mount -t tmpfs -o size=8k none \"$0\" && head -c 8192 /dev/zero > \"$0/full\"".into()
        }
        Mount::ReadOnly => "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"".into(),
    };
    let script = format!("{covered} && exec \"$@\"");
    let unshare = [&["--mount"][..], &["--mount", "--map-root-user"]]
        .into_iter()
        .find(|options| permits(options, &script, directory))?;
    let mut wrapped = Command::new("unshare");
    wrapped.args(unshare).args(["sh", "-c", &script]).arg(directory);
    wrapped.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    if let Some(directory) = command.get_current_dir() {
        wrapped.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    Some(wrapped)
}

/// Whether a mount with these options of `unshare` works.
fn permits(unshare: &[&str], script: &str, directory: &Path) -> bool {
    let mut command = Command::new("unshare");
    command.args(unshare).args(["sh", "-c", script]).arg(directory).arg("true");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
