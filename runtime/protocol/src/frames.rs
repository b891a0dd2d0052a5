//! The table of frames of an instrumented executable: where in each function's frame variables are.
//!
//! The shim writes it into the ELF section [`SECTION`], a sequence of little-endian words of 32
//! bits: for each function where it begins, how far down it goes, how many variables it has, and
//! two words for each.

/// ELF section that holds the encoded table.
pub const SECTION: &str = "lockred_frames";

/// A function's frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Where its code begins in [`crate::hooks::TEXT_SECTION`].
    pub start: u32,
    /// By how many bytes the lowest of what is in it is below what the stack pointer was when the
    /// function was entered. Below that there are only arguments for callees.
    pub lowest: u32,
    /// What may be accessed through a pointer. The rest are registers that were put aside.
    pub variables: Vec<Variable>,
}

/// A variable in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable {
    /// By how many bytes its beginning is below what the stack pointer was when the function was
    /// entered.
    pub below: u32,
    /// Its size in bytes.
    pub size: u32,
}

/// The bytes to put into [`SECTION`].
#[must_use]
pub fn encode(frames: &[Frame]) -> Vec<u8> {
    let of_frame = |frame: &Frame| {
        let variables = frame.variables.iter().flat_map(|variable| [variable.below, variable.size]);
        let count = u32::try_from(frame.variables.len()).expect("functions are smaller than that");
        [frame.start, frame.lowest, count].into_iter().chain(variables).collect::<Vec<u32>>()
    };
    frames.iter().flat_map(of_frame).flat_map(u32::to_le_bytes).collect()
}

/// The frames in what [`encode`] made, in the same order.
pub fn decode(bytes: &[u8]) -> impl Iterator<Item = Frame> {
    let mut words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    std::iter::from_fn(move || {
        let (start, lowest, count) = (words.next()?, words.next()?, words.next()?);
        let mut variable = || Some(Variable { below: words.next()?, size: words.next()? });
        let variables = (0..count).map_while(|_| variable()).collect();
        Some(Frame { start, lowest, variables })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let variables = vec![Variable { below: 16, size: 8 }, Variable { below: 24, size: 4 }];
        let frames = [
            Frame { start: 0, lowest: 0, variables: Vec::new() },
            Frame { start: 32, lowest: 24, variables },
        ];
        assert_eq!(decode(&encode(&frames)).collect::<Vec<_>>(), frames);
    }
}
