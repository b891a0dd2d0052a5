//! Reads the facts of a merged program out of LLVM's module.

use super::pairs::{is_formatter, is_table};
use super::{
    Body, Facts, Function, FunctionId, Global, GlobalId, Operand, Part, Register, Statement,
    carried, catching, flow,
};
use crate::facts::access;
use crate::llvm::{
    self, Constant, Distance, Instruction, Linkage, Module, Movement, Scalar, Type, Value,
};
use crate::recognise::{demangle, path_of};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Where the values of a module are in its facts.
#[derive(Debug, Default)]
pub struct Index {
    functions: HashMap<Value, FunctionId>,
    globals: HashMap<Value, GlobalId>,
    /// Function and first register of a parameter or of an instruction's result.
    registers: HashMap<Value, (FunctionId, Register)>,
}

impl Index {
    /// The number of a global variable.
    #[must_use]
    pub fn global(&self, global: llvm::Global) -> Option<GlobalId> {
        self.globals.get(&global.value()).copied()
    }

    /// The function and the register of a parameter, or of what an instruction computes, that is
    /// one scalar.
    #[must_use]
    pub fn register(&self, value: Value) -> Option<(FunctionId, Register)> {
        self.registers.get(&value).copied()
    }

    /// An address as an operand; `None` where that is not described.
    pub(crate) fn operand(&self, module: &Module, address: Value) -> Option<Operand> {
        if let Some((_, register)) = self.register(address) {
            return Some(Operand::Register(register));
        }
        match address.constant(module) {
            Constant::Number => Some(Operand::Nothing),
            Constant::Address(of, bytes) => match of.as_global() {
                Some(global) => self.global(global).map(|id| Operand::Global(id, Some(bytes))),
                None => Some(Operand::Nothing),
            },
            _ => None,
        }
    }

    /// An address in a global variable or of a function, as a step takes it.
    pub(super) fn address(&self, of: Value, bytes: i64) -> flow::Value {
        match (self.globals.get(&of), self.functions.get(&of)) {
            (Some(&id), _) => flow::Value::Global(id, bytes),
            (_, Some(&id)) if bytes == 0 => flow::Value::Function(id),
            _ => flow::Value::Unknown,
        }
    }
}

/// Reads a whole program. O(instructions).
#[must_use]
pub fn read(module: &Module) -> (Facts, Index) {
    let mut reader = Reader {
        module,
        index: Index::default(),
        facts: Facts::default(),
        scalars: HashMap::new(),
        unpaired: HashSet::new(),
        formatters: HashSet::new(),
    };
    let functions = module.functions();
    let globals = module.globals();
    for (id, function) in functions.iter().enumerate() {
        reader.index.functions.insert(function.value(), id as FunctionId);
        if is_formatter(&function.name()) {
            reader.formatters.insert(id as FunctionId);
        }
    }
    for (id, global) in globals.iter().enumerate() {
        reader.index.globals.insert(global.value(), id as GlobalId);
    }
    for global in globals {
        reader.global(global);
    }
    for (id, function) in functions.into_iter().enumerate() {
        reader.function(id as FunctionId, function);
    }
    reader.find_methods();
    carried::leave_out(&mut reader.facts);
    catching::split(&mut reader.facts);
    (reader.facts, reader.index)
}

pub(super) struct Reader<'m> {
    pub(super) module: &'m Module,
    pub(super) index: Index,
    pub(super) facts: Facts,
    pub(super) scalars: HashMap<Type, Rc<[Scalar]>>,
    /// Functions whose address is somewhere where no object is in front of it.
    pub(super) unpaired: HashSet<FunctionId>,
    /// Functions that `format!` puts beside what they print.
    pub(super) formatters: HashSet<FunctionId>,
}

impl Body {
    /// Makes registers; the first one.
    pub(super) fn new_registers(&mut self, count: u32) -> Register {
        let first = self.registers;
        self.registers += count;
        first
    }
}

