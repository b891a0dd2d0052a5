//! Instrumentation: every access, atomic operation and outside call of a merged program becomes a
//! call of the runtime.
//!
//! What is inserted is described by `runtime/protocol/src/hooks.rs`. Order matters: user code is
//! inlined and promoted first (so that atomic instructions carry their inlining chain and results
//! that nobody uses are seen to be unused), then std is pulled in, then this module runs. Nothing
//! is optimised afterwards.

mod atomics;
mod attributes;
mod audit;
mod calls;
mod catching;
mod externals;
mod globals;
mod hooks;
mod known;
mod lock_order;
mod locks;
mod notes;
mod plain;
mod processor;
mod protection;
mod region;
mod scaled;
mod sidecar;
mod sites;
mod system_calls;
mod test_end;
mod thread_locals;
mod thunks;
mod unreachable;
mod user_code;

use crate::escape::Privacy;
pub use audit::Package;
use known::Known;
use protection::Protections;

use crate::assembly::functions_entering_kernel;
use crate::facts;
use crate::llvm::{Attribute, Context, Function, Instruction, Module, Opcode};
use crate::locksets::{Locksets, Owner};
use crate::plan::{Decide, Decisions, Rules, Table};
use crate::points_to::Bounds;
use crate::recognise::{Models, Rule, demangle, path_of};
use crate::sharing::{Reaches, Sharing};
use crate::waits::{self, Calls, Wait};
use externals::Externals;
use hooks::Hooks;
use lockred_protocol::addresses::{Addresses, Followed};
use lockred_protocol::audit::Audit;
use lockred_protocol::hooks::TEXT_SECTION;
use lockred_protocol::lock_order::{LockOrder, Programs};
use lockred_protocol::plan::Reason;
use lockred_protocol::protection::Protection;
use locks::LocksHeld;
pub use scaled::scale_loops;
use sites::Sites;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
pub use user_code::prepare_user_code;

/// What the shim knows about a program beyond its code.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// `main` runs the libtest harness.
    pub libtest: bool,
    /// Panics abort.
    pub panic_abort: bool,
    /// Symbols of the functions that are not std's.
    pub user_functions: HashSet<String>,
    /// Native parts beside the C library and the unwinder.
    pub native_objects: Vec<String>,
    /// Which rules decide that accesses need no hook.
    pub rules: Rules,
    /// What is audited, if anything.
    pub audited: Option<Package>,
}

/// What happened to a program.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The sync models, with how often each rule matched.
    pub models: Models,
    /// Number of sites.
    pub sites: usize,
    /// How far it is known where addresses point to.
    pub addresses: Addresses,
}

impl Summary {
    /// Rules that matched nothing although they should match something in every program that uses
    /// all of std.
    pub fn unmatched(&self) -> impl Iterator<Item = &Rule> {
        self.models.rules().filter(|(rule, count)| *count == 0 && !rule.optional).map(|(r, _)| r)
    }
}

/// What all parts of the instrumentation share.
pub(crate) struct Instrumenter<'m> {
    context: Context,
    module: &'m Module,
    hooks: Hooks,
    sites: Sites,
    externals: Externals,
    models: Models,
    rules: Rules,
    known: Known,
    /// Locks that are held at accesses, in builds that check that.
    locks: LocksHeld,
    /// What was decided of the accesses of the function under way.
    decisions: Decisions,
    /// All that was decided.
    table: Table,
    /// Operations that wait for a condition of their word: they would else only go round a loop.
    waits: HashMap<Instruction, Wait>,
    /// Functions of assembly that call the kernel, with the instruction.
    entering_kernel: HashMap<String, &'static str>,
}

/// Crates of the toolchain that a test's threads do not run: the harness, and the reading of names.
/// Their plain accesses need no check. (A crate of the user's with such a name is told apart by
/// [`Program::user_functions`].)
const TRUSTED: &[&str] = &["test::", "getopts::", "rustc_demangle::"];

/// The symbols of the functions that a module defines.
#[must_use]
pub fn defined_functions(module: &Module) -> HashSet<String> {
    module.functions().into_iter().filter(|f| !f.is_declaration()).map(|f| f.name()).collect()
}

