//! The programs that `cargo xtask bench peers` compares checkers on, as ordinary tests over std: a pair each, `wrong` and `right`.

#[cfg(test)]
mod list;
#[cfg(test)]
mod programs;
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
}
