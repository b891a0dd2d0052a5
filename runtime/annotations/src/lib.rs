//! What code may say to `cargo lockred`; every item does nothing when the program is built without the tool.

/// Whether this build is being checked by `cargo lockred` (which sets `--cfg lockred`).
///
/// Lets a stress test shrink its loop counts: `let rounds = if lockred::checked() { 2 } else { 10_000 };`
#[must_use]
pub const fn checked() -> bool {
    cfg!(lockred)
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_ordinary_build_is_not_checked() {
        assert!(!super::checked());
    }
}
