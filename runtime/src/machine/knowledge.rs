//! What is known of the program, and stays known when an execution is over.

use crate::coroutine::frames::Frames;
use crate::locks::met::Met;
use crate::machine::channel_words::ChannelWords;
use crate::machine::config::Config;
use crate::machine::deaths::Deaths;
use crate::machine::libtest::Harness;
use crate::machine::object_ids::ObjectIds;
use crate::memory::arena::Regions;
use lockred_protocol::session::{Needs, Task};

/// See the module.
#[derive(Debug)]
pub struct Knowledge {
    /// What the search by transactions calls objects.
    pub object_ids: ObjectIds,
    /// Whose the arena's regions are.
    pub regions: Regions,
    /// Stacks at the first creations of threads, by region.
    pub created: Vec<Vec<u64>>,
    /// Most threads that an execution had.
    pub most_threads: u32,
    /// Channels do what they are written to do, step by step: in a search that does not know them
    /// as a whole, and once a program has turned out to do with one what is not known.
    pub channels_step_by_step: bool,
    /// A word for each channel.
    pub channel_words: ChannelWords,
    /// Schedules under which the process died before.
    pub deaths: Deaths,
    /// What libtest does after the test.
    pub harness: Harness,
    /// Locks that walks have met at the places of their targets.
    pub met: Met,
    /// What is known of the program's frames, where states are compared.
    pub frames: Frames,
    /// A loop that may end early has begun.
    pub scales: bool,
}

impl Knowledge {
    /// What is known at the start.
    pub fn new(config: &Config) -> Self {
        // When an act on a channel as a whole would time out is not known.
        let needs = config.task().map_or(Needs::WALK, Task::needs);
        let channels_step_by_step = config.orders_time || needs.channels_step_by_step;
        let deaths = config.request.as_ref().map(|request| Deaths::new(&request.deaths));
        Self {
            object_ids: ObjectIds::default(),
            regions: Regions::default(),
            created: Vec::new(),
            most_threads: 1,
            channels_step_by_step,
            channel_words: ChannelWords::default(),
            deaths: deaths.unwrap_or_default(),
            harness: Harness::default(),
            met: Met::default(),
            frames: Frames::default(),
            scales: false,
        }
    }
}
