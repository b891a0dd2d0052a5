//! `block_on` by hand: by parking, by a condition variable, by a channel; futures that another thread makes ready; wakers of one's own.
//! Beside each that is right, ones that lose a wake-up.

use crate::shared::Shared;
use std::cell::RefCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize, fence};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread::{Thread, current, park, spawn};

/// What wakes a thread that is in `block_on`.
trait Signal: Wake + Send + Sync + Sized + 'static {
    fn new() -> Arc<Self>;
    /// The future is about to be polled.
    fn before(&self) {}
    /// Waits until it is woken.
    fn wait(&self);
}

fn block_on<S: Signal, F: Future>(future: F) -> F::Output {
    let signal = S::new();
    let waker = Waker::from(Arc::clone(&signal));
    let mut future = pin!(future);
    loop {
        signal.before();
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => signal.wait(),
        }
    }
}

/// A value that one thread sends and another awaits.
struct Slot<T>(Mutex<(Option<T>, Option<Waker>)>);

impl<T> Slot<T> {
    fn new() -> (Arc<Self>, Arc<Self>) {
        let slot = Arc::new(Self(Mutex::new((None, None))));
        (Arc::clone(&slot), slot)
    }

    fn send(&self, value: T) {
        let mut slot = self.0.lock().unwrap();
        slot.0 = Some(value);
        let waker = slot.1.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for &Slot<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context) -> Poll<T> {
        let mut slot = self.0.lock().unwrap();
        if let Some(value) = slot.0.take() {
            return Poll::Ready(value);
        }
        slot.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Another thread sends what this one awaits.
fn awaits_what_another_sends<S: Signal>() {
    let (mine, theirs) = Slot::new();
    let thread = spawn(move || theirs.send(7));
    assert_eq!(block_on::<S, _>(&*mine), 7);
    thread.join().unwrap();
}

/// Parks: the token remembers a wake-up that comes before.
struct Parks(Thread);

impl Wake for Parks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Signal for Parks {
    fn new() -> Arc<Self> {
        Arc::new(Self(current()))
    }

    fn wait(&self) {
        park(); //~ bug of by_parking_while_the_future_parks, a_waker_left_behind_the_look, a_waker_that_is_not_replaced, two_that_are_joined_and_forgotten
    }
}

//@ verified
#[test]
fn by_parking() {
    awaits_what_another_sends::<Parks>();
}

/// A future that parks while it is polled, and takes a token that was not for it.
struct ParksInside<'s>(&'s Slot<u32>, &'s AtomicBool);

impl Future for ParksInside<'_> {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, context: &mut Context) -> Poll<u32> {
        let poll = pin!(self.0).poll(context);
        while !self.1.load(SeqCst) {
            park();
        }
        poll
    }
}

fn parks_inside<S: Signal>() {
    let (mine, theirs) = Slot::new();
    let ready = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&ready);
    let main = current();
    let thread = spawn(move || {
        theirs.send(7);
        other.store(true, SeqCst);
        main.unpark();
    });
    assert_eq!(block_on::<S, _>(ParksInside(&mine, &ready)), 7);
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn by_parking_while_the_future_parks() {
    parks_inside::<Parks>();
}

/// Parks until a flag is set. It is cleared before the future is polled, or (which is wrong) behind that.
struct Flags<const BEFORE: bool>(Thread, AtomicBool);

impl<const BEFORE: bool> Wake for Flags<BEFORE> {
    fn wake(self: Arc<Self>) {
        self.1.store(true, SeqCst);
        self.0.unpark();
    }
}

impl<const BEFORE: bool> Signal for Flags<BEFORE> {
    fn new() -> Arc<Self> {
        Arc::new(Self(current(), AtomicBool::new(false)))
    }

    fn before(&self) {
        if BEFORE {
            self.1.store(false, SeqCst);
        }
    }

