//! Names of what addresses point to, by type and field, as far as the code around says where an
//! address comes from.
//!
//! An address is followed back over constant distances, loads and calls to something that has a
//! type in the debug information: a parameter, a variable, a global one, what a function returns.
//! Of the types on the way to the bytes in question, the innermost one of the package gives the
//! name. On the way it is seen by what kinds of pointers the address was reached. A parameter whose
//! type gives no name is followed to the calls ([`Callers`]).

use super::Package;
use super::callers::Callers;
use crate::llvm::{
    Attribute, Constant, Context, DebugShape, DebugType, Distance, Function, Instruction, Module,
    Movement, Value, ValueTypes,
};
use crate::recognise::{demangle, path_of};
use lockred_protocol::audit::Way;
use std::collections::HashMap;

/// Steps that an address is followed back.
const DEPTH: u32 = 16;

/// What an address points to.
#[derive(Clone, Debug)]
pub struct Place {
    /// The type of the whole that it is in.
    of: DebugType,
    /// How far after the beginning of that; `None`: anywhere.
    offset: Option<u64>,
    /// By what kinds of pointers it was reached.
    pub way: Way,
    /// The global variable that it is in.
    global: Option<String>,
}

/// See the module: for one function at a time.
pub struct Names<'a> {
    context: Context,
    module: &'a Module,
    package: &'a Package,
    callers: &'a Callers,
    function: Function,
    types: ValueTypes,
    known: HashMap<Value, Option<Place>>,
}

impl<'a> Names<'a> {
    /// Of what a function has.
    pub fn of(
        context: Context,
        module: &'a Module,
        package: &'a Package,
        callers: &'a Callers,
        function: Function,
    ) -> Self {
        let types = ValueTypes::of(context, module, function);
        Self { context, module, package, callers, function, types, known: HashMap::new() }
    }

    /// What an address points to.
    pub fn place(&mut self, address: Value) -> Option<Place> {
        self.at(address, DEPTH)
    }

    /// Its name, and by what it is reached. Without a name if nothing of it is a type of the
    /// package's, nor a global variable.
    pub fn name(&mut self, address: Value) -> (String, Way) {
        match self.place(address) {
            Some(place) => (self.name_of(&place).unwrap_or_default(), place.way),
            None => (String::new(), Way::Raw),
        }
    }

    /// The name of what lies so many bytes behind an address, anywhere if that is not known, and by
    /// what it is reached.
    pub fn behind_address(&mut self, address: Value, offset: Option<i64>) -> (String, Way) {
        let Some(place) = self.place(address) else { return (String::new(), Way::Raw) };
        let place = match offset {
            Some(bytes) => moved(place, bytes),
            None => Place { offset: None, ..place },
        };
        (self.name_of(&place).unwrap_or_default(), place.way)
    }

    /// The name of what lies so many bytes behind an address.
    pub fn near(&mut self, address: Value, bytes: i64) -> String {
        let place = self.place(address);
        place.and_then(|place| self.name_of(&moved(place, bytes))).unwrap_or_default()
    }

    /// The name of the lock that a call, or an atomic operation, acquires.
    pub fn lock(&mut self, at: Instruction) -> String {
        let addresses = match at.callee() {
            Some(_) => at.arguments(),
            None => vec![at.address()],
        };
        let addresses: Vec<Value> =
            addresses.into_iter().filter(|value| value.value_type().is_pointer()).collect();
        let mut types = Vec::new();
        for address in addresses {
            let Some(place) = self.place(address) else { continue };
            match self.name_of(&place) {
                Some(name) if place.global.is_some() || name.contains('.') => return name,
                _ => types.push(place.of.name()),
            }
        }
        let is_lock = |name: &String| {
            let name = last(name);
            name.ends_with("Mutex") || name.ends_with("RwLock") || name.ends_with("Lock")
        };
        let found = types.into_iter().find(is_lock);
        found.map_or_else(|| "a lock".into(), |name| of_some_type(&name))
    }

    /// What an address points to, in so many steps.
    pub fn at(&mut self, address: Value, depth: u32) -> Option<Place> {
        if depth == 0 {
            return None;
        }
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        // What goes round comes back to this.
        self.known.insert(address, None);
        let found = self.found(address, depth - 1);
        self.known.insert(address, found.clone());
        found
    }

