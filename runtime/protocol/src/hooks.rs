//! The hook ABI: names, argument codes and libc lists on which the instrumented program and the
//! runtime agree.
//!
//! All hooks are `extern "C"`. Integers narrower than 64 bits travel zero-extended in `u64`. `site`
//! is a [`crate::sites::SiteId`]. Sizes are bytes. The signatures, in Rust terms:
//!
//! ```text
//! __lr_watch: u32                      runtime variable; plain hooks are called only while it is not 0
//! __lr_read (addr: usize, size: usize, site: u32)                       plain read, any size (0 allowed)
//! __lr_write(addr: usize, size: usize, site: u32)                       plain write, called before the store
//! __lr_check(addr: usize, size: usize, writes: u32, site: u32)          plain access to memory that no other thread can reach
//! __lr_claim(addr: usize, size: usize, reason: u32, site: u32)          only in builds with checked claims, at every plain access, also
//!                     before the root: what the plan does about it is for this `plan::Reason` (+ 256: it writes)
//! __lr_locked(lock: usize, shared: u32, site: u32)                      the same builds: the thread holds this lock (1: perhaps with others) at the
//!                     access that comes next
//! __lr_protected(addr: usize, size: usize, lock: usize)                the same builds: this lock protects what the access touches that was announced
//!                     last
//! __lr_ended(block: usize)                                              the same builds: the last reference to what is in this block was dropped
//! __lr_fresh(addr: usize, size: usize)                                  the same builds: a stack variable begins to live
//! __lr_atomic_load   (addr: usize, size: u32, order: u32, how: u32, site: u32) -> u64
//! __lr_atomic_store  (addr: usize, value: u64, size: u32, order: u32, how: u32, site: u32)
//! __lr_atomic_rmw    (addr: usize, operand: u64, op: u32, size: u32, order: u32, how: u32, site: u32) -> u64 (old)
//! __lr_atomic_cmpxchg(addr: usize, expected: u64, new: u64, size: u32, orders: u32, how: u32, site: u32) -> u64 (old;
//!                     success iff old == expected, of a weak one iff __lr_exchanged is 1; orders = success | failure << 8)
//! __lr_exchanged: u32                  runtime variable; set by every weak compare-exchange: 1 if it wrote, else 0
//! __lr_fence  (order: u32, site: u32)
//! __lr_await  (mask: u64, value: u64, test: u32)       the thread's next atomic operation waits until, by `test`,
//!                     0: word & mask == value, 1: word & mask != value, 2: word & mask < value, 3: word & mask >= value; and is then executed at once
//! __lr_region_enter(), __lr_region_leave()              a function that is an atomic region begins; returns, or unwinds
//! __lr_channel_made (ends: *const usize, capacity: u64, keeps: u32)   a channel was made; among the four words at `ends` is, twice, where it
//!                     is. capacity u64::MAX: none; keeps: what is in it when all receivers are gone stays until all senders are
//! __lr_channel_enter(act: u32, channel: usize, seconds: u64, nanoseconds: u32, site: u32)   a function of a channel begins (see `Act`); its
//!                     deadline, an `Option<Instant>`: nanoseconds is NO_DEADLINE if it has none, seconds u64::MAX where they are not known
//! __lr_channel_leave(result: usize, size: u64, site: u32)   it returns, its result written there (0: nowhere); or unwinds
//! __lr_spin_hint(site: u32)                             llvm.x86.sse2.pause, llvm.aarch64.hint, …
//! __lr_round(range: *mut u8, size: u32, state: *mut [u64; 3], rounds: u64, site: u32)   only in builds with scaled loops: a `for` loop over
//!                     this `Range` of integers of `size` bytes begins a round; it makes `rounds` that synchronise, and ends. `state` is the
//!                     loop's own; its first word is 0 when it begins
//! __lr_choose(of: u64) -> u64                           one of 0..of; called by the crate `lockred` itself (runtime/annotations)
//! __lr_assumed_not(text: *const u8, length: usize)      called by the crate `lockred`: a condition that is assumed is false; the text says which, and lives
//!                     as long as the program. The thread goes no further
//! __lr_me() -> u64                                      called by the crate `lockred`: the number of the thread, or of the one that a predicate is asked about
//! __lr_block_begin(text: *const u8, length: usize), __lr_block_end()   called by the crate `lockred`: a block that is meant to be atomic, with
//!                     its name, which lives as long as the program; ends, or unwinds
//! __lr_native_call(external: u32, site: u32)            about to call an unknown external function (assumption)
//! __lr_native_result(result: u64)                       the unknown external function that was called last gave this number
//! __lr_time_stamp() -> u64, __lr_processor() -> u64, __lr_random_number() -> u64   what `rdtsc`, `rdpid` and `rdrand` give in their place
//! __lr_cpuid(leaf: u32, register: u32, value: u32) -> u32   what `cpuid` gives in this register (0 to 3: eax to edx), where it gave `value`
//! __lr_unsupported_call(external: u32, site: u32)       about to call something that cannot be modelled (ends the test)
//! __lr_syscall(number: i64, arguments: usize × 6) -> i64  in the place of the instruction in inline assembly; gives what that does
//! __lr_unsupported_instruction(site: u32)               e.g. a 128-bit or floating-point atomic
//! __lr_test_begins()                                    the function that calls a test of libtest's begins
//! __lr_test_returned(result: *const Result<(), String>)  libtest's wrapper of a test is about to return this
//! __lr_libc_X(…same signature as X…)                    for every X that libc_functions::answered names: declarations are renamed
//! __lr_program_main(argc: i32, argv: *const *const u8) -> i32   the program's `main`, renamed; called by the runtime
//! __lr_tls_base: *mut u8               runtime variable: thread-local block of the running thread
//! __lr_tls_image: [u8]  __lr_tls_size: u64  __lr_tls_align: u64   emitted by the shim: initial thread-local block
//! __lr_sidecar_len: u64                emitted by the shim
//! __lr_lock_order_len: u64             emitted by the shim
//! section lockred_data                 all writable globals of the program (__start_lockred_data, __stop_lockred_data)
//! section lockred_text                 all code of the program (__start_lockred_text, __stop_lockred_text)
//! section lockred_frames               how frames are laid out ([`crate::frames`])
//! ```

