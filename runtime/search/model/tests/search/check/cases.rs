//! How many random programs a test compares, and which.

use proptest::test_runner::{Config, RngSeed};

/// `ordinary` programs, always the same ones for the same number `test`, so that a run says the
/// same twice; `deep` other ones each time in a deep run, or as many as PROPTEST_CASES says.
pub fn cases(test: u64, ordinary: u32, deep: u32) -> Config {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    let is_deep = cfg!(feature = "deep");
    let fixed = wanted.is_none() && !is_deep;
    Config {
        failure_persistence: None,
        cases: wanted.unwrap_or(if is_deep { deep } else { ordinary }),
        rng_seed: if fixed { RngSeed::Fixed(test) } else { RngSeed::Random },
        ..Config::default()
    }
}
