//! What an instrumented executable says about itself: its sites, its tests, its source locations.

pub mod debug_info;
pub mod list;
pub mod place;
pub mod sidecar;
pub mod source;
pub mod symbols;
