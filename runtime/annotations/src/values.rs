//! Values that the tool explores; the first one in an ordinary build.

use core::ops::{Bound, RangeBounds};

/// Most values of one choice.
const MOST: u64 = 1 << 31;

#[cfg(lockred)]
unsafe extern "C" {
    // The runtime that `cargo lockred` links into what it checks has it
    // (`runtime/protocol/src/hooks.rs`): one of `0..of`.
    safe fn __lr_choose(of: u64) -> u64;
}

/// Without the tool there is nobody to ask.
#[cfg(not(lockred))]
const fn __lr_choose(_of: u64) -> u64 {
    0
}

/// One of `0..n`: under `cargo lockred` each of them is explored, else it is 0.
///
/// Values of a type of your own: `[Mode::Fast, Mode::Safe][lockred::choose(2)]`.
///
/// # Panics
/// When `n` is 0, or more than 2^31.
#[must_use]
#[track_caller]
pub fn choose(n: usize) -> usize {
    assert!(n > 0, "there is nothing to choose from");
    assert!(n as u64 <= MOST, "more than 2^31 values to choose from");
    __lr_choose(n as u64) as usize
}

/// Any value of a small type: under `cargo lockred` each is explored, else it is the first
/// (`false`, 0).
#[must_use]
pub fn any<T: Arbitrary>() -> T {
    T::numbered(choose(T::VALUES))
}

/// Any integer of a range: under `cargo lockred` each is explored, else it is the first of them.
///
/// # Panics
/// When the range is empty, or has more than 2^31 values.
#[must_use]
#[track_caller]
pub fn any_in<T: Integer>(range: impl RangeBounds<T>) -> T {
    let first = match range.start_bound() {
        Bound::Included(first) => first.wide(),
        Bound::Excluded(before) => before.wide() + 1,
        Bound::Unbounded => T::FIRST.wide(),
    };
    let last = match range.end_bound() {
        Bound::Included(last) => last.wide(),
        Bound::Excluded(end) => end.wide() - 1,
        Bound::Unbounded => T::LAST.wide(),
    };
    let count = usize::try_from((last - first + 1).max(0));
    T::narrow(first + choose(count.unwrap_or(usize::MAX)) as i128)
}

mod sealed {
    pub trait Sealed {}
}

/// Types so small that all their values are explored: `bool`, `u8`, `i8`. (For others: [`any_in`],
/// [`choose`].)
pub trait Arbitrary: sealed::Sealed {
    #[doc(hidden)]
    const VALUES: usize;
    #[doc(hidden)]
    fn numbered(number: usize) -> Self;
}

impl sealed::Sealed for bool {}
impl Arbitrary for bool {
    const VALUES: usize = 2;
    fn numbered(number: usize) -> Self {
        number == 1
    }
}

impl Arbitrary for u8 {
    const VALUES: usize = 256;
    fn numbered(number: usize) -> Self {
        number as Self
    }
}

impl Arbitrary for i8 {
    const VALUES: usize = 256;
    fn numbered(number: usize) -> Self {
        number as Self
    }
}

/// The integers that [`any_in`] gives.
pub trait Integer: sealed::Sealed {
    #[doc(hidden)]
    const FIRST: Self;
    #[doc(hidden)]
    const LAST: Self;
    #[doc(hidden)]
    fn wide(&self) -> i128;
    #[doc(hidden)]
    fn narrow(wide: i128) -> Self;
}

macro_rules! integers {
    ($($integer:ty)+) => {$(
        impl sealed::Sealed for $integer {}
        impl Integer for $integer {
            const FIRST: Self = Self::MIN;
            const LAST: Self = Self::MAX;
            fn wide(&self) -> i128 {
                *self as i128
            }
            fn narrow(wide: i128) -> Self {
                wide as Self
            }
        }
    )+};
}

integers! { u8 i8 u16 i16 u32 i32 u64 i64 usize isize }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_build_gets_the_first_value() {
        assert_eq!((choose(1), choose(7)), (0, 0));
        assert_eq!((any::<bool>(), any::<u8>(), any::<i8>()), (false, 0, 0));
        assert_eq!((any_in(3..9_u32), any_in(-2..=2_i64), any_in(5_usize..=5)), (3, -2, 5));
        assert_eq!((any_in(..2_u16), any_in(250_u8..)), (0, 250));
        assert_eq!((any_in(i8::MIN..), any_in(..=0_i8)), (-128, -128));
    }

    #[test]
    fn numbers_cover_a_small_type() {
        let all = |numbered: fn(usize) -> i16| {
            let mut seen = [false; 384];
            (0..256).for_each(|number| seen[(numbered(number) + 128) as usize] = true);
            seen.iter().filter(|seen| **seen).count()
        };
        assert_eq!(all(|number| u8::numbered(number).into()), 256);
        assert_eq!(all(|number| i8::numbered(number).into()), 256);
        assert_eq!([0, 1].map(bool::numbered), [false, true]);
    }

    #[test]
    #[should_panic(expected = "nothing to choose from")]
    fn an_empty_range_has_no_value() {
        let _ = any_in(3..3_u32);
    }

    #[test]
    #[should_panic(expected = "more than 2^31")]
    fn a_huge_range_has_too_many_values() {
        let _ = any_in::<u64>(..);
    }
}
