//! Memory that its function has just made, and told nobody of: what is accessed there is initialised, before it is published.
//!
//! New memory is a stack variable, or what a function gives that allocates it and keeps no copy of its address. It is published where its address, or one that is
//! computed of it, is stored, whatever it is stored to, or passed to who keeps it. That is a forward analysis of each function by itself: at a point, new
//! memory is private if no way from where it was made last leads through a point that publishes it.

use super::Input;
use crate::facts::flow::{BlockId, Flow, Point, Step, Value};
use crate::facts::{Act, Effect, Facts, FunctionId, Operand, Slot};
use crate::locksets::Private;
use crate::points_to::PointsTo;
use lockred_trace::plan::Flaw;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// An atomic operation that writes.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// Its block.
    pub block: BlockId,
    /// Where it is.
    pub point: Point,
    /// What it may write.
    pub values: [Option<Slot>; 2],
}

/// See the module.
#[derive(Debug, Default)]
pub struct Fresh {
    /// Accesses to such memory: the point of each, and its number among those of the instruction.
    accesses: HashSet<(Point, usize)>,
}

impl Fresh {
    /// Looks at a program. O(steps · memory made, by function).
    pub fn of(input: &Input<'_>) -> Self {
        let Input { facts, flows, sharing, locksets, stored, flaw, .. } = *input;
        let (points_to, private) = (&sharing.points_to, locksets.private());
        let gives = vec![None; flows.len()];
        let mut search = Search { facts, flows, points_to, private, stored, flaw, gives };
        let mut fresh = Self::default();
        for function in (0..flows.len() as FunctionId).filter(|&f| points_to.is_reached(f)) {
            if let Some(body) = search.body(function) {
                body.accesses(&mut fresh.accesses);
            }
        }
        fresh
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
    /// By function, once somebody asks: whether each scalar of its result is the address of new memory.
    gives: Vec<Option<Vec<bool>>>,
}

impl<'a> Search<'a> {
    /// Whether a scalar of a function's result is the address of memory that it has made and told nobody of, if it is one at all.
    fn gives(&mut self, function: FunctionId, number: usize) -> bool {
        if self.gives[function as usize].is_none() {
            // Who calls itself is not followed.
            self.gives[function as usize] = Some(Vec::new());
            self.gives[function as usize] = Some(self.given(function));
        }
        let known = self.gives[function as usize].as_ref();
        known.and_then(|given| given.get(number).copied()).unwrap_or(false)
    }

    fn given(&mut self, function: FunctionId) -> Vec<bool> {
        let it = &self.facts.functions[function as usize];
        if it.body.is_none() {
            return vec![Effect::of(&it.name) == Effect::Fresh];
        }
        self.body(function).map(|body| body.given()).unwrap_or_default()
    }

