//! Reads the facts of a merged program out of LLVM's module.

use super::{
    Act, Body, Call, Facts, Function, FunctionId, Global, GlobalId, Operand, Part, Signature, Slot,
};
use crate::llvm::{
    self, Constant, Distance, Instruction, Linkage, Module, Movement, Scalar, Type, Value,
};
use crate::recognise::{demangle, path_of};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Where the values of a module are in its facts.
#[derive(Debug, Default)]
pub struct Index {
    functions: HashMap<Value, FunctionId>,
    globals: HashMap<Value, GlobalId>,
    /// Function and first slot of a parameter or of an instruction's result.
    slots: HashMap<Value, (FunctionId, Slot)>,
}

impl Index {
    /// The number of a global variable.
    #[must_use]
    pub fn global(&self, global: llvm::Global) -> Option<GlobalId> {
        self.globals.get(&global.value()).copied()
    }

    /// The function and the slot of a parameter, or of what an instruction computes, that is one scalar.
    #[must_use]
    pub fn slot(&self, value: Value) -> Option<(FunctionId, Slot)> {
        self.slots.get(&value).copied()
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
    (reader.facts, reader.index)
}

struct Reader<'m> {
    module: &'m Module,
    index: Index,
    facts: Facts,
    scalars: HashMap<Type, Rc<[Scalar]>>,
    /// Functions whose address is somewhere where no object is in front of it.
    unpaired: HashSet<FunctionId>,
    /// Functions that `format!` puts beside what they print.
    formatters: HashSet<FunctionId>,
}

/// The function that is being read.
#[derive(Default)]
struct Under {
    body: Body,
}

impl Under {
    fn slots(&mut self, count: u32) -> Slot {
        let first = self.body.slots;
        self.body.slots += count;
        first
    }
}

