//! Predicates of who may access a field, as the runtime finds them.

/// A predicate over a value of some type.
#[doc(hidden)]
#[repr(C)]
#[derive(Debug)]
pub struct __Predicate {
    // Whatever it is a pointer to.
    holds: extern "C" fn(),
    // Of what, and at which address.
    call: unsafe extern "C" fn(extern "C" fn(), usize) -> bool,
}

impl __Predicate {
    /// Of a function.
    #[must_use]
    pub const fn new<T>(holds: fn(&T) -> bool) -> Self {
        // SAFETY: pointers to functions are alike, and `call` makes it what it was.
        Self {
            holds: unsafe { core::mem::transmute::<fn(&T) -> bool, extern "C" fn()>(holds) },
            call: call::<T>,
        }
    }
}

/// # Safety
/// `holds` was a `fn(&T) -> bool`, and there is such a value at the address.
unsafe extern "C" fn call<T>(holds: extern "C" fn(), at: usize) -> bool {
    // SAFETY: the caller's word.
    unsafe { core::mem::transmute::<extern "C" fn(), fn(&T) -> bool>(holds)(&*(at as *const T)) }
}

#[cfg(lockred)]
unsafe extern "C" {
    // `runtime/protocol/src/hooks.rs`.
    safe fn __lr_me() -> u64;
}

/// The number of the thread: under `cargo lockred`, threads are numbered in the order of their
/// creation within an execution, from main, which is 0. In a predicate of `exclusive_when`, it is
/// the thread that is asked about. Always 0 without the tool.
#[must_use]
pub fn me() -> usize {
    #[cfg(lockred)]
    return __lr_me() as usize;
    #[cfg(not(lockred))]
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_is_asked_of_a_value_at_an_address() {
        static EVEN: __Predicate = __Predicate::new(|value: &u32| value.is_multiple_of(2));
        let values = [4_u32, 5];
        // SAFETY: there are such values.
        let holds = |value: &u32| unsafe { (EVEN.call)(EVEN.holds, &raw const *value as usize) };
        assert_eq!((holds(&values[0]), holds(&values[1]), me()), (true, false, 0));
    }
}
