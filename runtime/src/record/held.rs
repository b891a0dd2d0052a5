//! Locks that are held, as reports say it.

use lockred_protocol::sites::SiteId;

/// A lock that is held, for reports.
#[derive(Clone, Debug)]
pub struct Held {
    /// The lock word.
    pub address: usize,
    /// Who holds it.
    pub thread: u32,
    /// Where it was acquired.
    pub site: SiteId,
    /// With others who hold it, too.
    pub shared: bool,
    /// The recorded step of the acquisition.
    pub step: Option<usize>,
    /// Stack at the acquisition (only while recording).
    pub stack: Vec<u64>,
}
