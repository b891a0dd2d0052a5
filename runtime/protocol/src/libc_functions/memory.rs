//! Memory: allocators, mappings, and what copies and compares bytes.

use super::{Row, rows};

/// See the module.
pub(super) const ROWS: &[Row] = rows! {
    Modelled {
        malloc Fresh [];
        calloc Fresh [];
        realloc Moves [Updates 0];
        free Nothing [Leaves 0];
        posix_memalign FreshAtFirst [Writes 0];
        aligned_alloc Fresh [];
        memalign Fresh [];
        malloc_usable_size Nothing [Leaves 0];
        mallinfo Nothing [];
        mallinfo2 Nothing [];
        // mimalloc
        mi_malloc Fresh [];
        mi_zalloc Fresh [];
        mi_calloc Fresh [];
        mi_malloc_aligned Fresh [];
        mi_zalloc_aligned Fresh [];
        mi_realloc Moves [Updates 0];
        mi_realloc_aligned Moves [Updates 0];
        mi_free Nothing [Leaves 0];
        mi_usable_size Nothing [Leaves 0];
        // With MAP_FIXED, a part of what is there already.
        mmap FreshOr(0) [Leaves 0];
        mmap64 FreshOr(0) [Leaves 0];
        munmap Nothing [Leaves 0];
        mprotect Nothing [Leaves 0];
        madvise Nothing [Leaves 0];
        memcpy Copies [Writes 0, Reads 1];
        memmove Copies [Writes 0, Reads 1];
        memset SameAsFirst [Writes 0];
        bcmp Nothing [Reads 0, Reads 1];
        memcmp Nothing [Reads 0, Reads 1];
        memchr SameAsFirst [Reads 0];
        memrchr SameAsFirst [Reads 0];
    }
    Unsupported {
        shmget Nothing [];
        shm_open Nothing [];
    }
    Native {
        mempcpy Copies [Writes 0, Reads 1];
    }
};
