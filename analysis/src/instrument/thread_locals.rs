//! Thread-locals: each becomes a place in one block per thread, which the runtime makes from an
//! image.

use crate::llvm::{Builder, Context, Global, Module, Value};

/// Alignment of the block when no variable asks for more, in bytes.
const LEAST_ALIGNMENT: u64 = 16;

/// Replaces every access to a thread-local by an access relative to `__lr_tls_base`, and emits the
/// image.
///
/// # Errors
/// When a thread-local is used in a way that cannot be rewritten.
pub fn rewrite(context: Context, module: &Module) -> Result<(), String> {
    let base = module
        .global("__lr_tls_base")
        .unwrap_or_else(|| module.add_global("__lr_tls_base", context.pointer()));
    let builder = Builder::new(context);
    let mut image: Vec<Value> = Vec::new();
    let mut size = 0_u64;
    let mut block_alignment = LEAST_ALIGNMENT;
    for global in module.globals() {
        // A thread-local that native code defines stays native; all logical threads share it.
        if !global.is_thread_local() || global.is_declaration() {
            continue;
        }
        let natural = module.natural_alignment(global.value_type());
        let alignment = global.alignment().max(natural).max(1);
        block_alignment = block_alignment.max(alignment);
        let start = size.next_multiple_of(alignment);
        if start > size {
            image.push(context.integer(8).array(start - size).zero());
        }
        image.extend(global.initialiser());
        size = start + module.allocation_size(global.value_type());
        redirect(context, &builder, base, global, start)?;
    }
    let number = |name: &str, value: u64| {
        let global = module.add_global(name, context.integer(64));
        global.set_initialiser(context.integer(64).constant(value));
        global.set_constant(true);
    };
    let bytes = context.packed_struct(&image);
    let global = module.add_global("__lr_tls_image", bytes.value_type());
    global.set_initialiser(bytes);
    global.set_constant(true);
    global.set_alignment(block_alignment.min(1 << 29) as u32);
    number("__lr_tls_size", size);
    number("__lr_tls_align", block_alignment);
    Ok(())
}

/// Lets all uses of a thread-local use its place in the running thread's block.
fn redirect(
    context: Context,
    builder: &Builder,
    base: Global,
    global: Global,
    offset: u64,
) -> Result<(), String> {
    let place = |at| {
        builder.before(at, at.location().or_else(|| at.function().unknown_location(context)));
        let block = builder.load(context.pointer(), base.value());
        builder.offset(context, block, offset)
    };
    for user in global.value().users() {
        let unsupported = || {
            format!(
                "the thread-local {} is used in an unexpected way: {}",
                global.name(),
                user.print()
            )
        };
        let at = user.as_instruction().ok_or_else(unsupported)?;
        let callee = at.callee().and_then(|c| c.as_function());
        if callee.is_some_and(|c| c.name().starts_with("llvm.threadlocal.address")) {
            let address = place(at);
            at.value().replace_all_uses(address);
            at.erase();
        } else if at.is_phi() {
            return Err(unsupported());
        } else {
            let address = place(at);
            for (index, operand) in at.value().operands().into_iter().enumerate() {
                if operand == global.value() {
                    at.value().set_operand(index as u32, address);
                }
            }
        }
    }
    if global.value().is_unused() {
        global.delete();
    }
    Ok(())
}