    fn wait(&self) {
        if !BEFORE {
            self.1.store(false, SeqCst);
        }
        while !self.1.load(SeqCst) {
            park(); //~ bug of by_a_flag_that_is_cleared_too_late
        }
    }
}

//@ verified
#[test]
fn by_a_flag() {
    awaits_what_another_sends::<Flags<true>>();
}

//@ verified
#[test]
fn by_a_flag_while_the_future_parks() {
    parks_inside::<Flags<true>>();
}

//@ failed deadlock
#[test]
fn by_a_flag_that_is_cleared_too_late() {
    awaits_what_another_sends::<Flags<false>>();
}

/// A flag under a lock, and a condition variable.
struct Waits(Mutex<bool>, Condvar);

impl Wake for Waits {
    fn wake(self: Arc<Self>) {
        *self.0.lock().unwrap() = true;
        self.1.notify_one();
    }
}

impl Signal for Waits {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(false), Condvar::new()))
    }

    fn wait(&self) {
        let mut woken = self.0.lock().unwrap();
        while !*woken {
            woken = self.1.wait(woken).unwrap();
        }
        *woken = false;
    }
}

//@ verified
#[test]
fn by_a_condition_variable() {
    awaits_what_another_sends::<Waits>();
}

/// The same with the flag beside the lock: a wake-up comes between looking and waiting.
struct WaitsUnlocked(Mutex<()>, Condvar, AtomicBool);

impl Wake for WaitsUnlocked {
    fn wake(self: Arc<Self>) {
        self.2.store(true, SeqCst);
        self.1.notify_one();
    }
}

impl Signal for WaitsUnlocked {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(()), Condvar::new(), AtomicBool::new(false)))
    }

    fn wait(&self) {
        let mut guard = self.0.lock().unwrap();
        while !self.2.swap(false, SeqCst) {
            guard = self.1.wait(guard).unwrap(); //~ bug of by_a_condition_variable_whose_flag_is_beside_the_lock
        }
    }
}

//@ failed deadlock
#[test]
fn by_a_condition_variable_whose_flag_is_beside_the_lock() {
    awaits_what_another_sends::<WaitsUnlocked>();
}

/// Messages in a channel with room for so many.
struct Messages<const ROOM: usize>(SyncSender<()>, Mutex<Receiver<()>>);

impl<const ROOM: usize> Wake for Messages<ROOM> {
    fn wake(self: Arc<Self>) {
        let _ = self.0.try_send(());
    }
}

impl<const ROOM: usize> Signal for Messages<ROOM> {
    fn new() -> Arc<Self> {
        let (sender, receiver) = sync_channel(ROOM);
        Arc::new(Self(sender, Mutex::new(receiver)))
    }

    fn wait(&self) {
        self.1.lock().unwrap().recv().unwrap(); //~ bug of by_a_channel_without_room
    }
}

//@ verified
#[test]
fn by_a_channel() {
    awaits_what_another_sends::<Messages<1>>();
}

// Nobody is receiving yet, so that the message is dropped.
//@ failed deadlock
#[test]
fn by_a_channel_without_room() {
    awaits_what_another_sends::<Messages<0>>();
}

/// Looks for the value under one lock, and leaves its waker under the next.
struct LooksThenRegisters<'s>(&'s Slot<u32>);

impl Future for LooksThenRegisters<'_> {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, context: &mut Context) -> Poll<u32> {
        if let Some(value) = self.0.0.lock().unwrap().0.take() {
            return Poll::Ready(value);
        }
        self.0.0.lock().unwrap().1 = Some(context.waker().clone());
        Poll::Pending
    }
}

//@ failed deadlock
#[test]
fn a_waker_left_behind_the_look() {
    let (mine, theirs) = Slot::new();
    let thread = spawn(move || theirs.send(7));
    assert_eq!(block_on::<Parks, _>(LooksThenRegisters(&mine)), 7);
    thread.join().unwrap();
}

