//! Values that an executable carries, each in a section of its own: JSON, after the version of all
//! formats.

use crate::FORMAT_VERSION;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

/// A value that has a section of its own.
pub trait Section: Serialize + DeserializeOwned {
    /// The ELF section that holds it, encoded.
    const NAME: &'static str;
    /// What it is, in errors.
    const WHAT: &'static str;

    /// The bytes to put there.
    ///
    /// # Panics
    /// Never: strings and numbers can be written.
    #[must_use]
    fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(&(FORMAT_VERSION, self)).expect("strings and numbers can be written")
    }

    /// Reads what [`Section::encode`] wrote; zero bytes after it, which the linker may add, are
    /// ignored.
    ///
    /// # Errors
    /// When the bytes are none of these, or of another version.
    fn decode(bytes: &[u8]) -> Result<Self, String> {
        let bytes = without_padding(bytes);
        // The value of another version may not be one of ours.
        let version = |error| read::<IgnoredAny>(bytes).map(|(version, _)| (version, Err(error)));
        let found = read(bytes).map(|(version, value)| (version, Ok(value)));
        match found.or_else(version)? {
            (FORMAT_VERSION, value) => value,
            (version, _) => Err(format!("its {} is of format version {version}", Self::WHAT)),
        }
    }
}

fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(u32, T), String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// The bytes of a section without the zeros after what was written.
pub(crate) fn without_padding(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq, Debug, Serialize, Deserialize)]
    struct Answer {
        is: u32,
    }

    impl Section for Answer {
        const NAME: &'static str = "lockred_answer";
        const WHAT: &'static str = "answer";
    }

    #[test]
    fn a_value_is_read_as_it_was_written_and_nothing_else_is() {
        let mut bytes = Answer { is: 7 }.encode();
        assert_eq!(Answer::decode(&bytes), Ok(Answer { is: 7 }));
        bytes.extend([0; 3]);
        assert_eq!(Answer::decode(&bytes), Ok(Answer { is: 7 }));
        let other = "its answer is of format version 99";
        for bytes in [&b"[99,{\"is\":7}]"[..], b"[99,{\"was\":[7]}]"] {
            assert_eq!(Answer::decode(bytes), Err(other.to_owned()));
        }
        for bytes in [&b""[..], b"\0\0", b"{}", b"[2,{}]", b"[2]", b"[2,{\"is\":7}]\0x"] {
            assert!(Answer::decode(bytes).is_err());
        }
    }
}
