//! Actions, masks and pending signals of the program: what a restore puts back, and nothing of how
//! they are acted on.

use super::signal_names::{self as names, DefaultAction};
use std::collections::BTreeMap;

/// A set of signals, as the kernel has it: signal n is bit n - 1.
pub type Set = u64;

/// The set of one signal.
pub const fn only(signal: i32) -> Set {
    1 << (signal - 1)
}

/// Signals that no mask blocks: those that cannot be caught, and glibc's own.
const UNBLOCKABLE: Set = only(libc::SIGKILL) | only(libc::SIGSTOP) | only(32) | only(33);
/// Signals that the kernel delivers before others: those of faults.
const FIRST: Set = only(libc::SIGSEGV)
    | only(libc::SIGBUS)
    | only(libc::SIGILL)
    | only(libc::SIGTRAP)
    | only(libc::SIGFPE)
    | only(libc::SIGSYS);

/// What the program wants to happen at a signal, as `sigaction` has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Action {
    /// `SIG_DFL`, `SIG_IGN`, or the handler's address.
    pub handler: usize,
    /// What the handler's thread blocks meanwhile.
    pub mask: Set,
    /// `SA_…`.
    pub flags: i32,
    /// What the kernel's return from a handler would call.
    pub restorer: usize,
}

/// What happens at a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reaction {
    /// Nothing.
    Ignore,
    /// The process dies.
    Terminate,
    /// The process stops.
    Stop,
    /// The handler runs.
    Handle(Action),
}

/// What the kernel has to do at a signal from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Disposition {
    /// What it does by default.
    Default,
    /// Nothing.
    Ignore,
    /// Something that only the program, or the model, knows.
    Handle,
}

/// A signal that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sent {
    /// Which.
    pub signal: i32,
    /// How: `SI_USER` or `SI_TKILL`.
    pub code: i32,
}

/// What each thread has of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct OfThread {
    /// What it blocks.
    pub mask: Set,
    /// Sent to it, and blocked.
    pending: Vec<Sent>,
    /// Address, flags and size of its alternate stack.
    pub stack: Option<(usize, i32, usize)>,
    /// It runs the handler of its own `abort`.
    pub aborts: bool,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Signals {
    /// A word of main's heap that stands for all of this in the search.
    pub word: usize,
    actions: BTreeMap<i32, Action>,
    threads: Vec<OfThread>,
    /// Sent to the process, and blocked by all threads.
    pending: Vec<Sent>,
    /// Signals of which std has asked whether anybody handles them, and learnt that somebody
    /// does.
    pub left_to_std: Set,
}

/// Adds a signal to what is pending: one of the standard ones waits once.
fn add(pending: &mut Vec<Sent>, sent: Sent) {
    let known = pending.iter().any(|other| other.signal == sent.signal);
    if !known || names::queues(sent.signal) {
        pending.push(sent);
    }
}

/// Takes the signal that comes first of those that are not blocked.
fn take(pending: &mut Vec<Sent>, blocked: Set) -> Option<Sent> {
    let deliverable =
        pending.iter().enumerate().filter(|(_, sent)| only(sent.signal) & !blocked != 0);
    let rank = |sent: &Sent| (only(sent.signal) & FIRST == 0, sent.signal);
    let (index, _) = deliverable.min_by_key(|&(index, sent)| (rank(sent), index))?;
    Some(pending.remove(index))
}

fn set(pending: &[Sent]) -> Set {
    pending.iter().fold(0, |set, sent| set | only(sent.signal))
}

