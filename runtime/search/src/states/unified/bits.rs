//! Sets of small numbers as rows of bits, of which most fit into one word.

/// A set of numbers. Equal sets are equal values, so that states which hold them can be told apart.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Bits {
    near: u64,
    /// The numbers from 64 on, without empty words at the end.
    far: Vec<u64>,
}

impl Bits {
    pub(super) fn is_empty(&self) -> bool {
        self.near == 0 && self.far.is_empty()
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        let bit = 1 << (number % 64);
        match number / 64 {
            0 => self.near & bit != 0,
            word => self.far.get(word as usize - 1).is_some_and(|w| w & bit != 0),
        }
    }

    pub(super) fn insert(&mut self, number: u32) {
        let bit = 1 << (number % 64);
        let Some(word) = (number as usize / 64).checked_sub(1) else {
            self.near |= bit;
            return;
        };
        if self.far.len() <= word {
            self.far.resize(word + 1, 0);
        }
        self.far[word] |= bit;
    }

    pub(super) fn remove(&mut self, number: u32) {
        let bit = 1 << (number % 64);
        match number / 64 {
            0 => self.near &= !bit,
            word => {
                if let Some(w) = self.far.get_mut(word as usize - 1) {
                    *w &= !bit;
                    self.trim();
                }
            }
        }
    }

    /// Adds all members of another set.
    pub(super) fn add(&mut self, other: &Self) {
        self.near |= other.near;
        if self.far.len() < other.far.len() {
            self.far.resize(other.far.len(), 0);
        }
        self.far.iter_mut().zip(&other.far).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// Keeps what is a member of both.
    pub(super) fn keep(&mut self, other: &Self) {
        self.near &= other.near;
        self.far.truncate(other.far.len());
        self.far.iter_mut().zip(&other.far).for_each(|(mine, theirs)| *mine &= theirs);
        self.trim();
    }

    /// Removes all members of another set.
    pub(super) fn take_away(&mut self, other: &Self) {
        self.near &= !other.near;
        self.far.iter_mut().zip(&other.far).for_each(|(mine, theirs)| *mine &= !theirs);
        self.trim();
    }

    /// The members, lowest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let words = std::iter::once(&self.near).chain(&self.far);
        (0..).zip(words).flat_map(|(word, &bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(word * 64 + bit)
            })
        })
    }

    fn trim(&mut self) {
        while self.far.last() == Some(&0) {
            self.far.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    fn of(members: &[u32]) -> Bits {
        let mut bits = Bits::default();
        members.iter().for_each(|&member| bits.insert(member));
        bits
    }

    #[test]
    fn equal_sets_are_equal_values() {
        let mut bits = of(&[3, 64, 200]);
        bits.remove(200);
        assert_eq!(bits, of(&[64, 3]));
        bits.keep(&of(&[3, 5]));
        assert_eq!(bits, of(&[3]));
        bits.add(&of(&[130]));
        bits.take_away(&of(&[130, 3]));
        assert_eq!(bits, Bits::default());
        assert!(bits.is_empty());
    }

    #[test]
    fn members_come_in_order() {
        let members = [0, 63, 64, 127, 128, 300];
        let bits = of(&members);
        assert_eq!(bits.iter().collect::<Vec<_>>(), members);
        assert!(members.iter().all(|&member| bits.contains(member)) && !bits.contains(65));
    }
}
