//! What happened to one thread for no reason, by word.

/// In a row at one word.
pub const MOST: usize = 2;

/// What happened to one thread for no reason since the word was last waited for, or exchanged, with
/// one.
#[derive(Clone, Hash, Debug, Default)]
pub struct Spurious {
    /// Words, and hashes of the thread's state before.
    happened: Vec<(usize, Option<u64>)>,
}

impl Spurious {
    /// The thread's states before what happened to it for no reason at a word.
    pub fn before(&self, word: usize) -> Vec<Option<u64>> {
        let here = self.happened.iter().filter(|(known, _)| *known == word);
        here.map(|&(_, before)| before).collect()
    }

    /// Something happens for no reason at a word, in this state of the thread.
    pub fn happens(&mut self, word: usize, before: Option<u64>) {
        self.happened.push((word, before));
    }

    /// A wait at, or exchange of, a word has ended for a reason.
    pub fn ends(&mut self, word: usize) {
        self.happened.retain(|&(known, _)| known != word);
    }
}