impl Signals {
    /// What a thread has of its own.
    pub fn thread(&mut self, number: u32) -> &mut OfThread {
        let index = number as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, OfThread::default);
        }
        &mut self.threads[index]
    }

    /// A thread's mask.
    pub fn mask(&self, number: u32) -> Set {
        self.threads.get(number as usize).map_or(0, |thread| thread.mask)
    }

    /// Changes a thread's mask.
    pub fn set_mask(&mut self, number: u32, mask: Set) {
        self.thread(number).mask = mask & !UNBLOCKABLE;
    }

    /// A thread is created: it blocks what its creator blocks.
    pub fn created(&mut self, parent: u32, child: u32) {
        let mask = self.mask(parent);
        if mask != 0 {
            self.thread(child).mask = mask;
        }
    }

    /// What the program wants to happen at a signal.
    pub fn action(&self, signal: i32) -> Action {
        self.actions.get(&signal).copied().unwrap_or_default()
    }

    /// Whether a handler of the program's takes a signal.
    pub fn has_handler(&self, signal: i32) -> bool {
        matches!(self.reaction(signal), Reaction::Handle(_))
    }

    /// The program wants something else to happen. Pending signals that are to be ignored are gone.
    pub fn set_action(&mut self, signal: i32, action: Action) {
        let action = Action { mask: action.mask & !UNBLOCKABLE, ..action };
        self.actions.insert(signal, action);
        if self.reaction(signal) == Reaction::Ignore {
            let others = |sent: &Sent| sent.signal != signal;
            self.pending.retain(others);
            self.threads.iter_mut().for_each(|thread| thread.pending.retain(others));
        }
    }

    /// What happens at a signal that is not blocked.
    pub fn reaction(&self, signal: i32) -> Reaction {
        let action = self.action(signal);
        match (action.handler, names::default_action(signal)) {
            (libc::SIG_IGN, _) | (libc::SIG_DFL, DefaultAction::Ignore) => Reaction::Ignore,
            (libc::SIG_DFL, DefaultAction::Stop) => Reaction::Stop,
            (libc::SIG_DFL, DefaultAction::Terminate) => Reaction::Terminate,
            _ => Reaction::Handle(action),
        }
    }

    /// What the kernel has to do at a signal from outside.
    pub fn disposition(&self, signal: i32) -> Disposition {
        let is_blocked = self.threads.iter().any(|thread| thread.mask & only(signal) != 0);
        match (self.action(signal).handler, self.reaction(signal)) {
            (libc::SIG_IGN, _) => Disposition::Ignore,
            (_, Reaction::Handle(_)) => Disposition::Handle,
            (_, Reaction::Ignore) => Disposition::Default,
            _ if is_blocked => Disposition::Handle,
            _ => Disposition::Default,
        }
    }

    /// All signals of which the program wants something.
    pub fn actions(&self) -> impl Iterator<Item = (i32, Action)> {
        self.actions.iter().map(|(&signal, &action)| (signal, action))
    }

    /// A signal is sent to a thread. (What is ignored is not even pending, unless it is blocked.)
    pub fn send_to_thread(&mut self, number: u32, sent: Sent) {
        let blocked = self.mask(number) & only(sent.signal) != 0;
        if blocked || self.reaction(sent.signal) != Reaction::Ignore {
            add(&mut self.thread(number).pending, sent);
        }
    }

    /// A signal is sent to the process.
    pub fn send_to_process(&mut self, sent: Sent) {
        add(&mut self.pending, sent);
    }

    /// What is pending for a thread, itself or as a part of the process.
    pub fn pending(&self, number: u32) -> Set {
        let own = self.threads.get(number as usize).map_or(0, |thread| set(&thread.pending));
        own | set(&self.pending)
    }

    /// Takes the next signal that a thread does not block.
    pub fn take(&mut self, number: u32) -> Option<Sent> {
        let blocked = self.mask(number);
        take(&mut self.thread(number).pending, blocked).or_else(|| take(&mut self.pending, blocked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDLER: Action = Action { handler: 0x1000, mask: 0, flags: 0, restorer: 0 };

    fn sent(signal: i32) -> Sent {
        Sent { signal, code: 0 }
    }

    fn handled(signals: &[i32]) -> Signals {
        let mut all = Signals::default();
        signals.iter().for_each(|&signal| all.set_action(signal, HANDLER));
        all
    }

    #[test]
    fn a_blocked_signal_is_pending_once_until_it_is_unblocked() {
        let mut all = handled(&[10]);
        all.set_mask(0, only(10));
        all.send_to_thread(0, sent(10));
        all.send_to_thread(0, sent(10));
        assert_eq!((all.pending(0), all.take(0)), (only(10), None));
        all.set_mask(0, 0);
        assert_eq!((all.take(0), all.take(0)), (Some(sent(10)), None));
    }

    #[test]
    fn real_time_signals_queue() {
        let mut all = handled(&[40]);
        all.set_mask(0, only(40));
        all.send_to_thread(0, sent(40));
        all.send_to_thread(0, sent(40));
        all.set_mask(0, 0);
        assert_eq!([all.take(0), all.take(0), all.take(0)], [Some(sent(40)), Some(sent(40)), None]);
    }

    #[test]
    fn faults_come_first_and_then_the_lowest() {
        let mut all = handled(&[2, 10, 11]);
        for signal in [10, 2, 11] {
            all.send_to_thread(0, sent(signal));
        }
        assert_eq!([all.take(0), all.take(0), all.take(0)].map(|s| s.unwrap().signal), [11, 2, 10]);
    }

    #[test]
    fn what_is_ignored_is_gone_unless_it_is_blocked() {
        let mut all = Signals::default();
        let ignore = Action { handler: libc::SIG_IGN, ..HANDLER };
        all.set_action(10, ignore);
        all.send_to_thread(0, sent(10));
        assert_eq!(all.pending(0), 0);
        all.set_mask(0, only(10));
        all.send_to_thread(0, sent(10));
        assert_eq!(all.pending(0), only(10));
        all.set_action(10, ignore);
        assert_eq!(all.pending(0), 0);
    }

    #[test]
    fn the_kernel_knows_what_the_model_does() {
        let mut all = handled(&[10, libc::SIGCHLD]);
        let ignore = Action { handler: libc::SIG_IGN, ..HANDLER };
        all.set_action(12, ignore);
        let reported =
            [10, 12, 15, libc::SIGCHLD, libc::SIGURG].map(|signal| all.disposition(signal));
        use Disposition::{Default, Handle, Ignore};
        assert_eq!(reported, [Handle, Ignore, Default, Handle, Default]);
        all.set_mask(1, only(15) | only(libc::SIGURG));
        let reported = [12, 15, libc::SIGURG].map(|signal| all.disposition(signal));
        assert_eq!(reported, [Ignore, Handle, Default]);
    }

    #[test]
    fn no_mask_blocks_what_cannot_be_caught() {
        let mut all = Signals::default();
        all.set_mask(0, Set::MAX);
        assert_eq!(all.mask(0) & (only(libc::SIGKILL) | only(libc::SIGSTOP)), 0);
        all.created(0, 1);
        assert_eq!(all.mask(1), all.mask(0));
    }
}
