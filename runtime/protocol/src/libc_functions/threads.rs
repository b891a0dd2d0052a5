//! Threads, what they keep for themselves, and what they synchronise by.

use super::{Row, rows};

/// See the module.
pub(super) const ROWS: &[Row] = rows! {
    Modelled {
        pthread_create StartsThread [Writes 0, Reads 1, Leaves 3];
        pthread_join Joins [Writes 1];
        pthread_detach Nothing [];
        pthread_self Nothing [];
        pthread_attr_init Nothing [Writes 0];
        pthread_attr_destroy Nothing [Writes 0];
        pthread_attr_setstacksize Nothing [Updates 0];
        // Says that it is not there, so that nobody learns an address of a stack from it.
        pthread_attr_getstack Nothing [Reads 0, Writes 1, Writes 2];
        pthread_attr_getguardsize Nothing [Reads 0, Writes 1];
        pthread_attr_setguardsize Nothing [Updates 0];
        pthread_getattr_np Nothing [Writes 1];
        pthread_setname_np Nothing [Reads 1];
        pthread_getname_np Nothing [Writes 1];
        pthread_equal Nothing [];
        // Ends the test.
        pthread_exit Nothing [Leaves 0];
        pthread_key_create MakesKey [Writes 0];
        pthread_key_delete Nothing [];
        pthread_setspecific KeepsForThread [Leaves 1];
        pthread_getspecific KeptForThread [];
        __cxa_thread_atexit_impl CallsFirst [Leaves 1, Leaves 2];
        __errno_location Bytes [];
        sched_yield Nothing [];
        sched_getaffinity Nothing [Writes 2];
        sched_setaffinity Nothing [Reads 2];
        sched_getcpu Nothing [];
        getcpu Nothing [Writes 0, Writes 1];
        pthread_getaffinity_np Nothing [Writes 2];
        pthread_setaffinity_np Nothing [Reads 2];
        pthread_kill Nothing [];
        // What is called at a `fork`.
        pthread_atfork Anything [];
    }
    RealAboveRoot {
        sem_init Nothing [Writes 0];
        sem_destroy Nothing [Updates 0];
        sem_open Nothing [Reads 0];
        sem_close Nothing [Leaves 0];
        sem_wait Nothing [Updates 0];
        sem_trywait Nothing [Updates 0];
        sem_timedwait Nothing [Updates 0, Reads 1];
        sem_post Nothing [Updates 0];
        sem_getvalue Nothing [Reads 0, Writes 1];
        pthread_mutex_lock Nothing [Updates 0];
        pthread_mutex_trylock Nothing [Updates 0];
        pthread_mutex_timedlock Nothing [Updates 0, Reads 1];
        pthread_mutex_unlock Nothing [Updates 0];
        pthread_rwlock_rdlock Nothing [Updates 0];
        pthread_rwlock_wrlock Nothing [Updates 0];
        pthread_rwlock_unlock Nothing [Updates 0];
        pthread_spin_lock Nothing [Updates 0];
        pthread_spin_unlock Nothing [Updates 0];
    }
    Unsupported {
        clone Nothing [];
        clone3 Nothing [];
        pthread_cancel Nothing [];
        pthread_sigqueue Nothing [];
        pthread_cond_wait Nothing [];
        pthread_cond_timedwait Nothing [];
        pthread_barrier_wait Nothing [];
        pthread_once Nothing [];
    }
};
