//! Merging: the user's modules into one, what it needs of std into that, and everything private but
//! the entry.

use super::inputs::{Bitcode, Inputs};
use super::prepare::STD_BITCODE;
use crate::llvm::{Context, Global, Linkage, Module};
use crate::promotion;
use std::collections::{HashMap, HashSet};

/// Links the modules of the user's crates and dependencies into one: objects always, members of
/// archives where they define something that is needed, as any linker does.
///
/// # Errors
/// Which module cannot be read or linked, and why.
pub fn merge(context: Context, inputs: &Inputs) -> Result<Module, String> {
    let (members, objects): (Vec<_>, Vec<_>) = inputs.bitcode.iter().partition(|b| b.in_archive);
    let objects = objects
        .into_iter()
        .map(|part| Ok((part.name.as_str(), open(context, part)?)))
        .collect::<Result<Vec<_>, String>>()?;
    let program = link_all(context, objects)?;
    let members = members
        .into_iter()
        .map(|part| Ok((part, open(context, part)?)))
        .collect::<Result<Vec<_>, String>>()?;
    let roots = inputs.roots.iter().chain(&inputs.wanted_symbols).cloned();
    let needed = needed(&members, symbols(&program, false).chain(roots).collect());
    let mut linked = vec![("the program", program)];
    for ((part, module), needed) in members.into_iter().zip(needed) {
        if needed {
            linked.push((&part.name, module));
        }
    }
    link_all(context, linked)
}

/// Opens a module, in which local variables are promoted: that is done here for what other
/// compilers than rustc have made. Function bodies of members of archives are read only where
/// something links them.
fn open(context: Context, part: &Bitcode) -> Result<Module, String> {
    if part.in_archive {
        let module = context.parse_bitcode_lazily(&part.bytes, &part.name)?;
        if module.is_from_rustc() {
            return Ok(module);
        }
    }
    let module = context.parse_bitcode(&part.bytes, &part.name)?;
    if !module.is_from_rustc() {
        promotion::promote(context, &module)?;
    }
    Ok(module)
}

/// Modules that are linked one by one into the first of them.
const GROUP: usize = 4;

/// Links modules into one, in groups and groups of groups. Linking costs time for what is linked,
/// and for the types of all that it is linked into, so that linking many modules one by one is
/// quadratic (measured: 15 s for the modules of a program that uses tokio, regex and rayon), and
/// linking in pairs copies everything often.
fn link_all(context: Context, mut modules: Vec<(&str, Module)>) -> Result<Module, String> {
    while modules.len() > 1 {
        let mut grouped: Vec<(&str, Module)> = Vec::with_capacity(modules.len().div_ceil(GROUP));
        for (index, (name, module)) in modules.into_iter().enumerate() {
            match grouped.last() {
                Some((_, group)) if index % GROUP != 0 => {
                    group.link(module).map_err(|e| format!("{name}: {e}"))?;
                }
                _ => grouped.push((name, module)),
            }
        }
        modules = grouped;
    }
    Ok(modules.pop().map_or_else(|| context.module("program"), |(_, module)| module))
}

/// Which members of archives define something that is needed, by the program or by a needed member.
fn needed(members: &[(&Bitcode, Module)], mut open: Vec<String>) -> Vec<bool> {
    let mut definers: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, (_, module)) in members.iter().enumerate() {
        for symbol in symbols(module, true) {
            definers.entry(symbol).or_default().push(index);
        }
    }
    let mut needed = vec![false; members.len()];
    while let Some(symbol) = open.pop() {
        for index in definers.remove(&symbol).into_iter().flatten() {
            if !std::mem::replace(&mut needed[index], true) {
                open.extend(symbols(&members[index].1, false));
            }
        }
    }
    needed
}

