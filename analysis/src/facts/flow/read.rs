//! Reads the control flow of a program out of LLVM's module.

use super::{Act, Block, BlockId, Call, End, Flow, Part, Point, Step, Value};
use crate::assembly::is_harmless;
use crate::facts::calls::signature;
use crate::facts::{Index, Register};
use crate::llvm::{
    self, Constant, Distance, Instruction, Module, Movement, Opcode, Predicate, Scalar, Shape, Type,
};
use crate::recognise::Recognised;
use lockred_protocol::hooks::Class;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Intrinsics that take addresses and write nothing.
const WRITING_NOTHING: &[&str] = &[
    "llvm.assume",
    "llvm.dbg.",
    "llvm.experimental.noalias",
    "llvm.invariant.",
    "llvm.lifetime.",
    "llvm.objectsize.",
    "llvm.prefetch",
    "llvm.ptrmask",
    "llvm.threadlocal.address",
];

/// The instructions of points.
#[derive(Clone, Debug, Default)]
pub struct Points(Vec<Instruction>);

impl Points {
    /// The instruction of a point.
    #[must_use]
    pub fn instruction(&self, point: Point) -> Instruction {
        self.0[point as usize]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Point, Instruction)> {
        self.0.iter().enumerate().map(|(point, &at)| (point as Point, at))
    }

    fn add(&mut self, at: Instruction) -> Point {
        self.0.push(at);
        self.0.len() as Point - 1
    }
}

/// Reads the control flow of all functions, in the order of the facts. `recognised` has what sync
/// models say of atomic instructions. O(instructions).
#[must_use]
pub fn read(
    module: &Module,
    index: &Index,
    recognised: &HashMap<Instruction, Recognised>,
) -> (Vec<Flow>, Points) {
    let mut reader = Reader {
        module,
        index,
        recognised,
        scalars: HashMap::new(),
        points: Points::default(),
        blocks: HashMap::new(),
        innermost: BTreeSet::new(),
    };
    let flows = module.functions().into_iter().map(|f| reader.function(f)).collect();
    (flows, reader.points)
}

struct Reader<'m> {
    module: &'m Module,
    index: &'m Index,
    recognised: &'m HashMap<Instruction, Recognised>,
    scalars: HashMap<Type, Rc<[Scalar]>>,
    points: Points,
    blocks: HashMap<llvm::Block, BlockId>,
    innermost: BTreeSet<Point>,
}

