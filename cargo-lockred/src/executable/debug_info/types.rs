//! Types as they lie in memory, made of the debug information: what is in a value, not what it
//! points to.

use super::dies::{Dies, Entry};
use gimli::constants;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Type {
    /// Its name with generic arguments, without its path.
    pub name: String,
    /// The crate that it is of; empty for primitive types and tuples.
    pub krate: String,
    /// Its bytes.
    pub size: u64,
    /// What is in it.
    pub shape: Shape,
}

/// What is in a value of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Nothing that has a name: numbers, pointers, what is not known.
    Plain,
    /// Fields.
    Fields(Vec<Field>),
    /// One of several variants. If only one of them has something in it, that.
    Variants(Option<Field>),
    /// Elements.
    Array(Rc<Type>),
}

/// A field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name; `__0` in tuples.
    pub name: String,
    /// Bytes before it.
    pub at: u64,
    /// Its type.
    pub of: Rc<Type>,
}

/// Types that were made, by where they are in the debug information.
#[derive(Default)]
pub struct Types(RefCell<HashMap<usize, Option<Rc<Type>>>>);

impl Types {
    /// The type at an offset.
    pub fn at(&self, dies: &Dies, offset: usize) -> Option<Rc<Type>> {
        if let Some(known) = self.0.borrow().get(&offset) {
            return known.clone();
        }
        let made = dies.entry(offset).and_then(|entry| self.made(dies, &entry)).map(Rc::new);
        self.0.borrow_mut().insert(offset, made.clone());
        made
    }

    fn made(&self, dies: &Dies, entry: &Entry) -> Option<Type> {
        let die = entry.die();
        let plain =
            |size| Type { name: die.name.clone(), krate: String::new(), size, shape: Shape::Plain };
        Some(match die.tag {
            constants::DW_TAG_pointer_type => plain(8),
            constants::DW_TAG_typedef => (*self.at(dies, die.of?)?).clone(),
            constants::DW_TAG_array_type => {
                let element = self.at(dies, die.of?)?;
                let count = entry.children().find_map(|child| child.die().count)?;
                let size = element.size * count;
                Type { shape: Shape::Array(element), ..plain(size) }
            }
            constants::DW_TAG_structure_type | constants::DW_TAG_union_type => {
                let is_variants = |child: &Entry| child.die().tag == constants::DW_TAG_variant_part;
                let variants = entry.children().find(is_variants);
                let shape = match variants {
                    Some(variants) => Shape::Variants(self.only_variant(dies, &variants)?),
                    None => Shape::Fields(self.fields(dies, entry)?),
                };
                let krate = entry.path().into_iter().next().unwrap_or_default();
                let krate = if die.name.starts_with('(') { String::new() } else { krate };
                Type { krate, shape, ..plain(die.bytes?) }
            }
            _ => plain(die.bytes?),
        })
    }

    /// The members of a structure or union.
    fn fields(&self, dies: &Dies, entry: &Entry) -> Option<Vec<Field>> {
        let members = entry.children().filter(|child| child.die().tag == constants::DW_TAG_member);
        let field = |member: Entry| {
            let die = member.die();
            let of = self.at(dies, die.of?)?;
            Some(Field { name: die.name.clone(), at: die.at.unwrap_or(0), of })
        };
        members.map(field).collect()
    }

    /// The one variant that has something in it.
    fn only_variant(&self, dies: &Dies, variants: &Entry) -> Option<Option<Field>> {
        let mut full = Vec::new();
        for variant in variants.children() {
            if variant.die().tag == constants::DW_TAG_variant {
                let fields = self.fields(dies, &variant)?;
                full.extend(fields.into_iter().filter(|field| match &field.of.shape {
                    Shape::Fields(fields) => !fields.is_empty(),
                    _ => true,
                }));
            }
        }
        Some(if full.len() == 1 { full.pop() } else { None })
    }
}
