//! Where the addresses of a program point to: inclusion-based (Andersen), over the whole program,
//! flow-insensitive.
//!
//! Objects are stack variables, global variables, functions, and heap memory by the call that
//! allocates it; parts of objects are told apart by their offset in bytes. Only functions that can
//! be reached are looked at, and calls by pointer are resolved as the analysis goes on. Functions
//! that pass memory on get a context for each of their calls ([`contexts`]). What is done with
//! addresses outside of the program is said by [`Effect`]; what is not known goes to one node,
//! [`PointsTo::foreign`], which may hold and write whatever it gets. Only what is asked for is
//! computed ([`demand`]), and in large programs, large sets are not known either ([`sink`]).

mod answers;
mod bits;
mod calls;
mod conservative;
mod constants;
mod contexts;
mod copies;
mod demand;
mod instances;
mod memory;
mod methods;
mod objects;
mod offsets;
mod operands;
mod outside;
mod pairs;
mod places;
mod returned;
mod sink;
mod solver;

#[cfg(test)]
pub use answers::Spot;
pub use objects::{ContextId, Kind, ObjectId, PlaceId};

use crate::facts::{
    Distance, Facts, FunctionId, GlobalId, Operand, Part, Register, Signature, Statement,
};
use contexts::Cloned;
use methods::Methods;
use objects::{ANYWHERE, NUMBER, Objects, Outlet, Target};
use solver::{Graph, Node, Rule};
use std::collections::HashMap;

/// Functions that are called by the C library or the unwinder, with addresses of their own memory.
/// (`main` has its new name by then.)
const ENTRIES: &[&str] = &["__lr_program_main", "rust_eh_personality"];

/// Global variables of the C library that hold addresses of its own memory.
const LIBRARY: &[&str] = &[
    "environ",
    "__environ",
    "__dso_handle",
    "stdin",
    "stdout",
    "stderr",
    "__libc_single_threaded",
];

/// A function as it is called from somewhere.
#[derive(Clone, Copy, Debug)]
struct Context {
    function: FunctionId,
    /// The node of its first register; those of its results are after its registers.
    base: Node,
    /// The context that calls it, if it is of that call alone.
    caller: Option<ContextId>,
    /// Where that call's results begin in the caller.
    results: Register,
    depth: u32,
}

/// A call that may have several callees.
#[derive(Clone, Debug)]
struct Pending {
    context: Option<ContextId>,
    arguments: Vec<Operand>,
    result: (Register, u32),
    gives_address: bool,
    signature: Option<Signature>,
    /// The arguments of a call by someone outside.
    nodes: Option<Vec<Option<Node>>>,
    /// Where they put the result, if they keep it.
    returned: Option<Node>,
    bound: Vec<FunctionId>,
}

#[derive(Clone, Copy, Debug)]
struct Copying {
    to: (Option<ContextId>, Operand),
    from: (Option<ContextId>, Operand),
    /// `None`: unknown, and so is what is where.
    bytes: Option<u64>,
    /// What is copied, where it is not told apart.
    mixed: Option<Node>,
    /// Pairs of places that it was told apart for.
    pairs: u32,
}

/// Pairs of places for which it is told apart what a copy of memory moves where. (So few in tests
/// that small programs have them.)
const PAIRS: u32 = if cfg!(test) { 2 } else { 1000 };

/// From where on large sets are taken for unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Places that rules are applied to before that.
    pub work: usize,
    /// Places of a set that is not large yet; `None`: the analysis is given up instead.
    pub places: Option<usize>,
}

impl Bounds {
    /// Limits for builds without `--check-static`. `None` for large programs: the analysis would be
    /// slow and imprecise.
    #[must_use]
    pub fn ordinary(facts: &Facts) -> Option<Self> {
        (statements(facts) <= LARGEST).then_some(Self { work: 2_000_000, places: None })
    }
}

/// Statements of programs that ordinary builds analyse.
const LARGEST: usize = 150_000;

fn statements(facts: &Facts) -> usize {
    facts.functions.iter().flat_map(|f| &f.body).map(|body| body.statements.len()).sum()
}

impl Default for Bounds {
    fn default() -> Self {
        Self { work: 3_000_000, places: Some(256) }
    }
}

