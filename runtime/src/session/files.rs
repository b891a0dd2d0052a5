//! The session's files: the request is read, the status page is mapped, responses are appended.

use lockred_protocol::lock_order::LockOrder;
use lockred_protocol::message::Message;
use lockred_protocol::session::{
    self, DEATH_FRAMES, ENV, EXIT_AGAIN, EXIT_INTERNAL, EXIT_RESPONDED, MESSAGE_FILE, Phase,
    REQUEST_FILE, Request, SCHEDULE_CAPACITY, STATUS_BYTES, STATUS_DEATH, STATUS_FILE,
    STATUS_SCHEDULE, StatusWord,
};
use lockred_protocol::sites::Sidecar;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Directory of the session, if the process has one.
static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();

/// The process is a child of the one that has the session.
static FORGOTTEN: AtomicBool = AtomicBool::new(false);

/// Where the status file is mapped: below the arena, far from everything else, so that neither a
/// wild store comes by it nor what is left of the process has to be asked for it.
const STATUS_AT: usize = 0x0f20_0000_0000;

/// The mapped status file.
#[derive(Clone, Copy, Debug)]
pub struct StatusPage {
    words: *const AtomicU64,
}

impl StatusPage {
    fn word(self, index: usize) -> &'static AtomicU64 {
        // SAFETY: the mapping is `STATUS_BYTES` long and lives as long as the process; indices come
        // from the format's constants.
        unsafe { &*self.words.add(index) }
    }

    /// The status file of a process that may have overwritten its own memory. There is memory also
    /// where there is no session.
    pub const fn of_the_dying() -> Self {
        Self { words: std::ptr::with_exposed_provenance(STATUS_AT) }
    }

    /// A fatal signal that may be the end of the process: what it was about, and the instruction.
    /// Uses no other memory.
    pub fn dies(self, signal: i32, address: usize, instruction: usize) {
        self.set(StatusWord::DeathAddress, address as u64);
        self.set(StatusWord::DeathThread, 0);
        // Frames are return addresses: after what was executed.
        self.word(STATUS_DEATH / 8).store(instruction as u64 + 1, Ordering::Relaxed);
        self.set(StatusWord::DeathFrames, 1);
        self.set(StatusWord::DeathSignal, signal as u64);
    }

    /// The thread that ran.
    pub fn dies_in(self, thread: u32) {
        self.set(StatusWord::DeathThread, u64::from(thread) + 1);
    }

    /// The stack, as far as it is known.
    pub fn dies_below(self, stack: &[u64]) {
        for (index, address) in stack.iter().take(DEATH_FRAMES).enumerate() {
            self.word(STATUS_DEATH / 8 + index).store(*address, Ordering::Relaxed);
        }
        self.set(StatusWord::DeathFrames, stack.len().min(DEATH_FRAMES) as u64);
    }

    /// It was not the end.
    pub fn survives(self) {
        self.set(StatusWord::DeathSignal, 0);
    }

    /// Sets a counter.
    pub fn set(self, word: StatusWord, value: u64) {
        self.word(word as usize).store(value, Ordering::Relaxed);
    }

    /// Shows progress.
    pub fn beat(self) {
        let heart = self.word(StatusWord::Heartbeat as usize);
        heart.store(heart.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Says what the process is doing.
    pub fn phase(self, phase: Phase) {
        self.set(StatusWord::Phase, phase as u64);
    }

    /// How many words the schedule log has.
    pub fn schedule_length(self) -> usize {
        let length = self.word(StatusWord::ScheduleLength as usize).load(Ordering::Relaxed);
        usize::try_from(length).unwrap_or(SCHEDULE_CAPACITY).min(SCHEDULE_CAPACITY)
    }

    /// One word of the schedule log.
    pub fn schedule_word(self, index: usize) -> u64 {
        self.word(STATUS_SCHEDULE / 8 + index).load(Ordering::Relaxed)
    }

    /// Writes one word of the schedule log, and cuts the schedule log after it.
    pub fn log(self, index: usize, word: u64) {
        if index < SCHEDULE_CAPACITY {
            self.word(STATUS_SCHEDULE / 8 + index).store(word, Ordering::Relaxed);
            self.set(StatusWord::ScheduleLength, index as u64 + 1);
        }
    }
}

/// Opens the session that the environment names, if it names one.
pub fn open() -> Option<(Request, StatusPage)> {
    let Some(directory) = std::env::var_os(ENV).map(PathBuf::from) else {
        map_at_status(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1);
        return None;
    };
    let directory = DIRECTORY.get_or_init(|| directory);
    // SAFETY: one OS thread, and nobody holds a pointer into the environment. Programs that the
    // program starts have no session.
    unsafe { std::env::remove_var(ENV) };
    let text = std::fs::read_to_string(directory.join(REQUEST_FILE))
        .unwrap_or_else(|error| fatal(&format!("cannot read the request: {error}")));
    let request: Request = serde_json::from_str(&text)
        .unwrap_or_else(|error| fatal(&format!("cannot understand the request: {error}")));
    if request.version != lockred_protocol::FORMAT_VERSION {
        fatal("the request is of another format version");
    }
    request.parent.into_iter().for_each(ends_with);
    Some((request, map_status(&directory.join(STATUS_FILE))))
}

/// This process ends when the one ends that has started it, which is `parent` or was started by it.
fn ends_with(parent: u32) {
    // SAFETY: these calls take integers.
    let is_alive = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::kill(parent.cast_signed(), 0) == 0
    };
    // It may have ended before the first call.
    if !is_alive {
        leave(EXIT_INTERNAL);
    }
}

