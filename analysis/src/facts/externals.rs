//! What functions outside of the program do with the addresses that they are given.

use lockred_trace::hooks::PREFIX;
use lockred_trace::libc_functions::{HARMLESS_LIBC, MODELLED_LIBC, UNSUPPORTED_LIBC};

/// What a call of an external function does with addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Keeps none; if its result is an address, it is of the C library's own memory, which holds no address of the program's.
    Nothing,
    /// Keeps none, and gives an address of the C library's memory that holds none: a text, or a number.
    Bytes,
    /// The result is new memory.
    Fresh,
    /// New memory, whose address is written to the first argument.
    FreshAtFirst,
    /// New memory, with the contents of the first argument's.
    Moves,
    /// The result is an address in the memory of the first argument.
    SameAsFirst,
    /// Copies memory from the second argument to the first, which is the result.
    Copies,
    /// Starts a thread: the third argument is called with the fourth.
    StartsThread,
    /// Calls the first argument with the second, in the same thread.
    CallsFirst,
    /// Calls the first argument with the second, in the thread that ends the program.
    CallsAtExit,
    /// Calls the first argument with something of its own, and, as the last argument, the second.
    Visits,
    /// Calls the second argument with what [`Effect::KeepsForThread`] keeps.
    MakesKey,
    /// Keeps the second argument for the running thread.
    KeepsForThread,
    /// Gives what was kept for the running thread.
    KeptForThread,
    /// Throws the first argument.
    Throws,
    /// Calls the function at the second word of the first argument with the first argument as its second.
    DropsException,
    /// Calls the second argument with nothing of the program's.
    CallsSecond,
    /// Lets the C library call the function in the second argument's memory.
    Handles,
    /// Anything.
    Anything,
}

/// Functions of which more is to be said than that they keep nothing.
const SPECIAL: &[(&str, Effect)] = &[
    ("__errno_location", Effect::Bytes),
    ("getenv", Effect::Bytes),
    ("secure_getenv", Effect::Bytes),
    ("strerror", Effect::Bytes),
    ("strsignal", Effect::Bytes),
    ("gai_strerror", Effect::Bytes),
    ("dlerror", Effect::Bytes),
    ("malloc", Effect::Fresh),
    ("calloc", Effect::Fresh),
    ("aligned_alloc", Effect::Fresh),
    ("memalign", Effect::Fresh),
    ("mi_malloc", Effect::Fresh),
    ("mi_zalloc", Effect::Fresh),
    ("mi_calloc", Effect::Fresh),
    ("mi_malloc_aligned", Effect::Fresh),
    ("mi_zalloc_aligned", Effect::Fresh),
    ("mmap", Effect::Fresh),
    ("mmap64", Effect::Fresh),
    ("strdup", Effect::Fresh),
    ("posix_memalign", Effect::FreshAtFirst),
    ("realloc", Effect::Moves),
    ("mi_realloc", Effect::Moves),
    ("mi_realloc_aligned", Effect::Moves),
    ("memchr", Effect::SameAsFirst),
    ("memrchr", Effect::SameAsFirst),
    ("strchr", Effect::SameAsFirst),
    ("strrchr", Effect::SameAsFirst),
    ("strcpy", Effect::SameAsFirst),
    ("strncpy", Effect::SameAsFirst),
    ("strcat", Effect::SameAsFirst),
    ("getcwd", Effect::SameAsFirst),
    ("memset", Effect::SameAsFirst),
    ("memcpy", Effect::Copies),
    ("memmove", Effect::Copies),
    ("mempcpy", Effect::Copies),
    ("pthread_create", Effect::StartsThread),
    ("__cxa_thread_atexit_impl", Effect::CallsFirst),
    ("__cxa_atexit", Effect::CallsAtExit),
    ("atexit", Effect::CallsAtExit),
    ("dl_iterate_phdr", Effect::Visits),
    ("_Unwind_Backtrace", Effect::Visits),
    ("pthread_key_create", Effect::MakesKey),
    ("pthread_setspecific", Effect::KeepsForThread),
    ("pthread_getspecific", Effect::KeptForThread),
    ("_Unwind_RaiseException", Effect::Throws),
    ("_Unwind_Resume", Effect::Throws),
    ("_Unwind_DeleteException", Effect::DropsException),
    ("sigaction", Effect::Handles),
    ("signal", Effect::CallsSecond),
];

/// Functions of the C library that have no model and are called by std, or by what programs have of C; none of them keeps an address.
/// (One that ends in `_` stands for all that begin like it.)
const KEEPING_NOTHING: &[&str] = &[
    "_Unwind_",
    "strcmp",
    "strncmp",
    "dup",
    "dup2",
    "dup3",
    "setgroups",
    "getgroups",
    "getpwuid_r",
    "getpwnam_r",
    "posix_spawn_",
    "posix_spawnattr_",
    "pidfd_spawnp",
    "pidfd_getpid",
    "sigemptyset",
    "sigaddset",
    "sigfillset",
    "sigdelset",
    "sigprocmask",
    "chdir",
    "fchdir",
    "setpgid",
    "setsid",
    "setuid",
    "setgid",
    "chroot",
    "setsockopt",
    "getsockopt",
    "getsockname",
    "getpeername",
    "freeaddrinfo",
    "gai_strerror",
    "inotify_",
    "timerfd_",
    "sysinfo",
    "uname",
    "gethostname",
    "getrlimit",
    "setrlimit",
    "getrlimit64",
    "getrusage",
    "getppid",
    "umask",
    "preadv",
    "pwritev",
    "sendfile",
    "sendfile64",
    "copy_file_range",
    "splice",
    "fdopendir",
    "readdir64",
    "closedir",
    "dirfd",
    "linkat",
    "symlink",
    "chmod",
    "fchmod",
    "chown",
    "fchown",
    "lchown",
    "utimensat",
    "futimens",
    "fallocate64",
    "posix_fadvise64",
    "gnu_get_libc_version",
    "confstr",
    "strtod",
    "strtol",
];

impl Effect {
    /// What the function of this name does.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if let Some((_, effect)) = SPECIAL.iter().find(|(n, _)| *n == name) {
            return *effect;
        }
        let known = MODELLED_LIBC.contains(&name)
            || HARMLESS_LIBC.contains(&name)
            // Nothing is executed behind a call of those.
            || UNSUPPORTED_LIBC.contains(&name)
            || KEEPING_NOTHING
                .iter()
                .any(|known| name == *known || known.ends_with('_') && name.starts_with(known))
            || name.starts_with(PREFIX);
        if known { Self::Nothing } else { Self::Anything }
    }
}
