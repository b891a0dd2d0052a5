//! Where the addresses of a program point to: inclusion-based (Andersen), over the whole program, flow-insensitive.
//!
//! Objects are stack variables, global variables, functions, and heap memory by the call that allocates it; parts of objects are told
//! apart by their offset in bytes. Only functions that can be reached are looked at, and calls by pointer are resolved as the analysis goes on. Functions that pass
//! memory on get a context for each of their calls ([`contexts`]). What is done with addresses outside of the program is told
//! by [`Effect`]; what is not known goes to one node, [`PointsTo::foreign`], which may hold and write whatever it gets.

mod bits;
mod contexts;
mod methods;
mod objects;
mod solver;

pub use objects::{ContextId, Kind, ObjectId, PlaceId};

use crate::facts::{
    Act, Call, Distance, Effect, Facts, FunctionId, GlobalId, Operand, Part, Signature, Slot,
};
use contexts::{Cloned, DEPTH};
use methods::Methods;
use objects::{ANYWHERE, Objects, Outlet, Target};
use solver::{Graph, Node, Rule};

/// Functions that are called by the C library or the unwinder, with addresses of their own memory. (The second is what the
/// instrumentation makes of the first.)
const ENTRIES: &[&str] = &["main", "__lr_program_main", "rust_eh_personality"];

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
    /// The node of its first slot; those of its results are behind its slots.
    base: Node,
    /// The context that calls it, if it is of that call alone.
    caller: Option<ContextId>,
    depth: u32,
}

/// A call that may have several callees.
#[derive(Clone, Debug)]
struct Pending {
    context: Option<ContextId>,
    arguments: Vec<Operand>,
    result: (Slot, u32),
    gives_address: bool,
    signature: Option<Signature>,
    /// Called by pointer with nodes instead of operands: arguments, result.
    nodes: Option<(Vec<Option<Node>>, Option<Node>)>,
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

/// Pairs of places for which it is told apart what a copy of memory moves where.
const PAIRS: u32 = 1000;

/// Places that rules are applied to before the analysis is given up.
const WORK: usize = 20_000_000;

/// The result.
#[derive(Debug)]
pub struct PointsTo<'f> {
    facts: &'f Facts,
    graph: Graph,
    objects: Objects,
    contexts: Vec<Context>,
    /// The contexts of each function.
    of_function: Vec<Vec<ContextId>>,
    /// The context of a function that calls without one of their own share.
    common: Vec<Option<ContextId>>,
    to_generate: Vec<ContextId>,
    cloned: Cloned,
    methods: Methods,
    /// Acts that contexts of their own may still cost.
    budget: usize,
    global_objects: Vec<Option<ObjectId>>,
    function_places: Vec<Option<PlaceId>>,
    calls: Vec<Pending>,
    copies: Vec<Copying>,
    /// The object of all constants that hold no addresses.
    data: ObjectId,
    foreign: Node,
    library: Node,
    thrown: Node,
    keys: Node,
    threads: Node,
    /// What the harness is given.
    tests: Node,
}