/// Keeps the first waker that it gets.
struct KeepsItsWaker<'s>(&'s Slot<u32>);

impl Future for KeepsItsWaker<'_> {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, context: &mut Context) -> Poll<u32> {
        let mut slot = self.0.0.lock().unwrap();
        if let Some(value) = slot.0.take() {
            return Poll::Ready(value);
        }
        slot.1.get_or_insert_with(|| context.waker().clone());
        Poll::Pending
    }
}

/// Polls a future once with a waker that wakes nobody, and then blocks on it.
fn tried_before<F: Future<Output = u32> + Unpin>(mut future: F) -> u32 {
    match Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => block_on::<Parks, _>(future),
    }
}

//@ verified
#[test]
fn a_waker_that_is_replaced() {
    let (mine, theirs) = Slot::new();
    let thread = spawn(move || theirs.send(7));
    assert_eq!(tried_before(&*mine), 7);
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn a_waker_that_is_not_replaced() {
    let (mine, theirs) = Slot::new();
    let thread = spawn(move || theirs.send(7));
    assert_eq!(tried_before(KeepsItsWaker(&mine)), 7);
    thread.join().unwrap();
}

/// Two futures, and what came of them so far.
struct Join<'s, const KEEPS: bool>([&'s Slot<u32>; 2], RefCell<[Option<u32>; 2]>);

impl<const KEEPS: bool> Future for Join<'_, KEEPS> {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, context: &mut Context) -> Poll<u32> {
        let mut values = self.1.borrow_mut();
        for (slot, value) in self.0.iter().zip(values.iter_mut()) {
            if value.is_none()
                && let Poll::Ready(ready) = pin!(*slot).poll(context)
            {
                *value = Some(ready);
            }
        }
        match *values {
            [Some(one), Some(other)] => return Poll::Ready(one + other),
            _ if KEEPS => {}
            _ => *values = [None; 2],
        }
        Poll::Pending
    }
}

