//! Chase and Lev's deque: an owner that pushes and takes at the bottom, a thief at the top.

use super::{beside, check, two};
use crate::sync::atomic::AtomicIsize;
use crate::sync::atomic::Ordering::SeqCst;

struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    items: [AtomicIsize; 2],
}

impl Deque {
    fn push(&self, item: isize) {
        let bottom = self.bottom.load(SeqCst);
        self.items[bottom as usize % 2].store(item, SeqCst);
        self.bottom.store(bottom + 1, SeqCst);
    }

    /// The last item is taken by who moves the top.
    fn take<const LAST_BY_EXCHANGE: bool>(&self) -> Option<isize> {
        let bottom = self.bottom.load(SeqCst) - 1;
        self.bottom.store(bottom, SeqCst);
        let top = self.top.load(SeqCst);
        if top > bottom {
            self.bottom.store(top, SeqCst);
            return None;
        }
        let item = self.items[bottom as usize % 2].load(SeqCst);
        if top < bottom || !LAST_BY_EXCHANGE {
            return Some(item);
        }
        let is_mine = self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok();
        self.bottom.store(top + 1, SeqCst);
        is_mine.then_some(item)
    }

    fn steal(&self) -> Option<isize> {
        let top = self.top.load(SeqCst);
        if top >= self.bottom.load(SeqCst) {
            return None;
        }
        let item = self.items[top as usize % 2].load(SeqCst);
        self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok().then_some(item)
    }
}

/// Two items, of which the owner takes both and the thief steals one.
pub fn last_item<const RIGHT: bool>() {
    let deque = Deque {
        top: AtomicIsize::new(0),
        bottom: AtomicIsize::new(0),
        items: [(); 2].map(|()| AtomicIsize::new(0)),
    };
    let (mine, theirs) = two((deque, [(); 3].map(|()| AtomicIsize::new(0))));
    mine.0.push(1);
    mine.0.push(2);
    let count = |taken: &[AtomicIsize; 3], item: Option<isize>| {
        if let Some(item) = item {
            let before = taken[item as usize].fetch_add(1, SeqCst);
            check!(before == 0);
        }
    };
    beside(
        move || count(&theirs.1, theirs.0.steal()),
        || {
            count(&mine.1, mine.0.take::<RIGHT>());
            count(&mine.1, mine.0.take::<RIGHT>());
        },
    );
}
