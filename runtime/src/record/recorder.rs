//! The record of one execution, for replays: steps, objects, stacks, output.

use super::captures::Captures;
use crate::coroutine::unwind::Frame;
use lockred_protocol::message::{Home, Object, Output, Overtaken, Step};
use std::collections::HashMap;

/// Bytes of output that are kept.
const OUTPUT_BYTES: usize = 1 << 20;

/// Operations that are recorded after a bug, at most: then the execution ends.
pub const BEHIND: usize = 2000;

/// See the module. Emptied at every restore.
#[derive(Debug, Default)]
pub struct Recorder {
    /// Sleeps that were overtaken.
    pub overtaken: Vec<Overtaken>,
    /// Visible operations in order.
    pub steps: Vec<Step>,
    /// Objects by number.
    pub objects: Vec<Object>,
    numbers: HashMap<usize, u32>,
    /// Output in order.
    pub output: Vec<Output>,
    output_bytes: usize,
    /// Of accesses that may be part of a race.
    pub captures: Captures,
    /// By thread: the frames of its stack where it was last stopped.
    pub frames: HashMap<u32, Vec<Frame>>,
    /// Operations in the step under way since something failed in it.
    behind: usize,
}

impl Recorder {
    /// A new execution: what was recorded below the root is void. Output from before it stays.
    pub fn begin(&mut self) {
        let output = std::mem::take(&mut self.output);
        *self = Self { output, ..Self::default() };
    }

    /// Appends a step; `fails`: something has failed in the one under way. Whether there were so
    /// many since that the execution is to end.
    pub fn add(&mut self, step: Step, fails: bool) -> bool {
        self.steps.push(step);
        // A thread that is alone goes on without a stop.
        self.behind = if fails { self.behind + 1 } else { 0 };
        self.behind > BEHIND
    }

    /// The number of the object at an address. A kind replaces a vaguer one that was recorded
    /// before. `home`: what it lies in, if it is a new one.
    pub fn object(
        &mut self,
        address: usize,
        kind: &str,
        size: Option<u64>,
        home: Option<Home>,
    ) -> u32 {
        let objects = &mut self.objects;
        let number = *self.numbers.entry(address).or_insert_with(|| {
            objects.push(Object { kind: kind.to_owned(), address: address as u64, size, home });
            objects.len() as u32 - 1
        });
        let object = &mut objects[number as usize];
        // What says more: a word that a lock of queues guards may be the one on which a thread
        // parks.
        let says = |kind: &str| match kind {
            "atomic" | "memory" | "futex" => 0,
            "poison flag" => 1,
            _ => 2,
        };
        if says(kind) > says(&object.kind) {
            kind.clone_into(&mut object.kind);
        }
        object.size = object.size.or(size);
        number
    }

    /// The number of the object at an address, if it was recorded.
    pub fn number(&self, address: usize) -> Option<u32> {
        self.numbers.get(&address).copied()
    }

    /// The kind of the object at an address, if it was recorded.
    pub fn kind(&self, address: usize) -> Option<&str> {
        self.number(address).map(|number| self.objects[number as usize].kind.as_str())
    }

    /// Appends output of a thread.
    pub fn output(&mut self, thread: u32, descriptor: i32, text: &str) {
        if self.output_bytes + text.len() > OUTPUT_BYTES {
            return;
        }
        self.output_bytes += text.len();
        let step = self.steps.len();
        match self.output.last_mut() {
            Some(last)
                if (last.thread, last.descriptor, last.step) == (thread, descriptor, step) =>
            {
                last.text.push_str(text);
            }
            _ => {
                self.output.push(Output { thread, descriptor, text: text.to_owned(), step });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_called_what_says_most_of_it() {
        let mut recorder = Recorder::default();
        let mut called = |kind: &str| {
            let number = recorder.object(16, kind, None, None);
            recorder.objects[number as usize].kind.clone()
        };
        assert_eq!(called("futex"), "futex");
        assert_eq!(called("poison flag"), "poison flag");
        assert_eq!(called("atomic"), "poison flag");
        assert_eq!(called("parker"), "parker");
        assert_eq!(called("poison flag"), "parker");
    }
}