/// What the analyses of the whole program say.
#[derive(Default)]
struct Claimed {
    reaches: Reaches,
    locks: LocksHeld,
    protections: Protections,
    protection: Protection,
    order: LockOrder,
    audit: Option<Audit>,
    addresses: Addresses,
}

impl Claimed {
    /// Asks them: always who reaches what, and of locks if `rules` compare that or show their
    /// order. Nothing, where the analysis of where addresses point to takes too long.
    fn of(
        context: Context,
        module: &Module,
        models: &Models,
        program: &Program,
        rules: &Rules,
        sites: &mut Sites,
    ) -> Self {
        let is_asked = [Reason::OwnVariables, Reason::OwnMemory].into_iter().any(|r| rules.has(r));
        // For an audit, functions are open to callers that are not known: that is not the order of
        // the program as it is.
        let in_small = rules.order == Programs::Small && program.audited.is_none();
        let is_whole = rules.whole() || program.audited.is_some();
        let is_more_asked = is_whole || in_small;
        if !is_asked && !is_more_asked {
            return Self::default();
        }
        let flaw = rules.flaw;
        let (facts, index) = facts::read(module);
        // What is unknown would hide an error that a test asks for.
        let bounds = match flaw {
            Some(_) => Some(Bounds { work: usize::MAX, ..Bounds::default() }),
            None if is_whole => Some(Bounds::default()),
            None => Bounds::ordinary(&facts),
        };
        let sharing = bounds.and_then(|bounds| Sharing::of(&facts, bounds, flaw));
        let package = program.audited.as_ref();
        let Some(sharing) = sharing else {
            let audit = package.map(|package| audit::audit(context, module, package, None, sites));
            let followed = if bounds.is_some() { Followed::GivenUp } else { Followed::TooLarge };
            let addresses = Addresses { followed, ..Addresses::default() };
            return Self { audit, addresses, ..Self::default() };
        };
        let addresses = sharing.points_to.conservative();
        let reaches = Reaches::of(module, &index, &sharing);
        if !is_more_asked {
            return Self { reaches, addresses, ..Self::default() };
        }
        let points_to = &sharing.points_to;
        let recognised = locks::recognised(context, module, models.clone());
        let (flows, points) = facts::flow::read(module, &index, &recognised);
        let owner = |f: &facts::Function| lock_order::owner(program, &f.name);
        let owners: Vec<Owner> = facts.functions.iter().map(owner).collect();
        let locksets = Locksets::of(&facts, &flows, points_to, owners.clone(), flaw);
        let order = lock_order::Input {
            facts: &facts,
            flows: &flows,
            points_to,
            locksets: &locksets,
            owners: &owners,
            threads: OnceCell::new(),
        };
        let (protections, protection) = match rules.checked || rules.protection {
            true => protection::find(
                &protection::Known {
                    context,
                    module,
                    index: &index,
                    points: &points,
                    sharing: &sharing,
                    order: &order,
                    flaw,
                },
                sites,
            ),
            false => Default::default(),
        };
        let input =
            audit::Input { index: &index, sharing: &sharing, points: &points, locksets: &locksets };
        Self {
            audit: package
                .map(|package| audit::audit(context, module, package, Some(&input), sites)),
            order: match rules.checked || in_small || rules.order == Programs::All {
                true => lock_order::order(context, module, &order, &points, sites),
                false => LockOrder::default(),
            },
            addresses,
            reaches,
            protections,
            protection,
            locks: match rules.checked {
                true => LocksHeld::of(module, &points, &locksets),
                false => LocksHeld::default(),
            },
        }
    }
}

