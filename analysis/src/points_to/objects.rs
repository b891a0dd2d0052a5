//! Abstract objects, and the places in them that addresses point to.

use super::solver::Node;
use crate::facts::{FunctionId, GlobalId, Register, Side};
use crate::llvm::gcd;
use std::collections::HashSet;

/// Index of an object.
pub type ObjectId = u32;
/// Index of a place: an object and an offset.
pub type PlaceId = u32;
/// Index of a context: a function's body as it is called from somewhere.
pub type ContextId = u32;

/// The offset of a place that is anywhere in its object.
pub(super) const ANYWHERE: u32 = u32::MAX;

/// The offset of what is no place, but a number that is computed of an address.
pub(super) const NUMBER: u32 = u32::MAX - 1;

/// Places of an object that are told apart; further ones are taken for anywhere. (So few in tests
/// that small programs have them.)
const LIMIT: usize = if cfg!(test) { 4 } else { 64 };

/// What an abstract object stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A stack variable of a context.
    Variable(ContextId, Register),
    /// The memory that a call of an allocator gives, of a context.
    Heap(ContextId, Register),
    /// A global variable, or each thread's own.
    Global(GlobalId),
    /// A function.
    Function(FunctionId),
    /// All constants that hold no addresses.
    Data,
    /// The C library's own memory, which holds addresses of itself only.
    Library,
    /// All memory that is not the program's, or that it got from those who are not known.
    Foreign,
}

/// Where what is in a part of an object goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Outlet {
    /// The part: first byte, and the byte after it.
    pub range: (u32, u32),
    pub target: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Target {
    Node(Node),
    /// The first byte of the part goes to this place of an object (anywhere: so does everything).
    Place(ObjectId, u32),
}

/// An abstract object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub kind: Kind,
    /// Bytes, if known.
    pub size: Option<u64>,
    /// When it is used, if another one is at the same address.
    pub side: Option<Side>,
    /// The calls of allocators that give it.
    #[cfg(test)]
    pub allocators: Vec<(FunctionId, Register)>,
    /// Its places by offset, sorted.
    pub places: Vec<(u32, PlaceId)>,
    /// The numbers that are computed of its address.
    pub number: Option<PlaceId>,
    /// Such a number becomes an address again.
    pub restored: bool,
    /// What all its places hold together.
    pub all: Option<Node>,
    pub outlets: HashSet<Outlet>,
    /// Offsets are told apart modulo this many bytes, the size of its elements; 0: exactly.
    pub stride: u32,
}

/// A place in an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub object: ObjectId,
    /// Bytes from its beginning, or [`ANYWHERE`].
    pub offset: u32,
    /// What addresses it holds, once somebody asks.
    pub content: Option<Node>,
    /// The place that it turned out to be the same as.
    pub same: Option<PlaceId>,
}

/// All objects and places.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    pub objects: Vec<Object>,
    pub places: Vec<Place>,
}

impl Objects {
    pub fn add(&mut self, kind: Kind, size: Option<u64>) -> ObjectId {
        let object = Object {
            kind,
            size,
            side: None,
            #[cfg(test)]
            allocators: Vec::new(),
            places: Vec::new(),
            number: None,
            restored: false,
            all: None,
            outlets: HashSet::new(),
            stride: 0,
        };
        self.objects.push(object);
        self.objects.len() as ObjectId - 1
    }

    /// The place at an offset, `None` being anywhere. What is outside of the object, or one place
    /// too many, is anywhere.
    pub fn place(&mut self, object: ObjectId, offset: Option<i64>) -> PlaceId {
        let it = &self.objects[object as usize];
        let wanted = match (it.kind, offset) {
            (Kind::Function(_), _) => 0,
            (Kind::Foreign | Kind::Library | Kind::Data, _) | (_, None) => ANYWHERE,
            // No address is at such an offset.
            (_, Some(bytes)) if bytes % 8 != 0 => ANYWHERE,
            (_, Some(bytes)) if it.stride > 0 => bytes.rem_euclid(i64::from(it.stride)) as u32,
            (_, Some(bytes)) if bytes < 0 || bytes as u64 > it.size.unwrap_or(1 << 30) => ANYWHERE,
            (_, Some(bytes)) => bytes as u32,
        };
        let found =
            |places: &[(u32, PlaceId)], offset| places.binary_search_by_key(&offset, |p| p.0);
        let (at, offset) = match found(&it.places, wanted) {
            Ok(at) => return it.places[at].1,
            Err(at) if it.places.len() < LIMIT || wanted == ANYWHERE => (at, wanted),
            Err(_) => match found(&it.places, ANYWHERE) {
                Ok(at) => return it.places[at].1,
                Err(at) => (at, ANYWHERE),
            },
        };
        let id = self.places.len() as PlaceId;
        self.places.push(Place { object, offset, content: None, same: None });
        self.objects[object as usize].places.insert(at, (offset, id));
        id
    }

    /// What is computed of an address of the object.
    pub fn number(&mut self, object: ObjectId) -> PlaceId {
        if let Some(place) = self.objects[object as usize].number {
            return place;
        }
        let id = self.places.len() as PlaceId;
        self.places.push(Place { object, offset: NUMBER, content: None, same: None });
        self.objects[object as usize].number = Some(id);
        id
    }

    /// The elements of an object are so large, or a multiple of it. The places that are the same as
    /// others from now on, each with that.
    pub fn fold(&mut self, object: ObjectId, stride: u32) -> Vec<(PlaceId, PlaceId)> {
        let it = &mut self.objects[object as usize];
        let stride = gcd(it.stride.into(), stride.into()) as u32;
        if stride == it.stride {
            return Vec::new();
        }
        it.stride = stride;
        let old = std::mem::take(&mut it.places);
        let mut merged = Vec::new();
        for (offset, place) in old {
            let wanted = if offset == ANYWHERE { offset } else { offset % stride };
            let it = &mut self.objects[object as usize];
            match it.places.binary_search_by_key(&wanted, |p| p.0) {
                Ok(at) => merged.push((place, it.places[at].1)),
                Err(at) => {
                    it.places.insert(at, (wanted, place));
                    self.places[place as usize].offset = wanted;
                }
            }
        }
        for &(place, same) in &merged {
            let offset = self.places[same as usize].offset;
            let it = &mut self.places[place as usize];
            (it.offset, it.same) = (offset, Some(same));
        }
        merged
    }
}
