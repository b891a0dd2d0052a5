//! The debug information of an executable, unit by unit as plain trees, read when they are first
//! asked for.

use gimli::{
    self, AttributeValue, DwAt, DwTag, EndianRcSlice, LittleEndian, Reader, Unit, UnitRef,
    constants,
};
use object::{Object, ObjectSection, ReadCache};
use std::cell::RefCell;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

type Bytes = EndianRcSlice<LittleEndian>;

/// All units of an executable.
pub struct Dies {
    dwarf: gimli::Dwarf<Bytes>,
    units: Vec<Place>,
}

/// A unit: where it is, which code it has, and what is in it once that was asked for.
struct Place {
    unit: Unit<Bytes>,
    start: usize,
    ranges: Ranges<()>,
    dies: RefCell<Option<Rc<Tree>>>,
}

/// The entries of a unit, in the order of the file: parents come before their children.
pub struct Tree {
    /// The entries.
    pub dies: Vec<Die>,
    /// The functions among them, by their code.
    functions: Ranges<usize>,
}

/// What is at ranges of addresses that do not overlap, but may be the same: then, the first.
struct Ranges<T>(Vec<(u64, u64, T)>);

impl<T: Copy> Ranges<T> {
    /// Of ranges from a start to an end that is no part of it.
    fn new(mut ranges: Vec<(u64, u64, T)>) -> Self {
        ranges.retain(|(start, end, _)| start < end);
        ranges.sort_by_key(|&(start, ..)| start);
        ranges.dedup_by_key(|&mut (start, end, _)| (start, end));
        Self(ranges)
    }

    /// What is at an address. O(log n).
    fn at(&self, address: u64) -> Option<T> {
        let after = self.0.partition_point(|&(start, ..)| start <= address);
        let &(_, end, there) = self.0.get(after.checked_sub(1)?)?;
        (address < end).then_some(there)
    }
}

/// An entry of the debug information.
pub struct Die {
    offset: usize,
    /// By index; its own for the unit's.
    pub parent: usize,
    /// What it is of.
    pub tag: DwTag,
    /// Its name.
    pub name: String,
    /// Its type, or that of what it returns.
    pub of: Option<usize>,
    /// The entry that it repeats, or was inlined of.
    pub origin: Option<usize>,
    /// Bytes from the beginning of the structure.
    pub at: Option<u64>,
    /// Its bytes.
    pub bytes: Option<u64>,
    /// Elements of an array.
    pub count: Option<u64>,
    /// Where its code is.
    pub ranges: Vec<(u64, u64)>,
    /// Where it is in memory.
    pub location: Option<Location>,
    /// From what on the locations in its frame are counted.
    pub base: Option<Location>,
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// At a fixed address.
    Address(u64),
    /// So far from its function's base.
    Frame(i64),
    /// In a register; what a base is.
    Register(u16),
}

/// An entry together with its tree.
#[derive(Clone)]
pub struct Entry {
    /// All of its unit.
    pub tree: Rc<Tree>,
    /// Which one.
    pub index: usize,
}

impl Entry {
    /// The entry itself.
    pub fn die(&self) -> &Die {
        &self.tree.dies[self.index]
    }

    /// What is directly inside of it.
    pub fn children(&self) -> impl Iterator<Item = Self> + '_ {
        let mut next = self.index + 1;
        std::iter::from_fn(move || {
            while let Some(die) = self.tree.dies.get(next) {
                let index = next;
                next += 1;
                if die.parent == self.index {
                    return Some(Self { tree: Rc::clone(&self.tree), index });
                }
                if die.parent < self.index {
                    break;
                }
            }
            None
        })
    }

    /// What it is directly inside of.
    pub fn parent(&self) -> Option<Self> {
        let parent = self.die().parent;
        (parent != self.index).then(|| Self { tree: Rc::clone(&self.tree), index: parent })
    }

    /// The names of what it is inside of, the outermost first: crate and modules, for most.
    pub fn path(&self) -> Vec<String> {
        let mut path = Vec::new();
        let mut next = self.parent();
        while let Some(entry) = next {
            if entry.die().tag != constants::DW_TAG_compile_unit {
                path.push(entry.die().name.clone());
            }
            next = entry.parent();
        }
        path.reverse();
        path
    }

    /// Whether its code is at an address.
    pub fn has_code_at(&self, address: u64) -> bool {
        self.die().ranges.iter().any(|(start, end)| (*start..*end).contains(&address))
    }
}

