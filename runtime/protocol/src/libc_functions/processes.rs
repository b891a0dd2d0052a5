//! Processes, users, signals and time.

use super::{Row, rows};

/// See the module.
pub(super) const ROWS: &[Row] = rows! {
    Modelled {
        // Of a call that keeps addresses, or gives some, the analysis knows by its number.
        syscall Nothing [Reaches 1, Reaches 2, Reaches 3, Reaches 4, Reaches 5, Reaches 6];
        gettid Nothing [];
        getpid Nothing [];
        getppid Nothing [];
        getpgrp Nothing [];
        clock Nothing [];
        times Nothing [Writes 0];
        getrusage Nothing [Writes 1];
        sysinfo Nothing [Writes 0];
        getloadavg Nothing [Writes 0];
        // time and randomness
        clock_gettime Nothing [Writes 1];
        clock_nanosleep Nothing [Reads 2, Writes 3];
        nanosleep Nothing [Reads 0, Writes 1];
        usleep Nothing [];
        sleep Nothing [];
        gettimeofday Nothing [Writes 0, Writes 1];
        time Nothing [Writes 0];
        getrandom Nothing [Writes 0];
        getentropy Nothing [Writes 0];
        // ends
        abort Nothing [];
        exit Nothing [];
        _exit Nothing [];
        atexit CallsAtExit [];
        __cxa_atexit CallsAtExit [Leaves 1, Leaves 2];
        // signals
        sigaction Handles [Reads 1, Writes 2];
        // The stack's address is given back to who asks for it.
        sigaltstack Keeps [Reads 0, Writes 1];
        signal CallsSecond [];
        pause Nothing [];
        raise Nothing [];
        pthread_sigmask Nothing [Reads 1, Writes 2];
        sigprocmask Nothing [Reads 1, Writes 2];
        sigpending Nothing [Writes 0];
        kill Nothing [];
        tgkill Nothing [];
        alarm Nothing [];
        sigemptyset Nothing [Writes 0];
        sigfillset Nothing [Writes 0];
        sigaddset Nothing [Updates 0];
        sigdelset Nothing [Updates 0];
        sigismember Nothing [Reads 0];
        // other processes
        fork Nothing [];
        vfork Nothing [];
        _Fork Nothing [];
        execve Nothing [Reads 0, Reaches 1, Reaches 2];
        execv Nothing [Reads 0, Reaches 1];
        execvp Nothing [Reads 0, Reaches 1];
        execvpe Nothing [Reads 0, Reaches 1, Reaches 2];
        // environment
        getenv Bytes [Reads 0];
        setenv Nothing [Reads 0, Reads 1];
        unsetenv Nothing [Reads 0];
        // Gives models only.
        dlsym Nothing [Leaves 0, Reads 1];
        sysconf Nothing [];
        getauxval Nothing [];
    }
    RealAboveRoot {
        posix_spawn Nothing [Writes 0, Reads 1, Reaches 2, Reaches 3, Reaches 4, Reaches 5];
        posix_spawnp Nothing [Writes 0, Reads 1, Reaches 2, Reaches 3, Reaches 4, Reaches 5];
        waitpid Nothing [Writes 1];
        wait Nothing [Writes 0];
        wait3 Nothing [Writes 0, Writes 2];
        wait4 Nothing [Writes 1, Writes 3];
        waitid Nothing [Writes 2];
    }
    Harmless {
        secure_getenv Bytes [Reads 0];
        getuid Nothing [];
        geteuid Nothing [];
        getgid Nothing [];
        getegid Nothing [];
        getpagesize Nothing [];
        gnu_get_libc_version Bytes [];
        // What is made for `posix_spawn`, which is never reached below the root.
        posix_spawnattr_init Nothing [Writes 0];
        posix_spawnattr_destroy Nothing [Reaches 0];
        posix_spawnattr_setflags Nothing [Updates 0];
        posix_spawnattr_setpgroup Nothing [Updates 0];
        posix_spawnattr_setsigdefault Nothing [Updates 0, Reads 1];
        posix_spawnattr_setsigmask Nothing [Updates 0, Reads 1];
        posix_spawn_file_actions_init Nothing [Writes 0];
        posix_spawn_file_actions_destroy Nothing [Reaches 0];
        posix_spawn_file_actions_adddup2 Nothing [Reaches 0];
        posix_spawn_file_actions_addopen Nothing [Reaches 0, Reads 2];
        posix_spawn_file_actions_addclose Nothing [Reaches 0];
        posix_spawn_file_actions_addchdir_np Nothing [Reaches 0, Reads 1];
        posix_spawn_file_actions_addfchdir_np Nothing [Reaches 0];
        // Variables, not functions.
        environ Nothing [];
        __environ Nothing [];
        __dso_handle Nothing [];
    }
    Unsupported {
        execl Nothing [];
        execlp Nothing [];
        sigwait Nothing [];
        sigsuspend Nothing [];
        sigwaitinfo Nothing [];
        sigtimedwait Nothing [];
        sigqueue Nothing [];
        pidfd_send_signal Nothing [];
        killpg Nothing [];
        sigpause Nothing [];
        sigset Nothing [];
        sighold Nothing [];
        sigrelse Nothing [];
        sigignore Nothing [];
        siginterrupt Nothing [];
        sigblock Nothing [];
        sigsetmask Nothing [];
        bsd_signal Nothing [];
        sysv_signal Nothing [];
        __sysv_signal Nothing [];
        ualarm Nothing [];
        setitimer Nothing [];
        timer_create Nothing [];
        timer_settime Nothing [];
        signalfd Nothing [];
    }
    Native {
        setgroups Nothing [Reads 1];
        getgroups Nothing [Writes 1];
        // The entry has addresses of texts in the buffer; the last argument gets the entry's.
        getpwuid_r Keeps [Writes 1, Writes 2, Writes 4];
        getpwnam_r Keeps [Reads 0, Writes 1, Writes 2, Writes 4];
        pidfd_spawnp Nothing [Writes 0, Reads 1, Reaches 2, Reaches 3, Reaches 4, Reaches 5];
        pidfd_getpid Nothing [];
        setpgid Nothing [];
        setsid Nothing [];
        setuid Nothing [];
        setgid Nothing [];
        chroot Nothing [Reads 0];
        uname Nothing [Writes 0];
        gethostname Nothing [Writes 0];
        getrlimit Nothing [Writes 1];
        setrlimit Nothing [Reads 1];
        getrlimit64 Nothing [Writes 1];
        confstr Nothing [Writes 1];
        strsignal Bytes [];
        dlerror Bytes [];
    }
};
