//! Marks of functions that are atomic regions or act on channels, set before anything is inlined:
//! where they begin, and everywhere they are left.

use crate::llvm::{
    Attribute, Builder, Context, Function, Instruction, Module, Opcode, TypeKind, Value,
};
use crate::recognise::Role;
use lockred_protocol::hooks::{Act, CHANNEL_ENTER, CHANNEL_LEAVE, NO_DEADLINE};

/// Inserts the marks.
pub struct Marker {
    builder: Builder,
    enter: Function,
    leave: Function,
    made: Function,
    channel_enter: Function,
    channel_leave: Function,
}

impl Marker {
    /// Declares the hooks.
    pub fn new(context: Context, module: &Module) -> Self {
        let [narrow, wide] = [32, 64].map(|bits| context.integer(bits));
        let declare = |name: &str, parameters: &[_]| {
            module.declare(context, name, context.void().function(parameters, false))
        };
        Self {
            builder: Builder::new(context),
            enter: declare("__lr_region_enter", &[]),
            leave: declare("__lr_region_leave", &[]),
            made: declare("__lr_channel_made", &[wide, wide, narrow]),
            channel_enter: declare(CHANNEL_ENTER, &[narrow, wide, wide, narrow, narrow]),
            channel_leave: declare(CHANNEL_LEAVE, &[wide, wide, narrow]),
        }
    }

    /// Marks a function with a body as a region.
    pub fn mark(&self, context: Context, function: Function) {
        let Some(first) = first(function) else { return };
        self.builder.before(first, function.unknown_location(context));
        self.builder.call(self.enter, &[]);
        self.at_ends(context, function, |_| {
            self.builder.call(self.leave, &[]);
        });
    }

    /// Marks a function with a body as what it is to channels. Whether its arguments are what is
    /// expected; else it is left alone.
    pub fn mark_channel(
        &self,
        context: Context,
        module: &Module,
        function: Function,
        role: Role,
    ) -> bool {
        let (narrow, wide) = (context.integer(32), context.integer(64));
        let parameters = function.parameters();
        let result = Attribute::named("sret").and_then(|sret| function.written_result(sret));
        match role {
            Role::Makes { keeps } => {
                let (Some(_), Some(&ends)) = (result, parameters.first()) else { return false };
                self.at_ends(context, function, |at| {
                    if at.opcode() == Opcode::Return {
                        let ends = self.builder.address(context, ends);
                        let capacity = parameters.get(1).copied();
                        let capacity = capacity.unwrap_or_else(|| wide.constant(u64::MAX));
                        let keeps = narrow.constant(keeps.into());
                        self.builder.call(self.made, &[ends, capacity, keeps]);
                    }
                });
            }
            Role::Acts(act) => {
                let place = usize::from(result.is_some());
                let points = |value: &&Value| value.value_type().kind() == TypeKind::Pointer;
                let Some(&channel) = parameters.get(place).filter(points) else { return false };
                let Some(first) = first(function) else { return false };
                let waits = matches!(act, Act::Send | Act::Receive);
                let deadline = if waits { parameters.last().copied() } else { None };
                let seconds = parameters.iter().rev().nth(1).copied();
                let seconds = seconds.filter(|value| waits && value.value_type() == wide);
                let seconds = seconds.unwrap_or_else(|| wide.constant(u64::MAX));
                // Of another type, it is not known what it says.
                let known = |value: Value| value.value_type() == narrow;
                let deadline = match deadline {
                    Some(value) if known(value) => value,
                    Some(_) => narrow.constant(u32::MAX.into()),
                    None => narrow.constant(NO_DEADLINE.into()),
                };
                let located = function.blocks().into_iter().flat_map(|block| block.instructions());
                let location = located.into_iter().find_map(Instruction::location);
                self.builder.before(first, location.or(function.unknown_location(context)));
                let channel = self.builder.address(context, channel);
                let unknown = narrow.constant(0);
                let act = narrow.constant(act as u64);
                self.builder.call(self.channel_enter, &[act, channel, seconds, deadline, unknown]);
                self.at_ends(context, function, |at| {
                    let (place, size) = match (result, parameters.first()) {
                        (Some(of), Some(&place)) if at.opcode() == Opcode::Return => {
                            (self.builder.address(context, place), module.store_size(of))
                        }
                        _ => (wide.constant(0), 0),
                    };
                    let arguments = [place, wide.constant(size), unknown];
                    self.builder.call(self.channel_leave, &arguments);
                });
            }
        }
        true
    }

    /// Calls `insert`, with the builder before it, wherever a function is left.
    fn at_ends(&self, context: Context, function: Function, insert: impl Fn(Instruction)) {
        let unknown = function.unknown_location(context);
        for at in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            if matches!(at.opcode(), Opcode::Return | Opcode::Resume) {
                self.builder.before(at, at.location().or(unknown));
                insert(at);
            }
        }
    }
}

/// The first instruction of a function.
pub fn first(function: Function) -> Option<Instruction> {
    function.blocks().first().and_then(|block| block.instructions().first().copied())
}
