//! Which plain accesses can be left alone: memory that no other thread can reach, and memory that
//! is never written.
//!
//! A stack variable, or a thread-local one, is private while its address is only used to access it,
//! is compared, or is passed to a function that keeps no copy of it ([`uses`]); an address that is
//! stored, returned, made a number that goes anywhere, or passed on otherwise makes the variable
//! shared. A parameter is private if every call of its function passes the address of private
//! memory. A block of the heap is its thread's own in the same way ([`blocks`]), but may be freed.
//! All of it is flow-insensitive, over the whole program, and found before anything is
//! instrumented.

mod blocks;
mod uses;

use crate::llvm::{Attribute, Function, Module, Opcode, Value};
use blocks::Blocks;
use lockred_protocol::plan::{Flaw, Reason};
use std::collections::{HashMap, HashSet};
use uses::Uses;

/// What is known about a program's pointers.
#[derive(Debug, Default)]
pub struct Privacy {
    /// Stack variables, parameters, and thread-local variables that only one thread can reach.
    private: HashSet<Value>,
    /// Blocks of the heap that only one thread can reach, and parameters that point to such blocks
    /// or to private memory.
    blocks: HashSet<Value>,
}

/// Values of which each is shared if one of those that it depends on is.
#[derive(Default)]
struct Spreading {
    shared: HashSet<Value>,
    /// What becomes shared with a value.
    with: HashMap<Value, Vec<Value>>,
}

impl Spreading {
    /// `value` is shared if one of these is; for `None`, it is shared.
    fn depends(&mut self, value: Value, on: Option<Vec<Value>>) {
        match on {
            None => {
                self.shared.insert(value);
            }
            Some(others) => {
                for other in others {
                    self.with.entry(other).or_default().push(value);
                }
            }
        }
    }

    /// Everything that is shared in the end. O(values and dependencies).
    fn spread(mut self) -> HashSet<Value> {
        let mut open: Vec<Value> = self.shared.iter().copied().collect();
        while let Some(value) = open.pop() {
            for &other in self.with.get(&value).into_iter().flatten() {
                if self.shared.insert(other) {
                    open.push(other);
                }
            }
        }
        self.shared
    }
}

impl Privacy {
    /// Analyses a whole program, with an error if a test asks for one. O(instructions and uses of
    /// pointers).
    #[must_use]
    pub fn flawed(module: &Module, flaw: Option<Flaw>) -> Self {
        let functions: Vec<Function> =
            module.functions().into_iter().filter(|f| !f.is_declaration()).collect();
        let allocator = Blocks::of(module);
        let uses = Uses::new(allocator.freeing(), flaw);
        let escaping = escaping_parameters(&uses, &functions);
        let stays = |variable: Value| {
            uses.of(variable).is_some_and(|passed| passed.iter().all(|p| !escaping.contains(p)))
        };
        let mut privacy = Self::default();
        for instruction in functions.iter().flat_map(|f| f.blocks()).flat_map(|b| b.instructions())
        {
            let value = instruction.value();
            if instruction.opcode() == Opcode::Alloca && stays(value) {
                privacy.private.insert(value);
            } else if allocator.allocates(instruction) && stays(value) {
                privacy.blocks.insert(value);
            }
        }
        let thread_locals = module.globals().into_iter().filter(|g| g.is_thread_local());
        privacy.private.extend(thread_locals.map(|g| g.value()).filter(|&v| stays(v)));
        if flaw == Some(Flaw::NoaliasIsPrivate) {
            privacy.private.extend(without_alias(&functions));
        }
        let known = privacy.private_parameters(&functions, |base| privacy.is_unshared(base));
        privacy.private.extend(known);
        let known = privacy.private_parameters(&functions, |base| {
            privacy.is_unshared(base) || privacy.blocks.contains(&base)
        });
        privacy.blocks.extend(known.into_iter().filter(|p| !privacy.private.contains(p)));
        privacy
    }

    /// Why no access through this pointer matters to other threads: the rule that says least of all
    /// that are needed.
    #[must_use]
    pub fn reason(&self, pointer: Value) -> Option<Reason> {
        let of = |base: Value| match (base.as_global(), base.as_instruction()) {
            (Some(global), _) if global.is_constant() => Some(Reason::Constant),
            _ if self.blocks.contains(&base) => Some(Reason::Heap),
            _ if !self.private.contains(&base) => None,
            (Some(_), _) => Some(Reason::ThreadLocal),
            (_, Some(_)) => Some(Reason::Stack),
            _ => Some(Reason::Parameter),
        };
        // Nothing but null: the access is a signal.
        bases(pointer)?
            .into_iter()
            .try_fold(Reason::Constant, |so_far, base| Some(so_far.max(of(base)?)))
    }

