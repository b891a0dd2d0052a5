//! What protects the memory that is accessed, as the plan has it: accesses as plain data, and what
//! is found of them.

use super::Instrumenter;
use super::lock_order::{Input, Names, is_libraries};
use super::locks::Place;
use super::sites::{Sites, atomics};
use crate::facts::access::{Access, Direction, Length, accesses};
use crate::facts::flow::{BlockId, Point, Points};
use crate::facts::{FunctionId, Index};
use crate::llvm::{Context, Instruction, Module, Opcode, Value};
use crate::lock_order::{Lock, Origin, Origins};
use crate::points_to::ObjectId;
use crate::protection::{self, Act, Guard, Protected, Protection, Stored};
use crate::recognise::{demangle, path_of};
use crate::sharing::Sharing;
use lockred_protocol::plan::{Flaw, Reason};
use lockred_protocol::protection::{self as reported, Field, Object, Protection as Reported};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is known of a program.
pub(super) struct Known<'a> {
    pub context: Context,
    pub module: &'a Module,
    pub index: &'a Index,
    pub points: &'a Points,
    pub sharing: &'a Sharing<'a>,
    pub order: &'a Input<'a>,
    pub flaw: Option<Flaw>,
}

/// What protects what an access touches: by instruction, and whether it writes.
#[derive(Debug, Default)]
pub struct Protections(HashMap<(Instruction, bool), (Reason, Option<Place>)>);

/// What protects what, of a program that has not been changed yet: at accesses, and as the
/// executable holds it. Nothing, where some access is not described.
pub(super) fn find(known: &Known<'_>, sites: &mut Sites) -> (Protections, Reported) {
    let points: HashMap<Instruction, Point> =
        known.points.iter().map(|(point, at)| (at, point)).collect();
    let (accesses, stored) = gather(known, &points);
    let Input { facts, flows, locksets, .. } = *known.order;
    let mut begins = known.order.threads().tests().clone();
    let main = facts.functions.iter().position(|f| f.name == "__lr_program_main");
    begins.extend(main.map(|id| id as FunctionId));
    let protection = Protection::of(&protection::Input {
        facts,
        flows,
        sharing: known.sharing,
        locksets,
        accesses: &accesses,
        stored: &stored,
        begins: &begins,
        users: &|function| known.order.is_users(function),
        flaw: known.flaw,
    });
    let Some(protection) = protection else { return Default::default() };
    let writes: HashMap<(Point, usize), bool> = accesses
        .iter()
        .map(|access| ((access.point, access.number), access.act == Act::Writes))
        .collect();
    let globals = known.module.globals();
    let found = protection.accesses().map(|(point, number, protected)| {
        let at = (known.points.instruction(point), writes[&(point, number)]);
        let what = match protected {
            Protected::Unpublished => (Reason::Unpublished, None),
            Protected::Unwritten => (Reason::Unwritten, None),
            Protected::BySome => (Reason::OneLock, None),
            Protected::Owned => (Reason::Owned, None),
            Protected::By(lock) => (Reason::Locked, Some(Place::of(lock, &globals))),
        };
        (at, what)
    });
    (Protections(found.collect()), reported(known, &protection, sites))
}

