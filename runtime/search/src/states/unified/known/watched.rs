//! Which accesses are compared by weak happens-before.

use crate::core::chains::Objects;
use crate::core::footprint::ObjectId;

/// Objects whose accesses are not kept apart in the same way in all executions.
#[derive(Debug, Default)]
pub(in super::super) struct Watched {
    /// Some of their accesses may race.
    races: Objects,
    /// Of some of their atomic accesses a weaker memory could show other values.
    values: Objects,
    /// A weaker memory could show other values somewhere: nothing more is to be found out of that.
    weak_values: bool,
    /// Something has changed since the search last asked.
    pub(in super::super) more: bool,
}

impl Watched {
    /// Accesses to it may race.
    pub(in super::super) fn watch(&mut self, object: ObjectId) {
        self.more |= self.races.insert(object);
    }

    /// Of atomic accesses to it a weaker memory could show other values.
    pub(in super::super) fn watch_values(&mut self, object: ObjectId) {
        self.more |= !self.weak_values && self.values.insert(object);
    }

    /// This was seen: such accesses are not watched any more.
    pub(in super::super) fn shows_weak_values(&mut self) {
        self.more |= !self.values.is_empty();
        self.weak_values = true;
        self.values = Objects::default();
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.races.is_empty() && self.values.is_empty()
    }

    pub(super) fn contains(&self, object: &ObjectId) -> bool {
        self.races.contains(object) || self.values.contains(object)
    }

    /// Whether values of the object are watched.
    pub(super) fn has_values_of(&self, object: &ObjectId) -> bool {
        self.values.contains(object)
    }
}
