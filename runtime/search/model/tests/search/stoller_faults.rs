//! Each rule of Stoller's framework, switched off: the oracle catches it.

use crate::check;

use check::{all_states, by_stoller, parse};
use lockred_model::ModelMachine;
use lockred_papers::stoller::{Checking, Granularity, Memory, Persistent, Settings, Sleep};
use lockred_search::fault::{self, Fault};
use lockred_search::{Limits, Stop};

/// Whether a failure or an end state is missed, or a violation that there is (or not) is not (or
/// is) told.
fn objects(text: &str, settings: Settings, is_violated: bool) -> bool {
    let program = parse(text);
    let classes = ModelMachine::new(&program).classes();
    let (seen, outcome, stoller) = by_stoller(&program, &classes, settings, Limits::default());
    outcome.stop != Stop::Complete
        || (!is_violated && seen.failures != all_states(&program).0.failures)
        || stoller.violations().is_empty() == is_violated
}

fn is_caught(fault: Fault, settings: Settings, text: &str, is_violated: bool) {
    assert!(!objects(text, settings, is_violated), "wrong without any fault: {text}");
    let caught = fault::with(fault, || objects(text, settings, is_violated));
    assert!(caught, "the fault is not caught: {text}");
}

#[test]
fn sleepers_stay_asleep() {
    let text = "atomic f; thread A { f = 1 } thread B { r = f }";
    for granularity in [Granularity::Single, Granularity::InvisibleFirst, Granularity::Composed] {
        for sleep in [Sleep::Unconditional, Sleep::Conditional] {
            let settings = Settings { granularity, sleep, ..Settings::SSS };
            is_caught(Fault::SleepersStayAsleep, settings, text, false);
        }
    }
}

#[test]
fn acquires_do_not_interfere() {
    let text = "mutex a b; thread A { lock a; lock b; unlock b; unlock a }
        thread B { lock b; lock a; unlock a; unlock b }";
    for settings in [Settings::IF_SSS, Settings::COMPOSED] {
        is_caught(Fault::AcquiresDoNotInterfere, settings, text, false);
    }
}

#[test]
fn late_writes_are_reads() {
    // LD: read by two threads without a lock, written later by the first.
    let text = "plain x; atomic f; thread A { f += 1; r = x; await f == 2; x = 1 }
        thread B { f += 1; r = x }";
    for checking in [Checking::Ld, Checking::LdPrime] {
        for settings in [Settings::SSS, Settings::IF_SSS, Settings::COMPOSED] {
            let settings = Settings { checking, sleep: Sleep::Off, ..settings };
            is_caught(Fault::LateWritesAreReads, settings, text, true);
        }
    }
}

#[test]
fn initialization_is_open() {
    let text = "plain v; atomic sem; mutex o; thread One { release sem += 1; v = 1 }
        thread Two { down sem; lock o; v = 2; unlock o }";
    for settings in [Settings::IF_SSS, Settings::COMPOSED] {
        is_caught(Fault::InitializationIsOpen, settings, text, true);
    }
}

#[test]
fn a_kept_lock_is_no_section() {
    let text = "mutex a; thread A { lock a } thread B { lock a; unlock a }";
    is_caught(Fault::KeptLockIsSection, Settings::COMPOSED, text, false);
}

#[test]
fn a_cycle_puts_off_transitions_for_ever() {
    let text = "atomic f g; thread A { while r == 0 { r = f } } thread B { q = g; assert q == 1 }";
    let settings =
        Settings { persistent: Persistent::Algorithm2, memory: Memory::Stateful, ..Settings::SSS };
    is_caught(Fault::TransitionsIgnored, settings, text, false);
}