/// Prefix of everything that the two sides share.
pub const PREFIX: &str = "__lr_";
/// Prefix of a modelled libc function: `malloc` is called as `__lr_libc_malloc`.
pub const LIBC_PREFIX: &str = "__lr_libc_";
/// Section of the program's writable globals.
pub const DATA_SECTION: &str = "lockred_data";
/// Section of the program's code.
pub const TEXT_SECTION: &str = "lockred_text";
/// See the module's table.
pub const NATIVE_CALL: &str = "__lr_native_call";
/// See the module's table.
pub const ROUND: &str = "__lr_round";
/// See the module's table.
pub const TEST_BEGINS: &str = "__lr_test_begins";
/// See the module's table.
pub const TEST_RETURNED: &str = "__lr_test_returned";
/// See the module's table.
/// Stands for the instruction that calls the kernel.
pub const SYSTEM_CALL: &str = "__lr_syscall";
/// (see above)
pub const UNSUPPORTED_CALL: &str = "__lr_unsupported_call";

/// See the module's table.
pub const CHANNEL_ENTER: &str = "__lr_channel_enter";
/// See the module's table.
pub const CHANNEL_LEAVE: &str = "__lr_channel_leave";
/// The nanoseconds of a deadline that there is not: the niche of `Option<Instant>`.
pub const NO_DEADLINE: u32 = 1_000_000_000;

