//! Sockets, and what else the kernel passes between processes.

use super::{Row, rows};

/// See the module.
pub(super) const ROWS: &[Row] = rows! {
    Modelled {
        freeaddrinfo Nothing [Reaches 0];
    }
    RealAboveRoot {
        socket Nothing [];
        socketpair Nothing [Writes 3];
        accept Nothing [Writes 1, Updates 2];
        accept4 Nothing [Writes 1, Updates 2];
        connect Nothing [Reads 1];
        bind Nothing [Reads 1];
        listen Nothing [];
        send Nothing [Reads 1];
        sendto Nothing [Reads 1, Reads 4];
        sendmsg Nothing [Reaches 1];
        sendmmsg Nothing [Reaches 1];
        recv Nothing [Writes 1];
        recvfrom Nothing [Writes 1, Writes 4, Updates 5];
        recvmsg Nothing [Reaches 1];
        recvmmsg Nothing [Reaches 1, Updates 4];
        shutdown Nothing [];
        // Lists in the C library's memory, whose address is written to an argument.
        getaddrinfo Anything [Reads 0, Reads 1, Reads 2, Writes 3];
        getnameinfo Nothing [Reads 0, Writes 2, Writes 4];
        setsockopt Nothing [Reaches 3];
        getsockopt Nothing [Writes 3, Updates 4];
        getsockname Nothing [Writes 1, Updates 2];
        getpeername Nothing [Writes 1, Updates 2];
        semget Nothing [];
        semop Nothing [Reads 1];
        semctl Nothing [Reaches 3];
        msgget Nothing [];
        msgsnd Nothing [Reads 1];
        msgrcv Nothing [Writes 1];
        msgctl Nothing [Updates 2];
        mq_open Nothing [Reads 0, Reads 3];
        mq_close Nothing [];
        mq_send Nothing [Reads 1];
        mq_receive Nothing [Writes 1, Writes 3];
        mq_timedsend Nothing [Reads 1, Reads 4];
        mq_timedreceive Nothing [Writes 1, Writes 3, Reads 4];
    }
    Native {
        gai_strerror Bytes [];
    }
};
