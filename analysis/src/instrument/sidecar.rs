//! The sidecar: sites, externals and facts of the build, as a constant in a section of the executable.

use super::Program;
use super::externals::Externals;
use super::sites::Sites;
use crate::llvm::{Context, Module};
use lockred_trace::FORMAT_VERSION;
use lockred_trace::sites::{SECTION, Sidecar};

/// Emits the sidecar into the module.
pub fn embed(
    context: Context,
    module: &Module,
    program: Program,
    externals: Externals,
    sites: Sites,
    models: Vec<String>,
) {
    let (strings, sites) = sites.into_tables();
    let sidecar = Sidecar {
        version: FORMAT_VERSION,
        rustc: env!("LOCKRED_RUSTC").to_owned(),
        libtest: program.libtest,
        panic_abort: program.panic_abort,
        native_objects: program.native_objects,
        externals: externals.into_names(),
        models,
        strings,
        sites,
    };
    let encoded = sidecar.encode();
    let bytes = context.bytes(&encoded);
    let table = module.add_global("__lr_sidecar", bytes.value_type());
    table.set_initialiser(bytes);
    table.set_constant(true);
    table.set_section(SECTION);
    table.set_alignment(1);
    let length = module.add_global("__lr_sidecar_len", context.integer(64));
    length.set_initialiser(context.integer(64).constant(encoded.len() as u64));
    length.set_constant(true);
    module.keep(context, &[table.value()]);
}
