//! Memory that its function has just made, and given to nobody: what is accessed there is
//! initialised, before it is published.
//!
//! New memory is a stack variable, or what a function gives that allocates it and keeps no copy of
//! its address. It is published where its address, or one that is computed of it, is stored,
//! whatever it is stored to, or passed to who keeps it. That is a forward analysis of each function
//! by itself: at a point, new memory is private if no way from where it was made last leads through
//! a point that publishes it.

use super::Input;
use super::places::{Offsets, offsets};
use crate::facts::flow::{BlockId, Flow, Point, Step, Value};
use crate::facts::{Call, Effect, Facts, FunctionId, Operand, Register, Statement};
use crate::locksets::{Computed, Private, point_of};
use crate::points_to::PointsTo;
use lockred_protocol::plan::Flaw;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// An atomic operation that writes.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// Its block.
    pub block: BlockId,
    /// Where it is.
    pub point: Point,
    /// What it may write.
    pub values: [Option<Register>; 2],
}

/// See the module.
#[derive(Debug, Default)]
pub struct Fresh {
    /// Accesses to such memory: the point of each, and its number among those of the instruction.
    accesses: HashSet<(Point, usize)>,
    /// Calls that are passed addresses in such memory, and do not publish it: the point of each,
    /// and the number of the argument.
    calls: HashSet<(Point, usize)>,
}

impl Fresh {
    /// Looks at a program. O(steps and uses of addresses, and blocks · memory made, by function).
    pub fn of(input: &Input<'_>) -> Self {
        let Input { facts, flows, sharing, locksets, stored, flaw, .. } = *input;
        let (points_to, private) = (&sharing.points_to, locksets.private());
        let (gives, found) = (vec![None; flows.len()], Self::default());
        let mut search = Search { facts, flows, points_to, private, stored, flaw, gives, found };
        for function in (0..flows.len() as FunctionId).filter(|&f| points_to.is_reached(f)) {
            search.look(function);
        }
        search.found
    }

    /// Whether a call gets an address in such memory, and nobody learns of that until it returns.
    pub fn passes(&self, point: Point, number: usize) -> bool {
        self.calls.contains(&(point, number))
    }

    /// Whether an access is to such memory.
    pub fn has(&self, point: Point, number: usize) -> bool {
        self.accesses.contains(&(point, number))
    }
}

struct Search<'a> {
    facts: &'a Facts,
    flows: &'a [Flow],
    points_to: &'a PointsTo<'a>,
    private: &'a Private,
    stored: &'a HashMap<FunctionId, Vec<Stored>>,
    flaw: Option<Flaw>,
    /// By function, once it was looked at: whether each scalar of its result is the address of new
    /// memory.
    gives: Vec<Option<Vec<bool>>>,
    /// What was found in functions that were looked at.
    found: Fresh,
}

impl<'a> Search<'a> {
    /// Whether a scalar of a function's result is the address of memory that it has made and given
    /// nobody of, if it is one at all.
    fn gives(&mut self, function: FunctionId, number: usize) -> bool {
        self.look(function);
        let known = self.gives[function as usize].as_ref();
        known.and_then(|given| given.get(number).copied()).unwrap_or(false)
    }

    /// Looks at a function, and before at those that it gets memory from.
    fn look(&mut self, function: FunctionId) {
        if self.gives[function as usize].is_some() {
            return;
        }
        // Who calls itself is not followed.
        self.gives[function as usize] = Some(Vec::new());
        let it = &self.facts.functions[function as usize];
        let given = match it.body {
            None => vec![Effect::of(&it.name) == Effect::Fresh],
            Some(_) => {
                let body = self.body(function);
                body.map(|body| {
                    body.find(&mut self.found);
                    body.given()
                })
                .unwrap_or_default()
            }
        };
        self.gives[function as usize] = Some(given);
    }