impl<'f> PointsTo<'f> {
    /// Analyses a program from its entries on.
    ///
    /// `None` when it takes more than [`WORK`]: a program whose pointers are that much mixed up gains nothing by it.
    #[must_use]
    pub fn of(facts: &'f Facts) -> Option<Self> {
        let count = facts.functions.len();
        let mut graph = Graph::default();
        let foreign = graph.add(6);
        let acts = facts.functions.iter().flat_map(|f| &f.body).map(|b| b.acts.len()).sum();
        let mut this = Self {
            facts,
            graph,
            objects: Objects::default(),
            contexts: Vec::new(),
            of_function: vec![Vec::new(); count],
            common: vec![None; count],
            to_generate: Vec::new(),
            cloned: Cloned::of(facts),
            methods: Methods::of(facts),
            budget: acts,
            global_objects: vec![None; facts.globals.len()],
            function_places: vec![None; count],
            calls: Vec::new(),
            copies: Vec::new(),
            data: 0,
            foreign,
            thrown: foreign + 1,
            keys: foreign + 2,
            threads: foreign + 3,
            library: foreign + 4,
            tests: foreign + 5,
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
        let library = self.objects.add(Kind::Library, None);
        let place = self.objects.place(library, None);
        self.objects.objects[library as usize].all = Some(self.library);
        self.objects.places[place as usize].content = Some(self.library);
        self.graph.point(self.library, place);
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

    /// Those who are not known call a function.
    fn enter_from_outside(&mut self, function: FunctionId) {
        let it = &self.facts.functions[function as usize];
        if it.body.is_none() {
            return;
        }
        let context = self.common_context(function);
        let base = self.contexts[context as usize].base;
        // What `main` is given is the C library's.
        let given = if ENTRIES.contains(&it.name.as_str()) { self.library } else { self.foreign };
        for parameter in 0..it.parameters {
            self.graph.copy(given, base + parameter);
        }
        let results = base + it.body.as_ref().map_or(0, |b| b.slots);
        for result in 0..it.results {
            self.graph.copy(results + result, self.foreign);
        }
    }

    /// Whether it came to an end.
    fn solve(&mut self) -> bool {
        let mut work_done = 0;
        loop {
            while let Some(context) = self.to_generate.pop() {
                self.generate(context);
            }
            let Some(work) = self.graph.wave() else { return true };
            for (rules, places) in work {
                work_done += places.len() * rules.len();
                if work_done > WORK {
                    return false;
                }
                for place in places.iter() {
                    for &rule in &rules {
                        self.apply(rule, place);
                    }
                }
            }
        }
    }

    // Contexts.

    fn common_context(&mut self, function: FunctionId) -> ContextId {
        if let Some(context) = self.common[function as usize] {
            return context;
        }
        let context = self.add_context(function, None, 0);
        self.common[function as usize] = Some(context);
        context
    }

    fn add_context(
        &mut self,
        function: FunctionId,
        caller: Option<ContextId>,
        depth: u32,
    ) -> ContextId {
        let it = &self.facts.functions[function as usize];
        let slots = it.body.as_ref().map_or(0, |b| b.slots);
        let base = self.graph.add(slots + it.results);
        let id = self.contexts.len() as ContextId;
        self.contexts.push(Context { function, base, caller, depth });
        self.of_function[function as usize].push(id);
        self.to_generate.push(id);
        id
    }

    /// The context in which a direct call runs its callee.
    fn context_of_call(&mut self, caller: ContextId, function: FunctionId) -> ContextId {
        let Context { depth, .. } = self.contexts[caller as usize];
        let acts =
            self.facts.functions[function as usize].body.as_ref().map_or(0, |b| b.acts.len());
        if depth < DEPTH
            && self.cloned.may(function)
            && acts <= self.budget
            && !self.runs(caller, function)
        {
            self.budget -= acts;
            return self.add_context(function, Some(caller), depth + 1);
        }
        self.common_context(function)
    }

    /// Whether a function is being called in this chain of contexts.
    fn runs(&self, context: ContextId, function: FunctionId) -> bool {
        let mut at = Some(context);
        while let Some(context) = at {
            let it = &self.contexts[context as usize];
            if it.function == function {
                return true;
            }
            at = it.caller;
        }
        false
    }

    fn generate(&mut self, context: ContextId) {
        let facts = self.facts;
        let Context { function, base, .. } = self.contexts[context as usize];
        let Some(body) = &facts.functions[function as usize].body else { return };
        for act in &body.acts {
            match act {
                Act::Variable { result, size } => {
                    let object = self.objects.add(Kind::Variable(context, *result), *size);
                    let place = self.objects.place(object, Some(0));
                    self.graph.point(base + result, place);
                }
                Act::Copy { result, from } => self.flow(context, *from, base + result),
                Act::Offset { result, from, distance: Distance::Exactly(0) } => {
                    self.flow(context, *from, base + result);
                }
                Act::Offset { result, from, distance } => {
                    self.rule(Some(context), *from, Rule::Offset(base + result, *distance));
                }
                Act::Load { address, parts } => {
                    for &Part { offset, size, operand } in parts {
                        if let Operand::Slot(slot) = operand {
                            let rule = Rule::Load { to: base + slot, offset, size };
                            self.rule(Some(context), *address, rule);
                        }
                    }
                }
                Act::Store { address, parts } => {
                    for &Part { offset, size, operand } in parts {
                        let from = self.node(context, operand);
                        self.rule(Some(context), *address, Rule::Store { from, offset, size });
                    }
                }
                Act::CopyMemory { to, from, bytes } => {
                    self.copy_memory(context, *to, *from, *bytes);
                }
                Act::Call(call) => self.call(context, call),
                Act::Pair { data, with } => self.pair(context, *data, *with),
                Act::Return(values) => {
                    for (i, &value) in values.iter().enumerate() {
                        self.flow(context, value, base + body.slots + i as u32);
                    }
                }
                Act::Throw(value) => self.flow(context, *value, self.thrown),
                Act::Catch(result) => self.graph.copy(self.thrown, base + result),
                Act::Escape(value) => self.flow(context, *value, self.foreign),
                Act::Unknown(result) => self.graph.copy(self.foreign, base + result),
            }
        }
    }

    // Operands.

    /// An operand goes to a node.
    fn flow(&mut self, context: ContextId, from: Operand, to: Node) {
        match from {
            Operand::Nothing => {}
            Operand::Slot(slot) => {
                let base = self.contexts[context as usize].base;
                self.graph.copy(base + slot, to);
            }
            _ => {
                let place = self.place_of_constant(from);
                self.graph.point(to, place);
            }
        }
    }

    /// A node that points where an operand does.
    fn node(&mut self, context: ContextId, operand: Operand) -> Node {
        if let Operand::Slot(slot) = operand {
            return self.contexts[context as usize].base + slot;
        }
        let node = self.graph.add(1);
        self.flow(context, operand, node);
        node
    }

    /// A rule of an operand.
    fn rule(&mut self, context: Option<ContextId>, operand: Operand, rule: Rule) {
        match (operand, context) {
            (Operand::Nothing, _) => {}
            (Operand::Slot(slot), Some(context)) => {
                let base = self.contexts[context as usize].base;
                self.add_rule(base + slot, rule);
            }
            _ => {
                let place = self.place_of_constant(operand);
                self.apply(rule, place);
            }
        }
    }

    fn add_rule(&mut self, node: Node, rule: Rule) {
        for place in self.graph.rule(node, rule) {
            self.apply(rule, place);
        }
    }

    fn place_of_constant(&mut self, operand: Operand) -> PlaceId {
        match operand {
            Operand::Global(id, bytes) => self.place_of_global(id, bytes),
            Operand::Function(id) => self.place_of_function(id),
            Operand::Nothing | Operand::Slot(_) => unreachable!("not a constant"),
        }
    }

    fn place_of_function(&mut self, id: FunctionId) -> PlaceId {
        if let Some(place) = self.function_places[id as usize] {
            return place;
        }
        let object = self.objects.add(Kind::Function(id), None);
        let place = self.objects.place(object, None);
        self.function_places[id as usize] = Some(place);
        place
    }

    fn place_of_global(&mut self, id: GlobalId, bytes: Option<i64>) -> PlaceId {
        if let Some(object) = self.global_objects[id as usize] {
            return self.objects.place(object, bytes);
        }
        let global = &self.facts.globals[id as usize];
        if global.is_constant && !global.is_foreign && global.initial.is_empty() {
            self.global_objects[id as usize] = Some(self.data);
            return self.objects.place(self.data, None);
        }
        let object = self.objects.add(Kind::Global(id), Some(global.size));
        self.global_objects[id as usize] = Some(object);
        for &(offset, operand) in &global.initial {
            let place = self.objects.place(object, Some(offset as i64));
            let content = self.content(place);
            let address = self.place_of_constant(operand);
            self.graph.point(content, address);
        }
        self.objects.place(object, bytes)
    }

    // What is in objects.

    /// The node of what a place holds.
    fn content(&mut self, place: PlaceId) -> Node {
        let it = self.objects.places[place as usize];
        if let Some(content) = it.content {
            return content;
        }
        if let Some(same) = it.same {
            return self.content(same);
        }
        let content = self.graph.add(1);
        self.objects.places[place as usize].content = Some(content);
        let places = self.objects.objects[it.object as usize].places.clone();
        for (offset, other) in places {
            let Some(other) = self.objects.places[other as usize].content else { continue };
            if it.offset == ANYWHERE && offset != ANYWHERE {
                self.graph.copy(content, other);
            } else if offset == ANYWHERE && it.offset != ANYWHERE {
                self.graph.copy(other, content);
            }
        }
        for outlet in self.objects.objects[it.object as usize].outlets.clone() {
            self.let_out(it.object, it.offset, content, outlet);
        }
        content
    }

    /// What a place at an offset holds goes where an outlet says, if it is in its part.
    fn let_out(&mut self, source: ObjectId, offset: u32, content: Node, outlet: Outlet) {
        let Outlet { range: (start, end), target } = outlet;
        let stride = self.objects.objects[source as usize].stride;
        // How far behind the beginning of the part it is, first, and then again and again.
        let distance = match (offset, stride) {
            (ANYWHERE, _) => None,
            (_, 0) if (start..end).contains(&offset) => Some(offset - start),
            (_, 0) => return,
            _ => {
                let first = (i64::from(offset) - i64::from(start)).rem_euclid(i64::from(stride));
                if i64::from(start) + first >= i64::from(end) {
                    return;
                }
                Some(first as u32)
            }
        };
        match target {
            Target::Node(node) => self.graph.copy(content, node),
            Target::Place(object, first) => {
                let repeats = stride > 0 && end - start > stride;
                let known = distance.filter(|_| first != ANYWHERE);
                let known = known.filter(|_| !repeats || self.fold(object, stride));
                let to = known.map(|distance| i64::from(first) + i64::from(distance));
                let to = self.objects.place(object, to);
                let to = self.content(to);
                self.graph.copy(content, to);
            }
        }
    }

    /// Takes the places of an object that are multiples of so many bytes apart for the same, if it looks like an array.
    fn fold(&mut self, object: ObjectId, stride: u32) -> bool {
        if !matches!(self.objects.objects[object as usize].kind, Kind::Heap(..)) {
            return false;
        }
        if self.objects.objects[object as usize].stride == stride {
            return true;
        }
        let merged = self.objects.fold(object, stride);
        for (place, same) in merged {
            if let Some(content) = self.objects.places[place as usize].content {
                let same = self.content(same);
                self.graph.copy(content, same);
                self.graph.copy(same, content);
            }
        }
        // What is in it goes to more places now.
        let it = &self.objects.objects[object as usize];
        for outlet in it.outlets.clone() {
            for (offset, place) in self.objects.objects[object as usize].places.clone() {
                if let Some(content) = self.objects.places[place as usize].content {
                    self.let_out(object, offset, content, outlet);
                }
            }
        }
        true
    }

    /// What is in a part of an object goes somewhere, now and later.
    fn add_outlet(&mut self, object: ObjectId, outlet: Outlet) {
        let it = &mut self.objects.objects[object as usize];
        if !it.outlets.insert(outlet) {
            return;
        }
        let places = it.places.clone();
        for (offset, place) in places {
            if let Some(content) = self.objects.places[place as usize].content {
                self.let_out(object, offset, content, outlet);
            }
        }
    }

    /// The node of what all places of an object hold.
    fn all(&mut self, object: ObjectId) -> Node {
        if let Some(all) = self.objects.objects[object as usize].all {
            return all;
        }
        let all = self.graph.add(1);
        self.objects.objects[object as usize].all = Some(all);
        self.add_outlet(object, Outlet { range: (0, ANYWHERE), target: Target::Node(all) });
        all
    }

    /// Whether an object holds no addresses and is not written.
    fn is_inert(&self, object: ObjectId) -> bool {
        matches!(self.objects.objects[object as usize].kind, Kind::Function(_) | Kind::Data)
    }

    fn apply(&mut self, rule: Rule, place: PlaceId) {
        let objects::Place { object, offset, .. } = self.objects.places[place as usize];
        let further =
            |bytes: u32| (offset != ANYWHERE).then(|| i64::from(offset) + i64::from(bytes));
        match rule {
            Rule::Offset(to, distance) => {
                let moved = match distance {
                    _ if offset == ANYWHERE => None,
                    Distance::Exactly(bytes) => Some(i64::from(offset).saturating_add(bytes)),
                    Distance::Multiples(bytes, stride)
                        if stride % 8 == 0 && self.fold(object, stride) =>
                    {
                        Some(i64::from(offset).saturating_add(bytes))
                    }
                    _ => None,
                };
                let place = self.objects.place(object, moved);
                self.graph.point(to, place);
            }
            Rule::Call(call) => match self.objects.objects[object as usize].kind {
                Kind::Function(function) => self.enter(call, function, false),
                Kind::Foreign => self.leave(call),
                _ => {}
            },
            Rule::Escaped => self.escaped(object),
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
            _ if self.is_inert(object) => {}
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

    // Trait objects.

    /// An object is put beside a function, or a table of functions.
    fn pair(&mut self, context: ContextId, data: Operand, with: Operand) {
        if data == Operand::Nothing {
            return;
        }
        let data = self.node(context, data);
        match with {
            Operand::Function(function) => self.pair_with(data, function),
            Operand::Global(table, _) => self.pair_with_all(data, table),
            Operand::Slot(_) => self.rule(Some(context), with, Rule::Table(data)),
            Operand::Nothing => {}
        }
    }

    /// The functions of a table.
    fn pair_with_all(&mut self, data: Node, table: GlobalId) {
        let facts = self.facts;
        let global = &facts.globals[table as usize];
        for &(_, method) in global.initial.iter().filter(|_| global.is_paired) {
            if let Operand::Function(function) = method {
                self.pair_with(data, function);
            }
        }
    }

    fn pair_with(&mut self, data: Node, function: FunctionId) {
        if self.methods.is_method(function) {
            let paired = self.paired(function);
            self.graph.copy(data, paired);
        }
    }

    /// The node of what was made an object with a method.
    fn paired(&mut self, function: FunctionId) -> Node {
        if let Some(node) = self.methods.paired(function) {
            return node;
        }
        let node = self.graph.add(1);
        self.methods.set_paired(function, node);
        self.add_rule(node, Rule::Paired(function));
        node
    }

    /// Where the first argument of a call by pointer goes.
    fn first_parameter(&mut self, function: FunctionId, base: Node) -> Node {
        if !self.methods.is_method(function) {
            return base;
        }
        if let Some(node) = self.methods.offered(function) {
            return node;
        }
        let node = self.graph.add(1);
        self.methods.set_offered(function, node);
        self.add_rule(node, Rule::Offered(function));
        node
    }

    /// A method is called on a place.
    fn give_object(&mut self, function: FunctionId, place: PlaceId) {
        let context = self.common_context(function);
        let base = self.contexts[context as usize].base;
        self.graph.point(base, place);
    }

    /// Those who are not known read it, write it, and call it.
    fn escaped(&mut self, object: ObjectId) {
        match self.objects.objects[object as usize].kind {
            Kind::Foreign | Kind::Library | Kind::Data => {}
            Kind::Function(function) => {
                if self.facts.functions[function as usize].body.is_some() {
                    self.enter_from_outside(function);
                }
            }
            kind => {
                let all = self.all(object);
                self.graph.copy(all, self.foreign);
                let constant =
                    matches!(kind, Kind::Global(id) if self.facts.globals[id as usize].is_constant);
                if !constant {
                    let place = self.objects.place(object, None);
                    let content = self.content(place);
                    self.graph.copy(self.foreign, content);
                }
            }
        }
    }

    // Copies of memory.

    fn copy_memory(&mut self, context: ContextId, to: Operand, from: Operand, bytes: Option<u64>) {
        let context = Some(context);
        let copy = self.copies.len() as u32;
        self.copies.push(Copying {
            to: (context, to),
            from: (context, from),
            bytes,
            mixed: None,
            pairs: 0,
        });
        self.rule(context, to, Rule::CopyTo(copy));
        self.rule(context, from, Rule::CopyFrom(copy));
    }

    /// The node of what a copy moves, if it is not told apart.
    fn mixed(&mut self, copy: u32) -> Option<Node> {
        let Copying { bytes, mixed, pairs, to, from } = self.copies[copy as usize];
        if mixed.is_some() || bytes.is_some() && pairs < PAIRS {
            return mixed;
        }
        let node = self.graph.add(1);
        self.copies[copy as usize].mixed = Some(node);
        // Those that were told apart so far come again.
        for place in self.places_of(to) {
            self.apply(Rule::CopyTo(copy), place);
        }
        for place in self.places_of(from) {
            self.apply(Rule::CopyFrom(copy), place);
        }
        Some(node)
    }

    fn places_of(&mut self, (context, operand): (Option<ContextId>, Operand)) -> Vec<PlaceId> {
        match (operand, context) {
            (Operand::Nothing, _) => Vec::new(),
            (Operand::Slot(slot), Some(context)) => {
                let base = self.contexts[context as usize].base;
                self.graph.set(base + slot).iter().collect()
            }
            _ => vec![self.place_of_constant(operand)],
        }
    }

    /// What is at one place is copied to another.
    fn connect(&mut self, copy: u32, to: PlaceId, from: PlaceId) {
        let objects::Place { object: target, offset: first, .. } = self.objects.places[to as usize];
        let objects::Place { object: source, offset: start, .. } =
            self.objects.places[from as usize];
        if self.is_inert(source) || self.is_inert(target) {
            return;
        }
        let bytes = self.copies[copy as usize].bytes;
        self.copies[copy as usize].pairs += 1;
        if start == ANYWHERE {
            let all = self.all(source);
            let to = self.objects.place(target, None);
            let to = self.content(to);
            self.graph.copy(all, to);
            return;
        }
        let end =
            bytes.map_or(ANYWHERE, |b| start.saturating_add(u32::try_from(b).unwrap_or(ANYWHERE)));
        if source == target && first == start {
            return;
        }
        self.add_outlet(
            source,
            Outlet { range: (start, end), target: Target::Place(target, first) },
        );
    }

    // Calls.

    fn call(&mut self, context: ContextId, call: &Call) {
        let id = self.calls.len() as u32;
        self.calls.push(Pending {
            context: Some(context),
            arguments: call.arguments.clone(),
            result: call.result,
            gives_address: call.gives_address,
            signature: Some(call.signature),
            nodes: None,
            bound: Vec::new(),
        });
        match call.callee {
            Operand::Function(function) => self.enter(id, function, true),
            callee => self.rule(Some(context), callee, Rule::Call(id)),
        }
    }

    /// A call by someone outside of a function that the operand may point to.
    fn call_back(
        &mut self,
        context: ContextId,
        callee: Operand,
        arguments: Vec<Option<Node>>,
        result: Option<Node>,
    ) {
        let id = self.calls.len() as u32;
        self.calls.push(Pending {
            context: None,
            arguments: Vec::new(),
            result: (0, 0),
            gives_address: false,
            signature: None,
            nodes: Some((arguments, result)),
            bound: Vec::new(),
        });
        self.rule(Some(context), callee, Rule::Call(id));
    }

    /// A call by someone outside of a function whose address is in memory.
    fn call_stored(
        &mut self,
        context: ContextId,
        at: Operand,
        offset: u32,
        arguments: Vec<Option<Node>>,
    ) {
        let callee = self.graph.add(1);
        self.rule(Some(context), at, Rule::Load { to: callee, offset, size: 8 });
        let id = self.calls.len() as u32;
        self.calls.push(Pending {
            context: None,
            arguments: Vec::new(),
            result: (0, 0),
            gives_address: false,
            signature: None,
            nodes: Some((arguments, None)),
            bound: Vec::new(),
        });
        self.add_rule(callee, Rule::Call(id));
    }

    /// A call has one more callee.
    fn enter(&mut self, call: u32, function: FunctionId, direct: bool) {
        let pending = &mut self.calls[call as usize];
        if pending.bound.contains(&function) {
            return;
        }
        pending.bound.push(function);
        let Pending {
            context,
            arguments,
            result: (first, results),
            nodes,
            gives_address,
            signature,
            ..
        } = pending.clone();
        let it = &self.facts.functions[function as usize];
        if it.is_harness {
            if let Some(context) = context {
                for argument in arguments {
                    self.flow(context, argument, self.tests);
                }
            }
            return;
        }
        if !direct && signature.is_some() && it.signature.is_some() && signature != it.signature {
            return;
        }
        let Some(body) = &it.body else {
            if let Some(context) = context {
                self.external(
                    context,
                    function,
                    &arguments,
                    (results > 0).then_some(first),
                    gives_address,
                );
            } else if let Some((arguments, _)) = nodes {
                for argument in arguments.into_iter().flatten() {
                    self.graph.copy(argument, self.foreign);
                }
            }
            return;
        };
        if let Some((arguments, result)) = nodes {
            let callee = self.common_context(function);
            let base = self.contexts[callee as usize].base;
            for (i, argument) in arguments.into_iter().enumerate().take(it.parameters as usize) {
                if let Some(argument) = argument {
                    self.graph.copy(argument, base + i as u32);
                }
            }
            if let Some(to) = result
                && it.results > 0
            {
                self.graph.copy(base + body.slots, to);
            }
            return;
        }
        let Some(context) = context else { return };
        let callee = if direct {
            self.context_of_call(context, function)
        } else {
            self.common_context(function)
        };
        let base = self.contexts[callee as usize].base;
        for (i, &argument) in arguments.iter().enumerate().take(it.parameters as usize) {
            let to = match i {
                0 if !direct => self.first_parameter(function, base),
                _ => base + i as u32,
            };
            self.flow(context, argument, to);
        }
        for &argument in arguments.iter().skip(it.parameters as usize) {
            self.flow(context, argument, self.foreign);
        }
        let own = self.contexts[context as usize].base;
        for i in 0..results.min(it.results) {
            self.graph.copy(base + body.slots + i, own + first + i);
        }
    }

    /// A call goes to a function of those who are not known.
    fn leave(&mut self, call: u32) {
        let Pending { context, arguments, result: (first, results), nodes, gives_address, .. } =
            self.calls[call as usize].clone();
        if let Some((arguments, _)) = nodes {
            for argument in arguments.into_iter().flatten() {
                self.graph.copy(argument, self.foreign);
            }
        }
        let Some(context) = context else { return };
        for argument in arguments {
            self.flow(context, argument, self.foreign);
        }
        if gives_address && results > 0 {
            let base = self.contexts[context as usize].base;
            self.graph.copy(self.foreign, base + first);
        }
    }

    fn external(
        &mut self,
        context: ContextId,
        function: FunctionId,
        arguments: &[Operand],
        result: Option<Slot>,
        gives_address: bool,
    ) {
        let base = self.contexts[context as usize].base;
        let result_node = result.map(|r| base + r);
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Operand::Nothing);
        let fresh = |this: &mut Self| {
            let object = this.objects.add(Kind::Heap(context, result.unwrap_or(0)), None);
            this.objects.place(object, Some(0))
        };
        match Effect::of(&self.facts.functions[function as usize].name) {
            Effect::Nothing => {
                if let Some(result) = result_node.filter(|_| gives_address) {
                    self.graph.copy(self.library, result);
                }
            }
            Effect::Fresh => {
                let place = fresh(self);
                if let Some(result) = result_node {
                    self.graph.point(result, place);
                }
            }
            Effect::FreshAtFirst => {
                let place = fresh(self);
                let from = self.graph.add(1);
                self.graph.point(from, place);
                self.rule(Some(context), argument(0), Rule::Store { from, offset: 0, size: 8 });
            }
            Effect::Moves => {
                let place = fresh(self);
                let Some(result) = result else { return };
                self.graph.point(base + result, place);
                self.copy_memory(context, Operand::Slot(result), argument(0), Some(u64::MAX));
            }
            Effect::SameAsFirst => {
                if let Some(result) = result_node {
                    self.rule(Some(context), argument(0), Rule::Offset(result, Distance::Unknown));
                }
            }
            Effect::Copies => {
                self.copy_memory(context, argument(0), argument(1), None);
                if let Some(result) = result_node {
                    self.rule(Some(context), argument(0), Rule::Offset(result, Distance::Unknown));
                }
            }
            Effect::StartsThread => {
                self.flow(context, argument(3), self.threads);
                let passed = self.node(context, argument(3));
                self.call_back(context, argument(2), vec![Some(passed)], None);
            }
            Effect::CallsFirst => {
                let passed = self.node(context, argument(1));
                self.call_back(context, argument(0), vec![Some(passed)], None);
            }
            Effect::Visits => {
                let passed = self.node(context, argument(1));
                let library = Some(self.library);
                // The visitors have two or three parameters; what is passed on comes last.
                self.call_back(context, argument(0), vec![library, Some(passed)], None);
                self.call_back(context, argument(0), vec![library, None, Some(passed)], None);
            }
            Effect::CallsSecond => self.call_back(context, argument(1), vec![None], None),
            Effect::MakesKey => {
                self.call_back(context, argument(1), vec![Some(self.keys)], None);
            }
            Effect::KeepsForThread => self.flow(context, argument(1), self.keys),
            Effect::KeptForThread => {
                if let Some(result) = result_node {
                    self.graph.copy(self.keys, result);
                }
            }
            Effect::Throws => self.flow(context, argument(0), self.thrown),
            Effect::DropsException => {
                let exception = self.node(context, argument(0));
                self.call_stored(context, argument(0), 8, vec![None, Some(exception)]);
            }
            Effect::Handles => {
                let library = Some(self.library);
                self.call_stored(context, argument(1), 0, vec![None, library, library]);
            }
            Effect::Anything => {
                for &argument in arguments {
                    self.flow(context, argument, self.foreign);
                }
                if let Some(result) = result_node {
                    self.graph.copy(self.foreign, result);
                }
            }
        }
    }

    // Answers.

    /// Each object that a slot of a function may point into, in any context.
    #[must_use]
    pub fn objects_of(&self, function: FunctionId, slot: Slot) -> Vec<ObjectId> {
        let contexts = &self.of_function[function as usize];
        let mut objects: Vec<ObjectId> = contexts
            .iter()
            .flat_map(|&c| self.graph.set(self.contexts[c as usize].base + slot).iter())
            .map(|place| self.objects.places[place as usize].object)
            .collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// The object of a global variable, if any function that can be reached uses it.
    #[must_use]
    pub fn object_of_global(&self, global: GlobalId) -> Option<ObjectId> {
        self.global_objects[global as usize]
    }

    /// What an object is.
    #[must_use]
    pub fn kind(&self, object: ObjectId) -> Kind {
        self.objects.objects[object as usize].kind
    }

    /// The number of objects: they are counted from 0.
    #[must_use]
    pub fn object_count(&self) -> usize {
        self.objects.objects.len()
    }

    /// The objects that those who are not known may reach directly.
    #[must_use]
    pub fn foreign(&self) -> Vec<ObjectId> {
        self.objects_in(self.foreign)
    }

    /// The objects that threads were started with.
    #[must_use]
    pub fn given_to_threads(&self) -> Vec<ObjectId> {
        self.objects_in(self.threads)
    }

    /// The objects whose addresses an object holds.
    #[must_use]
    pub fn held_by(&self, object: ObjectId) -> Vec<ObjectId> {
        let places = &self.objects.objects[object as usize].places;
        let mut all: Vec<ObjectId> = places
            .iter()
            .filter_map(|(_, place)| self.objects.places[*place as usize].content)
            .flat_map(|content| self.objects_in(content))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn objects_in(&self, node: Node) -> Vec<ObjectId> {
        let mut all: Vec<ObjectId> = self
            .graph
            .set(node)
            .iter()
            .map(|place| self.objects.places[place as usize].object)
            .collect();
        all.dedup();
        all
    }
}
