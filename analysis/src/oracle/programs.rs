//! Small programs by chance: facts as LLVM's reader could have made them.

use super::random::Random;
use crate::facts::{
    Body, Call, Distance, Facts, Function, FunctionId, Global, GlobalId, Operand, Part, Register,
    Statement,
};

/// External functions that every program declares, with the numbers of their parameters, and
/// whether their result is an address.
const EXTERNAL: &[(&str, u32, bool)] = &[
    ("malloc", 1, true),
    ("posix_memalign", 3, false),
    ("realloc", 2, true),
    ("memchr", 3, true),
    ("memcpy", 3, true),
    ("pthread_create", 4, false),
    ("__cxa_thread_atexit_impl", 3, false),
    ("__cxa_atexit", 3, false),
    ("dl_iterate_phdr", 2, false),
    ("pthread_key_create", 2, false),
    ("pthread_setspecific", 2, false),
    ("pthread_getspecific", 1, true),
    ("_Unwind_RaiseException", 1, false),
    ("_Unwind_DeleteException", 1, false),
    ("sigaction", 3, false),
    ("getenv", 1, true),
    ("nobody_knows", 2, true),
    ("realpath", 2, true),
    ("mmap", 1, true),
    ("strtol", 2, false),
    ("pthread_join", 2, false),
    ("signal", 2, true),
    ("sigaltstack", 2, false),
];

/// What the statements of a program may be; each program has a part of it, since a program with all
/// of it mixes everything up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feature {
    Variable,
    Copy,
    Offset,
    Array,
    Load,
    Store,
    CopyMemory,
    Call,
    CallByPointer,
    Allocate,
    Thread,
    Pair,
    Method,
    Return,
    Throw,
    External,
    Outside,
    Wide,
    Harness,
    Number,
}

const FEATURES: [Feature; 20] = [
    Feature::Number,
    Feature::Variable,
    Feature::Copy,
    Feature::Offset,
    Feature::Array,
    Feature::Load,
    Feature::Store,
    Feature::CopyMemory,
    Feature::Call,
    Feature::CallByPointer,
    Feature::Allocate,
    Feature::Thread,
    Feature::Pair,
    Feature::Method,
    Feature::Return,
    Feature::Throw,
    Feature::External,
    Feature::Outside,
    Feature::Wide,
    Feature::Harness,
];

struct Maker<'r> {
    random: &'r mut Random,
    features: Vec<Feature>,
    facts: Facts,
    /// The functions with a body come first.
    bodies: u32,
    /// It is asked where each register points to; else, where accesses are.
    asks: bool,
}

/// A program.
pub fn program(random: &mut Random) -> Facts {
    let features = FEATURES
        .into_iter()
        .filter(|feature| match feature {
            Feature::Outside => random.once_in(6),
            Feature::Throw | Feature::External | Feature::Harness => random.once_in(3),
            Feature::Load | Feature::Store => true,
            _ => !random.once_in(3),
        })
        .collect();
    let bodies = 2 + random.below(5) as u32;
    let asks = random.once_in(2);
    let mut maker = Maker { random, features, facts: Facts::default(), bodies, asks };
    maker.declare();
    maker.globals();
    for id in 0..bodies {
        maker.body(id);
    }
    maker.facts
}