impl Reader<'_> {
    fn function(&mut self, function: llvm::Function) -> Flow {
        let blocks = function.blocks();
        self.blocks = blocks.iter().enumerate().map(|(i, &b)| (b, i as BlockId)).collect();
        let blocks = blocks.iter().map(|&block| self.block(block)).collect();
        Flow { blocks, innermost: std::mem::take(&mut self.innermost) }
    }

    fn block(&mut self, from: llvm::Block) -> Block {
        let mut block = Block { merges: Vec::new(), steps: Vec::new(), end: End::Stop };
        for at in from.instructions() {
            self.instruction(&mut block, at);
        }
        if let Some(at) = from.terminator() {
            block.end = self.end(at);
        }
        block
    }

    fn end(&mut self, at: Instruction) -> End {
        let successors: Vec<BlockId> =
            at.successors().into_iter().map(|block| self.blocks[&block]).collect();
        match at.opcode() {
            Opcode::Return => {
                let returned = at.value().operands();
                return End::Return(returned.first().map(|&v| self.values(v)).unwrap_or_default());
            }
            Opcode::Resume => return End::Unwind,
            Opcode::Call => {
                return match successors[..] {
                    [normal, unwind] => End::Invoke(normal, unwind),
                    _ => End::Any(successors),
                };
            }
            _ if successors.is_empty() => return End::Stop,
            _ => {}
        }
        match at.flow() {
            llvm::Flow::Jump(to) => End::Jump(self.blocks[&to]),
            llvm::Flow::Branch(condition, one, other) => {
                End::Branch(self.value(condition), self.blocks[&one], self.blocks[&other])
            }
            llvm::Flow::Switch(number, cases, default) => {
                let cases = cases.into_iter().map(|(n, block)| (n, self.blocks[&block])).collect();
                End::Switch(self.value(number), cases, self.blocks[&default])
            }
            llvm::Flow::Leaves => End::Any(successors),
        }
    }

    fn instruction(&mut self, block: &mut Block, at: Instruction) {
        let value = at.value();
        let registers = self.registers(value);
        if let Shape::Phi(incoming) = at.shape() {
            let incoming: Vec<(BlockId, Vec<Value>)> =
                incoming.into_iter().map(|(v, b)| (self.blocks[&b], self.values(v))).collect();
            for (i, &register) in registers.iter().enumerate() {
                let of = incoming.iter().map(|(from, values)| (*from, values[i])).collect();
                block.merges.push((register, of));
            }
            return;
        }
        match at.opcode() {
            Opcode::Load | Opcode::Store if !at.is_atomic() => return self.access(block, at),
            Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::CompareExchange => {
                return self.atomic(block, at);
            }
            Opcode::Call => return self.call(block, at),
            _ => {}
        }
        let steps = &mut block.steps;
        let Some(&register) = registers.first() else { return };
        match at.shape() {
            Shape::Resize(of) => {
                let bits = match value.value_type().kind() {
                    llvm::TypeKind::Integer(bits) => bits,
                    _ => 64,
                };
                let (from, exact) = (self.value(of), at.keeps_all());
                steps.push(Step::Narrow { result: register, from, bits, exact });
                return;
            }
            Shape::Compare(predicate @ (Predicate::Equal | Predicate::NotEqual), left, right) => {
                let equal = predicate == Predicate::Equal;
                let (left, right) = (self.value(left), self.value(right));
                steps.push(Step::Compare { result: register, equal, left, right });
                return;
            }
            // Of a condition.
            Shape::Xor(of, with) if is_bit(value.value_type()) && is_one(with) => {
                let of = self.value(of);
                steps.push(Step::Not(register, of));
                return;
            }
            Shape::Select(condition, one, other) => {
                let condition = self.value(condition);
                let (one, other) = (self.values(one), self.values(other));
                for (i, &result) in registers.iter().enumerate() {
                    let values = [one[i], other[i]];
                    steps.push(Step::Choose { result, condition, values });
                }
                return;
            }
            _ => {}
        }
        match at.movement(self.module) {
            Movement::Variable(_) => steps.push(Step::Variable(register)),
            Movement::Offset(of, Distance::Restored) => {
                let of = self.value(of);
                steps.push(Step::Same(register, of));
            }
            Movement::Offset(base, Distance::Exactly(bytes) | Distance::Within(bytes)) => {
                let base = self.value(base);
                steps.push(Step::Offset(register, base, bytes));
            }
            Movement::Same(of)
                if of.len() == 1 && self.registers(of[0]).len() <= registers.len() =>
            {
                let of = self.values(of[0]);
                steps.extend(
                    registers.iter().zip(of).map(|(&register, of)| Step::Same(register, of)),
                );
            }
            Movement::Part(whole, path) => {
                let values = self.values(whole);
                let part = whole.value_type().scalars_at(self.module, &path);
                for (i, &register) in registers.iter().enumerate() {
                    steps.push(match part {
                        Some((first, _)) => Step::Same(register, values[first + i]),
                        None => Step::Opaque(register),
                    });
                }
            }
            Movement::WithPart(whole, part, path) => {
                let (values, parts) = (self.values(whole), self.values(part));
                let place = whole.value_type().scalars_at(self.module, &path);
                for (i, &register) in registers.iter().enumerate() {
                    steps.push(match place {
                        Some((first, count)) if (first..first + count).contains(&i) => {
                            Step::Same(register, parts[i - first])
                        }
                        Some(_) => Step::Same(register, values[i]),
                        None => Step::Opaque(register),
                    });
                }
            }
            _ => steps.extend(registers.iter().map(|&register| Step::Opaque(register))),
        }
    }

    fn access(&mut self, block: &mut Block, at: Instruction) {
        let point = Some(self.points.add(at));
        let address = self.value(at.address());
        if at.opcode() == Opcode::Load {
            let registers = self.registers(at.value());
            let parts = self.parts(at.value().value_type(), registers);
            block.steps.push(Step::Load { address, parts, point });
        } else {
            let stored = at.operand(0);
            let values = self.values(stored);
            let parts = self.parts(stored.value_type(), values);
            let size = Some(at.access_size(self.module));
            block.steps.push(Step::Store { address, parts, size, point });
        }
    }

    /// Where the scalars of a value lie in memory.
    fn parts<T>(&mut self, of: Type, values: Vec<T>) -> Vec<Part<T>> {
        let scalars = self.scalars(of);
        let end = self.module.store_size(of);
        let part = |(scalar, value): (&Scalar, T)| {
            let size = match scalar.room {
                0 if scalars.len() == 1 => end,
                room => room,
            };
            Part { offset: scalar.offset as u32, size: size as u32, value }
        };
        scalars.iter().zip(values).map(part).collect()
    }

    fn atomic(&mut self, block: &mut Block, at: Instruction) {
        let point = self.points.add(at);
        let address = self.value(at.address());
        let registers = self.registers(at.value());
        if at.opcode() != Opcode::Load {
            let size = Some(at.access_size(self.module));
            block.steps.push(Step::Store { address, parts: Vec::new(), size, point: None });
        }
        block.steps.extend(registers.iter().map(|&register| Step::Opaque(register)));
        let Some(recognised) = self.recognised.get(&at) else { return };
        if recognised.innermost {
            self.innermost.insert(point);
        }
        let is_exchange = at.opcode() == Opcode::CompareExchange;
        let class = recognised.how.class();
        let shared = matches!(class, Class::ReadLock | Class::TryReadLock);
        let act = match class {
            // An exchange that fails goes on to where the lock is waited for, and comes back with
            // it.
            Class::Lock | Class::ReadLock
                if is_exchange || recognised.awaits.is_some() && at.opcode() != Opcode::Load =>
            {
                Act::Acquire { shared }
            }
            Class::TryLock | Class::TryReadLock if is_exchange && registers.len() == 2 => {
                Act::Try { shared, success: registers[1] }
            }
            Class::Unlock | Class::ReadUnlock => Act::Release,
            Class::Downgrade => Act::Downgrade,
            class => Act::Other(class),
        };
        block.steps.push(Step::Synchronise { act, address, point });
    }

    fn call(&mut self, block: &mut Block, at: Instruction) {
        let Some(callee) = at.callee() else { return };
        let result = self.registers(at.value());
        let opaque = |block: &mut Block| {
            block.steps.extend(result.iter().map(|&register| Step::Opaque(register)));
        };
        if callee.is_inline_asm() && is_harmless(&callee.inline_asm_text()) {
            return opaque(block);
        }
        if let Some(function) = callee.as_function()
            && function.name().starts_with("llvm.")
        {
            let arguments = at.arguments();
            let name = function.name();
            let starts = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
            if starts(&["llvm.memcpy.", "llvm.memmove."]) {
                let point = self.points.add(at);
                let (to, from) = (self.value(arguments[0]), self.value(arguments[1]));
                let size = arguments[2].as_integer();
                block.steps.push(Step::Copy { to, from, size, point });
            } else if name.starts_with("llvm.memset.") {
                let point = Some(self.points.add(at));
                let address = self.value(arguments[0]);
                let size = arguments[2].as_integer();
                block.steps.push(Step::Store { address, parts: Vec::new(), size, point });
            } else if starts(&["llvm.expect.", "llvm.launder.", "llvm.strip."]) {
                let of = self.value(arguments[0]);
                block.steps.extend(result.first().map(|&register| Step::Same(register, of)));
            } else {
                for &argument in arguments.iter().filter(|a| a.value_type().is_pointer()) {
                    if !starts(WRITING_NOTHING) {
                        let address = self.value(argument);
                        let parts = Vec::new();
                        block.steps.push(Step::Store { address, parts, size: None, point: None });
                    }
                }
                opaque(block);
            }
            return;
        }
        let types: Vec<Type> = at.arguments().iter().map(|a| a.value_type()).collect();
        let signature = signature(self.module, &types, at.value().value_type());
        let arguments = at.arguments().into_iter().flat_map(|a| self.values(a)).collect();
        let callee = if callee.is_inline_asm() { Value::Unknown } else { self.value(callee) };
        let point = self.points.add(at);
        let first = result.first().copied().unwrap_or_default();
        let result = (first, result.len() as u32);
        block.steps.push(Step::Call(Box::new(Call {
            callee,
            arguments,
            result,
            signature,
            point,
        })));
    }

    fn scalars(&mut self, of: Type) -> Rc<[Scalar]> {
        let module = self.module;
        self.scalars.entry(of).or_insert_with(|| of.scalars(module).into()).clone()
    }

    /// The registers of an instruction's result or of a parameter.
    fn registers(&mut self, value: llvm::Value) -> Vec<Register> {
        if value.value_type().is_void() {
            return Vec::new();
        }
        let Some((_, first)) = self.index.register(value) else { return Vec::new() };
        let count = self.scalars(value.value_type()).len() as Register;
        (first..first + count).collect()
    }

    /// The scalars of a value.
    fn values(&mut self, value: llvm::Value) -> Vec<Value> {
        let registers = self.registers(value);
        if !registers.is_empty() {
            return registers.into_iter().map(Value::Register).collect();
        }
        let count = self.scalars(value.value_type()).len();
        let known = match value.as_integer() {
            Some(number) => Value::Number(number),
            None if value.is_null() => Value::Number(0),
            None if value.is_constant() => match value.constant(self.module) {
                Constant::Address(of, bytes) => self.index.address(of, bytes),
                _ => Value::Unknown,
            },
            None => Value::Unknown,
        };
        if count == 1 { vec![known] } else { vec![Value::Unknown; count] }
    }

    fn value(&mut self, value: llvm::Value) -> Value {
        self.values(value).first().copied().unwrap_or(Value::Unknown)
    }
}

/// Whether values of a type are conditions.
fn is_bit(of: Type) -> bool {
    of.kind() == llvm::TypeKind::Integer(1)
}

/// Whether a value is the condition that holds.
fn is_one(value: llvm::Value) -> bool {
    value.as_integer() == Some(1)
}