/// The symbols that a module defines for others, or those that it needs from others.
fn symbols(module: &Module, defined: bool) -> impl Iterator<Item = String> {
    let fits = move |declaration: bool, linkage: Linkage| {
        if defined { !declaration && linkage != Linkage::Internal } else { declaration }
    };
    let functions = module.functions().into_iter();
    let globals = module.globals().into_iter();
    functions
        .filter(move |f| fits(f.is_declaration(), f.linkage()))
        .map(|f| f.name())
        .chain(globals.filter(move |g| fits(g.is_declaration(), g.linkage())).map(|g| g.name()))
        .filter(|name| !name.starts_with("llvm."))
}

/// Links whole modules into the program.
///
/// # Errors
/// Which module cannot be read or linked, and why.
pub fn add(context: Context, program: &Module, parts: &[Bitcode]) -> Result<(), String> {
    for part in parts {
        let module = context.parse_bitcode(&part.bytes, &part.name)?;
        program.link(module).map_err(|e| format!("{}: {e}", part.name))?;
    }
    Ok(())
}

/// Links what the program needs out of the module of std. LLVM's C API cannot say "only what is
/// needed"; a definition that is `linkonce_odr` is pulled in only where it is used, and its body is
/// read only then. `whole` says that the program is linked to std itself, not only to core: then
/// what runs before `main` is pulled in too.
///
/// # Errors
/// When the library cannot be read or linked.
pub fn pull_std(
    context: Context,
    program: &Module,
    library: &[u8],
    whole: bool,
) -> Result<(), String> {
    let library = context.parse_bitcode_lazily(library, STD_BITCODE)?;
    if !whole {
        for list in ["llvm.used", "llvm.compiler.used"] {
            library.global(list).into_iter().for_each(Global::delete);
        }
    }
    for function in library.functions() {
        if !function.is_declaration() && function.linkage() == Linkage::External {
            function.make_droppable();
        }
    }
    for global in library.globals() {
        if !global.is_declaration() && global.linkage() == Linkage::External {
            global.make_droppable();
        }
    }
    program.link(library).map_err(|e| format!("{STD_BITCODE}: {e}"))
}

/// The unwinder calls it by way of every function's unwind table. Native parts of the toolchain
/// refer to it by name, and the runtime has one of its own, which then takes the place of the
/// program's.
const PERSONALITY: &str = "rust_eh_personality";

/// Drops what the user's code does not use, before std is known. What std or native code may refer
/// to stays: everything that has no mangled name, the compiler's own glue (allocator, panic
/// handler), and what is opened for an audit.
///
/// # Errors
/// When LLVM refuses the clean-up pass.
pub fn prune(program: &Module, opened: &HashSet<String>) -> Result<(), String> {
    let mangled = |name: &str| name.starts_with("_ZN") || name.starts_with("_R");
    let keep = |name: &str| !mangled(name) || name.contains("___rustc") || opened.contains(name);
    close_but(program, keep)
}

/// Makes everything private but `main`, what native code wants and what is opened for an audit, and
/// drops what is not used.
///
/// # Errors
/// When LLVM refuses the clean-up pass.
pub fn close(
    program: &Module,
    wanted: &HashSet<String>,
    opened: &HashSet<String>,
) -> Result<(), String> {
    let keep = |name: &str| {
        name == "main"
            || name.starts_with("llvm.")
            || wanted.contains(name)
            || opened.contains(name)
    };
    close_but(program, keep)
}

fn close_but(program: &Module, keep: impl Fn(&str) -> bool) -> Result<(), String> {
    let open = |linkage| {
        matches!(linkage, Linkage::External | Linkage::LinkOnceOdr | Linkage::OtherDefinition)
    };
    for function in program.functions() {
        let name = function.name();
        if function.is_declaration() || !open(function.linkage()) {
            continue;
        }
        if name == PERSONALITY {
            function.weaken();
        } else if !keep(&name) {
            function.internalise();
        }
    }
    for global in program.globals() {
        if !global.is_declaration() && open(global.linkage()) && !keep(&global.name()) {
            global.internalise();
        }
    }
    program.internalise_aliases(keep);
    program.run_passes("globaldce")
}