    /// Whether an access through this pointer may touch memory that another thread can reach and
    /// somebody can write.
    #[must_use]
    pub fn may_be_shared(&self, pointer: Value) -> bool {
        bases(pointer).is_none_or(|bases| bases.into_iter().any(|base| !self.is_unshared(base)))
    }

    /// Whether a pointer only ever points to private stack variables of the function in which it is
    /// computed: a store through it is then seen by nobody once that function has returned.
    #[must_use]
    pub fn is_local(&self, pointer: Value) -> bool {
        bases(pointer).is_some_and(|bases| {
            bases
                .into_iter()
                .all(|base| base.as_instruction().is_some() && self.private.contains(&base))
        })
    }

    fn is_unshared(&self, base: Value) -> bool {
        self.private.contains(&base) || base.as_global().is_some_and(|g| g.is_constant())
    }

    /// The parameters that always point to memory of which it is known that only one thread can
    /// reach it.
    fn private_parameters(
        &self,
        functions: &[Function],
        is_known: impl Fn(Value) -> bool,
    ) -> Vec<Value> {
        let mut spreading = Spreading::default();
        let mut candidates = Vec::new();
        for function in functions {
            let parameters = function.parameters();
            let Some(calls) = function.all_calls() else { continue };
            let calls: Vec<Vec<Value>> = calls.iter().map(|call| call.arguments()).collect();
            for (index, &parameter) in parameters.iter().enumerate() {
                if !parameter.value_type().is_pointer() {
                    continue;
                }
                candidates.push(parameter);
                for arguments in &calls {
                    let unknown = bases(arguments[index])
                        .map(|bases| bases.into_iter().filter(|&base| !is_known(base)).collect());
                    spreading.depends(parameter, unknown);
                }
            }
        }
        // What is no candidate, and not known to be private, is shared.
        let known: HashSet<Value> = candidates.iter().copied().collect();
        let others: Vec<Value> =
            spreading.with.keys().copied().filter(|base| !known.contains(base)).collect();
        spreading.shared.extend(others);
        let shared = spreading.spread();
        candidates.into_iter().filter(|parameter| !shared.contains(parameter)).collect()
    }
}

/// The pointer parameters that are said to have no alias.
fn without_alias(functions: &[Function]) -> Vec<Value> {
    let Some(noalias) = Attribute::named("noalias") else { return Vec::new() };
    let of = |function: &Function| {
        let function = *function;
        let parameters = function.parameters().into_iter().enumerate();
        parameters.filter(move |&(index, _)| function.parameter_has(index as u32, noalias))
    };
    functions.iter().flat_map(of).map(|(_, parameter)| parameter).collect()
}

/// The pointer parameters of which the function, or one that it calls, may keep a copy.
fn escaping_parameters(uses: &Uses, functions: &[Function]) -> HashSet<Value> {
    let mut spreading = Spreading::default();
    for parameter in functions.iter().flat_map(|f| f.parameters()) {
        if parameter.value_type().is_pointer() {
            spreading.depends(parameter, uses.of(parameter));
        }
    }
    spreading.spread()
}

/// Bases that are looked for before a pointer counts as unknown.
const LIMIT: usize = 64;

/// The variables, parameters and other values that an address may be computed from; `None` if there
/// are too many.
fn bases(pointer: Value) -> Option<Vec<Value>> {
    let mut seen = HashSet::new();
    let mut open = vec![pointer];
    let mut bases = Vec::new();
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        if seen.len() > LIMIT {
            return None;
        }
        match value.as_instruction() {
            Some(i) if i.opcode() == Opcode::Address => open.push(i.operand(0)),
            Some(i) if i.opcode() == Opcode::Merge => open.extend(i.merged()),
            Some(i) if uses::is_thread_local_address(i) => open.extend(i.arguments()),
            None if value.is_constant_expression() => open.extend(value.operands().first()),
            None if value.is_null() => {}
            _ => bases.push(value),
        }
    }
    Some(bases)
}