/// The process is a copy of one with a session, which is not its own: what it writes from now on
/// nobody reads.
pub fn forget() {
    FORGOTTEN.store(true, Ordering::Relaxed);
    let wanted = std::ptr::with_exposed_provenance_mut(STATUS_AT);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: new memory in the place of the status file, whose words nobody refers to while this
    // runs.
    if unsafe { libc::mmap(wanted, STATUS_BYTES, protection, flags, -1, 0) } != wanted {
        leave(EXIT_INTERNAL);
    }
}

/// Directory of the session, if this process has one.
fn directory() -> Option<&'static PathBuf> {
    DIRECTORY.get().filter(|_| !FORGOTTEN.load(Ordering::Relaxed))
}

fn map_status(path: &std::path::Path) -> StatusPage {
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.unwrap_or_else(|error| fatal(&format!("cannot open the status file: {error}")));
    map_at_status(libc::MAP_SHARED, file.as_raw_fd());
    StatusPage::of_the_dying()
}

/// Maps the status file, or memory in its place, where it belongs.
fn map_at_status(flags: i32, file: i32) {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = flags | libc::MAP_FIXED_NOREPLACE;
    let wanted = std::ptr::with_exposed_provenance_mut(STATUS_AT);
    // SAFETY: a new mapping, of memory or of a file that the session made `STATUS_BYTES` long,
    // where nothing else is.
    let words = unsafe { libc::mmap(wanted, STATUS_BYTES, protection, flags, file, 0) };
    if words != wanted {
        fatal("cannot map the status file");
    }
}

/// The program may have limited the length of its files: that is none of ours, as far as it can be
/// more.
fn lift_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a place for the limit, which the first call fills.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
        }
    }
}

/// Appends a message.
fn append(directory: &std::path::Path, message: &Message) -> Result<(), String> {
    let mut line = serde_json::to_vec(message).map_err(|error| error.to_string())?;
    line.push(b'\n');
    lift_limit();
    let path = directory.join(MESSAGE_FILE);
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| format!("cannot write the response: {error}"))?;
    file.write_all(&line).map_err(|error| format!("cannot write the response: {error}"))
}

