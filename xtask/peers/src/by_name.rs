//! Programs by their names.

/// `locks::lost_update::wrong`, `locks::lost_update::right` and so on: those that this runner can express.
pub fn program(asked: &str) -> fn() {
    let mut found: Option<fn()> = None;
    macro_rules! by_name {
        ($($family:ident::$name:ident $bug:ident $(needs $need:tt)?,)*) => { $(
            $(#[cfg(feature = $need)])?
            {
                use crate::programs::$family::$name;
                let pair = concat!(stringify!($family), "::", stringify!($name));
                match asked.strip_prefix(pair) {
                    Some("::wrong") => found = Some($name::<false>),
                    Some("::right") => found = Some($name::<true>),
                    _ => {}
                }
            }
        )* };
    }
    crate::list::each_program!(by_name);
    found.unwrap_or_else(|| panic!("no program is named {asked}"))
}
