//! What calls in a loop do, as far as it waits: they pause, or only compute and read, or may do
//! anything.

use crate::escape::Privacy;
use crate::llvm::{Attribute, Flow, Function, Instruction, Opcode, Shape, Value};
use crate::recognise::{demangle, path_of};
use std::collections::HashMap;
use std::rc::Rc;

/// Functions that only pause, by plain path or symbol.
const PAUSES: &[&str] = &[
    "std::thread::functions::yield_now",
    "std::thread::yield_now",
    "std::sys::thread::unix::yield_now",
    "sched_yield",
    "__lr_libc_sched_yield",
];

/// crossbeam's `Backoff`: these only pause, and count in the `Backoff` how often.
const BACKOFF: &[&str] =
    &["crossbeam_utils::backoff::Backoff::spin", "crossbeam_utils::backoff::Backoff::snooze"];
/// What else may be done with a `Backoff` without seeing how often.
const BACKOFF_RESET: &str = "crossbeam_utils::backoff::Backoff::reset";

/// Intrinsics without an effect.
const SILENT: &[&str] = &[
    "llvm.x86.sse2.pause",
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.dbg.",
    "llvm.experimental.noalias.scope.decl",
];
/// Intrinsics that are functions of their arguments alone.
const ARITHMETIC: &[&str] = &[
    "llvm.expect.",
    "llvm.ctpop.",
    "llvm.ctlz.",
    "llvm.cttz.",
    "llvm.umin.",
    "llvm.umax.",
    "llvm.smin.",
    "llvm.smax.",
    "llvm.uadd.",
    "llvm.usub.",
    "llvm.umul.",
    "llvm.sadd.",
    "llvm.ssub.",
    "llvm.smul.",
    "llvm.fshl.",
    "llvm.fshr.",
    "llvm.threadlocal.address.",
];

/// Instructions of a function that is looked into.
const LONGEST: usize = 500;
/// Functions in functions that are looked into.
const DEEPEST: usize = 8;

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It pauses: a hint that the thread waits.
    Pause,
    /// It computes something from its arguments and from memory, and writes nothing.
    None,
    /// It may do anything.
    Unknown,
}

/// Whether a function is known by name here.
pub fn is_known(symbol: &str) -> bool {
    let path = path_of(&demangle(symbol));
    [PAUSES, BACKOFF].concat().contains(&path.as_str())
}

/// What calls do.
#[derive(Debug)]
pub struct Calls {
    never_returns: Option<Attribute>,
    privacy: Rc<Privacy>,
    /// Functions that were looked into.
    known: HashMap<Function, Effect>,
}

impl Calls {
    pub fn new(privacy: Rc<Privacy>) -> Self {
        let never_returns = Attribute::named("noreturn");
        Self { never_returns, privacy, known: HashMap::new() }
    }

    /// Whether a load may read what another thread can reach and somebody can write.
    pub fn may_be_shared(&self, pointer: Value) -> bool {
        self.privacy.may_be_shared(pointer)
    }

    /// What a call does.
    pub fn effect(&mut self, call: Instruction) -> Effect {
        self.effect_at(call, 0)
    }

    /// Whether a call without an effect reads memory.
    pub fn reads(&mut self, call: Instruction) -> bool {
        let callee = call.callee().and_then(Value::as_function);
        self.effect(call) == Effect::None && callee.is_some_and(|f| !f.is_declaration())
    }

    fn effect_at(&mut self, call: Instruction, depth: usize) -> Effect {
        let Some(function) = call.callee().and_then(Value::as_function) else {
            return Effect::Unknown;
        };
        if let Some(&known) = self.known.get(&function) {
            return known;
        }
        let symbol = function.name();
        if symbol.starts_with("llvm.") {
            let is = |list: &[&str]| list.iter().any(|prefix| symbol.starts_with(prefix));
            return match () {
                () if is(SILENT) => Effect::Pause,
                () if is(ARITHMETIC) => Effect::None,
                () => Effect::Unknown,
            };
        }
        let path = path_of(&demangle(&symbol));
        if BACKOFF.contains(&path.as_str()) {
            // Not remembered: that is the variable's matter.
            let counts_unseen = call.arguments().first().is_some_and(|&own| is_unseen_backoff(own));
            return if counts_unseen { Effect::Pause } else { Effect::Unknown };
        }
        let effect = if PAUSES.contains(&path.as_str()) {
            Effect::Pause
        } else if depth < DEEPEST && self.only_computes(function, depth) {
            Effect::None
        } else {
            Effect::Unknown
        };
        // What was given up for its depth may be found to be harmless from elsewhere.
        if depth == 0 || effect != Effect::Unknown {
            self.known.insert(function, effect);
        }
        effect
    }

    /// Whether a function computes something from its arguments and from memory, and writes
    /// nothing, unless it never returns.
    fn only_computes(&mut self, function: Function, depth: usize) -> bool {
        let blocks = function.blocks();
        let all: Vec<_> = blocks.iter().flat_map(|block| block.instructions()).collect();
        !all.is_empty()
            && all.len() <= LONGEST
            && all.into_iter().all(|at| match at.opcode() {
                Opcode::Return | Opcode::Unreachable => true,
                Opcode::Load => !at.is_atomic() && !at.is_volatile(),
                Opcode::Store => {
                    !at.is_atomic() && !at.is_volatile() && self.privacy.is_local(at.operand(1))
                }
                Opcode::Alloca => at.is_static_alloca(),
                Opcode::Call => {
                    self.never_returns(at) || self.effect_at(at, depth + 1) != Effect::Unknown
                }
                _ => at.shape() != Shape::Other || at.flow() != Flow::Leaves,
            })
    }

    fn never_returns(&self, call: Instruction) -> bool {
        let callee = call.callee().and_then(Value::as_function);
        self.never_returns.is_some_and(|never| {
            call.has_call_attribute(never) || callee.is_some_and(|c| c.has(never))
        })
    }
}

/// Whether nobody asks a `Backoff`, given by its address, how often it has paused: it is a variable
/// that is used in no other way.
fn is_unseen_backoff(own: Value) -> bool {
    let is_variable = own.as_instruction().is_some_and(|at| at.opcode() == Opcode::Alloca);
    is_variable && are_unseen(own)
}

fn are_unseen(address: Value) -> bool {
    address.users().into_iter().all(|user| {
        let Some(user) = user.as_instruction() else { return false };
        match user.opcode() {
            Opcode::Store => user.operand(0) != address,
            Opcode::Address => are_unseen(user.value()),
            Opcode::Call => {
                let callee = user.callee().and_then(Value::as_function);
                callee.is_some_and(|function| {
                    let symbol = function.name();
                    let path = path_of(&demangle(&symbol));
                    symbol.starts_with("llvm.lifetime.")
                        || BACKOFF.contains(&path.as_str())
                        || path == BACKOFF_RESET
                })
            }
            _ => false,
        }
    })
}