impl Reader<'_> {
    /// Of which functions every address is in a table of methods or beside an object.
    fn find_methods(&mut self) {
        for global in self.facts.globals.iter().filter(|g| !g.is_paired) {
            for (_, operand) in &global.initial {
                if let Operand::Function(id) = operand {
                    self.unpaired.insert(*id);
                }
            }
        }
        for (id, function) in self.facts.functions.iter_mut().enumerate() {
            function.is_method = !self.unpaired.contains(&(id as FunctionId));
        }
    }

    fn scalars(&mut self, of: Type) -> Rc<[Scalar]> {
        let module = self.module;
        self.scalars.entry(of).or_insert_with(|| of.scalars(module).into()).clone()
    }

    fn signature(&self, parameters: &[Type], result: Type) -> Signature {
        let mut hasher = DefaultHasher::new();
        let width = |of: &Type| {
            if of.is_void() { 0 } else { self.module.store_size(*of) }
        };
        parameters.iter().map(width).collect::<Vec<u64>>().hash(&mut hasher);
        width(&result).hash(&mut hasher);
        hasher.finish()
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
        let mut under = Under::default();
        for parameter in function.parameters() {
            let count = self.scalars(parameter.value_type()).len() as u32;
            let first = under.slots(count);
            self.index.slots.insert(parameter, (id, first));
        }
        let parameters = under.body.slots;
        let instructions: Vec<Instruction> =
            function.blocks().iter().flat_map(|b| b.instructions()).collect();
        for instruction in &instructions {
            let value = instruction.value();
            let count = match value.value_type().is_void() {
                true => 0,
                false => self.scalars(value.value_type()).len() as u32,
            };
            let first = under.slots(count);
            self.index.slots.insert(value, (id, first));
        }
        for &instruction in &instructions {
            self.instruction(&mut under, instruction);
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
            body: (!function.is_declaration()).then_some(under.body),
            parameters,
            results,
            signature,
            is_method: false,
            is_harness: is_harness(&function.name()),
            is_entry: !function.is_declaration() && function.linkage() != Linkage::Internal,
        });
    }

    /// The scalars of a value. What a constant is made of in unusual ways becomes a slot of its own.
    fn operands(&mut self, under: &mut Under, value: Value) -> Vec<Operand> {
        let scalars = self.scalars(value.value_type());
        if let Some(&(_, first)) = self.index.slots.get(&value) {
            return scalars
                .iter()
                .enumerate()
                .map(|(i, s)| match s.room {
                    0 => Operand::Nothing,
                    _ => Operand::Slot(first + i as u32),
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
                    let slot = under.slots(1);
                    for from in all {
                        self.unpaired(from);
                        under.body.acts.push(Act::Offset {
                            result: slot,
                            from,
                            distance: Distance::Unknown,
                        });
                    }
                    Operand::Slot(slot)
                }
            };
        }
        operands
    }

    /// The one scalar of a value.
    fn operand(&mut self, under: &mut Under, value: Value) -> Operand {
        self.operands(under, value).first().copied().unwrap_or(Operand::Nothing)
    }

    fn parts(&mut self, under: &mut Under, value: Value) -> Vec<Part> {
        let scalars = self.scalars(value.value_type());
        let operands = self.operands(under, value);
        let parts = scalars.iter().zip(operands).filter(|(s, _)| s.room > 0);
        parts
            .map(|(s, operand)| Part { offset: s.offset as u32, size: s.room as u32, operand })
            .collect()
    }

    /// Whether an operand is a table of methods, or a function.
    fn is_code(&self, operand: Operand) -> bool {
        match operand {
            Operand::Global(id, Some(0)) => self.facts.globals[id as usize].is_paired,
            Operand::Function(id) => self.formatters.contains(&id),
            _ => false,
        }
    }

    /// Code among scalars, each behind the object that it belongs to. `addresses`: which of them are addresses by their type.
    fn pairs(&mut self, under: &mut Under, operands: &[Operand], addresses: &[bool]) {
        for (i, &with) in operands.iter().enumerate() {
            let before = i.checked_sub(1).map(|before| (operands[before], addresses[before]));
            match (with, before) {
                (Operand::Slot(_), Some((data @ Operand::Slot(_), true))) if addresses[i] => {
                    under.body.acts.push(Act::Pair { data, with });
                }
                (Operand::Slot(_), _) => {}
                (_, Some((data, _))) if self.is_code(with) => {
                    under.body.acts.push(Act::Pair { data, with });
                }
                _ => self.unpaired(with),
            }
        }
    }

    /// Which scalars of values of these types are addresses.
    fn addresses(&mut self, types: &[Type]) -> Vec<bool> {
        let mut all = Vec::new();
        for &of in types {
            all.extend(self.scalars(of).iter().map(|scalar| scalar.is_address));
        }
        all
    }

    /// Code is put somewhere, with what is not seen.
    fn unpaired(&mut self, operand: Operand) {
        match operand {
            Operand::Global(id, _) => self.facts.globals[id as usize].is_paired = false,
            Operand::Function(id) => {
                self.unpaired.insert(id);
            }
            Operand::Nothing | Operand::Slot(_) => {}
        }
    }

    /// Code is stored: what is stored in front of it, in the same block, is the object.
    fn stored_pair(&mut self, under: &mut Under, at: Instruction, address: Value, with: Operand) {
        if !self.is_code(with) && !matches!(with, Operand::Slot(_)) {
            self.unpaired(with);
            return;
        }
        let (base, offset) = self.distance_from(address);
        for other in at.block().instructions() {
            if let Movement::Store(to, stored) = other.movement(self.module)
                && self.distance_from(to) == (base, offset - 8)
            {
                let data = self.operand(under, stored);
                under.body.acts.push(Act::Pair { data, with });
                return;
            }
        }
        self.unpaired(with);
    }

    /// What an address is computed from, and how far it is from that.
    fn distance_from(&self, mut address: Value) -> (Value, i64) {
        let mut offset = 0;
        while let Some(Movement::Offset(base, Distance::Exactly(bytes))) =
            address.as_instruction().map(|i| i.movement(self.module))
        {
            address = base;
            offset += bytes;
        }
        (address, offset)
    }

    fn instruction(&mut self, under: &mut Under, at: Instruction) {
        let value = at.value();
        let result = self.index.slots[&value].1;
        let holds = |this: &mut Self| {
            !value.value_type().is_void()
                && this.scalars(value.value_type()).iter().any(|s| s.room > 0)
        };
        match at.movement(self.module) {
            Movement::None => {}
            Movement::Variable(size) => under.body.acts.push(Act::Variable { result, size }),
            Movement::Offset(base, distance) if holds(self) => {
                let from = self.operand(under, base);
                self.unpaired(from);
                under.body.acts.push(Act::Offset { result, from, distance });
            }
            Movement::Same(values) if holds(self) => {
                for from in values {
                    let operands = self.operands(under, from);
                    match operands.len() {
                        1 => self.unpaired(operands[0]),
                        _ => {
                            let addresses = self.addresses(&[value.value_type()]);
                            self.pairs(under, &operands, &addresses);
                        }
                    }
                    self.copy(under, result, from);
                }
            }
            Movement::Computed(values) if holds(self) => {
                for from in values {
                    for from in self.operands(under, from) {
                        self.unpaired(from);
                        under.body.acts.push(Act::Offset {
                            result,
                            from,
                            distance: Distance::Unknown,
                        });
                    }
                }
            }
            Movement::Offset(..) | Movement::Same(_) | Movement::Computed(_) => {}
            Movement::Part(whole, path) => {
                let operands = self.operands(under, whole);
                match whole.value_type().scalars_at(self.module, &path) {
                    Some((first, count)) => {
                        for (i, &from) in operands[first..first + count].iter().enumerate() {
                            under.body.acts.push(Act::Copy { result: result + i as u32, from });
                        }
                    }
                    None => {
                        let count = self.scalars(value.value_type()).len() as u32;
                        for i in 0..count {
                            let from = operands[0];
                            under.body.acts.push(Act::Copy { result: result + i, from });
                        }
                    }
                }
            }
            Movement::WithPart(whole, part, path) => {
                let parts = self.operands(under, part);
                self.copy(under, result, whole);
                let first = whole.value_type().scalars_at(self.module, &path);
                let place = first.map_or(0, |(first, _)| first as u32);
                // The object is in front of the part that is put in, or in the part.
                let before = match place {
                    0 => Operand::Nothing,
                    _ => Operand::Slot(result + place - 1),
                };
                if place == 0 {
                    parts.first().into_iter().for_each(|&part| self.unpaired(part));
                }
                let with_before: Vec<Operand> =
                    [before].into_iter().chain(parts.iter().copied()).collect();
                let mut addresses = vec![true];
                addresses.extend(self.addresses(&[part.value_type()]));
                self.pairs(under, &with_before, &addresses);
                for (i, &from) in parts.iter().enumerate() {
                    let place = first.map_or(0, |(first, _)| (first + i) as u32);
                    under.body.acts.push(Act::Copy { result: result + place, from });
                }
            }
            Movement::Load(address) => {
                let parts = self.parts(under, value);
                if !parts.is_empty() {
                    let address = self.operand(under, address);
                    under.body.acts.push(Act::Load { address, parts });
                }
            }
            Movement::Store(address, stored) => {
                let mut parts = self.parts(under, stored);
                parts.retain(|p| p.operand != Operand::Nothing);
                if !parts.is_empty() {
                    match &parts[..] {
                        [one] if stored.value_type().is_pointer() => {
                            self.stored_pair(under, at, address, one.operand);
                        }
                        [one] => self.unpaired(one.operand),
                        parts => {
                            let operands: Vec<Operand> = parts.iter().map(|p| p.operand).collect();
                            let is_pair = |p: &Part| p.operand != Operand::Nothing && p.size == 8;
                            let addresses: Vec<bool> = parts.iter().map(is_pair).collect();
                            self.pairs(under, &operands, &addresses);
                        }
                    }
                    let address = self.operand(under, address);
                    under.body.acts.push(Act::Store { address, parts });
                }
            }
            Movement::Update(address, stored) => {
                let size = self.scalars(stored.value_type())[0].room as u32;
                if size > 0 {
                    let address = self.operand(under, address);
                    let stored = self.operand(under, stored);
                    self.unpaired(stored);
                    let old = Operand::Slot(result);
                    let part = |operand| vec![Part { offset: 0, size, operand }];
                    under.body.acts.push(Act::Load { address, parts: part(old) });
                    if at.opcode() == llvm::Opcode::CompareExchange {
                        under.body.acts.push(Act::Store { address, parts: part(stored) });
                    } else {
                        let new = under.slots(1);
                        under.body.acts.push(Act::Offset {
                            result: new,
                            from: old,
                            distance: Distance::Unknown,
                        });
                        under.body.acts.push(Act::Copy { result: new, from: stored });
                        let parts = part(Operand::Slot(new));
                        under.body.acts.push(Act::Store { address, parts });
                    }
                }
            }
            Movement::Call => self.call(under, at, result),
            Movement::Return(returned) => {
                let values = returned.map(|v| self.operands(under, v)).unwrap_or_default();
                let addresses = returned.map(|v| self.addresses(&[v.value_type()]));
                self.pairs(under, &values, &addresses.unwrap_or_default());
                under.body.acts.push(Act::Return(values));
            }
            Movement::Resume(thrown) => {
                let thrown = self.operand(under, thrown);
                self.unpaired(thrown);
                under.body.acts.push(Act::Throw(thrown));
            }
            Movement::LandingPad => under.body.acts.push(Act::Catch(result)),
            Movement::Unknown => {
                self.facts.undescribed += 1;
                for operand in value.operands() {
                    for operand in self.operands(under, operand) {
                        self.unpaired(operand);
                        under.body.acts.push(Act::Escape(operand));
                    }
                }
                self.unknown(under, value, result);
            }
        }
    }

    fn unknown(&mut self, under: &mut Under, value: Value, result: Slot) {
        if !value.value_type().is_void() {
            for i in 0..self.scalars(value.value_type()).len() as u32 {
                under.body.acts.push(Act::Unknown(result + i));
            }
        }
    }

    /// Every scalar of the result may be any of another value.
    fn copy_all(&mut self, under: &mut Under, result: Value, from: Value) {
        let first = self.index.slots[&result].1;
        let scalars = self.scalars(result.value_type());
        for from in self.operands(under, from) {
            self.unpaired(from);
            for (i, scalar) in scalars.iter().enumerate() {
                if scalar.room > 0 && from != Operand::Nothing {
                    let result = first + i as u32;
                    under.body.acts.push(Act::Offset { result, from, distance: Distance::Unknown });
                }
            }
        }
    }

    fn copy(&mut self, under: &mut Under, result: Slot, from: Value) {
        for (i, from) in self.operands(under, from).into_iter().enumerate() {
            if from != Operand::Nothing {
                under.body.acts.push(Act::Copy { result: result + i as u32, from });
            }
        }
    }

    fn call(&mut self, under: &mut Under, at: Instruction, result: Slot) {
        let value = at.value();
        let Some(callee) = at.callee() else { return };
        let arguments = at.arguments();
        if callee.is_inline_asm() && !keeps_addresses(&callee.inline_asm_text()) {
            for argument in arguments {
                if !value.value_type().is_void() {
                    self.copy_all(under, value, argument);
                }
            }
            return;
        }
        if callee.is_inline_asm() {
            for argument in arguments {
                for operand in self.operands(under, argument) {
                    self.unpaired(operand);
                    under.body.acts.push(Act::Escape(operand));
                }
            }
            self.unknown(under, value, result);
            return;
        }
        if let Some(function) = callee.as_function()
            && function.name().starts_with("llvm.")
        {
            self.intrinsic(under, at, &function.name(), result);
            return;
        }
        let count = match value.value_type().is_void() {
            true => 0,
            false => self.scalars(value.value_type()).len() as u32,
        };
        let types: Vec<Type> = arguments.iter().map(|a| a.value_type()).collect();
        let signature = self.signature(&types, value.value_type());
        let arguments =
            arguments.into_iter().flat_map(|a| self.operands(under, a)).collect::<Vec<_>>();
        let addresses = self.addresses(&types);
        self.pairs(under, &arguments, &addresses);
        let callee = self.operand(under, callee);
        let gives_address = value.value_type().is_pointer();
        let call = Call { callee, arguments, result: (result, count), signature, gives_address };
        under.body.acts.push(Act::Call(Box::new(call)));
    }

    fn intrinsic(&mut self, under: &mut Under, at: Instruction, name: &str, result: Slot) {
        /// What touches no address, or only the memory behind it.
        const HARMLESS: &[&str] = &[
            "llvm.lifetime.",
            "llvm.dbg.",
            "llvm.memset.",
            "llvm.assume",
            "llvm.prefetch",
            "llvm.va_end",
            "llvm.experimental.noalias",
            "llvm.trap",
            "llvm.expect.with",
            "llvm.donothing",
            "llvm.invariant.end",
        ];
        let arguments = at.arguments();
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            let to = self.operand(under, arguments[0]);
            let from = self.operand(under, arguments[1]);
            let bytes = arguments[2].as_integer();
            if bytes != Some(0) {
                under.body.acts.push(Act::CopyMemory { to, from, bytes });
            }
        } else if HARMLESS.iter().any(|prefix| name.starts_with(prefix)) {
        } else if name.starts_with("llvm.threadlocal.address")
            || name.starts_with("llvm.launder.")
            || name.starts_with("llvm.strip.")
        {
            let operand = self.operand(under, arguments[0]);
            self.unpaired(operand);
            self.copy(under, result, arguments[0]);
        } else if name.starts_with("llvm.va_")
            || name.starts_with("llvm.masked.")
            || name.starts_with("llvm.vp.")
            || name.contains(".gather")
        {
            self.facts.undescribed += 1;
            for argument in arguments {
                for operand in self.operands(under, argument) {
                    self.unpaired(operand);
                    under.body.acts.push(Act::Escape(operand));
                }
            }
            self.unknown(under, at.value(), result);
        } else if !at.value().value_type().is_void()
            && !name.contains(".umul.")
            && !name.contains(".smul.")
        {
            // A function of numbers: minima, sums with overflow, masks of addresses.
            for argument in arguments {
                self.copy_all(under, at.value(), argument);
            }
        }
    }
}