/// Places that rules are applied to before the analysis is given up.
const WORK: usize = 60_000_000;
/// How many times as many statements there may be with contexts as without.
const SHARE: usize = 3;

/// The result.
#[derive(Debug)]
pub struct PointsTo<'f> {
    facts: &'f Facts,
    bounds: Bounds,
    graph: Graph,
    objects: Objects,
    contexts: Vec<Context>,
    /// The contexts of each function.
    of_function: Vec<Vec<ContextId>>,
    /// The context of a function that calls without one of their own share.
    common: Vec<Option<ContextId>>,
    to_generate: Vec<ContextId>,
    /// Memory that a call gives, by the outermost call that returns it.
    heap: HashMap<(ContextId, Register), ObjectId>,
    cloned: Cloned,
    methods: Methods,
    /// Statements that contexts of their own may still cost.
    budget: usize,
    global_objects: Vec<Option<ObjectId>>,
    function_places: Vec<Option<PlaceId>>,
    calls: Vec<Pending>,
    copies: Vec<Copying>,
    /// The object of all constants that hold addresses of such constants alone.
    data: ObjectId,
    /// Those constants.
    is_data: Vec<bool>,
    /// Memory of the C library that holds no addresses.
    bytes: ObjectId,
    foreign: Node,
    library: Node,
    thrown: Node,
    keys: Node,
    threads: Node,
    /// What the harness is given.
    tests: Node,
    /// What threads have returned, for whoever joins them.
    returned: Node,
    /// Handlers of signals, for whoever asks for the one before.
    handlers: Node,
}

impl<'f> PointsTo<'f> {
    /// Analyses a program from its entries on.
    ///
    /// `None` when it takes more than [`WORK`], or its `bounds` say so: a program whose pointers
    /// are that much mixed up gains nothing by it. They say from where on less is told apart.
    #[must_use]
    pub fn of(facts: &'f Facts, bounds: Bounds) -> Option<Self> {
        let count = facts.functions.len();
        let mut graph = Graph::default();
        let foreign = graph.add(8);
        let mut this = Self {
            facts,
            bounds,
            graph,
            objects: Objects::default(),
            contexts: Vec::new(),
            of_function: vec![Vec::new(); count],
            common: vec![None; count],
            to_generate: Vec::new(),
            heap: HashMap::new(),
            cloned: Cloned::of(facts),
            methods: Methods::of(facts),
            budget: SHARE * statements(facts),
            global_objects: vec![None; facts.globals.len()],
            function_places: vec![None; count],
            calls: Vec::new(),
            copies: Vec::new(),
            data: 0,
            is_data: constants::data(facts),
            bytes: 0,
            foreign,
            thrown: foreign + 1,
            keys: foreign + 2,
            threads: foreign + 3,
            library: foreign + 4,
            tests: foreign + 5,
            returned: foreign + 6,
            handlers: foreign + 7,
        };
        this.start();
        this.solve().then_some(this)
    }

    fn start(&mut self) {
        let object = self.objects.add(Kind::Foreign, None);
        let place = self.objects.place(object, None);
        self.objects.objects[object as usize].all = Some(self.foreign);
        self.objects.places[place as usize].content = Some(self.foreign);
        self.graph.point(self.foreign, place);
        self.data = self.objects.add(Kind::Data, None);
        let place = self.objects.place(self.data, None);
        let texts = self.graph.add(1);
        self.objects.objects[self.data as usize].all = Some(texts);
        self.objects.places[place as usize].content = Some(texts);
        self.graph.point(texts, place);
        self.bytes = self.objects.add(Kind::Library, None);
        let library = self.objects.add(Kind::Library, None);
        let place = self.objects.place(library, None);
        self.objects.objects[library as usize].all = Some(self.library);
        self.objects.places[place as usize].content = Some(self.library);
        self.graph.point(self.library, place);
        for node in [self.foreign, self.library, self.threads, self.tests, self.returned] {
            self.graph.want(node);
        }
        for node in [self.foreign, self.threads, self.returned] {
            self.graph.want_numbers(node);
        }
        self.add_rule(self.foreign, Rule::Escaped);
        self.add_rule(self.tests, Rule::Tests);
        for (id, function) in self.facts.functions.iter().enumerate() {
            if function.is_entry {
                self.enter_from_outside(id as FunctionId);
            }
        }
        for (id, global) in self.facts.globals.iter().enumerate() {
            if global.name.starts_with("llvm.") || global.name.contains("init_array") {
                // What is called before `main` is called by the C library.
                for (_, operand) in &global.initial {
                    if let Operand::Function(f) = operand {
                        self.enter_from_outside(*f);
                    }
                }
            } else if LIBRARY.contains(&global.name.as_str()) {
                let place = self.place_of_global(id as GlobalId, None);
                let content = self.content(place);
                self.graph.copy(self.library, content);
            } else if global.is_foreign {
                let place = self.place_of_global(id as GlobalId, None);
                self.graph.point(self.foreign, place);
            }
        }
    }

