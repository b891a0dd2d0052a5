//! The programs that `cargo xtask bench peers` compares checkers on, as ordinary tests over std: a pair each, `wrong` and `right`.

#[cfg(test)]
mod counts;
#[cfg(test)]
mod list;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod published;
#[cfg(test)]
mod sync;

#[cfg(test)]
mod tests {
    /// `locks::lost_update::wrong`, `locks::lost_update::right` and so on.
    macro_rules! tests {
        ($($family:ident::$name:ident $bug:ident $(needs $need:tt)?,)*) => { $(
            $(#[cfg(feature = $need)])?
            mod $name {
                #[test]
                fn wrong() {
                    crate::programs::$family::$name::<false>();
                }

                #[test]
                fn right() {
                    crate::programs::$family::$name::<true>();
                }
            }
        )* };
    }
    crate::list::each_program!(tests);

    /// `tests::counts::ainc_3` and so on.
    mod counts {
        macro_rules! tests {
            ($($test:ident: $name:ident $size:tt = $count:tt $source:tt $(takes $takes:tt)?,)*) => { $(
                #[test]
                fn $test() {
                    crate::counts::$name($size);
                }
            )* };
        }
        crate::published::each_count!(tests);
    }
}