/// Whether a function is where libtest's harness begins.
fn is_harness(symbol: &str) -> bool {
    symbol.contains("test_main") && path_of(&demangle(symbol)).starts_with("test::test_main")
}

/// Whether a function is one of a trait of `core::fmt`.
fn is_formatter(symbol: &str) -> bool {
    symbol.contains("3fmt") && path_of(&demangle(symbol)).ends_with("::fmt")
}

/// Whether a global variable is a table of methods: a private constant without a name of the program's, of functions but for size and
/// alignment, which are the second and third words.
fn is_table(global: &llvm::Global, initial: &[(u64, Operand)]) -> bool {
    let name = global.name();
    global.is_constant()
        && global.linkage() == Linkage::Internal
        && (name.starts_with("vtable") || name.starts_with("anon."))
        && !initial.is_empty()
        && initial.iter().all(|(offset, operand)| {
            offset % 8 == 0 && !matches!(offset, 8 | 16) && matches!(operand, Operand::Function(_))
        })
}

/// Whether assembly may keep what it is given. That without text hides values from the optimiser; some instructions ask the processor.
fn keeps_addresses(text: &str) -> bool {
    const ASKING: &[&str] = &["cpuid", "xgetbv", "rdtsc", "rdtscp", "rdrand", "rdseed", "pause"];
    !text.trim().is_empty()
        && !text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| ASKING.contains(&word))
}