    fn found(&mut self, address: Value, depth: u32) -> Option<Place> {
        if let Some(of) = self.types.memory(address) {
            return Some(Place { of, offset: Some(0), way: Way::Exclusive, global: None });
        }
        if let Constant::Address(of, bytes) = address.constant(self.module)
            && let Some(global) = of.as_global()
        {
            let of = global.debug_type(self.context)?;
            let name = demangle(&global.name());
            let place = Place { of, offset: Some(0), way: Way::Shared, global: Some(name) };
            return Some(moved(place, bytes));
        }
        let by_code = address.as_instruction().and_then(|at| self.by_instruction(at, depth));
        let is_named = |this: &Self, place: &Place| this.name_of(place).is_some();
        if let Some(place) = by_code.clone()
            && is_named(self, &place)
        {
            return Some(place);
        }
        let places: Vec<Place> =
            self.types.value(address).filter_map(|of| self.behind(of, 0, Way::Exclusive)).collect();
        let named = places.iter().find(|place| is_named(self, place));
        let by_variable = named.or(places.first()).cloned();
        self.passed(address, by_variable.or(by_code), depth)
    }

    /// Of a parameter that is not known better by its type: what the calls of the function give.
    fn passed(&self, address: Value, known: Option<Place>, depth: u32) -> Option<Place> {
        let by_type = known.as_ref().and_then(|place| Some((self.name_of(place)?, place.way)));
        if by_type.is_some_and(|(name, way)| name.contains('.') || way != Way::Raw) {
            return known;
        }
        let parameters = self.function.parameters();
        let Some(number) = parameters.iter().position(|it| *it == address) else { return known };
        // Who returns a value fills it in, which is no access to what the caller does with it.
        let is_result = |sret| self.function.parameter_has(number as u32, sret);
        if Attribute::named("sret").is_some_and(is_result) {
            return known;
        }
        let program = (self.context, self.module, self.package);
        match self.callers.argument(program, self.function, number, depth) {
            // A reference says itself who else may have it.
            Some(passed) => match known.map(|place| place.way).filter(|way| *way != Way::Raw) {
                Some(way) => Some(Place { way, ..passed }),
                None => Some(passed),
            },
            None => known,
        }
    }

    fn by_instruction(&mut self, at: Instruction, depth: u32) -> Option<Place> {
        match at.movement(self.module) {
            Movement::Offset(base, distance) => {
                let place = self.at(base, depth)?;
                match distance {
                    Distance::Exactly(bytes) | Distance::Within(bytes) => Some(moved(place, bytes)),
                    Distance::Element(bytes, stride) | Distance::Multiples(bytes, stride) => {
                        Some(self.element(place, bytes, stride))
                    }
                    Distance::Restored => Some(Place { way: Way::Raw, ..place }),
                    Distance::Unknown => Some(Place { offset: None, ..place }),
                    Distance::Number => None,
                }
            }
            Movement::Same(values) => values.into_iter().find_map(|value| self.at(value, depth)),
            Movement::Load(from) | Movement::Update(from, _) => self.content(from, depth),
            Movement::Part(whole, path) if path == [0] => {
                let at = whole.as_instruction()?;
                match at.movement(self.module) {
                    Movement::Update(from, _) => self.content(from, depth),
                    Movement::Call => self.returned(at),
                    _ => None,
                }
            }
            Movement::Call => self.returned(at),
            _ => None,
        }
    }

    fn returned(&mut self, call: Instruction) -> Option<Place> {
        let function = call.callee()?.as_function()?;
        let of = function.declared_types(self.context).first().copied().flatten()?;
        self.behind(of, 0, Way::Exclusive)
    }

    /// What the address in some memory points to.
    fn content(&mut self, from: Value, depth: u32) -> Option<Place> {
        let place = self.at(from, depth)?;
        self.behind(place.of, place.offset?, place.way)
    }

    /// What the address points to that is in a type at an offset.
    fn behind(&self, of: DebugType, offset: u64, way: Way) -> Option<Place> {
        let (mut of, mut offset) = (of, offset);
        let mut outer: Option<String> = None;
        loop {
            match of.shape(self.context) {
                DebugShape::Pointer(inner) => {
                    let kind = of.name();
                    let way = match &outer {
                        Some(outer) if is_owner(outer) => way,
                        _ if kind.starts_with("&mut ") || is_owner(&kind) => way,
                        _ if kind.starts_with('&') => way.max(Way::Shared),
                        _ => Way::Raw,
                    };
                    return Some(Place { of: inner, offset: Some(0), way, global: None });
                }
                DebugShape::Fields(_) | DebugShape::Array(_) => {
                    if is_owner(&of.name()) {
                        outer = Some(of.name());
                    }
                    (_, of, offset) = self.inside(of, offset)?;
                }
                DebugShape::Other => return None,
            }
        }
    }

