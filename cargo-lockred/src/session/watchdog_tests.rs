//! The watchdog over processes that are described: what they have computed, look by look, and
//! whether they sleep.

use super::*;

/// A process under watch, of which every look says what it has computed and done since the last
/// one.
struct Story {
    dog: Watchdog,
    cpu: Duration,
    progress: Progress,
}

impl Story {
    fn new(budget: Option<f64>) -> Self {
        let dog = Watchdog::new(Patience::of_budget(budget));
        Self { dog, cpu: Duration::ZERO, progress: Progress::default() }
    }

    fn below_root(mut self) -> Self {
        self.progress.below_root = true;
        self
    }

    fn look(&mut self, asleep: bool, interrupted: bool) -> Act {
        let sight = Sight { cpu: self.cpu, asleep, call: None, children: Vec::new() };
        self.dog.look(&self.progress, &sight, interrupted)
    }

    /// It computes for so many seconds, a tenth of one between two looks. Gives when it was first
    /// not let run.
    fn computes(&mut self, seconds: u64) -> Option<(Act, u64)> {
        for _ in 0..seconds * 10 {
            self.cpu += LOOK_EVERY;
            match self.look(false, false) {
                Act::Nothing => {}
                act => return Some((act, self.cpu.as_secs())),
            }
        }
        None
    }

    /// So many looks find it without any progress. Gives the number of the first after which it was
    /// not let run.
    fn stands(&mut self, looks: u32, asleep: bool) -> Option<(Act, u32)> {
        (1..=looks).find_map(|number| match self.look(asleep, false) {
            Act::Nothing => None,
            act => Some((act, number)),
        })
    }

    fn why(self) -> Asked {
        self.dog.into_asked().unwrap()
    }
}

#[test]
fn who_is_starved_or_stopped_is_waited_for() {
    let mut story = Story::new(Some(1.0)).below_root();
    assert_eq!(story.stands(100_000, false), None);
    let mut story = Story::new(Some(1.0));
    assert_eq!(story.stands(100_000, false), None);
}

#[test]
fn a_step_may_compute_for_the_budget_and_is_asked_to_stop_then() {
    let mut story = Story::new(Some(60.0)).below_root();
    assert_eq!(story.computes(61), None);
    assert_eq!(story.computes(1), Some((Act::Ask, 61)));
    let asked = story.why();
    assert_eq!((asked.reason.clone(), asked.below_root), (Reason::Overrun, true));
    assert!(asked.text().starts_with("a thread has computed for 61 s"), "{}", asked.text());
}

#[test]
fn before_the_root_a_test_may_compute_for_the_budget_and_below_it_again() {
    let mut story = Story::new(Some(20.0));
    assert_eq!(story.computes(20), None);
    let mut below = Story { progress: Progress { below_root: true, ..story.progress }, ..story };
    assert_eq!(below.computes(21), None);
    let mut story = Story::new(Some(2.0));
    assert_eq!(story.computes(10), Some((Act::Ask, 2)));
    let text = story.why().text();
    assert!(text.starts_with("the test has computed for 2 s of processor time without"), "{text}");
}

#[test]
fn without_a_budget_a_process_may_compute_for_ever() {
    assert_eq!(Story::new(None).computes(100_000), None);
    assert_eq!(Story::new(Some(1e9)).below_root().computes(100_000), None);
}

#[test]
fn who_does_not_respond_is_asked_again_and_killed_in_the_end() {
    let mut story = Story::new(Some(1.0)).below_root();
    let mut acts = Vec::new();
    while acts.last().is_none_or(|&(act, _)| act != Act::Kill) {
        acts.extend(story.computes(1));
    }
    assert_eq!(acts[0], (Act::Ask, 2));
    assert!(acts[1..acts.len() - 1].iter().all(|&(act, _)| act == Act::Ask), "{acts:?}");
    let end = acts.last().unwrap().1;
    assert!(acts.len() > 8 && end == 12, "{acts:?}");
}

#[test]
fn who_sleeps_in_every_look_is_asked_and_killed_in_the_end() {
    let mut story = Story::new(Some(60.0)).below_root();
    // It was still computing between the start and the first of these.
    story.cpu += LOOK_EVERY;
    assert_eq!(story.stands(200, true), Some((Act::Ask, ASLEEP + 1)));
    assert_eq!(story.stands(200, true), Some((Act::Ask, 10)));
    assert_eq!(story.stands(200, true), Some((Act::Ask, 10)));
    assert_eq!(story.stands(200, true), Some((Act::Ask, 10)));
    assert_eq!(story.stands(200, true), Some((Act::Kill, 1)));
    assert!(matches!(story.why().reason, Reason::Asleep(_)));
}

#[test]
fn one_look_that_finds_it_awake_is_enough() {
    let mut story = Story::new(Some(60.0)).below_root();
    for _ in 0..10 {
        assert_eq!(story.stands(ASLEEP - 1, true), None);
        assert_eq!(story.look(false, false), Act::Nothing);
        assert_eq!(story.stands(ASLEEP - 1, true), None);
        // It was asleep in both looks, but has computed in between.
        story.cpu += DOZING;
        assert_eq!(story.look(true, false), Act::Nothing);
    }
}

#[test]
fn before_the_root_a_test_may_wait_for_a_minute_or_its_budget() {
    assert_eq!(Story::new(Some(1.0)).stands(1000, true), Some((Act::Ask, 600)));
    assert_eq!(Story::new(Some(90.0)).stands(1000, true), Some((Act::Ask, 900)));
}

#[test]
fn an_interruption_is_passed_on_at_once_and_ends_whatever_it_does() {
    let mut story = Story::new(None).below_root();
    assert_eq!(story.look(false, true), Act::Ask);
    let looks = (1..).find(|_| story.look(false, true) == Act::Kill).unwrap();
    assert_eq!(looks, LAST_LOOKS + 1);
    assert_eq!(story.why().reason, Reason::Interrupted);
}

#[test]
fn an_interruption_outweighs_what_it_was_asked_for_before() {
    let mut story = Story::new(Some(1.0));
    assert!(matches!(story.computes(2), Some((Act::Ask, _))));
    assert_eq!(story.look(false, true), Act::Ask);
    assert_eq!(story.why().reason, Reason::Interrupted);
}
