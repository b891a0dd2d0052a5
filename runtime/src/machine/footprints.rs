//! From operations to footprints: which objects an operation touches for the search, and how.
//!
//! A word of memory is named by its aligned four bytes (an eight-byte word by both halves), so that
//! overlapping accesses of different sizes meet. The queue of a futex is an object of its own.

use crate::machine::operation::{Atomic, AtomicOperation, Pending};
use lockred_protocol::hooks::{Class, RmwOp};
use lockred_search::footprint::{Access, Footprint, ObjectId};

/// The word at an address.
pub fn word(address: usize) -> ObjectId {
    ObjectId(address as u64 & !3)
}

/// The queue of waiters of a futex.
pub fn queue(address: usize) -> ObjectId {
    ObjectId(address as u64 | 1 << 63)
}

/// The objects of a word of `size` bytes.
pub fn words(address: usize, size: u32) -> impl Iterator<Item = ObjectId> {
    let second = (size == 8).then(|| word(address + 4));
    std::iter::once(word(address)).chain(second)
}

/// Records an access to a word of `size` bytes.
pub fn touch(footprint: &mut Footprint, address: usize, size: u32, access: Access) {
    for object in words(address, size) {
        footprint.touch(object, access);
    }
}

/// How an atomic operation acts on its word: `old` is the value before it, `new` the value after
/// it, `fenced` whether its thread has executed a release fence.
pub fn access(
    operation: &AtomicOperation,
    rmw: Option<RmwOp>,
    old: u64,
    new: u64,
    fenced: bool,
) -> Access {
    let writes = match operation.kind {
        Atomic::Load | Atomic::Failed => false,
        Atomic::Store | Atomic::Rmw => true,
        Atomic::CompareExchange { expected } => old == expected,
    };
    let plain = if writes { Access::Write } else { Access::Read };
    match operation.how.class() {
        Class::Lock => Access::Lock,
        Class::TryLock | Class::TryReadLock => Access::TryLock,
        Class::Unlock | Class::Downgrade => Access::Unlock,
        Class::ReadLock => Access::ReadLock,
        Class::ReadUnlock => Access::ReadUnlock,
        Class::RefInc if writes => Access::RefInc,
        Class::RefDec if writes && new == 0 => Access::RefDecLast,
        Class::RefDec if writes && new == 1 => Access::RefDecToOne,
        Class::RefDec | Class::Countdown if writes => Access::RefDec,
        Class::Unused | Class::CondvarNotify if writes => match rmw.and_then(family) {
            // A relaxed update may acquire, too: through a fence after it. (Through a fence before
            // it, it may release.)
            Some(family) => Access::Update {
                family,
                acquires: true,
                releases: operation.order.releases() || fenced,
            },
            None => plain,
        },
        _ => plain,
    }
}

/// Read-modify-writes of one family commute.
fn family(op: RmwOp) -> Option<u8> {
    match op {
        RmwOp::Add | RmwOp::Sub => Some(0),
        RmwOp::And => Some(1),
        RmwOp::Or => Some(2),
        RmwOp::Xor => Some(3),
        RmwOp::Max => Some(4),
        RmwOp::Min => Some(5),
        RmwOp::UMax => Some(6),
        RmwOp::UMin => Some(7),
        RmwOp::Xchg | RmwOp::Nand => None,
    }
}

/// What a stopped thread's next run surely begins with; where the outcome is open, the strongest
/// access.
pub fn pending(pending: &Pending, words: impl Iterator<Item = usize>, footprint: &mut Footprint) {
    match *pending {
        Pending::Atomic(operation) => {
            let access = match (operation.how.class(), operation.kind) {
                (Class::Unused | Class::CondvarNotify, _) => Access::Write,
                (_, Atomic::CompareExchange { .. }) => {
                    let old = operation.word();
                    let exchange = AtomicOperation {
                        kind: Atomic::CompareExchange { expected: old },
                        ..operation
                    };
                    access(&exchange, None, old, 1, true)
                }
                // Whether a decrement is the last is known only from what it subtracts: always one
                // for reference counts.
                _ => {
                    let old = operation.word();
                    access(&operation, None, old, old.wrapping_sub(1), true)
                }
            };
            touch(footprint, operation.address, operation.size, access);
        }
        Pending::FutexWait { address } => {
            footprint.touch(word(address), Access::Read);
            footprint.touch(queue(address), Access::Enqueue);
        }
        Pending::FutexQueued { address, deadline } => {
            if deadline.is_some() {
                footprint.touch(queue(address), Access::Leave);
            }
        }
        Pending::FutexWake { address } => footprint.touch(queue(address), Access::Wake),
        Pending::Spinning => {
            for address in words {
                footprint.touch(word(address), Access::Read);
            }
        }
        // Only the search by transactions knows channels as a whole.
        Pending::Channel(_)
        | Pending::Offering { .. }
        | Pending::Start
        | Pending::Spawn
        | Pending::Join { .. }
        | Pending::Choosing
        | Pending::Sleeping { .. }
        | Pending::Stuttering
        | Pending::Never
        | Pending::Ended => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::hooks::{How, Order};
    use lockred_protocol::sites::SiteId;

    fn operation(kind: Atomic, class: Class, order: Order) -> AtomicOperation {
        let how = How::of(class);
        AtomicOperation { kind, address: 0x1000, size: 8, order, how, guard: None, site: SiteId(1) }
    }

    #[test]
    fn a_failed_compare_exchange_is_a_read() {
        let exchange =
            operation(Atomic::CompareExchange { expected: 3 }, Class::Plain, Order::SeqCst);
        assert_eq!(access(&exchange, None, 3, 4, false), Access::Write);
        assert_eq!(access(&exchange, None, 2, 2, false), Access::Read);
    }

    #[test]
    fn only_the_decrement_to_zero_is_the_last() {
        let decrement = operation(Atomic::Rmw, Class::RefDec, Order::Release);
        assert_eq!(access(&decrement, Some(RmwOp::Sub), 3, 2, false), Access::RefDec);
        assert_eq!(access(&decrement, Some(RmwOp::Sub), 2, 1, false), Access::RefDecToOne);
        assert_eq!(access(&decrement, Some(RmwOp::Sub), 1, 0, false), Access::RefDecLast);
    }

    #[test]
    fn words_of_different_sizes_meet() {
        let (mut long, mut short) = (Footprint::default(), Footprint::default());
        touch(&mut long, 0x1000, 8, Access::Write);
        touch(&mut short, 0x1006, 1, Access::Read);
        assert!(long.depends_on(&short));
    }

    #[test]
    fn an_exchange_with_an_unused_result_is_still_a_write() {
        let exchange = operation(Atomic::Rmw, Class::Unused, Order::Relaxed);
        assert_eq!(access(&exchange, Some(RmwOp::Xchg), 0, 1, false), Access::Write);
        assert!(matches!(access(&exchange, Some(RmwOp::Add), 0, 1, false), Access::Update { .. }));
    }
}
