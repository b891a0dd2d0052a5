//! Predicates of who may access memory, and who satisfies them.

use lockred_protocol::message::Broken;
use lockred_protocol::session::Watch;
use lockred_protocol::sites::SiteId;
use std::collections::{BTreeMap, BTreeSet};

/// What is looked after.
#[derive(Default, Debug)]
pub struct Exclusive {
    /// Which memory, and which predicate.
    pub watches: Vec<Watch>,
    /// Of the execution under way: who satisfies which predicate of which value.
    pub values: BTreeMap<(u64, usize), BTreeSet<u32>>,
    /// The last access that was seen: its thread and place.
    pub last: (u32, SiteId, Vec<u64>),
    /// What is wrong with the predicates.
    pub broken: Vec<Broken>,
    /// The thread that is asked about.
    pub asked: Option<u32>,
}

impl Exclusive {
    /// Looks after these.
    pub fn new(watches: &[Watch]) -> Self {
        Self { watches: watches.to_vec(), ..Self::default() }
    }

    /// An execution begins.
    pub fn begin(&mut self) {
        self.values.clear();
    }

    /// What is wrong with the predicates themselves.
    pub fn take_broken(&mut self) -> Vec<Broken> {
        std::mem::take(&mut self.broken)
    }

    /// A block is freed.
    pub fn freed(&mut self, block: std::ops::Range<usize>) {
        self.values.retain(|(_, at), _| !block.contains(at));
    }
}
