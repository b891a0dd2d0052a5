//! Functions that the real kernel answers above the root, and that are unsupported below it: what
//! stands in front of each.
//!
//! A front keeps the arguments, whatever they are (a list of arguments of any length, too), asks
//! [`super::begins`] whether the call is made, makes it, and reports to [`super::ends`].

use std::arch::naked_asm;

/// Fronts. None of the functions has arguments on the stack (more than six), or a result beside
/// `rax`.
macro_rules! fronts {
    (@waits may wait) => { "1" };
    (@waits at once) => { "0" };
    ($($front:ident calls $real:ident, $how:ident $often:ident;)+) => { $(
        #[doc = concat!(stringify!($real), ".\n\n# Safety\nAs for the C function.")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $front() {
            naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "lea rdi, [rip + 2f]",
                "call {begins}",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                // Lists of arguments have none in vector registers.
                "xor eax, eax",
                concat!("call [rip + ", stringify!($real), "@GOTPCREL]"),
                "push rax",
                "push rax",
                concat!("mov edi, ", fronts!(@waits $how $often)),
                "call {ends}",
                "pop rax",
                "pop rax",
                "pop rbp",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                ".pushsection .rodata",
                "2:",
                concat!(".asciz \"", stringify!($real), "\""),
                ".popsection",
                begins = sym super::begins,
                ends = sym super::ends,
            )
        }
    )+ };
}

fronts! {
    __lr_libc_posix_spawn calls posix_spawn, at once;
    __lr_libc_posix_spawnp calls posix_spawnp, at once;
    __lr_libc_waitpid calls waitpid, may wait;
    __lr_libc_wait calls wait, may wait;
    __lr_libc_wait3 calls wait3, may wait;
    __lr_libc_wait4 calls wait4, may wait;
    __lr_libc_waitid calls waitid, may wait;
    __lr_libc_socket calls socket, at once;
    __lr_libc_socketpair calls socketpair, at once;
    __lr_libc_accept calls accept, may wait;
    __lr_libc_accept4 calls accept4, may wait;
    __lr_libc_connect calls connect, may wait;
    __lr_libc_bind calls bind, at once;
    __lr_libc_listen calls listen, at once;
    __lr_libc_send calls send, may wait;
    __lr_libc_sendto calls sendto, may wait;
    __lr_libc_sendmsg calls sendmsg, may wait;
    __lr_libc_sendmmsg calls sendmmsg, may wait;
    __lr_libc_recv calls recv, may wait;
    __lr_libc_recvfrom calls recvfrom, may wait;
    __lr_libc_recvmsg calls recvmsg, may wait;
    __lr_libc_recvmmsg calls recvmmsg, may wait;
    __lr_libc_shutdown calls shutdown, at once;
    __lr_libc_getaddrinfo calls getaddrinfo, may wait;
    __lr_libc_setsockopt calls setsockopt, at once;
    __lr_libc_getsockopt calls getsockopt, at once;
    __lr_libc_getsockname calls getsockname, at once;
    __lr_libc_getpeername calls getpeername, at once;
    __lr_libc_pipe calls pipe, at once;
    __lr_libc_pipe2 calls pipe2, at once;
    __lr_libc_eventfd calls eventfd, at once;
    __lr_libc_eventfd_read calls eventfd_read, may wait;
    __lr_libc_eventfd_write calls eventfd_write, may wait;
    __lr_libc_inotify_init calls inotify_init, at once;
    __lr_libc_inotify_init1 calls inotify_init1, at once;
    __lr_libc_inotify_add_watch calls inotify_add_watch, at once;
    __lr_libc_inotify_rm_watch calls inotify_rm_watch, at once;
    __lr_libc_epoll_create calls epoll_create, at once;
    __lr_libc_epoll_create1 calls epoll_create1, at once;
    __lr_libc_epoll_ctl calls epoll_ctl, at once;
    __lr_libc_flock calls flock, may wait;
    __lr_libc_lockf calls lockf, may wait;
    __lr_libc_splice calls splice, may wait;
    __lr_libc_tee calls tee, may wait;
    __lr_libc_vmsplice calls vmsplice, may wait;
    __lr_libc_semget calls semget, at once;
    __lr_libc_semop calls semop, may wait;
    __lr_libc_semctl calls semctl, at once;
    __lr_libc_msgget calls msgget, at once;
    __lr_libc_msgsnd calls msgsnd, may wait;
    __lr_libc_msgrcv calls msgrcv, may wait;
    __lr_libc_msgctl calls msgctl, at once;
    __lr_libc_sem_init calls sem_init, at once;
    __lr_libc_sem_destroy calls sem_destroy, at once;
    __lr_libc_sem_open calls sem_open, at once;
    __lr_libc_sem_close calls sem_close, at once;
    __lr_libc_sem_wait calls sem_wait, may wait;
    __lr_libc_sem_trywait calls sem_trywait, at once;
    __lr_libc_sem_timedwait calls sem_timedwait, may wait;
    __lr_libc_sem_post calls sem_post, at once;
    __lr_libc_sem_getvalue calls sem_getvalue, at once;
    __lr_libc_mq_open calls mq_open, at once;
    __lr_libc_mq_close calls mq_close, at once;
    __lr_libc_mq_send calls mq_send, may wait;
    __lr_libc_mq_receive calls mq_receive, may wait;
    __lr_libc_mq_timedsend calls mq_timedsend, may wait;
    __lr_libc_mq_timedreceive calls mq_timedreceive, may wait;
    __lr_libc_pthread_mutex_lock calls pthread_mutex_lock, at once;
    __lr_libc_pthread_mutex_trylock calls pthread_mutex_trylock, at once;
    __lr_libc_pthread_mutex_timedlock calls pthread_mutex_timedlock, may wait;
    __lr_libc_pthread_mutex_unlock calls pthread_mutex_unlock, at once;
    __lr_libc_pthread_rwlock_rdlock calls pthread_rwlock_rdlock, at once;
    __lr_libc_pthread_rwlock_wrlock calls pthread_rwlock_wrlock, at once;
    __lr_libc_pthread_rwlock_unlock calls pthread_rwlock_unlock, at once;
    __lr_libc_pthread_spin_lock calls pthread_spin_lock, at once;
    __lr_libc_pthread_spin_unlock calls pthread_spin_unlock, at once;
}
