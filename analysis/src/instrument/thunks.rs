//! Thunks: a pointer to an external function becomes a pointer to a function of ours that calls it,
//! so that the call is seen.

use super::externals::{Treatment, treatment};
use crate::llvm::{Builder, Context, Function, Instruction, Linkage, Module, Value};

/// Makes a thunk for every external function that is neither modelled nor harmless, is not
/// variadic, and whose address is taken.
pub fn make(context: Context, module: &Module) {
    for function in module.functions() {
        if function.is_declaration()
            && function.intrinsic_id() == 0
            && function.linkage() != Linkage::ExternWeak
            && !function.function_type().is_variadic()
            && treatment(&function.name()) != Treatment::None
        {
            redirect(context, module, function);
        }
    }
}

/// Lets every use of a function but its direct calls use a thunk.
fn redirect(context: Context, module: &Module, function: Function) {
    let direct =
        |user: Value| user.as_instruction().filter(|i| i.callee() == Some(function.value()));
    let users = function.value().users();
    let calls: Vec<Instruction> = users.iter().filter_map(|&u| direct(u)).collect();
    // A call that also passes the function as an argument occurs twice among the users.
    if calls.len() == users.len() && users.iter().all(|u| count(&users, *u) == 1) {
        return;
    }
    let thunk = module.add_function("", function.function_type());
    function.value().replace_all_uses(thunk.value());
    for call in calls {
        let callee = call.value().operands().len() as u32 - 1;
        call.value().set_operand(callee, function.value());
    }
    let builder = Builder::new(context);
    builder.at_end(thunk.append_block(context), None);
    let result = builder.call(function, &thunk.parameters());
    function.copy_signature_attributes(thunk, result);
    let returned = !function.function_type().return_type().is_void();
    builder.ret(returned.then(|| result.value()));
    thunk.value().set_name(&format!("{} (by pointer)", function.name()));
    thunk.internalise();
}

fn count(users: &[Value], user: Value) -> usize {
    users.iter().filter(|&&u| u == user).count()
}
