//! Families of programs, each a test: random ones that a test compares, and such that stand for a
//! rule that is left out.

/// Tests that `compare` random programs, one a family, so that they run side by side: `ordinary`
/// programs of each, or `deep` ones. Each has a name, a number for [`cases`], and a strategy that
/// makes its programs.
macro_rules! oracle {
    ($ordinary:literal, $deep:literal; $($name:ident: $test:literal, $programs:expr;)*) => {
        $(proptest::prelude::proptest! {
            #![proptest_config($crate::check::cases::cases($test, $ordinary, $deep))]

            #[test]
            fn $name(program in $programs) {
                compare(&program)?;
            }
        })*
    };
}

/// Tests of rules that are left out: of the program that stands for each, `is_right` says so then,
/// and only then.
macro_rules! faults {
    ($($name:ident: $fault:ident, $text:literal;)*) => {
        $(#[test]
        fn $name() {
            use lockred_search::fault::{Fault, with};
            assert!(is_right($text));
            assert!(!with(Fault::$fault, || is_right($text)), "the fault is not caught");
        })*
    };
}
