//! What functions outside of the program do with the addresses that they are given.

use lockred_trace::hooks::PREFIX;
use lockred_trace::libc_functions::{HARMLESS_LIBC, UNSUPPORTED_LIBC, is_answered};

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
    ("gnu_get_libc_version", Effect::Bytes),
    // A block of the program's heap, with the entries of the directory in it.
    ("opendir", Effect::Fresh),
    ("fdopendir", Effect::Fresh),
    ("readdir", Effect::SameAsFirst),
    ("readdir64", Effect::SameAsFirst),
    ("readdir_r", Effect::Anything),
    ("readdir64_r", Effect::Anything),
    // Lists in the C library's memory, whose address is written to an argument.
    ("getaddrinfo", Effect::Anything),
    // The kernel keeps 8 bytes of the program's with each descriptor, and gives them back: addresses, where it likes.
    ("epoll_ctl", Effect::Anything),
    ("epoll_wait", Effect::Anything),
    ("epoll_pwait", Effect::Anything),
    ("epoll_pwait2", Effect::Anything),
    // What is called at a `fork`.
    ("pthread_atfork", Effect::Anything),
];

/// Functions of the C library that have no model and are called by std, or by what programs have of C; none of them keeps an address.
/// (One that ends in `_` stands for all that begin like it.)
const KEEPING_NOTHING: &[&str] = &[
    "_Unwind_",
    "strcmp",
    "strncmp",
    "setgroups",
    "getgroups",
    "getpwuid_r",
    "getpwnam_r",
    "pidfd_spawnp",
    "pidfd_getpid",
    "sigprocmask",
    "chdir",
    "fchdir",
    "setpgid",
    "setsid",
    "setuid",
    "setgid",
    "chroot",
    "gai_strerror",
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
        let known = is_answered(name)
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
