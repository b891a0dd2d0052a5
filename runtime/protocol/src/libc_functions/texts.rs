//! Texts, and functions of numbers.

use super::{Row, rows};

/// See the module.
pub(super) const ROWS: &[Row] = rows! {
    Modelled {
        strlen Nothing [Reads 0];
        strnlen Nothing [Reads 0];
        strerror_r Nothing [Writes 1];
        __xpg_strerror_r Nothing [Writes 1];
    }
    Harmless {
        lgamma_r Nothing [Writes 1];
        lgammaf_r Nothing [Writes 1];
        sin Nothing [];
        cos Nothing [];
        tan Nothing [];
        asin Nothing [];
        acos Nothing [];
        atan Nothing [];
        atan2 Nothing [];
        sinh Nothing [];
        cosh Nothing [];
        tanh Nothing [];
        exp Nothing [];
        exp2 Nothing [];
        expm1 Nothing [];
        log Nothing [];
        log2 Nothing [];
        log10 Nothing [];
        log1p Nothing [];
        pow Nothing [];
        sqrt Nothing [];
        cbrt Nothing [];
        floor Nothing [];
        ceil Nothing [];
        round Nothing [];
        trunc Nothing [];
        rint Nothing [];
        nearbyint Nothing [];
        fmod Nothing [];
        fma Nothing [];
        hypot Nothing [];
        ldexp Nothing [];
        fmin Nothing [];
        fmax Nothing [];
        sinf Nothing [];
        cosf Nothing [];
        tanf Nothing [];
        asinf Nothing [];
        acosf Nothing [];
        atanf Nothing [];
        atan2f Nothing [];
        sinhf Nothing [];
        coshf Nothing [];
        tanhf Nothing [];
        expf Nothing [];
        exp2f Nothing [];
        expm1f Nothing [];
        logf Nothing [];
        log2f Nothing [];
        log10f Nothing [];
        log1pf Nothing [];
        powf Nothing [];
        sqrtf Nothing [];
        cbrtf Nothing [];
        floorf Nothing [];
        ceilf Nothing [];
        roundf Nothing [];
        truncf Nothing [];
        rintf Nothing [];
        nearbyintf Nothing [];
        fmodf Nothing [];
        fmaf Nothing [];
        hypotf Nothing [];
        ldexpf Nothing [];
        fminf Nothing [];
        fmaxf Nothing [];
        fdim Nothing [];
        fdimf Nothing [];
        tgamma Nothing [];
        tgammaf Nothing [];
        roundeven Nothing [];
        roundevenf Nothing [];
    }
    Native {
        strcmp Nothing [Reads 0, Reads 1];
        strncmp Nothing [Reads 0, Reads 1];
        strdup Fresh [Reads 0];
        strchr SameAsFirst [Reads 0];
        strrchr SameAsFirst [Reads 0];
        strcpy SameAsFirst [Writes 0, Reads 1];
        strncpy SameAsFirst [Writes 0, Reads 1];
        strcat SameAsFirst [Updates 0, Reads 1];
        strerror Bytes [];
        // Where the number ends.
        strtod EndAtSecond [Reads 0, Writes 1];
        strtol EndAtSecond [Reads 0, Writes 1];
    }
};
