//! The beginning and the end of a test's body: the runtime learns which function calls the test,
//! and what libtest's wrapper of the test returns, so that it knows what the harness does, and can
//! leave out what that does after the test.

use super::region::first;
use crate::llvm::{Builder, Context, Module, Opcode, Value};
use crate::recognise::{demangle, path_of};
use lockred_protocol::hooks::{TEST_BEGINS, TEST_RETURNED};

/// The function of libtest that turns what a test returns into `Result<(), String>`. It is generic,
/// so the user's crates have it.
const WRAPPER: &str = "test::assert_test_result";

/// Calls one hook where a caller of the wrapper begins: that has called the test before. Calls the
/// other one before every return of the wrapper. Its result is too large for registers: the first
/// parameter says where it goes.
pub fn announce(context: Context, module: &Module) {
    let wide = context.integer(64);
    let hook = module.declare(context, TEST_RETURNED, context.void().function(&[wide], false));
    let begins = module.declare(context, TEST_BEGINS, context.void().function(&[], false));
    let builder = Builder::new(context);
    for function in module.functions() {
        let in_memory = function.function_type().return_type().is_void();
        if function.is_declaration()
            || !in_memory
            || path_of(&demangle(&function.name())) != WRAPPER
        {
            continue;
        }
        let users = function.value().users().into_iter();
        let calls = users.filter_map(Value::as_instruction);
        for call in calls.filter(|at| at.callee() == Some(function.value())) {
            let caller = call.function();
            let Some(first) = first(caller) else { continue };
            builder.before(first, caller.unknown_location(context));
            builder.call(begins, &[]);
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
