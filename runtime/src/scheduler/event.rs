//! What the program's threads do, as those hear of it who look on: one event after the other, in
//! one order.
//!
//! A hook executes what the program asks for, makes an [`Event`] of that, and reports it by
//! [`notify`]; nothing else reports to a monitor what the program has done. Each monitor is a
//! module with a function `on`, which takes from an event what it wants. They hear of it in this
//! order, and those that come later may ask what the earlier ones keep:
//!
//! | | who | why there |
//! |---|---|---|
//! | 1 | who holds which lock ([`crate::monitor::holders`]), and the order of locks | reports of all others name the locks that are held |
//! | 2 | the transaction monitor ([`crate::monitor::transactions`]) | it decides what the search learns of the step |
//! | 3 | blocks that are to be atomic ([`crate::monitor::atomicity`]) | |
//! | 4 | the discipline ([`crate::monitor::observed`]) | it may ask predicates of the program; before races, which end steps |
//! | 5 | data races, and memory that nobody owned yet ([`crate::monitor::races`]) | from then on it may be known that a thread is alone |
//! | 6 | what the plan claims of memory ([`crate::monitor::claims`]), as memory begins to live | |
//! | 7 | where blocks come from ([`crate::monitor::allocations`]), and values with predicates ([`crate::monitor::exclusive`]) | races name the life that ends |
//! | 8 | footprint and signature of the step ([`crate::machine::step`]) | |
//! | 9 | loops that wait ([`crate::monitor::loops`]) | a loop that gives up is an assumption only where races are looked for |
//! | 10 | the record ([`crate::report::objects`]) | what the others report of the event comes before its step |
//!
//! Before the root there is nothing to explore: the first and the last alone hear of operations
//! there.
//!
//! A new monitor is a module with `on`, and a line in [`notify_inlined`]. What has to be known
//! *before* something is done (that memory is there, what is claimed of it) is no event: see
//! [`crate::hooks::memory_safety`] and [`crate::monitor::claims`].

use crate::machine::event::Event;
use crate::machine::hook::Entered;

/// Notifies all who look on of an event.
#[inline(never)]
pub fn notify(entered: &mut Entered, event: &Event<'_>) {
    notify_inlined(entered, event);
}

/// The same, made for the one kind of event that it is called with: for what programs do most
/// (atomic operations, plain accesses, blocks).
#[inline(always)]
pub fn notify_inlined(entered: &mut Entered, event: &Event<'_>) {
    crate::monitor::holders::on(entered, event);
    if entered.below_root {
        crate::monitor::transactions::on(entered, event);
        crate::monitor::atomicity::on(entered, event);
        crate::monitor::observed::on(entered, event);
        crate::monitor::races::on(entered, event);
    }
    crate::monitor::claims::on(entered, event);
    crate::monitor::allocations::on(entered, event);
    crate::monitor::exclusive::on(entered, event);
    if entered.below_root {
        crate::machine::step::on(entered, event);
        crate::monitor::loops::on(entered, event);
    }
    crate::report::objects::on(entered, event);
}
