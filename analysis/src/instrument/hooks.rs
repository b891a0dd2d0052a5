//! Declarations of the runtime's hooks in the program, as `lockred_protocol::hooks` lists them.

use crate::llvm::{BlockSplitter, Builder, Context, Function, Global, Module};
use lockred_protocol::hooks::{NATIVE_CALL, SYSTEM_CALL, UNSUPPORTED_CALL};

/// The hooks, and what is needed to insert calls of them.
pub struct Hooks {
    pub(super) builder: Builder,
    pub(super) splitter: BlockSplitter,
    pub(super) watch: Global,
    pub(super) exchanged: Global,
    pub(super) read: Function,
    pub(super) write: Function,
    pub(super) check: Function,
    pub(super) claim: Function,
    pub(super) locked: Function,
    pub(super) protected: Function,
    pub(super) ended: Function,
    pub(super) fresh: Function,
    pub(super) atomic_load: Function,
    pub(super) atomic_store: Function,
    pub(super) atomic_rmw: Function,
    pub(super) atomic_cmpxchg: Function,
    pub(super) fence: Function,
    pub(super) await_value: Function,
    pub(super) spin_hint: Function,
    pub(super) native_call: Function,
    pub(super) native_result: Function,
    pub(super) time_stamp: Function,
    pub(super) processor: Function,
    pub(super) random_number: Function,
    pub(super) cpuid: Function,
    pub(super) unsupported_call: Function,
    pub(super) system_call: Function,
    pub(super) unsupported_instruction: Function,
}

impl Hooks {
    /// Declares all hooks.
    pub fn declare(context: Context, module: &Module) -> Self {
        let void = context.void();
        let [narrow, wide] = [32, 64].map(|bits| context.integer(bits));
        let declare = |name: &str, returns: crate::llvm::Type, parameters: &[_]| {
            module.declare(context, name, returns.function(parameters, false))
        };
        let n = narrow;
        let w = wide;
        let variable =
            |name: &str| module.global(name).unwrap_or_else(|| module.add_global(name, narrow));
        Self {
            builder: Builder::new(context),
            splitter: BlockSplitter::new(context),
            watch: variable("__lr_watch"),
            exchanged: variable("__lr_exchanged"),
            read: declare("__lr_read", void, &[w, w, n]),
            write: declare("__lr_write", void, &[w, w, n]),
            check: declare("__lr_check", void, &[w, w, n, n]),
            claim: declare("__lr_claim", void, &[w, w, n, n]),
            locked: declare("__lr_locked", void, &[w, n, n]),
            protected: declare("__lr_protected", void, &[w, w, w]),
            ended: declare("__lr_ended", void, &[w]),
            fresh: declare("__lr_fresh", void, &[w, w]),
            atomic_load: declare("__lr_atomic_load", w, &[w, n, n, n, n]),
            atomic_store: declare("__lr_atomic_store", void, &[w, w, n, n, n, n]),
            atomic_rmw: declare("__lr_atomic_rmw", w, &[w, w, n, n, n, n, n]),
            atomic_cmpxchg: declare("__lr_atomic_cmpxchg", w, &[w, w, w, n, n, n, n]),
            fence: declare("__lr_fence", void, &[n, n]),
            await_value: declare("__lr_await", void, &[w, w, n]),
            spin_hint: declare("__lr_spin_hint", void, &[n]),
            native_call: declare(NATIVE_CALL, void, &[n, n]),
            native_result: declare("__lr_native_result", void, &[w]),
            time_stamp: declare("__lr_time_stamp", w, &[]),
            processor: declare("__lr_processor", w, &[]),
            random_number: declare("__lr_random_number", w, &[]),
            cpuid: declare("__lr_cpuid", n, &[n, n, n]),
            unsupported_call: declare(UNSUPPORTED_CALL, void, &[n, n]),
            system_call: declare(SYSTEM_CALL, w, &[w; 7]),
            unsupported_instruction: declare("__lr_unsupported_instruction", void, &[n]),
        }
    }
}