    /// What a function makes; `None` if that is nothing.
    fn body(&mut self, function: FunctionId) -> Option<Body<'a>> {
        let flow = &self.flows[function as usize];
        let mut made = BTreeMap::new();
        for (block, it) in flow.blocks.iter().enumerate() {
            for step in &it.steps {
                match step {
                    Step::Variable(slot) if block == 0 => {
                        made.insert(*slot, None);
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

    /// Memory whose address an allocator writes to a variable that is used for nothing else, and read once.
    fn filled(&self, function: FunctionId, flow: &Flow, made: &mut BTreeMap<Slot, Option<Point>>) {
        let acts = self.facts.functions[function as usize].body.iter().flat_map(|b| &b.acts);
        let acts: Vec<&Act> = acts.collect();
        let variables: Vec<Slot> =
            made.iter().filter(|(_, point)| point.is_none()).map(|(slot, _)| *slot).collect();
        for variable in variables {
            let is_it = |operand: &Operand| *operand == Operand::Slot(variable);
            let mut filled = 0;
            let mut reads = 0;
            let others = acts.iter().any(|act| match act {
                Act::Load { address, .. } if is_it(address) => {
                    reads += 1;
                    false
                }
                Act::Call(call) if call.arguments.first().is_some_and(is_it) => {
                    filled += 1;
                    let Operand::Function(callee) = call.callee else { return true };
                    let effect = Effect::of(&self.facts.functions[callee as usize].name);
                    effect != Effect::FreshAtFirst || call.arguments[1..].iter().any(is_it)
                }
                // No address is moved.
                Act::Access(_) => false,
                // It may be cleared before.
                Act::Store { address, parts } if is_it(address) => {
                    parts.iter().any(|part| part.operand != Operand::Nothing)
                }
                act => {
                    let mut found = false;
                    act.operands(&mut |operand| found |= is_it(&operand));
                    found
                }
            });
            if others || filled != 1 || reads != 1 {
                continue;
            }
            for step in flow.blocks.iter().flat_map(|block| &block.steps) {
                if let Step::Load { address: Value::Slot(slot), parts, point: Some(point) } = step
                    && *slot == variable
                    && let [part] = parts[..]
                    && part.offset == 0
                {
                    made.insert(part.value, Some(*point));
                }
            }
        }
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
    merged: BTreeSet<Slot>,
    /// It may be in memory that the function has made.
    made: bool,
}

/// A function that makes memory.
struct Body<'a> {
    function: FunctionId,
    flow: &'a Flow,
    points_to: &'a PointsTo<'a>,
    /// By slot that holds its address first: what it is called here.
    made: BTreeMap<Slot, usize>,
    /// What computes a slot of others.
    pure: HashMap<Slot, &'a Step>,
    /// By block, in the order of the points.
    events: Vec<Vec<(Point, Event, usize)>>,
    /// By block: which memory may be published at its beginning.
    published: Vec<Option<Vec<bool>>>,
}

impl<'a> Body<'a> {
    fn of(search: &Search<'a>, function: FunctionId, made: BTreeMap<Slot, Option<Point>>) -> Self {
        let flow = &search.flows[function as usize];
        let mut pure = HashMap::new();
        for step in flow.blocks.iter().flat_map(|block| &block.steps) {
            if let Step::Same(slot, _) | Step::Narrow(slot, ..) | Step::Offset(slot, ..) = step {
                pure.insert(*slot, step);
            }
        }
        let slots: Vec<(Slot, Option<Point>)> = made.into_iter().collect();
        let mut body = Self {
            function,
            flow,
            points_to: search.points_to,
            made: slots.iter().enumerate().map(|(number, (slot, _))| (*slot, number)).collect(),
            pure,
            events: vec![Vec::new(); flow.blocks.len()],
            published: vec![None; flow.blocks.len()],
        };
        let acts = search.facts.functions[function as usize].body.iter().flat_map(|b| &b.acts);
        let acts: Vec<&Act> = acts.collect();
        let computing = computing(&acts);
        for (number, &(slot, _)) in slots.iter().enumerate() {
            if !body.publish(search, &acts, &computed(&computing, slot), number) {
                body.made.remove(&slot);
            }
        }
        let at: HashMap<Point, Vec<usize>> =
            slots.iter().enumerate().fold(HashMap::new(), |mut at, (number, (_, point))| {
                if let Some(point) = point {
                    at.entry(*point).or_insert_with(Vec::new).push(number);
                }
                at
            });
        for (block, it) in flow.blocks.iter().enumerate() {
            for point in it.steps.iter().filter_map(point_of) {
                let made = at.get(&point).into_iter().flatten();
                body.events[block].extend(made.map(|&number| (point, Event::Made, number)));
            }
        }
        if search.flaw == Some(Flaw::NothingIsPublished) {
            body.events.iter_mut().for_each(|events| events.retain(|e| e.1 == Event::Made));
        }
        body.events.iter_mut().for_each(|events| events.sort_unstable());
        body.solve(slots.len());
        body
    }

    /// Where some memory is published; whether all such points are known.
    fn publish(
        &mut self,
        search: &Search<'_>,
        acts: &[&Act],
        addresses: &BTreeSet<Slot>,
        number: usize,
    ) -> bool {
        let is_it =
            |operand: &Operand| matches!(operand, Operand::Slot(s) if addresses.contains(s));
        let mut expected = 0;
        for act in acts {
            expected += match act {
                Act::Store { parts, .. } => {
                    parts.iter().filter(|part| is_it(&part.operand)).count()
                }
                Act::Call(call) => {
                    if is_it(&call.callee) {
                        return false;
                    }
                    let callee = match call.callee {
                        Operand::Function(callee) => Some(callee),
                        _ => None,
                    };
                    let count = call.arguments.len();
                    let kept = |&n: &usize| {
                        is_it(&call.arguments[n])
                            && search.private.keeps(search.facts, callee, count, n)
                    };
                    (0..count).filter(kept).count()
                }
                Act::Escape(operand) if is_it(operand) => return false,
                _ => 0,
            };
        }
        let is_it = |value: &Value| matches!(value, Value::Slot(s) if addresses.contains(s));
        let mut found = 0;
        for (block, it) in self.flow.blocks.iter().enumerate() {
            for step in &it.steps {
                let (count, point) = match step {
                    Step::Store { parts, point: Some(point), .. } => {
                        (parts.iter().filter(|part| is_it(&part.value)).count(), *point)
                    }
                    Step::Call(call) => {
                        let callee = match call.callee {
                            Value::Function(callee) => Some(callee),
                            _ => None,
                        };
                        let count = call.arguments.len();
                        let kept = |&n: &usize| {
                            is_it(&call.arguments[n])
                                && search.private.keeps(search.facts, callee, count, n)
                        };
                        ((0..count).filter(kept).count(), call.point)
                    }
                    _ => continue,
                };
                if count > 0 {
                    found += count;
                    self.events[block].push((point, Event::Published, number));
                }
            }
        }
        for stored in search.stored.get(&self.function).into_iter().flatten() {
            let count = stored.values.iter().flatten().filter(|s| addresses.contains(s)).count();
            if count > 0 {
                found += count;
                self.events[stored.block as usize].push((stored.point, Event::Published, number));
            }
        }
        found == expected
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
            for &(_, event, number) in &self.events[block as usize] {
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
        let before =
            self.events[block].iter().take_while(|event| point.is_none_or(|p| event.0 < p));
        let last = before.filter(|event| event.2 == number).last();
        last.map_or(!published[number], |event| event.1 == Event::Made)
    }

    /// Whether an address at a point of a block (`None`: at its end) is surely in memory that is private there, or in none.
    ///
    /// Where ways meet, it may be in memory of an earlier round, which may have been published although that of the last one was not: so it must be
    /// memory that the function never publishes.
    fn is_in_private(
        &self,
        block: usize,
        point: Option<Point>,
        value: Value,
        walk: &mut Walk,
    ) -> bool {
        let Value::Slot(slot) = value else { return matches!(value, Value::Number(_)) };
        if let Some(&memory) = self.made.get(&slot) {
            walk.made = true;
            let is_told =
                |event: &(Point, Event, usize)| event.1 == Event::Published && event.2 == memory;
            return self.is_private(block, point, memory)
                && (walk.merged.is_empty() || !self.events.iter().flatten().any(is_told));
        }
        if let Some(Step::Same(_, from) | Step::Narrow(_, from, 64..) | Step::Offset(_, from, _)) =
            self.pure.get(&slot)
        {
            return self.is_in_private(block, point, *from, walk);
        }
        let mut merges = self.flow.blocks.iter().flat_map(|block| &block.merges);
        if let Some((_, values)) = merges.find(|(merge, _)| *merge == slot) {
            return !walk.merged.insert(slot)
                || values.iter().all(|(_, v)| self.is_in_private(block, point, *v, walk));
        }
        let places = self.points_to.locations(self.function, slot);
        places.is_some_and(|places| places.is_empty())
    }

    fn accesses(&self, found: &mut HashSet<(Point, usize)>) {
        for (block, it) in self.flow.blocks.iter().enumerate() {
            for step in &it.steps {
                for (point, number, address) in crate::locksets::accesses(step) {
                    let mut walk = Walk::default();
                    if self.is_in_private(block, Some(point), address, &mut walk) && walk.made {
                        found.insert((point, number));
                    }
                }
            }
        }
    }

    /// Which scalars of the result are addresses of memory that nobody was told of, or none.
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

fn point_of(step: &Step) -> Option<Point> {
    match step {
        Step::Load { point, .. } | Step::Store { point, .. } => *point,
        Step::Copy { point, .. } | Step::Synchronise { point, .. } => Some(*point),
        Step::Call(call) => Some(call.point),
        _ => None,
    }
}

/// By slot, what may be computed of an address in it.
fn computing(acts: &[&Act]) -> HashMap<Slot, Vec<Slot>> {
    let mut all: HashMap<Slot, Vec<Slot>> = HashMap::new();
    for act in acts {
        if let Act::Copy { result, from: Operand::Slot(from) }
        | Act::Offset { result, from: Operand::Slot(from), .. }
        | Act::OfSide { result, from, .. } = act
        {
            all.entry(*from).or_default().push(*result);
        }
    }
    all
}

/// The slots that may hold an address that is computed of what is in one.
fn computed(computing: &HashMap<Slot, Vec<Slot>>, root: Slot) -> BTreeSet<Slot> {
    let mut all = BTreeSet::from([root]);
    let mut open = vec![root];
    while let Some(slot) = open.pop() {
        let next = computing.get(&slot).into_iter().flatten();
        open.extend(next.copied().filter(|&next| all.insert(next)));
    }
    all
}
