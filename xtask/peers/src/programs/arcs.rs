//! Reference counts: of one's own, and std's.

use super::{Plain, beside, check, two};
use crate::sync::CountedArc;
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Relaxed, SeqCst},
};

/// Who drops last clears what both have written to; the count is decremented without an order, or with.
pub fn own_count<const RIGHT: bool>() {
    let (mine, theirs) = two((AtomicU32::new(2), [Plain::new(0), Plain::new(0)]));
    let drop_it = |shared: &(AtomicU32, [Plain<u32>; 2]), number: usize| {
        shared.1[number].set(1);
        let before =
            if RIGHT { shared.0.fetch_sub(1, AcqRel) } else { shared.0.fetch_sub(1, Relaxed) };
        if before == 1 {
            check!(shared.1[0].get() + shared.1[1].get() == 2);
        }
    };
    beside(move || drop_it(&theirs, 0), || drop_it(&mine, 1));
}

/// Who is the only owner closes: asked by the count, which two may find to be two, or by the drop of what is shared.
pub fn last_owner<const RIGHT: bool>() {
    struct Resource(std::sync::Arc<AtomicU32>);
    impl Drop for Resource {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let closed = std::sync::Arc::new(AtomicU32::new(0));
    let mine = CountedArc::new(Resource(closed.clone()));
    let theirs = CountedArc::clone(&mine);
    let let_go = |shared: CountedArc<Resource>, by_count: &AtomicU32| {
        if !RIGHT && CountedArc::strong_count(&shared) == 1 {
            by_count.fetch_add(1, SeqCst);
        }
        drop(shared);
    };
    let (counted, by_count) = two(AtomicU32::new(0));
    beside(move || let_go(theirs, &by_count), || let_go(mine, &counted));
    let times = if RIGHT { closed.load(SeqCst) } else { counted.load(SeqCst) };
    check!(times == 1);
}
