//! Failures: bugs as the search sees them, small while exploring and complete while recording.

use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Bug, Place, Role};
use lockred_protocol::sites::SiteId;

/// A bug.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which of the closed list.
    pub kind: BugKind,
    /// One line.
    pub message: String,
    /// Equal for equal root causes: kind and sites, independent of schedule and process.
    pub key: String,
    /// The places that show it. Stacks, objects and steps are filled only while recording.
    pub places: Vec<Place>,
    /// Further sentences.
    pub notes: Vec<String>,
}

impl Failure {
    /// A failure whose key is its kind and `what`.
    pub fn new(kind: BugKind, message: String, what: &str) -> Self {
        let key = format!("{}:{what}", kind.code());
        Self { kind, message, key, places: Vec::new(), notes: Vec::new() }
    }

    /// Adds a place.
    pub fn at(mut self, place: Place) -> Self {
        self.places.push(place);
        self
    }

    /// As it travels to the session.
    pub fn into_bug(self) -> Bug {
        let Self { kind, message, key, places, notes } = self;
        Bug { kind, message, key, places, notes }
    }
}

/// A place without stack, object or step.
pub fn place(role: Role, thread: u32, site: SiteId) -> Place {
    Place { role, thread, site, stack: Vec::new(), object: None, step: None, order: None }
}
