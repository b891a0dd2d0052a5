//! Uses every synchronisation primitive of std.
use std::sync::atomic::Ordering::*;
use std::sync::atomic::*;
use std::sync::*;
use std::thread;
use std::time::Duration;
static ONCE: Once = Once::new();
static LAZY: LazyLock<u32> = LazyLock::new(|| 5);
static CELL: OnceLock<u32> = OnceLock::new();
static COUNT: AtomicU64 = AtomicU64::new(0);
fn main() {
    let m = Arc::new(Mutex::new(0));
    let rw = Arc::new(RwLock::new(0));
    let w = Arc::downgrade(&m);
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let b = Arc::new(Barrier::new(2));
    let (tx, rx) = mpsc::channel();
    let (stx, srx) = mpsc::sync_channel(1);
    let h = {
        let (m, rw, pair, b, tx) = (m.clone(), rw.clone(), pair.clone(), b.clone(), tx.clone());
        thread::Builder::new()
            .name("x".into())
            .spawn(move || {
                *m.lock().unwrap() += 1;
                *rw.write().unwrap() += 1;
                drop(rw.read().unwrap());
                drop(RwLockWriteGuard::downgrade(rw.write().unwrap()));
                *pair.0.lock().unwrap() = true;
                pair.1.notify_one();
                pair.1.notify_all();
                b.wait();
                tx.send(1).unwrap();
                stx.send(2).unwrap();
                stx.send(3).unwrap();
                thread::park();
            })
            .unwrap()
    };
    let mut g = pair.0.lock().unwrap();
    while !*g {
        g = pair.1.wait(g).unwrap();
    }
    drop(g);
    let _ = pair.1.wait_timeout(pair.0.lock().unwrap(), Duration::from_millis(1)).unwrap();
    b.wait();
    println!("{:?} {:?} {:?}", rx.recv(), srx.recv(), srx.recv());
    h.thread().unpark();
    h.join().unwrap();
    let _ = m.try_lock().map(|mut g| *g += 1);
    let _ = rw.try_read().map(|g| *g);
    let _ = rw.try_write().map(|mut g| *g += 1);
    let up = w.upgrade().unwrap();
    let w2 = w.clone();
    drop(up);
    drop(w2);
    ONCE.call_once(|| {
        COUNT.fetch_add(1, SeqCst);
    });
    ONCE.call_once_force(|_| ());
    ONCE.wait();
    println!("{} {} {}", *LAZY, CELL.get_or_init(|| 4), CELL.wait());
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| COUNT.fetch_add(1, Relaxed));
        }
    });
    thread::park_timeout(Duration::from_millis(1));
    thread::yield_now();
    std::hint::spin_loop();
    fence(SeqCst);
    compiler_fence(SeqCst);
    thread::sleep(Duration::from_millis(1));
    let r = thread::spawn(|| panic!("inner")).join();
    let poisoned = {
        let m2 = m.clone();
        thread::spawn(move || {
            let _g = m2.lock().unwrap();
            panic!("poison")
        })
        .join()
        .is_err()
            && m.is_poisoned()
    };
    println!("{} {} {}", r.is_err(), poisoned, COUNT.load(SeqCst));
    let m3 = std::collections::HashMap::<u32, u32>::from([(1, 2)]);
    println!(
        "{:?} {:?} {}",
        m3,
        std::time::Instant::now().elapsed() < Duration::from_secs(9),
        thread::available_parallelism().is_ok()
    );
    println!("{}", std::backtrace::Backtrace::capture().to_string().len() > 0);
}
