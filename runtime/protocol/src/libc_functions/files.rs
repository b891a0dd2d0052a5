//! Files, directories and descriptors.

use super::{Row, rows};

/// See the module.
pub(super) const ROWS: &[Row] = rows! {
    Modelled {
        read Nothing [Writes 1];
        pread Nothing [Writes 1];
        pread64 Nothing [Writes 1];
        readv Nothing [Reaches 1];
        write Nothing [Reads 1];
        pwrite Nothing [Reads 1];
        pwrite64 Nothing [Reads 1];
        writev Nothing [Reaches 1];
        open Nothing [Reads 0];
        open64 Nothing [Reads 0];
        openat Nothing [Reads 1];
        openat64 Nothing [Reads 1];
        close Nothing [];
        lseek Nothing [];
        lseek64 Nothing [];
        fstat Nothing [Writes 1];
        fstat64 Nothing [Writes 1];
        stat Nothing [Reads 0, Writes 1];
        stat64 Nothing [Reads 0, Writes 1];
        lstat Nothing [Reads 0, Writes 1];
        lstat64 Nothing [Reads 0, Writes 1];
        fstatat Nothing [Reads 1, Writes 2];
        fstatat64 Nothing [Reads 1, Writes 2];
        statx Nothing [Reads 1, Writes 4];
        utimensat Nothing [Reads 1, Reads 2];
        futimens Nothing [Reads 1];
        readlink Nothing [Reads 0, Writes 1];
        // Without a place for it, a block of the program's heap.
        realpath FreshOr(1) [Reads 0, Writes 1];
        getcwd FreshOr(0) [Writes 0];
        // What is passed is an address for some commands.
        fcntl Nothing [Reaches 2];
        fcntl64 Nothing [Reaches 2];
        ioctl Nothing [Reaches 2];
        isatty Nothing [];
        mkdir Nothing [Reads 0];
        rmdir Nothing [Reads 0];
        unlink Nothing [Reads 0];
        unlinkat Nothing [Reads 1];
        rename Nothing [Reads 0, Reads 1];
        renameat Nothing [Reads 1, Reads 3];
        link Nothing [Reads 0, Reads 1];
        linkat Nothing [Reads 1, Reads 3];
        symlink Nothing [Reads 0, Reads 1];
        symlinkat Nothing [Reads 0, Reads 2];
        mkdirat Nothing [Reads 1];
        fsync Nothing [];
        fdatasync Nothing [];
        ftruncate Nothing [];
        ftruncate64 Nothing [];
        dup Nothing [];
        dup2 Nothing [];
        dup3 Nothing [];
        // A block of the program's heap, with the entries of the directory in it.
        opendir Fresh [Reads 0];
        fdopendir Fresh [];
        readdir SameAsFirst [Updates 0];
        readdir64 SameAsFirst [Updates 0];
        readdir_r Anything [Updates 0, Writes 1, Writes 2];
        readdir64_r Anything [Updates 0, Writes 1, Writes 2];
        rewinddir Nothing [Updates 0];
        telldir Nothing [Reads 0];
        seekdir Nothing [Updates 0];
        dirfd Nothing [Reads 0];
        closedir Nothing [Updates 0];
        // what waits for descriptors
        poll Nothing [Updates 0];
        ppoll Nothing [Updates 0, Reads 2, Reads 3];
        select Nothing [Updates 1, Updates 2, Updates 3, Updates 4];
        pselect Nothing [Updates 1, Updates 2, Updates 3, Reads 4, Reads 5];
        // The kernel keeps 8 bytes of the program's with each descriptor, and gives them back:
        // addresses, where it likes.
        epoll_wait Anything [Writes 1];
        epoll_pwait Anything [Writes 1, Reads 4];
        epoll_pwait2 Anything [Writes 1, Reads 3, Reads 4];
        timerfd_create Nothing [];
        timerfd_settime Nothing [Reads 2, Writes 3];
        timerfd_gettime Nothing [Writes 1];
    }
    RealAboveRoot {
        pipe Nothing [Writes 0];
        pipe2 Nothing [Writes 0];
        eventfd Nothing [];
        eventfd_read Nothing [Writes 1];
        eventfd_write Nothing [];
        inotify_init Nothing [];
        inotify_init1 Nothing [];
        inotify_add_watch Nothing [Reads 1];
        inotify_rm_watch Nothing [];
        epoll_create Nothing [];
        epoll_create1 Nothing [];
        epoll_ctl Anything [Reads 3];
        flock Nothing [];
        lockf Nothing [];
        splice Nothing [Updates 1, Updates 3];
        tee Nothing [];
        vmsplice Nothing [Reaches 1];
    }
    Unsupported {
        io_uring_setup Nothing [];
    }
    Native {
        chdir Nothing [Reads 0];
        fchdir Nothing [];
        preadv Nothing [Reaches 1];
        pwritev Nothing [Reaches 1];
        sendfile Nothing [Updates 2];
        sendfile64 Nothing [Updates 2];
        copy_file_range Nothing [Updates 1, Updates 3];
        chmod Nothing [Reads 0];
        fchmod Nothing [];
        chown Nothing [Reads 0];
        fchown Nothing [];
        lchown Nothing [Reads 0];
        fallocate64 Nothing [];
        posix_fadvise64 Nothing [];
        umask Nothing [];
    }
};
