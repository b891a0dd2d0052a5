//! What the process and the machine tell a program: the same in every execution, and the same under
//! every schedule.

use std::arch::x86_64::{__cpuid_count, __rdtscp, _rdtsc};
use std::mem::zeroed;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread::{scope, spawn};

/// Has threads do what depends on a number, and count.
fn by_number(number: fn() -> usize) {
    let counts: Arc<Vec<AtomicUsize>> = Arc::new((0..2).map(|_| AtomicUsize::new(0)).collect());
    let threads = [0, 1].map(|_| {
        let counts = Arc::clone(&counts);
        spawn(move || {
            if number() % 2 == 0 {
                counts[0].fetch_add(1, SeqCst);
            } else {
                counts[1].fetch_add(1, SeqCst);
                counts[0].load(SeqCst);
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(counts[0].load(SeqCst) + counts[1].load(SeqCst), 2);
}

/// As a sharded pool does that was published.
//@ verified
#[test]
fn three_threads_by_cpu() {
    let shards: Arc<Vec<AtomicUsize>> = Arc::new((0..2).map(|_| AtomicUsize::new(0)).collect());
    scope(|threads| {
        for _ in 0..3 {
            let shards = Arc::clone(&shards);
            threads.spawn(move || {
                for _ in 0..2 {
                    let cpu = unsafe { libc::sched_getcpu() } as usize;
                    if cpu % 2 == 0 {
                        shards[0].fetch_add(1, SeqCst);
                    } else {
                        shards[1].fetch_add(1, SeqCst);
                        shards[0].load(SeqCst);
                    }
                }
            });
        }
    });
    assert_eq!(shards[0].load(SeqCst) + shards[1].load(SeqCst), 6);
}

//@ verified
#[test]
fn by_the_processor_that_a_system_call_tells() {
    by_number(|| {
        let mut processor = 7_u32;
        let none = std::ptr::null_mut::<u32>();
        assert_eq!(unsafe { libc::syscall(libc::SYS_getcpu, &mut processor, none, none) }, 0);
        processor as usize
    });
}

//@ clean
#[test]
fn by_the_processor_that_rdtscp_tells() {
    by_number(|| {
        let mut processor = 7;
        unsafe { __rdtscp(&mut processor) };
        processor as usize
    });
}

//@ verified
#[test]
fn by_the_processor_that_cpuid_tells() {
    by_number(|| (__cpuid_count(1, 0).ebx >> 24 ^ __cpuid_count(0xb, 0).edx) as usize);
}

//@ verified
#[test]
fn time_stamps_count_up() {
    let (before, mut upper, mut lower) = (unsafe { _rdtsc() }, 0_u32, 0_u32);
    unsafe { std::arch::asm!("lfence", "rdtsc", out("eax") lower, out("edx") upper) };
    let between = u64::from(upper) << 32 | u64::from(lower);
    let after = unsafe { _rdtsc() };
    assert!(before < between && between < after, "{before} {between} {after}");
    // The first moments of virtual time.
    assert!(!cfg!(lockred) || after < 1_000_000_000_000);
}

//@ unsupported rdrand
#[test]
fn random_numbers_in_assembly() {
    let number: u64;
    let ok: u8;
    unsafe { std::arch::asm!("rdrand {0}", "setc {1}", out(reg) number, out(reg_byte) ok) };
    std::hint::black_box((number, ok));
}

//@ verified
#[test]
fn main_has_the_process_s_number_and_threads_have_their_own() {
    let own = || unsafe { libc::gettid() };
    let call = || unsafe { libc::syscall(libc::SYS_gettid) as i32 };
    let main = unsafe { libc::getpid() };
    // The plain harness gives each test a thread.
    assert!(!cfg!(lockred) || (own(), call()) == (main, main));
    let numbers = [0, 1].map(|_| {
        spawn(move || {
            assert_eq!(unsafe { libc::getpid() }, main);
            assert_eq!(unsafe { libc::syscall(libc::SYS_getpid) } as i32, main);
            assert_eq!(own(), call());
            own()
        })
    });
    let [one, two] = numbers.map(|thread| thread.join().unwrap());
    assert!(one != two && one != main && two != main);
    assert_ne!(unsafe { libc::getppid() }, main);
}

//@ verified
#[test]
fn a_thread_is_on_a_processor_that_it_may_use() {
    // A machine may have one only.
    if !cfg!(lockred) {
        return;
    }
    unsafe {
        let mut second: libc::cpu_set_t = zeroed();
        libc::CPU_SET(1, &mut second);
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_setaffinity(0, size, &second), 0);
        assert_eq!(libc::sched_getcpu(), 1);
        let inherits = spawn(move || {
            let mut set: libc::cpu_set_t = zeroed();
            assert_eq!(libc::sched_getaffinity(0, size, &mut set), 0);
            (libc::sched_getcpu(), libc::CPU_COUNT(&set))
        });
        assert_eq!(inherits.join().unwrap(), (1, 1));
    }
}

//@ clean
#[test]
fn what_the_process_has_used() {
    by_number(|| unsafe {
        let mut usage: libc::rusage = zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &mut usage), 0);
        let mut machine: libc::sysinfo = zeroed();
        assert_eq!(libc::sysinfo(&mut machine), 0);
        assert!(machine.totalram > machine.freeram);
        let mut loads = [1.0; 3];
        assert_eq!(libc::getloadavg(loads.as_mut_ptr(), 3), 3);
        usage.ru_maxrss as usize + machine.procs as usize + loads[0] as usize
    });
}

//@ verified
#[test]
fn our_variables_are_not_the_program_s() {
    assert!(
        !cfg!(lockred)
            || std::env::vars_os().all(|(name, _)| !name.to_string_lossy().starts_with("LOCKRED_"))
    );
}

/// What the system gives is one stream, by whatever way it is asked for.
//@ passed randomness-fixed
#[test]
fn random_bytes_are_the_same_in_every_execution() {
    by_number(|| {
        use std::io::Read;
        let mut byte = [0];
        std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut byte).unwrap();
        byte[0].into()
    });
}

//@ passed randomness-fixed
#[test]
fn random_bytes_at_a_place_are_too() {
    by_number(|| {
        use std::os::unix::fs::FileExt;
        let mut byte = [0];
        std::fs::File::open("/dev/urandom").unwrap().read_exact_at(&mut byte, 7).unwrap();
        byte[0].into()
    });
}

//@ passed randomness-fixed
#[test]
fn random_bytes_in_parts_are_too() {
    by_number(|| {
        use std::io::{IoSliceMut, Read};
        let (mut one, mut other) = ([0; 1], [0; 2]);
        let parts = &mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut other)];
        assert_eq!(std::fs::File::open("/dev/urandom").unwrap().read_vectored(parts).unwrap(), 3);
        (one[0] ^ other[1]).into()
    });
}

//@ passed system-files
#[test]
fn the_system_s_files_may_change() {
    let thread = spawn(|| std::fs::read_to_string("/proc/self/status").unwrap().len());
    assert!(thread.join().unwrap() > 0);
}
