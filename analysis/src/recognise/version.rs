//! Versions of packages, as far as sync models tell them apart.

use std::cmp::Ordering;

/// Whether a version is older than another. One that cannot be read is older than any.
pub fn is_older(version: &str, than: &str) -> bool {
    match (parse(version), parse(than)) {
        (Some(version), Some(than)) => version.cmp(&than) == Ordering::Less,
        _ => true,
    }
}

/// Whether it is a version.
pub fn is_version(text: &str) -> bool {
    parse(text).is_some()
}

/// Its three numbers, and whether it is a release: pre-releases come before that.
fn parse(text: &str) -> Option<([u64; 3], bool)> {
    let text = text.split('+').next()?;
    let (numbers, release) = match text.split_once('-') {
        Some((numbers, _)) => (numbers, false),
        None => (text, true),
    };
    let mut parts = numbers.split('.').map(|part| part.parse().ok());
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some((three, release))
}

/// Whether a version is from `since` on, if there is such a bound, and before `until`, if there is
/// such a one.
pub fn is_between(version: &str, since: Option<&str>, until: Option<&str>) -> bool {
    since.is_none_or(|since| !is_older(version, since))
        && until.is_none_or(|until| is_older(version, until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(is_older("0.5.9", "0.5.15"));
        assert!(!is_older("0.5.15", "0.5.15"));
        assert!(!is_older("1.0.0", "0.5.15"));
        assert!(is_older("0.5.15-rc.1", "0.5.15"));
        assert!(!is_older("0.5.15+build", "0.5.15"));
        assert!(is_older("new", "0.0.1"));
        assert!(is_between("0.12.5", None, Some("0.13.0")) && is_between("0.13.0", None, None));
        assert!(!is_between("0.13.0", None, Some("0.13.0")));
        assert!(is_between("0.13.0", Some("0.13.0"), None));
        assert!(is_version("1.2.3") && !is_version("1.2") && !is_version("1.2.3.4"));
    }
}