    /// What a function makes; `None` if that is nothing.
    fn body(&mut self, function: FunctionId) -> Option<Body<'a>> {
        let flow = &self.flows[function as usize];
        let mut made = BTreeMap::new();
        for (block, it) in flow.blocks.iter().enumerate() {
            for step in &it.steps {
                match step {
                    Step::Variable(register) if block == 0 => {
                        made.insert(*register, None);
                    }
                    Step::Call(call) => {
                        let Value::Function(callee) = call.callee else { continue };
                        for number in 0..call.result.1 {
                            if self.gives(callee, number as usize) {
                                made.insert(call.result.0 + number, Some(call.point));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        self.filled(function, flow, &mut made);
        (!made.is_empty()).then(|| Body::of(self, function, made))
    }

    /// Memory whose address an allocator writes to a variable that is used for nothing else, and
    /// read once.
    fn filled(
        &self,
        function: FunctionId,
        flow: &Flow,
        made: &mut BTreeMap<Register, Option<Point>>,
    ) {
        let statements =
            self.facts.functions[function as usize].body.iter().flat_map(|b| &b.statements);
        let statements: Vec<&Statement> = statements.collect();
        let filled = statements.iter().filter_map(|statement| match statement {
            Statement::Call(call) if self.fills(call) => call.arguments.first(),
            _ => None,
        });
        let variables: BTreeSet<Register> = filled
            .filter_map(|operand| match operand {
                Operand::Register(register) => {
                    made.get(register).filter(|point| point.is_none()).map(|_| *register)
                }
                _ => None,
            })
            .collect();
        for variable in variables {
            let is_it = |operand: &Operand| *operand == Operand::Register(variable);
            let mut filled = 0;
            let mut reads = 0;
            let others = statements.iter().any(|statement| match statement {
                Statement::Load { address, .. } if is_it(address) => {
                    reads += 1;
                    false
                }
                Statement::Call(call) if call.arguments.first().is_some_and(is_it) => {
                    filled += 1;
                    !self.fills(call) || call.arguments[1..].iter().any(is_it)
                }
                // No address is moved.
                Statement::Access(_) => false,
                // It may be cleared before.
                Statement::Store { address, parts } if is_it(address) => {
                    parts.iter().any(|part| part.operand != Operand::Nothing)
                }
                statement => {
                    let mut found = false;
                    statement.operands(&mut |operand| found |= is_it(&operand));
                    found
                }
            });
            if others || filled != 1 || reads != 1 {
                continue;
            }
            for step in flow.blocks.iter().flat_map(|block| &block.steps) {
                if let Step::Load { address: Value::Register(register), parts, point: Some(point) } =
                    step
                    && *register == variable
                    && let [part] = parts[..]
                    && part.offset == 0
                {
                    made.insert(part.value, Some(*point));
                }
            }
        }
    }

    /// Whether a call writes the address of new memory to its first argument.
    fn fills(&self, call: &Call) -> bool {
        let Operand::Function(callee) = call.callee else { return false };
        Effect::of(&self.facts.functions[callee as usize].name) == Effect::FreshAtFirst
    }

    /// The arguments that a call keeps.
    fn kept<T: Copy>(
        &self,
        callee: Option<FunctionId>,
        arguments: &[T],
    ) -> impl Iterator<Item = T> {
        let count = arguments.len();
        let keeps = move |&(n, _): &(usize, &T)| self.private.keeps(self.facts, callee, count, n);
        arguments.iter().enumerate().filter(keeps).map(|(_, argument)| *argument)
    }
}

/// What happens to new memory at a point, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    Published,
    Made,
}

/// What an address was followed back through.
#[derive(Default)]
struct Walk {
    /// Where ways meet.
    merged: BTreeSet<Register>,
    /// It may be in memory that the function has made.
    made: bool,
}

/// A function that makes memory.
struct Body<'a> {
    function: FunctionId,
    flow: &'a Flow,
    points_to: &'a PointsTo<'a>,
    /// By register that holds its address first: what it is called here.
    made: BTreeMap<Register, usize>,
    /// What computes a register of another one.
    offsets: Offsets,
    /// What is one of several values where ways meet.
    merges: HashMap<Register, &'a [(BlockId, Value)]>,
    /// By block and memory, in the order of the points.
    events: BTreeSet<(usize, usize, Point, Event)>,
    /// By memory: whether it is published anywhere.
    reported: Vec<bool>,
    /// By block: which memory may be published at its beginning.
    published: Vec<Option<Vec<bool>>>,
}

impl<'a> Body<'a> {
    fn of(
        search: &Search<'a>,
        function: FunctionId,
        made: BTreeMap<Register, Option<Point>>,
    ) -> Self {
        let flow = &search.flows[function as usize];
        let registers: Vec<(Register, Option<Point>)> = made.into_iter().collect();
        let merges = flow.blocks.iter().flat_map(|block| &block.merges);
        let mut body = Self {
            function,
            flow,
            points_to: search.points_to,
            made: registers
                .iter()
                .enumerate()
                .map(|(number, (register, _))| (*register, number))
                .collect(),
            offsets: offsets(flow),
            merges: merges.map(|(register, values)| (*register, &values[..])).collect(),
            events: BTreeSet::new(),
            reported: vec![false; registers.len()],
            published: vec![None; flow.blocks.len()],
        };
        for number in body.publish(search) {
            body.made.remove(&registers[number].0);
        }
        let mut at: HashMap<Point, Vec<usize>> = HashMap::new();
        for (number, &(_, point)) in registers.iter().enumerate() {
            if let Some(point) = point {
                at.entry(point).or_default().push(number);
            }
        }
        for (block, it) in flow.blocks.iter().enumerate() {
            for point in it.steps.iter().filter_map(point_of) {
                let made = at.get(&point).into_iter().flatten();
                body.events.extend(made.map(|&number| (block, number, point, Event::Made)));
            }
        }
        if search.flaw == Some(Flaw::NothingIsPublished) {
            body.events.retain(|event| event.3 == Event::Made);
        }
        for event in body.events.iter().filter(|event| event.3 == Event::Published) {
            body.reported[event.1] = true;
        }
        body.solve(registers.len());
        body
    }

    /// Finds where memory is published. Gives that of which some such points are not known.
    fn publish(&mut self, search: &Search<'_>) -> BTreeSet<usize> {
        let body = &search.facts.functions[self.function as usize].body;
        let statements = || body.iter().flat_map(|body| &body.statements);
        let computed = Computed::of(statements());
        let mut holds: HashMap<Register, Vec<usize>> = HashMap::new();
        for (&register, &number) in &self.made {
            for register in computed.from(register) {
                holds.entry(register).or_default().push(number);
            }
        }
        let in_register = |register: Register| holds.get(&register).into_iter().flatten().copied();
        let in_operand = |operand: Operand| {
            let register = match operand {
                Operand::Register(register) => Some(register),
                _ => None,
            };
            register.into_iter().flat_map(in_register)
        };
        let in_value = |value: Value| {
            let register = match value {
                Value::Register(register) => Some(register),
                _ => None,
            };
            register.into_iter().flat_map(in_register)
        };
        // By memory: how often the statements publish it, less how often the steps do.
        let mut missing = vec![0_isize; self.reported.len()];
        let mut unknown = BTreeSet::new();
        for statement in statements() {
            match statement {
                Statement::Store { parts, .. } => {
                    let stored = parts.iter().flat_map(|part| in_operand(part.operand));
                    stored.for_each(|number| missing[number] += 1);
                }
                Statement::Call(call) => {
                    unknown.extend(in_operand(call.callee));
                    let callee = match call.callee {
                        Operand::Function(callee) => Some(callee),
                        _ => None,
                    };
                    let kept = search.kept(callee, &call.arguments).flat_map(in_operand);
                    kept.for_each(|number| missing[number] += 1);
                }
                Statement::Escape(operand) => unknown.extend(in_operand(*operand)),
                _ => {}
            }
        }
        let mut published = |block: usize, point: Point, number: usize| {
            missing[number] -= 1;
            self.events.insert((block, number, point, Event::Published));
        };
        for (block, it) in self.flow.blocks.iter().enumerate() {
            for step in &it.steps {
                match step {
                    Step::Store { parts, point: Some(point), .. } => {
                        let stored = parts.iter().flat_map(|part| in_value(part.value));
                        stored.for_each(|number| published(block, *point, number));
                    }
                    Step::Call(call) => {
                        let callee = match call.callee {
                            Value::Function(callee) => Some(callee),
                            _ => None,
                        };
                        let kept = search.kept(callee, &call.arguments).flat_map(in_value);
                        kept.for_each(|number| published(block, call.point, number));
                    }
                    _ => {}
                }
            }
        }
        for stored in search.stored.get(&self.function).into_iter().flatten() {
            let registers =
                stored.values.iter().flatten().flat_map(|&register| in_register(register));
            registers.for_each(|number| published(stored.block as usize, stored.point, number));
        }
        unknown.extend((0..missing.len()).filter(|&number| missing[number] != 0));
        unknown
    }

    /// Which memory may be published at the beginning of each block.
    fn solve(&mut self, count: usize) {
        let mut open: Vec<BlockId> = Vec::new();
        if let Some(first) = self.published.first_mut() {
            *first = Some(vec![false; count]);
            open.push(0);
        }
        while let Some(block) = open.pop() {
            let Some(mut state) = self.published[block as usize].clone() else { continue };
            let beginning = |block| (block as usize, 0, 0, Event::Published);
            let here = self.events.range(beginning(block)..beginning(block + 1));
            for &(_, number, _, event) in here {
                state[number] = event == Event::Published;
            }
            for next in self.flow.blocks[block as usize].end.successors() {
                let known = &mut self.published[next as usize];
                let changed = match known {
                    None => {
                        *known = Some(state.clone());
                        true
                    }
                    Some(known) => {
                        known.iter_mut().zip(&state).fold(false, |changed, (known, new)| {
                            let more = *new && !*known;
                            *known |= *new;
                            changed | more
                        })
                    }
                };
                if changed {
                    open.push(next);
                }
            }
        }
    }

    /// Whether some memory is private before a point of a block; `None`: at its end.
    fn is_private(&self, block: usize, point: Option<Point>, number: usize) -> bool {
        let Some(published) = &self.published[block] else { return false };
        let end = point.map_or((block, number + 1, 0, Event::Published), |point| {
            (block, number, point, Event::Published)
        });
        let last = self.events.range((block, number, 0, Event::Published)..end).next_back();
        last.map_or(!published[number], |event| event.3 == Event::Made)
    }

    /// Whether an address at a point of a block (`None`: at its end) is surely in memory that is
    /// private there, or in none.
    ///
    /// Where ways meet, it may be in memory of an earlier round, which may have been published
    /// although that of the last one was not: so it must be memory that the function never
    /// publishes.
    fn is_in_private(
        &self,
        block: usize,
        point: Option<Point>,
        value: Value,
        walk: &mut Walk,
    ) -> bool {
        let Value::Register(register) = value else { return matches!(value, Value::Number(_)) };
        if let Some(&memory) = self.made.get(&register) {
            walk.made = true;
            return self.is_private(block, point, memory)
                && (walk.merged.is_empty() || !self.reported[memory]);
        }
        if let Some(&(from, _)) = self.offsets.get(&register) {
            return self.is_in_private(block, point, from, walk);
        }
        if let Some(values) = self.merges.get(&register) {
            return !walk.merged.insert(register)
                || values.iter().all(|(_, v)| self.is_in_private(block, point, *v, walk));
        }
        let places = self.points_to.locations(self.function, register);
        places.is_some_and(|places| places.is_empty())
    }

    /// Finds accesses to memory that nobody learnt of, and calls that get such memory.
    fn find(&self, found: &mut Fresh) {
        let is_private = |block: usize, point: Point, address: Value| {
            let mut walk = Walk::default();
            self.is_in_private(block, Some(point), address, &mut walk) && walk.made
        };
        for (block, it) in self.flow.blocks.iter().enumerate() {
            for step in &it.steps {
                for (point, number, address) in crate::locksets::accesses(step) {
                    if is_private(block, point, address) {
                        found.accesses.insert((point, number));
                    }
                }
                let Step::Call(call) = step else { continue };
                for (number, &argument) in call.arguments.iter().enumerate() {
                    // Before it, and after it.
                    let points = [call.point, call.point + 1];
                    if points.into_iter().all(|point| is_private(block, point, argument)) {
                        found.calls.insert((call.point, number));
                    }
                }
            }
        }
    }

    /// Which scalars of the result are addresses of memory that nobody learnt of, or none.
    fn given(&self) -> Vec<bool> {
        let mut given: Option<Vec<bool>> = None;
        for (block, it) in self.flow.blocks.iter().enumerate() {
            let crate::facts::flow::End::Return(values) = &it.end else { continue };
            let here = values
                .iter()
                .map(|&value| self.is_in_private(block, None, value, &mut Walk::default()));
            let here: Vec<bool> = here.collect();
            given = Some(match given {
                None => here,
                Some(given) => given.iter().zip(here).map(|(a, b)| *a && b).collect(),
            });
        }
        given.unwrap_or_default()
    }
}
