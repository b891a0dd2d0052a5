//! Stable 64-bit hashes for names of directories and findings: FNV-1a, the same on every machine
//! and in every version.

use std::io::{self, Read};
use std::path::Path;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A hash under way. Parts are kept apart: `add("ab"), add("c")` differs from `add("a"),
/// add("bc")`.
#[derive(Clone, Copy, Debug)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The hash of nothing.
    pub const fn new() -> Self {
        Self(OFFSET)
    }

    /// The hash with one more part.
    #[must_use]
    pub fn add(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.bytes(part);
        self.bytes(&(part.len() as u64).to_le_bytes());
        self
    }

    /// 16 hexadecimal digits.
    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    }

    /// Eight bytes at a time, for large files.
    fn words(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let word = u64::from_le_bytes(chunk.try_into().expect("chunks of eight"));
            // The multiplication carries upwards only; the rotation brings high bits back down.
            self.0 = (self.0 ^ word).wrapping_mul(PRIME).rotate_left(29);
        }
        self.bytes(chunks.remainder());
    }
}

/// The hash of a file's contents.
///
/// # Errors
/// When the file cannot be read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Fingerprint::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read(&mut buffer[filled..])? {
                0 => break,
                n => filled += n,
            }
        }
        hash.words(&buffer[..filled]);
        if filled < buffer.len() {
            return Ok(hash.hex());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a_of_parts_and_lengths() {
        assert_eq!(Fingerprint::new().hex(), "cbf29ce484222325");
        let together = Fingerprint::new().add("ab").add("c").hex();
        assert_ne!(together, Fingerprint::new().add("a").add("bc").hex());
        assert_eq!(together, Fingerprint::new().add("ab").add("c").hex());
    }

    #[test]
    fn files_of_any_length_are_hashed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let mut seen = std::collections::HashSet::new();
        for length in [0, 1, 7, 8, 9, 65_535, 65_536, 65_537, 200_000] {
            std::fs::write(&path, vec![7; length]).unwrap();
            assert!(seen.insert(of_file(&path).unwrap()), "length {length}");
        }
    }
}