impl Maker<'_> {
    fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    fn declare(&mut self) {
        for id in 0..self.bodies {
            let (parameters, results) = (self.random.below(3) as u32, self.random.below(2) as u32);
            let is_method = id > 0 && self.has(Feature::Pair) && self.random.once_in(3);
            let parameters = if is_method { parameters.max(1) } else { parameters };
            let (parameters, results) =
                if self.random.once_in(2) { (1, 1) } else { (parameters, results) };
            self.facts.functions.push(Function {
                name: if id == 0 { "__lr_program_main".into() } else { format!("f{id}") },
                body: Some(Body::default()),
                parameters,
                results,
                signature: (!self.random.once_in(8)).then_some(signature(parameters, results)),
                is_method,
                is_harness: id > 1 && self.has(Feature::Harness) && self.random.once_in(4),
                is_entry: id == 0 || self.has(Feature::Outside) && self.random.once_in(6),
            });
        }
        for &(name, parameters, gives_address) in EXTERNAL {
            let results = u32::from(gives_address);
            self.facts.functions.push(Function {
                name: name.into(),
                body: None,
                parameters,
                results,
                signature: Some(signature(parameters, results)),
                is_method: false,
                is_harness: false,
                is_entry: false,
            });
        }
    }

    fn globals(&mut self) {
        for id in 0..1 + self.random.below(5) {
            let mut global = Global {
                name: format!("g{id}"),
                size: 8 * (1 + self.random.below(4) as u64),
                is_constant: false,
                is_thread_local: false,
                is_foreign: false,
                is_paired: false,
                initial: Vec::new(),
            };
            match self.random.below(8) {
                0 => global.is_constant = true,
                1 | 2 => global.is_thread_local = true,
                3 if self.has(Feature::Outside) => {
                    global.is_foreign = true;
                    global.is_constant = self.random.once_in(2);
                }
                4 if self.has(Feature::External) => {
                    global.name = "environ".into();
                    global.is_foreign = true;
                }
                5 | 6 if self.has(Feature::Pair) => {
                    global.is_paired = true;
                    global.is_constant = true;
                }
                _ => {}
            }
            let methods: Vec<FunctionId> =
                (0..self.bodies).filter(|f| self.facts.functions[*f as usize].is_method).collect();
            if global.is_paired {
                // Size and alignment, which are no addresses, are left out.
                for word in 0..global.size / 8 {
                    if let Some(method) = self.random.pick(&methods) {
                        global.initial.push((word * 8, Operand::Function(method)));
                    }
                }
            } else if !global.is_foreign && self.random.once_in(2) {
                for word in 0..global.size / 8 {
                    let other = self.random.below(self.facts.globals.len()) as GlobalId;
                    let known = self.facts.globals.get(other as usize);
                    let operand = match known.filter(|g| !g.is_thread_local && !g.is_paired) {
                        Some(_) if self.random.once_in(2) => Operand::Global(other, Some(0)),
                        _ => self.code(),
                    };
                    if operand != Operand::Nothing {
                        global.initial.push((word * 8, operand));
                    }
                }
            }
            self.facts.globals.push(global);
        }
    }

    /// Whether a function's address may be anywhere.
    fn code_is_free(&self, id: FunctionId) -> bool {
        let it = &self.facts.functions[id as usize];
        !it.is_method && !it.is_harness
    }

    /// The address of a function that is no method.
    fn code(&mut self) -> Operand {
        let id = match self.random.once_in(6) {
            true => self.bodies + self.random.below(EXTERNAL.len()) as u32,
            // Nobody calls `main` but the C library.
            false => 1 + self.random.below(self.bodies as usize - 1) as u32,
        };
        let it = &self.facts.functions[id as usize];
        let wanted = !it.is_method && !it.is_harness;
        if wanted && self.may_call(id) { Operand::Function(id) } else { Operand::Nothing }
    }

    /// Whether an external function is among the program's features.
    fn may_call(&self, id: FunctionId) -> bool {
        match self.facts.functions[id as usize].name.as_str() {
            "nobody_knows" => self.has(Feature::Outside),
            "malloc" | "posix_memalign" | "realloc" | "mmap" => self.has(Feature::Allocate),
            "pthread_create" | "pthread_join" => self.has(Feature::Thread),
            name if id >= self.bodies && name != "memcpy" => self.has(Feature::External),
            _ => true,
        }
    }

    fn body(&mut self, id: FunctionId) {
        let it = &self.facts.functions[id as usize];
        let (parameters, results) = (it.parameters, it.results);
        let mut body = Body { statements: Vec::new(), registers: parameters };
        for _ in 0..3 + self.random.below(10) {
            self.statement(&mut body, results);
        }
        if self.has(Feature::Thread) && self.random.once_in(2) {
            self.share(&mut body);
            if id == 0 {
                let runs = Operand::Function(1);
                let arguments = vec![Operand::Nothing, Operand::Nothing, runs, Operand::Nothing];
                let create = self.bodies + 5;
                if self.code_is_free(1) {
                    self.call_with(&mut body, Operand::Function(create), create, arguments);
                }
            }
        }
        if results > 0 && !self.random.once_in(8) {
            self.returns(&mut body, results);
        }
        if self.asks {
            let all =
                (0..body.registers).map(|register| Statement::Access(Operand::Register(register)));
            body.statements.splice(0..0, all);
        }
        self.facts.functions[id as usize].body = Some(body);
    }

    fn returns(&mut self, body: &mut Body, results: u32) {
        let values = (0..results).map(|_| self.operand(body)).collect();
        body.statements.push(Statement::Return(values));
    }

    fn operand(&mut self, body: &Body) -> Operand {
        match self.random.below(12) {
            0 => self.code(),
            1 | 2 => {
                let id = self.random.below(self.facts.globals.len()) as GlobalId;
                let global = &self.facts.globals[id as usize];
                let offset = 8 * self.random.below(global.size as usize / 8) as i64;
                // Tables are put beside objects only.
                match global.is_paired {
                    true => Operand::Nothing,
                    false => Operand::Global(id, (!self.random.once_in(5)).then_some(offset)),
                }
            }
            _ => self.register(body),
        }
    }

    fn register(&mut self, body: &Body) -> Operand {
        match body.registers {
            0 => Operand::Nothing,
            registers if self.random.once_in(2) => Operand::Register(
                registers - 1 - self.random.below(registers.min(3) as usize) as Register,
            ),
            registers => Operand::Register(self.random.below(registers as usize) as Register),
        }
    }

    /// A register for a result: a new one, or sometimes one that another statement gives a value,
    /// too.
    fn result(&mut self, body: &mut Body) -> Register {
        if body.registers > 0 && self.random.once_in(8) {
            return self.random.below(body.registers as usize) as Register;
        }
        body.registers += 1;
        body.registers - 1
    }

    fn parts(&mut self, mut operand: impl FnMut(&mut Self) -> Operand) -> Vec<Part> {
        let count = 1 + usize::from(self.random.once_in(4));
        let offset = 8 * self.random.below(2) as u32;
        (0..count)
            .map(|i| {
                let wide = count == 1 && self.has(Feature::Wide) && self.random.once_in(4);
                let size = if wide { 16 } else { 8 };
                Part { offset: offset + 8 * i as u32, size, operand: operand(self) }
            })
            .collect()
    }

    fn statement(&mut self, body: &mut Body, results: u32) {
        let feature = self.random.pick(&self.features).unwrap_or(Feature::Variable);
        match feature {
            Feature::Variable => {
                let size = 8 * (1 + self.random.below(4) as u64);
                let size = (!self.random.once_in(6)).then_some(size);
                let result = self.result(body);
                body.statements.push(Statement::Variable { result, size, side: None });
            }
            Feature::Copy => {
                let from = self.operand(body);
                let result = self.result(body);
                body.statements.push(Statement::Copy { result, from });
            }
            Feature::Array if self.random.once_in(2) && self.has(Feature::Allocate) => {
                // Something is put into an array, and a part of that is copied.
                let malloc = self.bodies;
                let array = Operand::Register(body.registers);
                self.call(body, Operand::Function(malloc), malloc);
                let result = self.result(body);
                let bytes = 8 * self.random.below(3) as i64;
                let stride = 8 * (2 + self.random.below(2) as u32);
                let distance = Distance::Multiples(bytes, stride);
                body.statements.push(Statement::Offset { result, from: array, distance });
                let operand = self.operand(body);
                let parts = vec![Part { offset: 0, size: 8, operand }];
                body.statements
                    .push(Statement::Store { address: Operand::Register(result), parts });
                let result = self.result(body);
                let bytes = 8 * self.random.below(3) as i64;
                let distance = Distance::Exactly(bytes);
                body.statements.push(Statement::Offset { result, from: array, distance });
                let (to, from) = (self.operand(body), Operand::Register(result));
                let bytes = Some(8 * (1 + self.random.below(3) as u64));
                body.statements.push(Statement::CopyMemory { to, from, bytes });
            }
            Feature::Offset | Feature::Array => {
                let from = self.operand(body);
                let bytes = self.random.pick(&[0, 8, 8, 16, -8, 4]).unwrap_or(0);
                let stride = self.random.pick(&[8, 16, 16, 24, 12]).unwrap_or(8);
                let within = self.random.once_in(2);
                let distance = match feature {
                    Feature::Array if within => Distance::Element(bytes, stride),
                    Feature::Array => Distance::Multiples(bytes, stride),
                    _ if self.random.once_in(6) => Distance::Unknown,
                    _ if within => Distance::Within(bytes),
                    _ => Distance::Exactly(bytes),
                };
                let result = self.result(body);
                body.statements.push(Statement::Offset { result, from, distance });
            }
            Feature::Number => {
                let from = self.operand(body);
                let result = self.result(body);
                let number = self.random.once_in(2);
                let distance = if number { Distance::Number } else { Distance::Restored };
                body.statements.push(Statement::Offset { result, from, distance });
                if number && self.random.once_in(2) {
                    let from = Operand::Register(result);
                    let result = self.result(body);
                    body.statements.push(Statement::Offset {
                        result,
                        from,
                        distance: Distance::Restored,
                    });
                }
            }
            Feature::Load => {
                let address = self.operand(body);
                let parts = self.parts(|this| Operand::Register(this.result(body)));
                body.statements.push(Statement::Load { address, parts });
            }
            Feature::Wide => {
                // Two words are moved at once.
                let result = self.result(body);
                let part = |operand| vec![Part { offset: 0, size: 16, operand }];
                let (from, to) = (self.operand(body), self.operand(body));
                body.statements.push(Statement::Load {
                    address: from,
                    parts: part(Operand::Register(result)),
                });
                body.statements
                    .push(Statement::Store { address: to, parts: part(Operand::Register(result)) });
            }
            Feature::Store => {
                let address = self.operand(body);
                let parts = self.parts(|this| this.operand(body));
                body.statements.push(Statement::Store { address, parts });
            }
            Feature::CopyMemory => {
                let (to, from) = (self.operand(body), self.operand(body));
                let bytes = self.random.pick(&[8, 16, 24, 4]).unwrap_or(8);
                let bytes = (!self.random.once_in(5)).then_some(bytes);
                body.statements.push(Statement::CopyMemory { to, from, bytes });
            }
            Feature::Call => {
                let id = self.random.below(self.bodies as usize) as FunctionId;
                if id != 0 {
                    self.call(body, Operand::Function(id), id);
                }
            }
            Feature::CallByPointer => {
                // What is called is of some function's kind; which one it is shows when it is
                // called.
                let like = self.random.below(self.bodies as usize) as FunctionId;
                let callee = self.register(body);
                self.call(body, callee, like);
            }
            Feature::Allocate => {
                let which = self.random.pick(&[0, 0, 0, 1, 2]).unwrap_or(0);
                let id = self.bodies + which;
                self.call(body, Operand::Function(id), id);
            }
            Feature::Thread if self.random.once_in(2) => self.share(body),
            Feature::Thread => {
                let runs = self.code();
                let passed = self.operand(body);
                let id = self.bodies + 5;
                let arguments = vec![Operand::Nothing, Operand::Nothing, runs, passed];
                self.call_with(body, Operand::Function(id), id, arguments);
            }
            Feature::External | Feature::Outside if !self.random.once_in(3) => {
                let id = self.bodies + self.random.below(EXTERNAL.len()) as u32;
                if self.may_call(id) {
                    self.call(body, Operand::Function(id), id);
                }
            }
            Feature::Pair => self.pair(body),
            Feature::Method => self.call_method(body),
            Feature::Return => {
                if self.random.once_in(3) {
                    self.returns(body, results);
                }
            }
            Feature::Throw => {
                if self.random.once_in(2) {
                    let value = self.operand(body);
                    body.statements.push(Statement::Throw(value));
                } else {
                    let result = self.result(body);
                    body.statements.push(Statement::Catch(result));
                }
            }
            Feature::Outside => {
                if self.random.once_in(2) {
                    let value = self.operand(body);
                    body.statements.push(Statement::Escape(value));
                } else {
                    let result = self.result(body);
                    body.statements.push(Statement::Unknown(result));
                }
            }
            Feature::External => {}
            Feature::Harness => {
                let is_harness = |f: &u32| self.facts.functions[*f as usize].is_harness;
                if let Some(id) = (0..self.bodies).find(is_harness) {
                    self.call(body, Operand::Function(id), id);
                }
            }
        }
    }

    fn call(&mut self, body: &mut Body, callee: Operand, like: FunctionId) {
        let parameters = self.facts.functions[like as usize].parameters;
        let arguments = (0..parameters)
            .map(|_| if self.random.once_in(5) { self.code() } else { self.operand(body) })
            .collect();
        self.call_with(body, callee, like, arguments);
    }

    fn call_with(
        &mut self,
        body: &mut Body,
        callee: Operand,
        like: FunctionId,
        arguments: Vec<Operand>,
    ) {
        let it = &self.facts.functions[like as usize];
        let first = body.registers;
        let results = it.results;
        let signature = signature(it.parameters, results);
        body.registers += results;
        let gives_address = it.body.is_none() || !self.random.once_in(4);
        let call = Call { callee, arguments, result: (first, results), signature, gives_address };
        body.statements.push(Statement::Call(Box::new(call)));
    }

    /// Memory is accessed whose address is put into a global variable, or is found there.
    fn share(&mut self, body: &mut Body) {
        let id = self.random.below(self.facts.globals.len()) as GlobalId;
        if self.facts.globals[id as usize].is_paired {
            return;
        }
        let address = Operand::Global(id, Some(0));
        let part = |operand| vec![Part { offset: 0, size: 8, operand }];
        if self.random.once_in(2) {
            let put = self.register(body);
            body.statements.push(Statement::Store { address, parts: part(put) });
            let operand = self.operand(body);
            body.statements.push(Statement::Store { address: put, parts: part(operand) });
        } else {
            let found = Operand::Register(self.result(body));
            body.statements.push(Statement::Load { address, parts: part(found) });
            let operand = self.operand(body);
            body.statements.push(Statement::Store { address: found, parts: part(operand) });
        }
    }

    /// An object beside a table or a method, in memory.
    fn pair(&mut self, body: &mut Body) {
        let ids = 0..self.facts.globals.len() as GlobalId;
        let mut with: Vec<Operand> = ids
            .filter(|id| self.facts.globals[*id as usize].is_paired)
            .map(|id| Operand::Global(id, Some(0)))
            .collect();
        let methods = (0..self.bodies).filter(|f| self.facts.functions[*f as usize].is_method);
        with.extend(methods.map(Operand::Function));
        let Some(with) = self.random.pick(&with) else { return };
        let (address, data) = (self.operand(body), self.register(body));
        let part = |offset, operand| Part { offset, size: 8, operand };
        let with = match self.random.once_in(3) {
            true => {
                let result = body.registers;
                body.registers += 1;
                // A method beside nothing would be called on nothing; a table is looked up when it
                // is known.
                if matches!(with, Operand::Global(..)) {
                    body.statements.push(Statement::Copy { result, from: with });
                    Operand::Register(result)
                } else {
                    with
                }
            }
            false => with,
        };
        body.statements.push(Statement::Pair { data, with });
        body.statements
            .push(Statement::Store { address, parts: vec![part(0, data), part(8, with)] });
    }

    /// An object and its table are loaded, and a method of it is called.
    fn call_method(&mut self, body: &mut Body) {
        let address = self.operand(body);
        let (data, table, method) = (body.registers, body.registers + 1, body.registers + 2);
        body.registers += 3;
        let load =
            |offset, register| Part { offset, size: 8, operand: Operand::Register(register) };
        body.statements
            .push(Statement::Load { address, parts: vec![load(0, data), load(8, table)] });
        let like = self.random.below(self.bodies as usize) as FunctionId;
        let mut callee = table;
        if self.random.once_in(2) {
            let address = Operand::Register(table);
            body.statements.push(Statement::Load { address, parts: vec![load(0, method)] });
            callee = method;
        }
        let mut arguments = vec![Operand::Register(data)];
        for _ in 1..self.facts.functions[like as usize].parameters {
            arguments.push(self.operand(body));
        }
        self.call_with(body, Operand::Register(callee), like, arguments);
    }
}

fn signature(parameters: u32, results: u32) -> u64 {
    u64::from(parameters) * 16 + u64::from(results)
}
