//! Unwinding, and jumps out of functions.

use super::{Row, rows};

/// See the module.
pub(super) const ROWS: &[Row] = rows! {
    Modelled {
        // To learn where a panic started.
        _Unwind_RaiseException Throws [Updates 0];
    }
    Harmless {
        dl_iterate_phdr Visits [Leaves 1];
        _Unwind_Resume Throws [Updates 0];
        _Unwind_DeleteException DropsException [Reads 0];
        _Unwind_Backtrace Visits [Leaves 1];
        _Unwind_GetIP Nothing [Reads 0];
        _Unwind_GetIPInfo Nothing [Reads 0, Writes 1];
        _Unwind_GetCFA Nothing [Reads 0];
        _Unwind_GetLanguageSpecificData Nothing [Reads 0];
        _Unwind_GetRegionStart Nothing [Reads 0];
        _Unwind_GetTextRelBase Nothing [Reads 0];
        _Unwind_GetDataRelBase Nothing [Reads 0];
        _Unwind_FindEnclosingFunction Nothing [Leaves 0];
        // The exception, which what catches it gets from who threw it.
        _Unwind_SetGR Nothing [Updates 0];
        _Unwind_SetIP Nothing [Updates 0];
    }
    Unsupported {
        setjmp Nothing [];
        _setjmp Nothing [];
        longjmp Nothing [];
        siglongjmp Nothing [];
    }
    Native {
        _Unwind_Resume_or_Rethrow Throws [Updates 0];
        _Unwind_GetGR Nothing [Reads 0];
    }
};
