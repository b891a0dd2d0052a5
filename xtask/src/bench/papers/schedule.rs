//! The contexts of a schedule, as papers count them: maximal runs of one thread, up to the
//! violation.

use serde_json::Value;

/// The contexts of a schedule file: up to the last step of the thread that failed, or of all
/// threads if that is nobody. `failed` is how a report names it.
///
/// A main thread that did not fail only creates and joins: papers have no such thread, so its runs
/// do not count.
pub fn contexts(file: &Value, failed: Option<&str>) -> Option<usize> {
    let failed: Option<u64> = match failed {
        None => None,
        Some("main") => Some(0),
        Some(other) => Some(other.strip_prefix("thread ")?.parse().ok()?),
    };
    let steps = file["request"]["task"]["replay"]["schedule"].as_array()?;
    let mut threads: Vec<u64> = steps.iter().filter_map(|step| step["thread"].as_u64()).collect();
    threads.retain(|&thread| thread != 0 || failed == Some(0));
    threads.dedup();
    match failed {
        None => Some(threads.len()),
        Some(failed) => Some(threads.iter().rposition(|&thread| thread == failed)? + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// `failed` is empty for nobody.
    fn counted(threads: &[u64], failed: &str) -> Option<usize> {
        let steps: Vec<_> = threads.iter().map(|thread| json!({ "thread": thread })).collect();
        contexts(
            &json!({"request": {"task": {"replay": {"schedule": steps}}}}),
            Some(failed).filter(|failed| !failed.is_empty()),
        )
    }

    #[test]
    fn contexts_are_counted_up_to_the_failure() {
        assert_eq!(counted(&[0, 0, 1, 1, 2, 2, 1, 2, 0], "thread 1"), Some(3));
        assert_eq!(counted(&[0, 1, 2, 0, 2], "thread 2"), Some(2), "main is none of the threads");
        assert_eq!(counted(&[0, 0, 1, 0], "main"), Some(3));
        assert_eq!(counted(&[0, 1, 2, 0, 1, 0], ""), Some(3), "nobody failed");
    }

    #[test]
    fn what_is_no_schedule_has_none() {
        assert_eq!(counted(&[0, 1], "thread 3"), None);
        assert_eq!(counted(&[0, 1], "somebody"), None);
        assert_eq!(contexts(&json!({}), Some("main")), None);
    }
}
