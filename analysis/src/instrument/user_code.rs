//! What is done to the user's code before std is pulled in: wrappers are inlined, local variables
//! promoted.
//!
//! rustc was asked not to optimise, since optimising before instrumentation deletes racy
//! accesses. Three passes that keep every access to memory that another thread could see are run
//! all the same: inlining of the small functions that carry synchronisation, and, by rustc and
//! again where that has inlined ([`crate::promotion`]), promotion of local variables that never
//! escape, and propagation of constants, which removes the branches over memory orders that the
//! wrappers of atomics consist of. No value numbering, no speculation, no removal of loads or
//! stores but of those reads that rustc makes and the program does not (see cargo-lockred's
//! wrapper). Small functions that are called in loops with atomic operations are inlined, too, so
//! that loops that wait are recognised.

use super::region::Marker;
use crate::llvm::{Attribute, Context, Function, Module};
use crate::promotion;
use crate::recognise::{Models, demangle, path_of};
use crate::waits::inline_into_loops;

/// Functions that are inlined wherever they are called, beside those that the sync models name: the
/// recognition and the reports then see who called them.
const INLINED: &[&str] = &[
    "core::sync::atomic::",
    "core::intrinsics::",
    "core::hint::spin_loop",
    "std::hint::spin_loop",
    "std::sys::sync::mutex::",
    "std::sys::sync::rwlock::",
    "std::sys::sync::thread_parking::",
    "std::sync::poison::Flag::",
];

/// Functions that are inlined, too, where a program is audited: they compute addresses, or access
/// what they are given, so that the accesses are seen in the code that asks for them.
const AUDITED: &[&str] = &[
    "core::cell::UnsafeCell::",
    "core::cell::Cell::",
    "core::mem::maybe_uninit::",
    "core::mem::MaybeUninit::",
    "core::mem::manually_drop::",
    "core::mem::replace",
    "core::ptr::",
];

/// What is no such function.
const NOT_AUDITED: &[&str] = &["core::ptr::drop_in_place"];

/// Inlines and promotes in the user's code; more of it where that is audited.
///
/// # Errors
/// When LLVM refuses the passes.
pub fn prepare_user_code(
    context: Context,
    module: &Module,
    models: &Models,
    audited: bool,
) -> Result<(), String> {
    let begins = |path: &str, list: &[&str]| list.iter().any(|prefix| path.starts_with(prefix));
    let [always, never, cold, none] =
        ["alwaysinline", "noinline", "cold", "optnone"].map(Attribute::named);
    let marker = Marker::new(context, module);
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        let path = path_of(&demangle(&function.name()));
        let is_of_channel = models
            .channel(&path)
            .is_some_and(|role| marker.mark_channel(context, module, function, role));
        if !is_of_channel && models.is_region(&path) {
            marker.mark(context, function);
        }
        let asked = audited && begins(&path, AUDITED) && !begins(&path, NOT_AUDITED);
        let listed = (asked || begins(&path, INLINED)) && !cold.is_some_and(|c| function.has(c));
        if !listed && !models.inlines(&path) {
            continue;
        }
        for attribute in [never, none].into_iter().flatten() {
            function.remove(attribute);
        }
        if let Some(always) = always {
            function.add(context, always);
        }
    }
    promotion::inline(module, &promotion::callers_of_inlined(module))?;
    let is_region = |function: Function| models.is_region(&path_of(&demangle(&function.name())));
    inline_into_loops(context, module, is_region)
}