    /// The part of a type at an offset: its name, type, and the offset in it.
    fn inside(&self, of: DebugType, offset: u64) -> Option<(String, DebugType, u64)> {
        match of.shape(self.context) {
            DebugShape::Fields(fields) => {
                let has = |(_, at, field): &&(String, u64, DebugType)| {
                    *at <= offset && offset < at + field.size()
                };
                let (name, at, field) = fields.iter().find(has)?;
                Some((name.clone(), *field, offset - at))
            }
            DebugShape::Array(element) => {
                let size = element.size();
                (size > 0).then(|| (String::new(), element, offset % size))
            }
            _ => None,
        }
    }

    /// Whether all bytes of a type are of one field.
    fn is_wrapper(&self, of: DebugType) -> bool {
        let DebugShape::Fields(fields) = of.shape(self.context) else { return false };
        fields.iter().any(|(_, at, field)| *at == 0 && field.size() == of.size())
    }

    /// One of many.
    fn element(&self, place: Place, bytes: i64, stride: u32) -> Place {
        let mut place = moved(place, bytes);
        let Some(mut offset) = place.offset else { return place };
        let mut of = place.of;
        while of.size() != u64::from(stride) {
            let Some((_, inner, rest)) = self.inside(of, offset) else {
                return Place { offset: None, ..place };
            };
            if let DebugShape::Array(element) = of.shape(self.context)
                && element.size() != u64::from(stride)
            {
                return Place { offset: None, ..place };
            }
            (of, offset) = (inner, rest);
        }
        place.of = of;
        place.offset = Some(offset);
        place
    }

    /// The name of a place.
    pub fn name_of(&self, place: &Place) -> Option<String> {
        let mut name = None;
        let mut of = place.of;
        let mut offset = place.offset;
        loop {
            let modules = of.modules(self.context);
            // What a closure has captured has the names of variables.
            let is_own = modules.first().is_some_and(|krate| self.package.has_crate(krate))
                && !of.name().starts_with('{')
                // A wrapper of one value is called as the field that it is.
                && !(name.is_some() && self.is_wrapper(of));
            if is_own {
                name = Some(path(&modules, &of.name()));
            }
            let Some((field, inner, rest)) = offset.and_then(|at| self.inside(of, at)) else {
                break;
            };
            if is_own && !field.is_empty() {
                // The fields of tuples are numbers in the source.
                let number =
                    field.strip_prefix("__").filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
                let field = number.unwrap_or(&field);
                name = Some(format!("{}.{field}", path(&modules, &of.name())));
            }
            (of, offset) = (inner, Some(rest));
        }
        let global = place.global.as_deref().map(path_of);
        match (name, global) {
            (Some(name), _) if name.contains('.') => Some(name),
            (name, global) => global.or(name),
        }
    }
}

/// Whether a type owns what it points to.
fn is_owner(name: &str) -> bool {
    name.starts_with("alloc::boxed::Box<") || name.starts_with("Box<")
}

/// The last part of a type's path, without generic arguments.
fn last(name: &str) -> &str {
    let path = name.split('<').next().unwrap_or(name);
    path.rsplit("::").next().unwrap_or(path)
}

/// A lock by its type and that of what is in it, without further arguments: `Mutex<Vec>`.
fn of_some_type(name: &str) -> String {
    let inner = name
        .split_once('<')
        .map(|(_, inner)| last(inner.split([',', '>']).next().unwrap_or(inner)));
    match inner {
        Some(inner) => format!("{}<{inner}>", last(name)),
        None => last(name).to_owned(),
    }
}

/// A type's path in its crate, without generic arguments.
fn path(modules: &[String], name: &str) -> String {
    let around = modules.iter().skip(1).map(String::as_str);
    let parts = around.chain([name]).map(|part| part.split('<').next().unwrap_or(part));
    parts.collect::<Vec<_>>().join("::")
}

fn moved(place: Place, bytes: i64) -> Place {
    let offset = place.offset.and_then(|offset| offset.checked_add_signed(bytes));
    Place { offset, ..place }
}
