//! A line of JSON.

use serde::Serialize;

/// The value as one, with its end.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("names are strings, and nothing refuses to be serialised")
        + "\n"
}
