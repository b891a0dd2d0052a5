//! Vectors that are nearly always empty, and of which there are many: one word each.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A vector behind a pointer, which is made with the first element. Keeps its memory when it is
/// cleared.
#[derive(Clone, Debug)]
#[expect(clippy::box_collection, reason = "a `Vec` is three words, which empty ones have in vain")]
pub(crate) struct Thin<T>(Option<Box<Vec<T>>>);

impl<T> Default for Thin<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Thin<T> {
    /// The vector itself, to add to it.
    pub(crate) fn grow(&mut self) -> &mut Vec<T> {
        self.0.get_or_insert_default()
    }

    pub(crate) fn push(&mut self, element: T) {
        self.grow().push(element);
    }

    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }

    pub(crate) fn retain(&mut self, keeps: impl FnMut(&T) -> bool) {
        if let Some(vector) = &mut self.0 {
            vector.retain(keeps);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.0.as_mut()?.pop()
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        if let Some(vector) = &mut self.0 {
            vector.truncate(length);
        }
    }
}

impl<T> Deref for Thin<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |vector| &vector[..])
    }
}

impl<T> DerefMut for Thin<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_mut().map_or(&mut [], |vector| &mut vector[..])
    }
}

impl<T: PartialEq> PartialEq for Thin<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Thin<T> {}

impl<T: std::hash::Hash> std::hash::Hash for Thin<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<'a, T> IntoIterator for &'a Thin<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Serialize> Serialize for Thin<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Thin<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let vector = Vec::deserialize(deserializer)?;
        Ok(if vector.is_empty() { Self(None) } else { Self(Some(Box::new(vector))) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_ones_are_a_word_and_equal() {
        let mut cleared = Thin::default();
        cleared.push(1_u32);
        cleared.clear();
        assert_eq!(size_of_val(&cleared), size_of::<usize>());
        assert_eq!(cleared, Thin::default());
        assert_eq!(serde_json::to_string(&cleared).unwrap(), "[]");
        cleared.push(2);
        let text = serde_json::to_string(&cleared).unwrap();
        assert_eq!(serde_json::from_str::<Thin<u32>>(&text).unwrap(), cleared);
        assert_ne!(cleared, Thin::default());
    }
}