/// Declares a `#[repr(u32)]` code that travels through the ABI, with a checked way back.
macro_rules! code {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $value:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[repr(u32)]
        pub enum $name { $($(#[$vmeta])* $variant = $value),+ }
        impl $name {
            /// The variant with this code.
            #[must_use]
            #[inline]
            pub const fn from_code(code: u32) -> Option<Self> {
                match code { $($value => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

code! {
    /// Memory order of an atomic operation or fence, as in C11.
    Order {
        /// `Relaxed` (LLVM `unordered` and `monotonic`).
        Relaxed = 0,
        /// `Acquire`.
        Acquire = 1,
        /// `Release`.
        Release = 2,
        /// `AcqRel`.
        AcqRel = 3,
        /// `SeqCst`.
        SeqCst = 4,
    }
}

impl Order {
    /// Whether a read with this order acquires.
    #[must_use]
    #[inline]
    pub const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }
    /// Whether a write with this order releases.
    #[must_use]
    #[inline]
    pub const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

code! {
    /// Read-modify-write operation, numbered as LLVM's `LLVMAtomicRMWBinOp`.
    RmwOp {
        /// Exchange.
        Xchg = 0,
        /// Wrapping addition.
        Add = 1,
        /// Wrapping subtraction.
        Sub = 2,
        /// Bitwise and.
        And = 3,
        /// Bitwise not-and.
        Nand = 4,
        /// Bitwise or.
        Or = 5,
        /// Bitwise exclusive or.
        Xor = 6,
        /// Signed maximum.
        Max = 7,
        /// Signed minimum.
        Min = 8,
        /// Unsigned maximum.
        UMax = 9,
        /// Unsigned minimum.
        UMin = 10,
    }
}

code! {
    /// How `__lr_await` compares the masked word with the value.
    Test {
        /// They are equal.
        Equal = 0,
        /// They differ.
        NotEqual = 1,
        /// The masked word is smaller (unsigned).
        Below = 2,
        /// The masked word is not smaller (unsigned).
        AtLeast = 3,
    }
}

code! {
    /// What an atomic operation is known to be, from the sync models: decides its dependencies and
    /// how reports call it. It never changes the operation's effect on memory.
    Class {
        /// Nothing is known: load, store or read-modify-write of a communication object.
        Plain = 0,
        /// Bookkeeping of std that no program can observe (panic counts, thread-id counter, …): no
        /// scheduling point, no footprint; its ordering still counts for happens-before.
        Invisible = 1,
        /// Exclusive acquire of a lock word; blocks by its await.
        Lock = 2,
        /// Attempt at an exclusive acquire; never blocks.
        TryLock = 3,
        /// Release of an exclusive lock.
        Unlock = 4,
        /// Shared acquire; blocks by its await.
        ReadLock = 5,
        /// Attempt at a shared acquire.
        TryReadLock = 6,
        /// Release of a shared lock.
        ReadUnlock = 7,
        /// Reference-count increment.
        RefInc = 8,
        /// Reference-count decrement; the one that reaches zero is dependent on the others.
        RefDec = 9,
        /// A commutative read-modify-write (add, sub, or, and, xor, min, max of one kind) whose
        /// result is unused.
        Unused = 10,
        /// Thread parking: takes the token; blocks by its await.
        Park = 11,
        /// Thread parking: gives the token.
        Unpark = 12,
        /// Waits for a one-time initialisation or a counter to reach a value; blocks by its await.
        Wait = 13,
        /// Opens the region of a wait on a condition variable, which gives back a mutex and ends
        /// with a futex wait; reads a word that nobody changes within it.
        CondvarWait = 14,
        /// Opens the region of a notification, which ends with a futex wake; changes a word that no
        /// other operation depends on.
        CondvarNotify = 15,
        /// A load or store of a word that a lock guards although it is atomic. The search checks
        /// that.
        Guarded = 16,
        /// Decrement of a counter that others wait to become zero: decrements commute, also the
        /// last one, because what it alone does belongs to the region that it opens, and is the
        /// same whoever does it.
        Countdown = 17,
        /// A part of an operation of a channel. Where the operation is known as a whole, nobody
        /// sees its parts.
        Channel = 18,
        /// Makes an exclusively held lock one that is held shared.
        Downgrade = 19,
    }
}

code! {
    /// What a function does to a channel.
    Act {
        /// Sends; waits while there is no room.
        Send = 0,
        /// Sends if there is room.
        TrySend = 1,
        /// Receives; waits while there is nothing.
        Receive = 2,
        /// Receives if there is something.
        TryReceive = 3,
        /// Looks how much there is.
        Look = 4,
        /// Makes another sender. (The argument is the address of a handle, here and where an end is
        /// dropped.)
        Clone = 5,
        /// Drops a sender.
        DropSender = 6,
        /// Drops a receiver, and with the last one what is in the channel: that is code of the
        /// user's.
        DropReceiver = 7,
        /// A part of dropping an end that is none of the user's.
        Disconnect = 8,
    }
}

impl Act {
    /// Whether the function is also an atomic region.
    #[must_use]
    pub const fn is_region(self) -> bool {
        use Act::{Disconnect, Receive, Send, TryReceive, TrySend};
        matches!(self, Send | TrySend | Receive | TryReceive | Disconnect)
    }

    /// Whether its argument is the address of a handle.
    #[must_use]
    pub const fn has_handle(self) -> bool {
        matches!(self, Self::Clone | Self::DropSender | Self::DropReceiver)
    }
}

impl Class {
    /// Whether operations of the class acquire a lock, try to, release or downgrade one.
    #[must_use]
    #[inline]
    pub const fn is_lock(self) -> bool {
        matches!(
            self,
            Self::Lock
                | Self::TryLock
                | Self::Unlock
                | Self::ReadLock
                | Self::TryReadLock
                | Self::ReadUnlock
                | Self::Downgrade
        )
    }
}

/// Layout of the `how` argument: the class, and flags.
#[derive(Clone, Copy, PartialEq, Hash, Eq, Debug)]
pub struct How(pub u32);

impl How {
    /// No scheduling point before the operation: it belongs to the region that the thread is in, if
    /// it is in one. Outside a region the flag has no meaning.
    pub const IN_REGION: u32 = 1 << 8;
    /// The operation (still a scheduling point itself) opens an atomic region: the following
    /// operations of the thread with `IN_REGION` on the same word, and the next futex call on it,
    /// are executed without a switch. (The region of a wait on a condition variable takes
    /// operations on any word: a mutex is given back there.)
    pub const OPENS_REGION: u32 = 1 << 9;
    /// The region is closed after this operation.
    pub const CLOSES_REGION: u32 = 1 << 10;
    /// The compare-exchange is a weak one, and what it does is seen by others than std's own code:
    /// it may fail for no reason.
    pub const WEAK: u32 = 1 << 11;
    /// The operation belongs to a recognised primitive, whatever its class: users of the primitive
    /// cannot see weak values.
    pub const PRIMITIVE: u32 = 1 << 12;
    /// The increment makes the reference of a thread that is about to be created to what it shares
    /// with its handle: which of the two drops the last one shows nothing.
    pub const HANDLE: u32 = 1 << 13;
    /// It is the same thread in every execution that drops the last reference of this count.
    pub const SETTLED: u32 = 1 << 14;
    /// A look at a clock in the region that the operation opens only makes the deadline of a wait.
    pub const DEADLINE: u32 = 1 << 15;

    /// A `how` of one class without flags.
    #[must_use]
    #[inline]
    pub const fn of(class: Class) -> Self {
        Self(class as u32)
    }
    /// The class; `Plain` for an unknown code.
    #[must_use]
    #[inline]
    pub const fn class(self) -> Class {
        match Class::from_code(self.0 & 0xff) {
            Some(class) => class,
            None => Class::Plain,
        }
    }
    /// Whether a flag (one of the constants above) is set.
    #[must_use]
    #[inline]
    pub const fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_keeps_class_and_flags_apart() {
        for code in 0..=255 {
            let how = How(code | How::IN_REGION | How::WEAK);
            assert_eq!(how.class(), Class::from_code(code).unwrap_or(Class::Plain));
            assert!(how.has(How::IN_REGION) && how.has(How::WEAK) && !how.has(How::OPENS_REGION));
        }
    }
}
