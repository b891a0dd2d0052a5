//! The processors that threads may use.

/// Processors that the program sees: enough to start threads, few enough to explore them.
pub const PROCESSORS: u32 = 2;
/// All of them.
pub const ALL: u64 = (1 << PROCESSORS) - 1;

/// The processors that threads may use, by their numbers; threads that are not there may use all.
/// Put back at a restore.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Processors(Vec<u64>);

impl Processors {
    /// Those of a thread.
    pub fn of(&self, thread: u32) -> u64 {
        self.0.get(thread as usize).copied().unwrap_or(ALL)
    }

    /// A thread may use these from now on.
    pub fn set(&mut self, thread: u32, processors: u64) {
        let index = thread as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, ALL);
        }
        self.0[index] = processors;
    }

    /// A thread is created: it may use what its creator may use.
    pub fn created(&mut self, parent: u32, child: u32) {
        let processors = self.of(parent);
        if processors != ALL {
            self.set(child, processors);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_thread_may_use_what_its_creator_may_use() {
        let mut processors = Processors::default();
        assert_eq!((processors.of(0), processors.of(7)), (ALL, ALL));
        processors.set(1, 0b10);
        processors.created(1, 2);
        processors.created(0, 3);
        assert_eq!([0, 1, 2, 3].map(|thread| processors.of(thread)), [ALL, 0b10, 0b10, ALL]);
    }
}
