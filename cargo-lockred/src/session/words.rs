//! What it means that a process was asked to stop: the process says where it was, and the session
//! knows why it asked.

use super::death::LastWords;
use super::status::Progress;
use super::watchdog::{Asked, Reason};
use lockred_protocol::message::{Exploration, Stop, Unsupported};
use lockred_protocol::session::{Request, STOP_SIGNAL, Task};
use lockred_protocol::sites::SiteId;

/// Why a search has ended, given why it was asked to.
pub fn stop(reported: Stop, asked: Option<&Asked>) -> Stop {
    let Some(asked) = asked.filter(|asked| asked.reason != Reason::Interrupted) else {
        return if matches!(reported, Stop::Computing(_)) { Stop::Interrupted } else { reported };
    };
    let place = match reported {
        Stop::Computing(place) => place,
        Stop::Interrupted if asked.reason == Reason::Overrun => return Stop::Seconds,
        Stop::Interrupted => Unsupported { message: String::new(), site: SiteId(0), stack: vec![] },
        other => return other,
    };
    let place = Unsupported { message: asked.text(), ..place };
    if asked.reason == Reason::Overrun { Stop::Computing(place) } else { Stop::Unsupported(place) }
}

/// Seconds that a search has taken. Where it did not come to its root, what the test has computed
/// is all there is.
pub fn seconds(reported: f64, asked: Option<&Asked>) -> f64 {
    match asked {
        Some(asked) if asked.reason == Reason::Overrun && !asked.below_root => {
            asked.computed.as_secs_f64()
        }
        _ => reported,
    }
}

/// Says why a replay has not come to its end.
pub fn say(unsupported: Option<&mut Unsupported>, asked: Option<&Asked>) {
    if let (Some(unsupported), Some(asked)) = (unsupported, asked)
        && unsupported.message.is_empty()
    {
        unsupported.message = asked.text();
    }
}

/// What is known of a search whose process did not stop and was killed: where it was in a call,
/// that is none of ours. Else what to say of it, as an error.
pub fn killed(
    asked: &Asked,
    request: &Request,
    last: Option<LastWords>,
    progress: &Progress,
) -> Result<Exploration, String> {
    let place = if asked.below_root {
        format!("in execution {}", progress.counts.executions + 1)
    } else {
        "before its first thread was created".to_owned()
    };
    let message = match asked.reason {
        Reason::Asleep(_) => asked.text(),
        _ => format!(
            "a call has not come back for {} s of processor time, from code that lockred does not see",
            asked.computed.as_secs()
        ),
    };
    let in_call = |last: &LastWords| last.signal == STOP_SIGNAL && last.thread.is_some();
    let searches = matches!(request.task, Task::Explore { .. } | Task::Walk { .. });
    match last.filter(in_call) {
        Some(LastWords { stack, .. }) if searches => {
            let stop = Stop::Unsupported(Unsupported { message, site: SiteId(0), stack });
            let seconds = progress.elapsed.as_secs_f64();
            Ok(Exploration::without_response(stop, progress.counts, seconds))
        }
        Some(_) => Err(format!("{message} ({place}); the process was killed")),
        None => Err(format!(
            "the process was asked to stop {place} ({}) and did not respond; it was killed",
            asked.text()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sight::Sight;
    use super::*;
    use lockred_protocol::message::Counts;
    use lockred_protocol::schedule::Schedule;
    use std::time::Duration;

    fn asked(reason: Reason) -> Asked {
        Asked { reason, below_root: true, computed: Duration::from_secs(7) }
    }

    fn asleep() -> Asked {
        asked(Reason::Asleep(Sight::default().wait(100)))
    }

    fn place() -> Unsupported {
        Unsupported { message: String::new(), site: SiteId(0), stack: vec![5] }
    }

    #[test]
    fn what_a_step_was_left_for_says_how_the_search_ended() {
        let computing = || Stop::Computing(place());
        match stop(computing(), Some(&asked(Reason::Overrun))) {
            Stop::Computing(reported) => {
                assert!(reported.message.contains("7 s") && reported.stack == [5])
            }
            other => panic!("{other:?}"),
        }
        match stop(computing(), Some(&asleep())) {
            Stop::Unsupported(reported) => {
                assert!(reported.message.contains("waits") && reported.stack == [5])
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(stop(computing(), Some(&asked(Reason::Interrupted))), Stop::Interrupted);
        // By somebody else's signal.
        assert_eq!(stop(computing(), None), Stop::Interrupted);
    }

    #[test]
    fn what_was_computed_before_the_root_is_reported_where_there_is_nothing_else() {
        let before = Asked { below_root: false, ..asked(Reason::Overrun) };
        assert_eq!(seconds(0.1, Some(&before)), 7.0);
        assert_eq!(seconds(0.1, Some(&asked(Reason::Overrun))), 0.1);
        assert_eq!(seconds(0.1, None), 0.1);
    }

    #[test]
    fn what_ends_between_steps_is_reported_as_it_is() {
        let overrun = asked(Reason::Overrun);
        assert_eq!(stop(Stop::Interrupted, Some(&overrun)), Stop::Seconds);
        assert_eq!(stop(Stop::Complete, Some(&overrun)), Stop::Complete);
        assert_eq!(stop(Stop::Bug, Some(&asleep())), Stop::Bug);
        assert_eq!(stop(Stop::Interrupted, None), Stop::Interrupted);
        assert!(matches!(stop(Stop::Interrupted, Some(&asleep())), Stop::Unsupported(_)));
    }

    #[test]
    fn only_a_kill_outside_of_any_call_is_an_error_of_ours() {
        let replay = Request::of(Task::Replay { schedule: Schedule::default() });
        let search = Request::of(Task::Explore {
            strategy: lockred_protocol::session::Strategy::Transactions,
            limits: lockred_protocol::session::Limits {
                executions: None,
                seconds: None,
                operations: 1,
                share: lockred_protocol::session::Share::default(),
            },
            keep_going: false,
        });
        let counts = Counts { executions: 2, ..Counts::default() };
        let progress = Progress { counts, ..Progress::default() };
        let last = |thread| LastWords { signal: STOP_SIGNAL, address: 0, thread, stack: vec![9] };
        let reported = |asked: &Asked, request, last| killed(asked, request, last, &progress);
        let overrun = asked(Reason::Overrun);
        let found = reported(&overrun, &search, Some(last(Some(1)))).unwrap();
        match found.stop {
            Stop::Unsupported(place) => {
                assert!(place.message.starts_with("a call has not come back"), "{}", place.message);
                assert_eq!(place.stack, [9]);
            }
            other => panic!("{other:?}"),
        }
        assert!(reported(&asleep(), &search, Some(last(Some(0)))).is_ok());
        for (request, last) in
            [(&replay, Some(last(Some(1)))), (&search, None), (&search, Some(last(None)))]
        {
            let how = reported(&overrun, request, last).unwrap_err();
            assert!(how.contains("in execution 3") && how.ends_with("killed"), "{how}");
        }
    }
}