    /// Whether it came to an end.
    fn solve(&mut self) -> bool {
        let mut work_done = 0;
        loop {
            if let Some(context) = self.to_generate.pop() {
                self.generate(context);
                continue;
            }
            if let Some((node, rule)) = self.graph.awake() {
                self.add_rule(node, rule);
                continue;
            }
            if let Some(rule) = self.graph.sunk() {
                self.apply_to_unknown(rule);
                continue;
            }
            let Some(work) = self.graph.wave() else { return true };
            for (node, rules, places) in work {
                work_done += places.len() * rules;
                if work_done > self.bounds.work {
                    let Some(places) = self.bounds.places else { return false };
                    self.graph.start_sinking(self.foreign, places);
                }
                if work_done > WORK {
                    return false;
                }
                for place in places.iter() {
                    for at in 0..rules {
                        let Some(rule) = self.graph.rule_at(node, at) else { break };
                        self.apply(rule, place);
                    }
                }
            }
        }
    }

    fn generate(&mut self, context: ContextId) {
        let facts = self.facts;
        let Context { function, base, .. } = self.contexts[context as usize];
        let Some(body) = &facts.functions[function as usize].body else { return };
        for statement in &body.statements {
            match statement {
                Statement::Variable { result, size, side } => {
                    let object = self.objects.add(Kind::Variable(context, *result), *size);
                    self.objects.objects[object as usize].side = *side;
                    let place = self.objects.place(object, Some(0));
                    self.graph.point(base + result, place);
                }
                Statement::Copy { result, from } => self.flow(context, *from, base + result),
                Statement::Offset {
                    result,
                    from,
                    distance: Distance::Exactly(0) | Distance::Within(0),
                } => {
                    self.flow(context, *from, base + result);
                }
                Statement::Offset { result, from, distance } => {
                    self.rule(Some(context), *from, Rule::Offset(base + result, *distance));
                }
                Statement::OfSide { result, from, side } => {
                    let rule = Rule::OfSide(base + result, *side);
                    self.rule(Some(context), Operand::Register(*from), rule);
                }
                Statement::Load { address, parts } => {
                    self.want(context, *address);
                    for &Part { offset, size, operand } in parts {
                        if let Operand::Register(register) = operand {
                            let rule = Rule::Load { to: base + register, offset, size };
                            self.rule(Some(context), *address, rule);
                        }
                    }
                }
                Statement::Store { address, parts } => {
                    self.want(context, *address);
                    for &Part { offset, size, operand } in parts {
                        let from = self.node(context, operand);
                        self.rule(Some(context), *address, Rule::Store { from, offset, size });
                    }
                }
                Statement::Access(address) => self.want(context, *address),
                Statement::CopyMemory { to, from, bytes } => {
                    self.copy_memory(context, *to, *from, *bytes);
                }
                Statement::Call(call) => self.call(context, call),
                Statement::Pair { data, with } => self.pair(context, *data, *with),
                Statement::Return(values) => {
                    for (i, &value) in values.iter().enumerate() {
                        self.flow(context, value, base + body.registers + i as u32);
                    }
                }
                Statement::Throw(value) => self.flow(context, *value, self.thrown),
                Statement::Catch(result) => self.graph.copy(self.thrown, base + result),
                Statement::Escape(value) => self.flow(context, *value, self.foreign),
                Statement::Unknown(result) => self.graph.copy(self.foreign, base + result),
            }
        }
    }