impl Reader<'_> {
    pub(super) fn scalars(&mut self, of: Type) -> Rc<[Scalar]> {
        let module = self.module;
        self.scalars.entry(of).or_insert_with(|| of.scalars(module).into()).clone()
    }

    fn global(&mut self, global: llvm::Global) {
        let mut initial = Vec::new();
        let is_foreign = global.is_declaration() || global.linkage() != Linkage::Internal;
        if let Some(value) = global.initialiser() {
            self.addresses_in(value, 0, &mut initial);
        }
        self.facts.globals.push(Global {
            name: global.name(),
            size: self.module.allocation_size(global.value_type()),
            is_constant: global.is_constant(),
            is_thread_local: global.is_thread_local(),
            is_foreign: is_foreign && !global.name().starts_with("llvm."),
            is_paired: is_table(&global, &initial),
            initial,
        });
    }

    /// The addresses in a constant.
    fn addresses_in(&self, value: Value, offset: u64, found: &mut Vec<(u64, Operand)>) {
        match value.constant(self.module) {
            Constant::Number => {}
            Constant::Address(of, bytes) => found.push((offset, self.address(of, Some(bytes)))),
            Constant::Made(operands) => {
                for operand in operands {
                    self.addresses_in(operand, offset, found);
                }
            }
            Constant::Parts(parts) => {
                for (at, part) in parts {
                    self.addresses_in(part, offset + at, found);
                }
            }
        }
    }

    fn address(&self, of: Value, bytes: Option<i64>) -> Operand {
        if let Some(&id) = self.index.functions.get(&of) {
            Operand::Function(id)
        } else {
            self.index.globals.get(&of).map_or(Operand::Nothing, |&id| Operand::Global(id, bytes))
        }
    }

    fn function(&mut self, id: FunctionId, function: llvm::Function) {
        let mut body = Body::default();
        for parameter in function.parameters() {
            let count = self.scalars(parameter.value_type()).len() as u32;
            let first = body.new_registers(count);
            self.index.registers.insert(parameter, (id, first));
        }
        let parameters = body.registers;
        let instructions: Vec<Instruction> =
            function.blocks().iter().flat_map(|b| b.instructions()).collect();
        for instruction in &instructions {
            let value = instruction.value();
            let count = match value.value_type().is_void() {
                true => 0,
                false => self.scalars(value.value_type()).len() as u32,
            };
            let first = body.new_registers(count);
            self.index.registers.insert(value, (id, first));
        }
        for &instruction in &instructions {
            self.instruction(&mut body, instruction);
        }
        let returned = function.function_type().return_type();
        let types: Vec<Type> = function.parameters().iter().map(|p| p.value_type()).collect();
        let signature = (!function.function_type().is_variadic() && function.intrinsic_id() == 0)
            .then(|| self.signature(&types, returned));
        let results = match returned.is_void() {
            true => 0,
            false => self.scalars(returned).len() as u32,
        };
        self.facts.functions.push(Function {
            name: function.name(),
            body: (!function.is_declaration()).then_some(body),
            parameters,
            results,
            signature,
            is_method: false,
            is_harness: is_harness(&function.name()),
            is_entry: !function.is_declaration() && function.linkage() != Linkage::Internal,
        });
    }

    /// The scalars of a value. What a constant is made of in unusual ways becomes a register of its
    /// own.
    pub(super) fn operands(&mut self, body: &mut Body, value: Value) -> Vec<Operand> {
        let scalars = self.scalars(value.value_type());
        if let Some(&(_, first)) = self.index.registers.get(&value) {
            return scalars
                .iter()
                .enumerate()
                .map(|(i, s)| match s.room {
                    0 => Operand::Nothing,
                    _ => Operand::Register(first + i as u32),
                })
                .collect();
        }
        let mut addresses = Vec::new();
        if value.is_constant() {
            self.addresses_in(value, 0, &mut addresses);
        }
        let mut operands = vec![Operand::Nothing; scalars.len()];
        let place = |offset: u64| {
            scalars.iter().rposition(|s| s.room > 0 && s.offset <= offset).unwrap_or_default()
        };
        let mut by_place: HashMap<usize, Vec<Operand>> = HashMap::new();
        for (offset, address) in addresses {
            by_place.entry(place(offset)).or_default().push(address);
        }
        for (place, all) in by_place {
            operands[place] = match all[..] {
                [one] => one,
                _ => {
                    let register = body.new_registers(1);
                    for from in all {
                        self.unpaired(from);
                        body.statements.push(Statement::Offset {
                            result: register,
                            from,
                            distance: Distance::Unknown,
                        });
                    }
                    Operand::Register(register)
                }
            };
        }
        operands
    }

    /// The one scalar of a value.
    pub(super) fn operand(&mut self, body: &mut Body, value: Value) -> Operand {
        self.operands(body, value).first().copied().unwrap_or(Operand::Nothing)
    }

    fn parts(&mut self, body: &mut Body, value: Value) -> Vec<Part> {
        let scalars = self.scalars(value.value_type());
        let operands = self.operands(body, value);
        let parts = scalars.iter().zip(operands).filter(|(s, _)| s.room > 0);
        parts
            .map(|(s, operand)| Part { offset: s.offset as u32, size: s.room as u32, operand })
            .collect()
    }

    fn instruction(&mut self, body: &mut Body, at: Instruction) {
        let value = at.value();
        let result = self.index.registers[&value].1;
        let holds = |this: &mut Self| {
            !value.value_type().is_void()
                && this.scalars(value.value_type()).iter().any(|s| s.room > 0)
        };
        if at.opcode() == llvm::Opcode::Call {
            for access in access::accesses(self.module, at) {
                self.access(body, access.start);
            }
        }
        match at.movement(self.module) {
            Movement::None => {}
            Movement::Variable(size) => {
                body.statements.push(Statement::Variable { result, size, side: None })
            }
            Movement::Offset(base, distance) if holds(self) => {
                let from = self.operand(body, base);
                self.unpaired(from);
                let distance = match value.value_type().is_word() {
                    true => Distance::Number,
                    false => distance,
                };
                body.statements.push(Statement::Offset { result, from, distance });
            }
            Movement::Same(values) if holds(self) => {
                for from in values {
                    let operands = self.operands(body, from);
                    match operands.len() {
                        1 => self.unpaired(operands[0]),
                        _ => {
                            let addresses = self.addresses(&[value.value_type()]);
                            self.pairs(body, &operands, &addresses);
                        }
                    }
                    self.copy(body, result, from);
                }
            }
            Movement::Computed(values) if holds(self) => {
                // Wider numbers and vectors move addresses; what is computed of words is a number.
                let is_word = |value: &Value| value.value_type().is_word();
                let distance = match is_word(&value) && values.iter().all(is_word) {
                    true => Distance::Number,
                    false => Distance::Unknown,
                };
                for from in values {
                    for from in self.operands(body, from) {
                        self.unpaired(from);
                        body.statements.push(Statement::Offset { result, from, distance });
                    }
                }
            }
            Movement::Offset(..) | Movement::Same(_) | Movement::Computed(_) => {}
            Movement::Part(whole, path) => {
                let operands = self.operands(body, whole);
                match whole.value_type().scalars_at(self.module, &path) {
                    Some((first, count)) => {
                        for (i, &from) in operands[first..first + count].iter().enumerate() {
                            self.unpaired(from);
                            body.statements
                                .push(Statement::Copy { result: result + i as u32, from });
                        }
                    }
                    None => {
                        let count = self.scalars(value.value_type()).len() as u32;
                        for i in 0..count {
                            let from = operands[0];
                            body.statements.push(Statement::Copy { result: result + i, from });
                        }
                    }
                }
            }
            Movement::WithPart(whole, part, path) => {
                let parts = self.operands(body, part);
                self.copy(body, result, whole);
                let first = whole.value_type().scalars_at(self.module, &path);
                let place = first.map_or(0, |(first, _)| first as u32);
                // The object is in front of the part that is put in, or in the part.
                let before = match place {
                    0 => Operand::Nothing,
                    _ => Operand::Register(result + place - 1),
                };
                if place == 0 {
                    parts.first().into_iter().for_each(|&part| self.unpaired(part));
                }
                let with_before: Vec<Operand> =
                    [before].into_iter().chain(parts.iter().copied()).collect();
                let mut addresses = vec![true];
                addresses.extend(self.addresses(&[part.value_type()]));
                self.pairs(body, &with_before, &addresses);
                for (i, &from) in parts.iter().enumerate() {
                    let place = first.map_or(0, |(first, _)| (first + i) as u32);
                    body.statements.push(Statement::Copy { result: result + place, from });
                }
            }
            Movement::Load(address) => {
                let parts = self.parts(body, value);
                if parts.is_empty() {
                    self.access(body, address);
                } else {
                    let address = self.operand(body, address);
                    body.statements.push(Statement::Load { address, parts });
                }
            }
            Movement::Store(address, stored) => {
                let mut parts = self.parts(body, stored);
                parts.retain(|p| p.operand != Operand::Nothing);
                if parts.is_empty() {
                    self.access(body, address);
                } else {
                    match &parts[..] {
                        [one] if stored.value_type().is_pointer() => {
                            self.stored_pair(body, at, address, one.operand);
                        }
                        [one] => self.unpaired(one.operand),
                        parts => {
                            let operands: Vec<Operand> = parts.iter().map(|p| p.operand).collect();
                            let is_pair = |p: &Part| p.operand != Operand::Nothing && p.size == 8;
                            let addresses: Vec<bool> = parts.iter().map(is_pair).collect();
                            self.pairs(body, &operands, &addresses);
                        }
                    }
                    let address = self.operand(body, address);
                    body.statements.push(Statement::Store { address, parts });
                }
            }
            Movement::Update(address, stored) => {
                let size = self.scalars(stored.value_type())[0].room as u32;
                if size == 0 {
                    self.access(body, address);
                } else {
                    let address = self.operand(body, address);
                    let stored = self.operand(body, stored);
                    self.unpaired(stored);
                    let old = Operand::Register(result);
                    let part = |operand| vec![Part { offset: 0, size, operand }];
                    body.statements.push(Statement::Load { address, parts: part(old) });
                    if at.opcode() == llvm::Opcode::CompareExchange
                        || at.rmw_op() == Some(lockred_protocol::hooks::RmwOp::Xchg)
                    {
                        body.statements.push(Statement::Store { address, parts: part(stored) });
                    } else {
                        let new = body.new_registers(1);
                        for from in [old, stored] {
                            let distance = Distance::Number;
                            body.statements.push(Statement::Offset { result: new, from, distance });
                        }
                        let parts = part(Operand::Register(new));
                        body.statements.push(Statement::Store { address, parts });
                    }
                }
            }
            Movement::Call => self.call(body, at, result),
            Movement::Return(returned) => {
                let values = returned.map(|v| self.operands(body, v)).unwrap_or_default();
                let addresses = returned.map(|v| self.addresses(&[v.value_type()]));
                self.pairs(body, &values, &addresses.unwrap_or_default());
                body.statements.push(Statement::Return(values));
            }
            Movement::Resume(thrown) => {
                let thrown = self.operand(body, thrown);
                self.unpaired(thrown);
                body.statements.push(Statement::Throw(thrown));
            }
            Movement::LandingPad => body.statements.push(Statement::Catch(result)),
            Movement::Unknown => {
                self.facts.undescribed += 1;
                for operand in value.operands() {
                    for operand in self.operands(body, operand) {
                        self.unpaired(operand);
                        body.statements.push(Statement::Escape(operand));
                    }
                }
                self.unknown(body, value, result);
            }
        }
    }

    /// Memory is accessed that holds no addresses.
    fn access(&mut self, body: &mut Body, address: Value) {
        let address = self.operand(body, address);
        body.statements.push(Statement::Access(address));
    }

    pub(super) fn unknown(&mut self, body: &mut Body, value: Value, result: Register) {
        if !value.value_type().is_void() {
            for i in 0..self.scalars(value.value_type()).len() as u32 {
                body.statements.push(Statement::Unknown(result + i));
            }
        }
    }

    /// Every scalar of the result may be any of another value.
    pub(super) fn computed(
        &mut self,
        body: &mut Body,
        result: Value,
        from: Value,
        words: Distance,
    ) {
        let first = self.index.registers[&result].1;
        let scalars = self.scalars(result.value_type());
        for from in self.operands(body, from) {
            self.unpaired(from);
            for (i, scalar) in scalars.iter().enumerate() {
                if scalar.room > 0 && from != Operand::Nothing {
                    let result = first + i as u32;
                    let distance = match scalar {
                        Scalar { room: 8, is_address: false, .. } => words,
                        _ => Distance::Unknown,
                    };
                    body.statements.push(Statement::Offset { result, from, distance });
                }
            }
        }
    }

    pub(super) fn copy(&mut self, body: &mut Body, result: Register, from: Value) {
        for (i, from) in self.operands(body, from).into_iter().enumerate() {
            if from != Operand::Nothing {
                body.statements.push(Statement::Copy { result: result + i as u32, from });
            }
        }
    }
}

/// Whether a function is where libtest's harness begins.
fn is_harness(symbol: &str) -> bool {
    symbol.contains("test_main") && path_of(&demangle(symbol)).starts_with("test::test_main")
}
