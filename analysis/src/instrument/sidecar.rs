//! The sidecar: sites, externals and facts of the build, as a constant in a section of the
//! executable; and the plan in another.

use super::Program;
use super::externals::Externals;
use super::sites::Sites;
use crate::llvm::{Context, Global, Module};
use crate::recognise::Models;
use lockred_protocol::FORMAT_VERSION;
use lockred_protocol::audit::Audit;
use lockred_protocol::lock_order::LockOrder;
use lockred_protocol::plan::Plan;
use lockred_protocol::protection::Protection;
use lockred_protocol::section::Section;
use lockred_protocol::sites::{SECTION, Sidecar};

/// Emits the sidecar into the module.
pub fn embed(
    context: Context,
    module: &Module,
    program: Program,
    externals: Externals,
    sites: Sites,
    models: &Models,
) {
    let (strings, sites) = sites.into_tables();
    let sidecar = Sidecar {
        version: FORMAT_VERSION,
        rustc: env!("LOCKRED_RUSTC").to_owned(),
        libtest: program.libtest,
        panic_abort: program.panic_abort,
        native_objects: program.native_objects,
        externals: externals.into_names(),
        models: models.believed(),
        unmodelled: models.unmodelled().to_vec(),
        strings,
        sites,
    };
    let encoded = sidecar.encode();
    let table = constant(context, module, "__lr_sidecar", SECTION, &encoded);
    let length = module.add_global("__lr_sidecar_len", context.integer(64));
    length.set_initialiser(context.integer(64).constant(encoded.len() as u64));
    length.set_constant(true);
    module.keep(context, &[table.value()]);
}

/// Emits the plan into the module.
pub fn embed_plan(context: Context, module: &Module, plan: &Plan) {
    let plan = plan.encode();
    let plan = constant(context, module, "__lr_plan", Plan::NAME, &plan);
    module.keep(context, &[plan.value()]);
}

/// Emits the order of locks into the module, with its length for the runtime.
pub fn embed_order(context: Context, module: &Module, order: &LockOrder) {
    let encoded = order.encode();
    let order = constant(context, module, "__lr_lock_order", LockOrder::NAME, &encoded);
    let length = module.add_global("__lr_lock_order_len", context.integer(64));
    length.set_initialiser(context.integer(64).constant(encoded.len() as u64));
    length.set_constant(true);
    module.keep(context, &[order.value()]);
}

/// Emits what protects memory into the module.
pub fn embed_protection(context: Context, module: &Module, known: &Protection) {
    let known = constant(context, module, "__lr_protection", Protection::NAME, &known.encode());
    module.keep(context, &[known.value()]);
}

/// Emits the audit into the module.
pub fn embed_audit(context: Context, module: &Module, audit: &Audit) {
    let audit = constant(context, module, "__lr_audit", Audit::NAME, &audit.encode());
    module.keep(context, &[audit.value()]);
}

/// Bytes in a section of their own.
fn constant(context: Context, module: &Module, name: &str, section: &str, bytes: &[u8]) -> Global {
    let bytes = context.bytes(bytes);
    let global = module.add_global(name, bytes.value_type());
    global.set_initialiser(bytes);
    global.set_constant(true);
    global.set_section(section);
    global.set_alignment(1);
    global
}