    fn apply(&mut self, rule: Rule, place: PlaceId) {
        let objects::Place { object, offset, .. } = self.objects.places[place as usize];
        let further =
            |bytes: u32| (offset != ANYWHERE).then(|| i64::from(offset) + i64::from(bytes));
        if offset == NUMBER && !matches!(rule, Rule::Offset(..) | Rule::Escaped | Rule::Tests) {
            return;
        }
        match rule {
            Rule::Offset(to, distance) => self.offset(to, distance, place),
            Rule::OfSide(to, side) => {
                if self.objects.objects[object as usize].side.is_none_or(|of| of == side) {
                    self.graph.point(to, place);
                }
            }
            Rule::Call(call) => match self.objects.objects[object as usize].kind {
                Kind::Function(function) => self.enter(call, function, false),
                Kind::Foreign => self.leave(call),
                _ => {}
            },
            Rule::Escaped => {
                if offset == NUMBER {
                    self.offset(self.foreign, Distance::Restored, place);
                }
                self.escaped(object);
            }
            Rule::Tests => match self.objects.objects[object as usize].kind {
                Kind::Function(function) => {
                    if self.facts.functions[function as usize].body.is_some() {
                        self.common_context(function);
                    }
                }
                Kind::Foreign | Kind::Library | Kind::Data => {}
                _ => {
                    let all = self.all(object);
                    self.graph.copy(all, self.tests);
                }
            },
            Rule::Offered(function) => {
                if self.methods.is_paired(function, object) {
                    self.give_object(function, place);
                }
            }
            Rule::Table(data) => {
                if let Kind::Global(table) = self.objects.objects[object as usize].kind {
                    self.pair_with_all(data, table);
                }
            }
            Rule::Paired(function) => {
                if self.methods.pair(function, object) {
                    let offered = self.methods.offered(function);
                    let places: Vec<PlaceId> =
                        offered.map(|n| self.graph.set(n).iter().collect()).unwrap_or_default();
                    for place in places {
                        if self.objects.places[place as usize].object == object {
                            self.give_object(function, place);
                        }
                    }
                }
            }
            Rule::Load { .. } | Rule::CopyFrom(_) if self.holds_nothing(object) => {}
            Rule::Store { .. } | Rule::CopyTo(_) if self.is_constant(object) => {}
            Rule::Load { to, offset: first, size } => match further(first) {
                None => {
                    let all = self.all(object);
                    self.graph.copy(all, to);
                }
                Some(at) if size <= 8 => {
                    let place = self.objects.place(object, Some(at));
                    let from = match self.objects.places[place as usize].offset {
                        ANYWHERE => self.all(object),
                        _ => self.content(place),
                    };
                    self.graph.copy(from, to);
                }
                Some(at) => {
                    let start = at as u32;
                    let range = (start, start.saturating_add(size));
                    self.add_outlet(object, Outlet { range, target: Target::Node(to) });
                }
            },
            Rule::Store { from, offset: first, size } => {
                let words = if size <= 64 { i64::from(size.div_ceil(8)) } else { 0 };
                let at = further(first).filter(|_| words > 0);
                for word in 0..words.max(1) {
                    let place = self.objects.place(object, at.map(|at| at + word * 8));
                    let content = self.content(place);
                    self.graph.copy(from, content);
                }
            }
            Rule::CopyTo(copy) => {
                if let Some(mixed) = self.mixed(copy) {
                    let to = self.objects.place(object, None);
                    let to = self.content(to);
                    self.graph.copy(mixed, to);
                    return;
                }
                let Copying { from, .. } = self.copies[copy as usize];
                for source in self.places_of(from) {
                    self.connect(copy, place, source);
                }
            }
            Rule::CopyFrom(copy) => {
                if let Some(mixed) = self.mixed(copy) {
                    let all = self.all(object);
                    self.graph.copy(all, mixed);
                    return;
                }
                let Copying { to, .. } = self.copies[copy as usize];
                for target in self.places_of(to) {
                    self.connect(copy, target, place);
                }
            }
        }
    }
}