/// What protects what, with names and sites.
fn reported(known: &Known<'_>, protection: &Protection, sites: &mut Sites) -> Reported {
    let Known { context, points, order, .. } = *known;
    let Input { facts, flows, points_to, .. } = *order;
    let names = Names { context, input: order, points };
    let ids: BTreeSet<ObjectId> = protection.objects().map(|part| part.0).collect();
    let locks: Vec<Lock> = ids.iter().map(|&object| Lock { object, offset: None }).collect();
    let origins = Origins::of(&locks, flows, points_to, &|id| order.is_users(id));
    let object = |lock: &Lock| {
        let origin = origins.origin(*lock);
        let users = match origin {
            Origin::Global(id) => {
                !is_libraries(&path_of(&demangle(&facts.globals[id as usize].name)))
            }
            Origin::Variable(function) => order.is_users(function),
            Origin::Call(_) => true,
            Origin::Heap => false,
        };
        Object { name: names.lock(*lock, origin), users }
    };
    let number: HashMap<ObjectId, u32> = ids.iter().copied().zip(0..).collect();
    let guard = |guard: Guard| match guard {
        Guard::At(offset) => reported::Lock::Own(offset),
        Guard::Global(id, offset) => {
            reported::Lock::Global(demangle(&facts.globals[id as usize].name), offset)
        }
    };
    let mut field = |(id, start, end, class): (ObjectId, u64, u64, &protection::Class)| {
        let site = class.point.map(|(_, point)| {
            let at = points.instruction(point);
            sites.of(context, at.function(), at)
        });
        let locks: Vec<reported::Lock> = class.guards().map(guard).collect();
        Field {
            object: number[&id],
            start,
            end: (end != u64::MAX).then_some(end),
            class: match (class.other, class.is_read_only(), locks.is_empty()) {
                (true, ..) => reported::Class::Operation,
                (_, true, _) => reported::Class::Unwritten,
                (.., false) => reported::Class::Locked,
                _ => reported::Class::Shared,
            },
            locks,
            site,
        }
    };
    let mut fields: Vec<Field> = Vec::new();
    for next in protection.objects().map(&mut field) {
        match fields.last_mut() {
            // Parts that are told apart by who accesses them are one, if the same is known of them.
            Some(last)
                if (last.object, last.end, last.class, &last.locks)
                    == (next.object, Some(next.start), next.class, &next.locks)
                    && (last.site.is_none() || next.site.is_none() || last.site == next.site) =>
            {
                last.end = next.end;
                last.site = last.site.or(next.site);
            }
            _ => fields.push(next),
        }
    }
    let threads = order.threads();
    let thread = |(entry, &function): (usize, &FunctionId)| {
        let by = |&&(_, user): &&(ObjectId, FunctionId)| {
            threads.of_function(user).contains(&(entry as u32))
        };
        let mut objects: Vec<u32> = protection
            .users()
            .iter()
            .filter(by)
            .filter_map(|use_| number.get(&use_.0))
            .copied()
            .collect();
        objects.dedup();
        reported::Thread { name: names.thread(function), objects }
    };
    Reported {
        known: true,
        objects: locks.iter().map(object).collect(),
        fields,
        threads: threads.entries().iter().enumerate().map(thread).collect(),
    }
}

impl Protections {
    /// What is known of an access that others may see.
    pub fn reason(&self, access: &Access) -> Option<Reason> {
        let writes = access.direction == Direction::Write;
        self.0.get(&(access.at, writes)).map(|(reason, _)| *reason)
    }
}

/// All plain accesses and atomic operations of a program, and what the latter write.
fn gather(
    known: &Known<'_>,
    points: &HashMap<Instruction, Point>,
) -> (Vec<protection::Access>, HashMap<FunctionId, Vec<Stored>>) {
    let Known { module, index, .. } = *known;
    let mut all = Vec::new();
    let mut stored: HashMap<FunctionId, Vec<Stored>> = HashMap::new();
    let functions = module.functions();
    let is_atomic: HashSet<Instruction> = atomics(&functions).map(|(_, at)| at).collect();
    for (function, it) in functions.iter().enumerate() {
        let function = function as FunctionId;
        for (block, it) in it.blocks().into_iter().enumerate() {
            let block = block as BlockId;
            for at in it.instructions() {
                let point = points.get(&at).copied();
                let plain = accesses(module, at);
                let one = |number, address, size, act| protection::Access {
                    function,
                    block,
                    point: point.unwrap_or_default(),
                    number,
                    address: point.and(address),
                    size,
                    act,
                };
                for (number, access) in plain.iter().enumerate() {
                    let size = match access.length {
                        Length::Known(bytes) => Some(bytes),
                        Length::Value(_) => None,
                    };
                    let act = match access.direction {
                        Direction::Read => Act::Reads,
                        Direction::Write => Act::Writes,
                    };
                    all.push(one(number, index.operand(module, access.start), size, act));
                }
                if is_atomic.contains(&at) && at.opcode() != Opcode::Fence {
                    let size = Some(at.access_size(module));
                    all.push(one(0, index.operand(module, at.address()), size, Act::Other));
                    if let Some(point) = point {
                        let values = written(at).map(|value| index.register(value?).map(|s| s.1));
                        stored.entry(function).or_default().push(Stored { block, point, values });
                    }
                }
            }
        }
    }
    (all, stored)
}

/// What an atomic operation may write.
fn written(at: Instruction) -> [Option<Value>; 2] {
    match at.opcode() {
        Opcode::Store => [Some(at.operand(0)), None],
        Opcode::AtomicRmw => [Some(at.operand(1)), None],
        Opcode::CompareExchange => [Some(at.operand(1)), Some(at.operand(2))],
        _ => [None, None],
    }
}

impl Instrumenter<'_> {
    /// Reports to the runtime, after the claim of an access, which lock protects what it touches.
    pub(super) fn announce_protection(&self, access: Access, length: Value) {
        let writes = access.direction == Direction::Write;
        let Some((_, Some(place))) = self.known.protections.0.get(&(access.at, writes)) else {
            return;
        };
        let lock = self.lock_at(access, *place);
        let start = self.hooks.builder.address(self.context, access.start);
        self.hooks.builder.call(self.hooks.protected, &[start, length, lock]);
    }
}
