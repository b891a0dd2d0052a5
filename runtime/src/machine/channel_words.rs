//! A word for each channel, that changes whenever the channel does: what the search calls a
//! channel.
//!
//! The words are at addresses that depend on nothing but the order in which channels were made
//! first, so that a search in another process can get them (`checkpoint`).

use crate::session::files::fatal;
use std::cell::Cell;
use std::collections::HashMap;

/// Where the words are: below the arena, far from everything else.
const BASE: usize = 0x0f00_0000_0000;
/// The most channels that a test can have, by the places of their blocks.
const CAPACITY: usize = 1 << 20;

/// See the module. Outlives executions.
#[derive(Debug, Default)]
pub struct ChannelWords {
    /// The channels' addresses, in the order of their words.
    channels: Vec<usize>,
    numbers: HashMap<usize, usize>,
}

impl ChannelWords {
    /// The word of a channel, if it has one.
    pub fn get(&self, channel: usize) -> Option<&'static Cell<u64>> {
        self.numbers.get(&channel).map(|&number| at(number))
    }

    /// The word of a channel.
    pub fn make(&mut self, channel: usize) -> &'static Cell<u64> {
        if let Some(word) = self.get(channel) {
            return word;
        }
        let number = self.channels.len();
        if number == 0 {
            map();
        }
        if number == CAPACITY {
            fatal("a test has more than a million channels");
        }
        self.channels.push(channel);
        self.numbers.insert(channel, number);
        at(number)
    }

    /// The channels that have words, in their order.
    pub fn channels(&self) -> &[usize] {
        &self.channels
    }
}

fn at(number: usize) -> &'static Cell<u64> {
    // SAFETY: `make` has mapped the words before it gave out a number below the capacity; they are
    // never unmapped, all zeros are a valid value, and there is one OS thread.
    unsafe { &*std::ptr::with_exposed_provenance::<Cell<u64>>(BASE + 8 * number) }
}

fn map() {
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let wanted = std::ptr::with_exposed_provenance_mut(BASE);
    // SAFETY: MAP_FIXED_NOREPLACE never replaces an existing mapping.
    let got = unsafe { libc::mmap(wanted, CAPACITY * 8, protection, flags, -1, 0) };
    // Unit tests have several machines in one process, one after the other.
    let known = cfg!(test) && got == libc::MAP_FAILED;
    if got != wanted && !known {
        fatal("the address range of the words of channels is occupied");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_in_the_order_of_their_channels() {
        let mut words = ChannelWords::default();
        let (one, other) = (words.make(0x200) as *const _, words.make(0x100) as *const _);
        assert_eq!(other as usize - one as usize, 8);
        assert_eq!((words.make(0x200) as *const _, words.channels()), (one, &[0x200, 0x100][..]));
        assert!(words.get(0x300).is_none());
        let mut again = ChannelWords::default();
        assert_eq!(again.make(0x300) as *const _, one, "the first word of any program");
    }
}
