//! The families of programs, as `xtask/growth` lists them.

#[path = "../../../growth/src/list.rs"]
mod list;

/// A program that comes in sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family {
    pub name: &'static str,
    /// What it does, for people.
    pub what: &'static str,
}

/// All of them.
pub fn families() -> Vec<Family> {
    macro_rules! families {
        ($($file:ident::$program:ident $what:literal,)*) => {
            vec![$(Family { name: stringify!($program), what: $what },)*]
        };
    }
    list::each_family!(families)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_as_tests_and_pictures_are_named_by_them() {
        let names: BTreeSet<_> = families().iter().map(|family| family.name).collect();
        assert_eq!(names.len(), families().len());
    }
}