/// Instruments a closed program (see [`crate::shim`]) in place.
///
/// # Errors
/// When the program has no `main` to run, or holds a construct that cannot be instrumented.
pub fn instrument(
    context: Context,
    module: &Module,
    mut program: Program,
    mut models: Models,
) -> Result<Summary, String> {
    rename_main(module)?;
    let rules = std::mem::take(&mut program.rules);
    catching::inline(context, module)?;
    let privacy = Rc::new(Privacy::flawed(module, rules.flaw));
    let waits = waiting(context, module, &privacy);
    let mut sites = Sites::new();
    locks::fit(context, module, &mut sites, &mut models);
    let Claimed { reaches, locks, protections, protection, order, audit, addresses } =
        Claimed::of(context, module, &models, &program, &rules, &mut sites);
    attributes::strip(module);
    externals::rename(context, module);
    unreachable::trap(context, module);
    thunks::make(context, module);
    if program.libtest {
        test_end::announce(context, module);
    }
    let functions: Vec<Function> = module.functions();
    let mut instrumenter = Instrumenter {
        context,
        module,
        hooks: Hooks::declare(context, module),
        sites,
        externals: Externals::default(),
        models,
        rules,
        known: Known { privacy, reaches, protections, trusted: false },
        locks,
        decisions: Decisions::default(),
        table: Table::default(),
        waits,
        entering_kernel: functions_entering_kernel(&module.global_assembly()).into_iter().collect(),
    };
    let naked = Attribute::named("naked");
    for function in functions {
        if !function.is_declaration() {
            // The runtime tells the program's code from its own by that.
            function.set_section(TEXT_SECTION);
        }
        if !function.is_declaration() && !naked.is_some_and(|n| function.has(n)) {
            let symbol = function.name();
            instrumenter.known.trusted = !program.user_functions.contains(&symbol) && {
                let path = path_of(&demangle(&symbol));
                TRUSTED.iter().any(|t| path.starts_with(t))
            };
            instrumenter.function(function);
        }
    }
    thread_locals::rewrite(context, module)?;
    if module.has_global_assembly() {
        program.native_objects.push("global assembly".into());
    }
    notes::place(context, module);
    globals::place(context, module, &mut program);
    let Instrumenter { sites, externals, models, table, .. } = instrumenter;
    let count = sites.len();
    sidecar::embed(context, module, program, externals, sites, &models);
    sidecar::embed_plan(context, module, &table.into_plan(addresses));
    sidecar::embed_order(context, module, &order);
    sidecar::embed_protection(context, module, &protection);
    if let Some(audit) = audit {
        sidecar::embed_audit(context, module, &audit);
    }
    Ok(Summary { models, sites: count, addresses })
}

/// The program's `main` becomes a function that the runtime calls.
fn rename_main(module: &Module) -> Result<(), String> {
    let main = module.function("main").filter(|f| !f.is_declaration());
    let main =
        main.ok_or("the program has no function `main` in Rust code, so it cannot be checked")?;
    main.value().set_name("__lr_program_main");
    main.externalise();
    Ok(())
}

/// The operations of a program that wait. All are found before any is changed.
fn waiting(context: Context, module: &Module, privacy: &Rc<Privacy>) -> HashMap<Instruction, Wait> {
    let mut calls = Calls::new(Rc::clone(privacy));
    let functions = module.functions().into_iter();
    functions.flat_map(|function| waits::of(context, module, function, &mut calls)).collect()
}

impl Instrumenter<'_> {
    /// Instruments one function.
    fn function(&mut self, function: Function) {
        let known: &dyn Decide = &self.known;
        self.decisions = Decisions::of(self.module, function, &self.rules, known);
        let blocks = function.blocks();
        let all: Vec<Instruction> = blocks.iter().flat_map(|b| b.instructions()).collect();
        if self.rules.checked && crate::protection::drops_last(&function.name()) {
            self.announce_end(function, all[0]);
        }
        for instruction in all {
            match instruction.opcode() {
                Opcode::Load | Opcode::Store if !instruction.is_atomic() => {
                    self.plain_accesses(function, instruction);
                }
                Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::CompareExchange => {
                    self.table.add(self.context, function, instruction, Reason::Operation);
                    self.atomic(function, instruction);
                }
                Opcode::Fence => {
                    self.table.add(self.context, function, instruction, Reason::Operation);
                    self.fence(function, instruction);
                }
                Opcode::Alloca if self.rules.checked => {
                    self.announce_variable(function, instruction)
                }
                Opcode::VaArg => self.unsupported_instruction(function, instruction),
                Opcode::Call => self.call(function, instruction),
                _ => {}
            }
        }
    }
}
