//! What inline assembly is known to do.

/// Instructions that only read processor registers and identification.
const ASKING: &[&str] = &["cpuid", "xgetbv", "rdtsc", "rdtscp", "rdrand", "rdseed", "pause"];

/// Whether assembly touches no memory and keeps nothing: it is empty (a barrier for the optimiser), or only asks the processor.
pub fn is_harmless(text: &str) -> bool {
    text.trim().is_empty()
        || text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| ASKING.contains(&word))
}