/// Responds, and ends the process.
pub fn respond(message: &Message) -> ! {
    let Some(directory) = directory() else { fatal("a response without a session") };
    if let Err(error) = append(directory, message) {
        fatal(&error);
    }
    StatusPage::of_the_dying().phase(Phase::Responded);
    leave(EXIT_RESPONDED)
}

/// An error of ours: reported to the session, if there is one, and the process ends.
pub fn fatal(message: &str) -> ! {
    match directory() {
        // If even that cannot be written, standard error and the exit status remain.
        Some(directory) => {
            if append(directory, &Message::Error { message: message.to_owned() }).is_err() {
                eprintln!("lockred: {message}");
            }
        }
        None => eprintln!("lockred: {message}; this is a bug in lockred"),
    }
    leave(EXIT_INTERNAL)
}

/// Reports what keeps the process from running, and ends it.
pub fn refuse(message: &str) -> ! {
    if DIRECTORY.get().is_some() {
        fatal(message);
    }
    eprintln!("{message}");
    leave(EXIT_INTERNAL)
}

/// Ends the process: the session starts it again, with the kernel's numbers from the start.
pub fn start_again() -> ! {
    leave(EXIT_AGAIN)
}

fn leave(status: i32) -> ! {
    // SAFETY: ends the process without running the program's or libc's exit functions, whose state
    // may be anything.
    unsafe { libc::_exit(status) }
}

/// A panic of the runtime is an error of ours.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| fatal(&info.to_string())));
}

#[cfg(not(test))]
unsafe extern "C" {
    static __start_lockred_sites: u8;
    static __lr_sidecar_len: u64;
    static __start_lockred_order: u8;
    static __lr_lock_order_len: u64;
}

/// The order of locks in the executable.
#[cfg(not(test))]
pub fn lock_order() -> Option<LockOrder> {
    // SAFETY: the linker defines the start, and the shim the length, of a constant section.
    let bytes = unsafe {
        std::slice::from_raw_parts(&raw const __start_lockred_order, __lr_lock_order_len as usize)
    };
    lockred_protocol::section::Section::decode(bytes).ok()
}

/// The order of locks in the executable.
#[cfg(test)]
pub fn lock_order() -> Option<LockOrder> {
    None
}

/// The executable's sidecar, decoded when first needed.
pub fn sidecar() -> Option<&'static Sidecar> {
    static SIDECAR: OnceLock<Option<Sidecar>> = OnceLock::new();
    SIDECAR.get_or_init(load_sidecar).as_ref()
}

#[cfg(not(test))]
fn load_sidecar() -> Option<Sidecar> {
    // SAFETY: the linker defines the start, and the shim the length, of a constant section.
    let bytes = unsafe {
        std::slice::from_raw_parts(&raw const __start_lockred_sites, __lr_sidecar_len as usize)
    };
    Sidecar::decode(bytes).ok()
}

#[cfg(test)]
fn load_sidecar() -> Option<Sidecar> {
    None
}

/// The directory for files that the program has removed, until they are put back.
pub fn kept() -> Option<PathBuf> {
    directory().map(|directory| directory.join(session::KEPT_DIRECTORY))
}

/// Name of an external function by the index that the shim gave it.
pub fn external(index: u32) -> String {
    let sidecar = sidecar();
    sidecar
        .and_then(|sidecar| sidecar.externals.get(index as usize).cloned())
        .unwrap_or_else(|| format!("external function {index}"))
}

/// Whether an external function was reported before; marks it as reported.
pub fn was_reported(index: u32) -> bool {
    static REPORTED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
    let Some(word) = REPORTED.get(index as usize / 64) else { return false };
    let bit = 1 << (index % 64);
    word.fetch_or(bit, Ordering::Relaxed) & bit != 0
}

/// The session's word for a choice.
pub fn schedule_word(choice: lockred_protocol::schedule::Choice) -> u64 {
    session::encode_choice(choice)
}
