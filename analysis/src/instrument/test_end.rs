//! The end of a test's body: the runtime is told what libtest's wrapper of the test returns, so that it can leave out what the harness does
//! behind it.

use crate::llvm::{Builder, Context, Module, Opcode};
use crate::recognise::{demangle, path_of};
use lockred_trace::hooks::TEST_RETURNED;

/// The function of libtest that turns what a test returns into `Result<(), String>`. It is generic, so the user's crates have it.
const WRAPPER: &str = "test::assert_test_result";

/// Calls the hook before every return of the wrapper. Its result is too large for registers: the first parameter says where it goes.
pub fn announce(context: Context, module: &Module) {
    let wide = context.integer(64);
    let hook = module.declare(context, TEST_RETURNED, context.void().function(&[wide], false));
    let builder = Builder::new(context);
    for function in module.functions() {
        let in_memory = function.function_type().return_type().is_void();
        if function.is_declaration()
            || !in_memory
            || path_of(&demangle(&function.name())) != WRAPPER
        {
            continue;
        }
        let Some(&result) = function.parameters().first() else { continue };
        let ends = function.blocks().into_iter().filter_map(|block| block.terminator());
        for end in ends.filter(|end| end.opcode() == Opcode::Return) {
            builder.before(end, end.location().or_else(|| function.unknown_location(context)));
            let result = builder.address(context, result);
            builder.call(hook, &[result]);
        }
    }
}
