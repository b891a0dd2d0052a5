//! Every kind of atomic operation and width, thread-locals of odd sizes and alignments, structures
//! passed by value.
use std::cell::Cell;
use std::sync::atomic::Ordering::*;
use std::sync::atomic::*;

#[repr(align(64))]
struct Aligned(Cell<u8>);

#[repr(C)]
#[derive(Clone, Copy)]
struct Large {
    words: [u64; 8],
}

thread_local! {
    static BYTE: Cell<u8> = const { Cell::new(3) };
    static ALIGNED: Aligned = const { Aligned(Cell::new(7)) };
    static LAZY: Cell<u64> = Cell::new(std::hint::black_box(9));
    static TEXT: std::cell::RefCell<String> = std::cell::RefCell::new("drop".repeat(2));
}

static ZERO: [AtomicU8; 5000] = [const { AtomicU8::new(0) }; 5000];
static mut PLAIN: [u64; 4] = [1, 2, 3, 4];

extern "C" fn sum(large: Large) -> u64 {
    large.words.iter().sum()
}

fn atomics() -> u64 {
    let (a, b, c, d) =
        (AtomicU8::new(250), AtomicI16::new(-5), AtomicU32::new(7), AtomicI64::new(-1));
    let mut total = 0_u64;
    let mut add = |x: u64| total = total.wrapping_mul(31).wrapping_add(x);
    add(a.fetch_add(10, Relaxed).into());
    add(a.load(Acquire).into());
    add(b.fetch_max(3, SeqCst) as u64);
    add(b.fetch_min(-300, AcqRel) as u64);
    add(b.swap(12, Release) as u64);
    add(c.fetch_nand(5, SeqCst).into());
    add(c.fetch_xor(9, SeqCst).into());
    add(c.fetch_or(64, SeqCst).into());
    add(c.fetch_and(0xff, SeqCst).into());
    add(c.fetch_sub(300, SeqCst).into());
    add(c.load(SeqCst).into());
    add(d.compare_exchange(-1, i64::MIN, SeqCst, Relaxed).unwrap() as u64);
    add(d.compare_exchange_weak(0, 1, AcqRel, Acquire).unwrap_err() as u64);
    add(d.fetch_update(SeqCst, SeqCst, |x| x.checked_add(1)).unwrap() as u64);
    let mut place = 5;
    let pointer = AtomicPtr::new(&raw mut place);
    add(u64::from(pointer.swap(std::ptr::null_mut(), SeqCst) == &raw mut place));
    add(u64::from(pointer.load(SeqCst).is_null()));
    let flag = AtomicBool::new(false);
    add(flag.swap(true, SeqCst).into());
    add(flag.fetch_not(SeqCst).into());
    total
}

fn main() {
    let first = atomics();
    println!("atomics {first}");
    let on_thread = std::thread::spawn(|| {
        BYTE.set(BYTE.get() + 1);
        assert!(ALIGNED.with(|a| std::ptr::from_ref(a) as usize % 64 == 0));
        ALIGNED.with(|a| a.0.set(a.0.get() + 1));
        LAZY.set(LAZY.get() + 1);
        TEXT.with_borrow_mut(|t| t.push('!'));
        (BYTE.get(), ALIGNED.with(|a| a.0.get()), LAZY.get(), TEXT.take())
    });
    println!("{:?}", on_thread.join().unwrap());
    println!("{} {} {}", BYTE.get(), ALIGNED.with(|a| a.0.get()), LAZY.get());
    ZERO[4999].store(1, SeqCst);
    // SAFETY: no other thread runs.
    unsafe { PLAIN[1] += 40 };
    let large = Large { words: std::hint::black_box([1; 8]) };
    // SAFETY: no other thread runs.
    println!("{} {} {}", ZERO[4999].load(SeqCst), unsafe { PLAIN[1] }, sum(large));
    let mut bytes = vec![1_u8; 100];
    bytes.copy_within(10..20, 50);
    bytes[90..].fill(2);
    println!("{}", bytes.iter().map(|&b| u32::from(b)).sum::<u32>());
}
