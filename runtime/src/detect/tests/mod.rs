//! The detector against happens-before by definition, on random traces and on named ones.

mod advice;
mod definition;
mod litmus;
mod lives;
mod random;
mod trace;

use super::Detector;
use definition::Order;
use trace::Event;

/// Every event has a site of its own.
fn own_site(event: usize) -> u32 {
    event as u32 + 1
}

/// A detector that reaches half of the words of the traces directly and the rest through its table.
fn detector() -> Detector {
    Detector::new(&[0x1000..0x100c, 0x1018..0x1020])
}

/// Runs a trace and compares every answer with the definition: a race is reported at an access
/// exactly when it has one, and the pair that is reported is one; the weak-pair flag is exact until
/// the first race. Answers the accesses that race with an earlier one.
fn check(detector: &mut Detector, trace: &[Event]) -> Vec<usize> {
    let order = Order::of(trace);
    let (mut racing, mut weak) = (Vec::new(), false);
    // One program point may act on many bytes, in many epochs, in different ways: a loop.
    let looping = trace::run(detector, trace, |_| 1);
    for (j, answer) in trace::run(detector, trace, own_site).iter().enumerate() {
        assert_eq!(looping[j].race.is_some(), answer.race.is_some(), "event {j} in a loop");
        let races: Vec<usize> =
            (0..j).filter(|&i| definition::races(trace, &order, i, j)).collect();
        assert_eq!(answer.race.is_some(), !races.is_empty(), "event {j} races with {races:?}");
        if let Some(race) = answer.race {
            racing.push(j);
            let earlier = race.earlier.site.0 as usize - 1;
            assert!(
                races.contains(&earlier),
                "event {j} is said to race with {earlier}: {races:?}"
            );
            let (reported, event) = (race.earlier, trace[earlier]);
            assert_eq!((reported.thread, race.later.thread), (event.thread, trace[j].thread));
            assert_eq!(race.later.site.0 as usize, j + 1);
            let (bytes, range) =
                (reported.addr..reported.addr + reported.size, event.act.range().unwrap());
            assert!(bytes.start >= range.start && bytes.end <= range.end, "{bytes:?} {range:?}");
        }
        weak |= (0..j).any(|i| definition::weak_pair(trace, &order, i, j));
        assert!(!racing.is_empty() || answer.weak_pair == weak, "weak pair up to event {j}");
    }
    racing
}
