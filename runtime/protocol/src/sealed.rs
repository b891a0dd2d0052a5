//! Files that are whole or nothing: a text after a checksum of it, so that what was cut off or
//! damaged is recognised.
//!
//! Who writes one writes another file beside it and renames that. A process that is killed at any
//! moment leaves the old file or the new one; a machine that loses power may leave a torn one,
//! which [`open`] refuses.

/// Digits of the checksum.
const DIGITS: usize = 16;

/// A text with its seal.
#[must_use]
pub fn seal(text: &str) -> String {
    format!("{:0DIGITS$x}\n{text}", checksum(text))
}

/// The text of a sealed file; `None` if it is damaged.
#[must_use]
pub fn open(sealed: &str) -> Option<&str> {
    let (seal, text) = sealed.split_once('\n')?;
    let whole = seal.len() == DIGITS && u64::from_str_radix(seal, 16) == Ok(checksum(text));
    whole.then_some(text)
}

/// FNV-1a over words of eight bytes, the length included.
fn checksum(text: &str) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(PRIME).rotate_left(29);
    let mut chunks = text.as_bytes().chunks_exact(8);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("chunks of eight bytes"));
    let hash = chunks.by_ref().fold(0xcbf2_9ce4_8422_2325, |hash, bytes| mix(hash, word(bytes)));
    let rest = chunks.remainder().iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte)));
    mix(rest, text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_whole_is_opened() {
        let text = "{\"a\": [1, 2, 3], \"b\": \"something that is longer\"}";
        let sealed = seal(text);
        assert_eq!(open(&sealed), Some(text));
        for length in 0..sealed.len() {
            assert_eq!(open(&sealed[..length]), None, "cut at {length}");
        }
        for place in 0..sealed.len() {
            let mut damaged = sealed.clone().into_bytes();
            damaged[place] ^= 1;
            let damaged = String::from_utf8(damaged).unwrap();
            assert_eq!(open(&damaged), None, "damaged at {place}");
        }
        assert_eq!(open(&seal("")), Some(""));
    }
}
