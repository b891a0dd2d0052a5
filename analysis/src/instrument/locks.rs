//! Locks that the analysis says are held at accesses, in builds with checked claims.

use super::Instrumenter;
use super::atomics::kind_of;
use super::sites::{Sites, atomics};
use crate::facts::access::Access;
use crate::facts::flow;
use crate::llvm::{Context, Global, Instruction, Module, Value};
use crate::locksets::{Lock, Locksets};
use crate::recognise::{Models, Recognised, demangle, path_of};
use std::collections::HashMap;

/// Locks of one access that are announced.
const MOST: usize = 4;

/// Where a lock is.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// So many bytes after what is accessed.
    Near(i64),
    /// So many bytes from the beginning of a global variable.
    Global(Global, i64),
}

impl Place {
    /// Of a lock, in a program with these global variables.
    pub fn of(lock: Lock, globals: &[Global]) -> Self {
        match lock {
            Lock::Near(distance) => Self::Near(distance),
            Lock::Global(id, offset) => Self::Global(globals[id as usize], offset),
        }
    }
}

/// By instruction and number of its access: the locks that are held, and whether only with others.
#[derive(Debug, Default)]
pub struct LocksHeld(HashMap<(Instruction, usize), Vec<(Place, bool)>>);

impl LocksHeld {
    /// Of a program that has not been changed yet.
    pub fn of(module: &Module, points: &flow::Points, locksets: &Locksets) -> Self {
        let globals = module.globals();
        let place = |(lock, shared): (&Lock, &bool)| (Place::of(*lock, &globals), *shared);
        let accesses = locksets.accesses().filter(|(_, _, held)| !held.is_empty());
        let held = accesses.map(|(point, number, held)| {
            let at = points.instruction(point);
            ((at, number), held.iter().take(MOST).map(place).collect())
        });
        Self(held.collect())
    }
}

/// Takes away what the sync models say that does not hold for a program.
pub fn fit(context: Context, module: &Module, sites: &mut Sites, models: &mut Models) {
    let functions = module.functions();
    let mut present = sites.paths_of_atomics(context, &functions);
    models.fit(&present);
    let defined = functions.iter().filter(|function| !function.is_declaration());
    present.extend(defined.map(|function| path_of(&demangle(&function.name()))));
    let mut trial = models.trial();
    for (function, at) in atomics(&functions) {
        let Some(kind) = kind_of(at).filter(|_| !at.is_single_thread()) else { continue };
        let (chain, types) = sites.chain_and_types(context, function, at);
        trial.see(kind, at.access_size(module), &chain, &types);
    }
    let broken = trial.broken(&present);
    models.leave_out_broken(&broken);
}

/// What the sync models, which [`fit`] the program, say of each atomic instruction.
pub fn recognised(
    context: Context,
    module: &Module,
    mut models: Models,
) -> HashMap<Instruction, Recognised> {
    let mut sites = Sites::new();
    let functions = module.functions();
    let mut found = HashMap::new();
    for (function, at) in atomics(&functions) {
        let Some(kind) = kind_of(at).filter(|_| !at.is_single_thread()) else { continue };
        let (chain, types) = sites.chain_and_types(context, function, at);
        let size = at.access_size(module);
        if let Some(recognised) = models.recognise(kind, size, &chain, &types) {
            found.insert(at, recognised);
        }
    }
    found
}

impl Instrumenter<'_> {
    /// Reports to the runtime, before an access, which locks are held at it: one of an instruction,
    /// with this number.
    pub(super) fn announce_locks(&self, access: Access, number: usize, site: u32) {
        let Some(locks) = self.locks.0.get(&(access.at, number)) else { return };
        for &(place, shared) in locks {
            let lock = self.lock_at(access, place);
            let number = |value: u32| self.context.integer(32).constant(value.into());
            let locked = &[lock, number(shared.into()), number(site)];
            self.hooks.builder.call(self.hooks.locked, locked);
        }
    }

    /// The address of a lock, where the builder stands.
    pub(super) fn lock_at(&self, access: Access, place: Place) -> Value {
        let builder = &self.hooks.builder;
        let lock = match place {
            Place::Near(bytes) => builder.offset(self.context, access.start, bytes as u64),
            Place::Global(global, bytes) => {
                builder.offset(self.context, global.value(), bytes as u64)
            }
        };
        builder.address(self.context, lock)
    }
}