impl Dies {
    /// Of an executable; `None` if it has none that can be read.
    pub fn open(executable: &Path) -> Option<Self> {
        let read = ReadCache::new(File::open(executable).ok()?);
        let file = object::File::parse(&read).ok()?;
        let load = |id: gimli::SectionId| -> gimli::Result<Bytes> {
            let data = file.section_by_name(id.name()).and_then(|section| section.data().ok());
            Ok(Bytes::new(Rc::from(data.unwrap_or_default()), LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(load).ok()?;
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Some(start) = header.debug_info_offset() else { continue };
            let start = start.0;
            let unit = dwarf.unit(header).ok()?;
            let mut ranges = Vec::new();
            if let Ok(mut found) = dwarf.unit_ranges(&unit) {
                while let Ok(Some(range)) = found.next() {
                    ranges.push((range.begin, range.end, ()));
                }
            }
            let ranges = Ranges::new(ranges);
            units.push(Place { unit, start, ranges, dies: RefCell::default() });
        }
        Some(Self { dwarf, units })
    }

    /// The function whose code is at an address.
    pub fn function_at(&self, address: u64) -> Option<Entry> {
        let units = self.units.iter().enumerate();
        let there = units.filter(|(_, place)| place.ranges.at(address).is_some());
        there.map(|(unit, _)| unit).find_map(|unit| {
            let tree = self.tree(unit)?;
            let index = tree.functions.at(address)?;
            Some(Entry { tree, index })
        })
    }

    /// The entry that another one names.
    pub fn entry(&self, offset: usize) -> Option<Entry> {
        let unit = self.units.partition_point(|place| place.start <= offset).checked_sub(1)?;
        let tree = self.tree(unit)?;
        let index = tree.dies.binary_search_by_key(&offset, |die| die.offset).ok()?;
        Some(Entry { tree, index })
    }

    /// The variables with a fixed address.
    pub fn statics(&self) -> Vec<(u64, Entry)> {
        let mut found = Vec::new();
        for tree in (0..self.units.len()).filter_map(|unit| self.tree(unit)) {
            for (index, die) in tree.dies.iter().enumerate() {
                if let (constants::DW_TAG_variable, Some(Location::Address(address))) =
                    (die.tag, die.location)
                {
                    found.push((address, Entry { tree: Rc::clone(&tree), index }));
                }
            }
        }
        found.sort_by_key(|(address, _)| *address);
        found
    }

    fn tree(&self, number: usize) -> Option<Rc<Tree>> {
        let place = &self.units[number];
        if let Some(tree) = &*place.dies.borrow() {
            return Some(Rc::clone(tree));
        }
        let tree = Rc::new(self.read(number).ok()?);
        *place.dies.borrow_mut() = Some(Rc::clone(&tree));
        Some(tree)
    }

    fn read(&self, number: usize) -> gimli::Result<Tree> {
        let place = &self.units[number];
        let unit = place.unit.unit_ref(&self.dwarf);
        let mut dies: Vec<Die> = Vec::new();
        // The entry of each depth under way.
        let mut open: Vec<usize> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let depth = usize::try_from(entry.depth()).unwrap_or(0);
            open.truncate(depth);
            let index = dies.len();
            let parent = open.last().copied().unwrap_or(index);
            open.push(index);
            let reference = |name: DwAt| match entry.attr_value(name)? {
                AttributeValue::UnitRef(offset) => Some(place.start + offset.0),
                AttributeValue::DebugInfoRef(offset) => Some(offset.0),
                _ => None,
            };
            let number = |name: DwAt| entry.attr_value(name)?.udata_value();
            let location = |name: DwAt| location(unit, entry.attr_value(name)?);
            let name = entry.attr_value(constants::DW_AT_name);
            let name = name.and_then(|name| unit.attr_string(name).ok());
            let name = name.and_then(|name| Some(name.to_string_lossy().ok()?.into_owned()));
            let mut ranges = Vec::new();
            let mut found = unit.die_ranges(entry)?;
            while let Some(range) = found.next()? {
                ranges.push((range.begin, range.end));
            }
            dies.push(Die {
                offset: place.start + entry.offset().0,
                parent,
                tag: entry.tag(),
                name: name.unwrap_or_default(),
                of: reference(constants::DW_AT_type),
                origin: reference(constants::DW_AT_abstract_origin)
                    .or_else(|| reference(constants::DW_AT_specification)),
                at: number(constants::DW_AT_data_member_location),
                bytes: number(constants::DW_AT_byte_size),
                count: number(constants::DW_AT_count)
                    .or_else(|| Some(number(constants::DW_AT_upper_bound)? + 1)),
                ranges,
                location: location(constants::DW_AT_location),
                base: location(constants::DW_AT_frame_base),
            });
        }
        let functions = dies.iter().enumerate();
        let functions = functions.filter(|(_, die)| die.tag == constants::DW_TAG_subprogram);
        let functions = functions.flat_map(|(index, die)| {
            die.ranges.iter().map(move |&(start, end)| (start, end, index))
        });
        let functions = Ranges::new(functions.collect());
        Ok(Tree { dies, functions })
    }
}

/// A location that is one operation; others are not known.
fn location(unit: UnitRef<'_, Bytes>, value: AttributeValue<Bytes>) -> Option<Location> {
    let mut operations = value.exprloc_value()?.operations(unit.encoding());
    let first = operations.next().ok()??;
    if operations.next().ok()?.is_some() {
        return None;
    }
    match first {
        gimli::Operation::Address { address } => Some(Location::Address(address)),
        gimli::Operation::FrameOffset { offset } => Some(Location::Frame(offset)),
        gimli::Operation::Register { register } => Some(Location::Register(register.0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn the_first_of_those_at_an_address_is_found() {
        let ranges = Ranges::new(vec![(30, 40, 'c'), (10, 20, 'a'), (10, 20, 'b'), (20, 20, 'd')]);
        for (address, there) in
            [(9, None), (10, Some('a')), (19, Some('a')), (20, None), (30, Some('c')), (40, None)]
        {
            assert_eq!(ranges.at(address), there, "{address}");
        }
    }
}