fn joins_two<const KEEPS: bool>() {
    let ((mine, theirs), (others, other)) = (Slot::new(), Slot::new());
    let threads = [spawn(move || theirs.send(1)), spawn(move || other.send(2))];
    let both = Join::<KEEPS>([&mine, &others], RefCell::default());
    assert_eq!(block_on::<Parks, _>(both), 3);
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ verified
#[test]
fn two_that_are_joined() {
    joins_two::<true>();
}

// What was ready when the other was not is asked for again.
//@ failed deadlock
#[test]
fn two_that_are_joined_and_forgotten() {
    joins_two::<false>();
}

/// A flag, and a waker in a cell of its own: whoever takes or leaves the waker says so in the state. Wrong are: 1, which takes the waker
/// whoever is at it; 2, which leaves it behind the look at the flag.
#[derive(Default)]
struct Registered<const WRONG: u8> {
    done: AtomicBool,
    state: AtomicUsize,
    waker: Shared<Option<Waker>>,
}

const REGISTERING: usize = 1;
const WAKING: usize = 2;

impl<const WRONG: u8> Registered<WRONG> {
    fn register(&self, waker: &Waker) {
        if self.state.compare_exchange(0, REGISTERING, Acquire, Acquire).is_err() {
            waker.wake_by_ref();
            return;
        }
        unsafe { *self.waker.ptr() = Some(waker.clone()) }; //~ bug of registered_without_saying_so
        if self.state.compare_exchange(REGISTERING, 0, AcqRel, Acquire).is_err() {
            let waker = unsafe { (*self.waker.ptr()).take() };
            self.state.store(0, Release);
            waker.unwrap().wake();
        }
    }

    fn wake(&self) {
        self.done.store(true, SeqCst);
        let state = self.state.fetch_or(WAKING, AcqRel);
        if state == 0 || WRONG == 1 {
            let waker = unsafe { (*self.waker.ptr()).take() }; //~ bug of registered_without_saying_so
            self.state.fetch_and(!WAKING, Release);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl<const WRONG: u8> Future for &Registered<WRONG> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context) -> Poll<()> {
        if WRONG != 2 {
            self.register(context.waker());
        }
        let done = self.done.load(SeqCst);
        if WRONG == 2 && !done {
            self.register(context.waker());
        }
        if done { Poll::Ready(()) } else { Poll::Pending }
    }
}

fn awaits_a_flag<const WRONG: u8>() {
    let flag = Arc::new(Registered::<WRONG>::default());
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.wake());
    block_on::<Parks, _>(&*flag);
    thread.join().unwrap();
}

//@ passed memory-model-sc
#[test]
fn registered() {
    awaits_a_flag::<0>();
}

//@ failed data-race
#[test]
fn registered_without_saying_so() {
    awaits_a_flag::<1>();
}

//@ failed deadlock
#[test]
fn registered_behind_the_look() {
    awaits_a_flag::<2>();
}

/// What a waker by hand points to.
struct Counted {
    count: AtomicUsize,
    thread: Thread,
}

/// A table of functions: 1 forgets to count a clone, 2 drops what it was lent, 3 does not drop what it was given.
struct Table<const WRONG: u8>;

impl<const WRONG: u8> Table<WRONG> {
    const FUNCTIONS: RawWakerVTable =
        RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    fn waker() -> Waker {
        let counted = Counted { count: AtomicUsize::new(1), thread: current() };
        let counted = Box::into_raw(Box::new(counted)).cast_const().cast::<()>();
        unsafe { Waker::new(counted, &Self::FUNCTIONS) }
    }

    unsafe fn clone(counted: *const ()) -> RawWaker {
        if WRONG != 1 {
            unsafe { &*counted.cast::<Counted>() }.count.fetch_add(1, SeqCst);
        }
        RawWaker::new(counted, &Self::FUNCTIONS)
    }

    unsafe fn wake(counted: *const ()) {
        unsafe {
            (*counted.cast::<Counted>()).thread.unpark();
            if WRONG != 3 {
                Self::drop(counted);
            }
        }
    }

    unsafe fn wake_by_ref(counted: *const ()) {
        unsafe {
            (*counted.cast::<Counted>()).thread.unpark();
            if WRONG == 2 {
                Self::drop(counted);
            }
        }
    }

    unsafe fn drop(counted: *const ()) {
        unsafe {
            if (*counted.cast::<Counted>()).count.fetch_sub(1, Release) == 1 {
                fence(Acquire);
                drop(Box::from_raw(counted.cast_mut().cast::<Counted>()));
            }
        }
    }
}

/// Blocks with a waker by hand, which is woken by reference first.
fn awaits_with_a_table<const WRONG: u8>() {
    let (mine, theirs) = Slot::new();
    let waker = Table::<WRONG>::waker();
    let other = waker.clone();
    let thread = spawn(move || {
        theirs.send(7);
        other.wake_by_ref();
    });
    let mut future = pin!(&*mine);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => break assert_eq!(value, 7),
            Poll::Pending => park(),
        }
    }
    drop(waker);
    thread.join().unwrap();
}

// In a thread, as leaks are looked for behind the first creation of one.
//@ passed memory-model-sc
//@ with --leaks passed memory-model-sc
#[test]
fn a_waker_by_hand() {
    spawn(awaits_with_a_table::<0>).join().unwrap();
}

//@ failed use-after-free|double-free|data-race
#[test]
fn a_waker_by_hand_that_does_not_count() {
    awaits_with_a_table::<1>();
}

//@ failed use-after-free|double-free|data-race
#[test]
fn a_waker_by_hand_that_drops_what_it_was_lent() {
    awaits_with_a_table::<2>();
}

//@ passed memory-model-sc
//@ with --leaks warned leak
#[test]
fn a_waker_by_hand_that_keeps_what_it_was_given() {
    spawn(awaits_with_a_table::<3>).join().unwrap();
}
