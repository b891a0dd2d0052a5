//! An outcome as a baseline knows it.

use super::{Ended, Outcome};
use crate::baseline::{Entry, Found, Place};

impl Outcome {
    /// Notes what was found.
    pub fn note(&self, found: &mut Found) {
        let place = Place::new(&self.package, self.kind, &self.target, &self.name);
        let entry = |fingerprint: &String, code: &str, message: &String| Entry {
            place: place.clone(),
            code: code.to_owned(),
            fingerprint: fingerprint.clone(),
            message: message.lines().next().unwrap_or_default().to_owned(),
        };
        let bugs = self
            .bugs
            .iter()
            .map(|bug| entry(&bug.fingerprint, bug.kind.code(), &bug.rendered.report.title));
        let warnings = self.warnings.iter().map(|reported| {
            entry(&reported.fingerprint, reported.kind.code(), &reported.rendered.report.title)
        });
        let complete = self.ended == Ended::Complete && self.error.is_none();
        let entries = bugs.chain(warnings).collect();
        found.add(place, entries, complete);
    }
}
