//! Families of random programs that a test compares.

/// Tests that `compare` random programs, one a family, so that they run side by side: `ordinary` programs of each, or `deep` ones. Each has a name, a number
/// for [`cases`], and a strategy that makes its programs.
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
