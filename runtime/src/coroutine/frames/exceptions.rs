//! Where functions begin and end, and where exceptions that come out of their calls land: read from
//! the tables of the unwinder.
//!
//! The formats are those of the Linux Standard Base (Core, chapter "Exception Frames") and of the
//! Itanium C++ ABI's language-specific data.

use std::ffi::c_void;
use std::ops::Range;

/// A function of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its code.
    pub code: Range<usize>,
    /// The landing pad of the calls in a part of it.
    pub landing_pads: Vec<(Range<usize>, usize)>,
}

#[repr(C)]
struct Bases {
    text: *const c_void,
    data: *const c_void,
    function: *const c_void,
}

unsafe extern "C" {
    fn _Unwind_Find_FDE(address: *const c_void, bases: *mut Bases) -> *const u8;
}

/// The function that an address is in; `None` if the tables say nothing of it that is understood.
pub fn function_at(address: usize) -> Option<Function> {
    let mut bases =
        Bases { text: std::ptr::null(), data: std::ptr::null(), function: std::ptr::null() };
    // SAFETY: the result is written to a live value.
    let entry = unsafe { _Unwind_Find_FDE(address as *const c_void, &raw mut bases) };
    if entry.is_null() {
        return None;
    }
    let mut entry = Reader(entry as usize);
    let _length: u32 = entry.take();
    let back = entry.0;
    let distance: u32 = entry.take();
    let encodings = Encodings::read(back - distance as usize)?;
    entry.encoded(encodings.addresses)?;
    // A length is encoded as an address is, but relative to nothing.
    let length = entry.encoded(encodings.addresses & 0x0f)?;
    let start = bases.function as usize;
    let mut landing_pads = Vec::new();
    if encodings.augmented {
        entry.unsigned();
        if encodings.specific != OMITTED {
            // Zero, whatever it would be relative to, is none.
            let is_none = Reader(entry.0).encoded(encodings.specific & 0x0f)? == 0;
            if !is_none {
                landing_pads = read_landing_pads(entry.encoded(encodings.specific)?, start)?;
            }
        }
    }
    Some(Function { code: start..start + length, landing_pads })
}

const OMITTED: u8 = 0xff;

/// How addresses are encoded in the entries that share a header.
struct Encodings {
    augmented: bool,
    addresses: u8,
    specific: u8,
}

impl Encodings {
    fn read(header: usize) -> Option<Self> {
        let mut header = Reader(header + 8);
        let version: u8 = header.take();
        let mut augmentation = Vec::new();
        loop {
            match header.take::<u8>() {
                0 => break,
                letter => augmentation.push(letter),
            }
        }
        header.unsigned();
        header.unsigned();
        if version == 1 {
            header.take::<u8>();
        } else {
            header.unsigned();
        }
        let mut encodings = Self { augmented: false, addresses: 0, specific: OMITTED };
        for letter in augmentation {
            match letter {
                b'z' => {
                    encodings.augmented = true;
                    header.unsigned();
                }
                b'R' => encodings.addresses = header.take(),
                b'L' => encodings.specific = header.take(),
                b'P' => {
                    let encoding = header.take::<u8>();
                    header.encoded(encoding & !INDIRECT)?;
                }
                _ => return None,
            }
        }
        Some(encodings)
    }
}

fn read_landing_pads(table: usize, function: usize) -> Option<Vec<(Range<usize>, usize)>> {
    let mut table = Reader(table);
    let base = match table.take() {
        OMITTED => function,
        encoding => table.encoded(encoding)?,
    };
    if table.take::<u8>() != OMITTED {
        table.unsigned();
    }
    let encoding = table.take();
    let length = table.unsigned();
    let end = table.0 + length;
    let mut all = Vec::new();
    while table.0 < end {
        let start = function + table.encoded(encoding)?;
        let length = table.encoded(encoding)?;
        let pad = table.encoded(encoding)?;
        let _action = table.unsigned();
        if pad != 0 {
            all.push((start..start + length, base + pad));
        }
    }
    Some(all)
}

/// What an encoding says beside the format: relative to its place, and the address of the address.
const RELATIVE: u8 = 0x10;
const INDIRECT: u8 = 0x80;

/// A place in a table of the executable, which is mapped and well-formed: the unwinder itself
/// relies on it.
struct Reader(usize);

impl Reader {
    fn take<T: Copy>(&mut self) -> T {
        // SAFETY: by what a reader is.
        let value = unsafe { (self.0 as *const T).read_unaligned() };
        self.0 += size_of::<T>();
        value
    }

    /// A number in LEB128, of which those that are signed are only passed over.
    fn unsigned(&mut self) -> usize {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte: u8 = self.take();
            value |= usize::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    }

    /// An address; `None` if its encoding is none that LLVM uses for this target.
    fn encoded(&mut self, encoding: u8) -> Option<usize> {
        let place = self.0;
        let value = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => self.take::<usize>(),
            0x01 => self.unsigned(),
            0x02 => usize::from(self.take::<u16>()),
            0x03 => self.take::<u32>() as usize,
            0x0a => self.take::<i16>() as usize,
            0x0b => self.take::<i32>() as usize,
            _ => return None,
        };
        match encoding & 0xf0 {
            0 => Some(value),
            RELATIVE => Some(place.wrapping_add(value)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn lands(call: fn(), held: &mut Vec<u64>) {
        struct Cleanup<'a>(&'a mut Vec<u64>);
        impl Drop for Cleanup<'_> {
            fn drop(&mut self) {
                self.0.push(1);
            }
        }
        let _cleanup = Cleanup(held);
        call();
    }

    #[test]
    fn functions_and_their_landing_pads_are_found() {
        let mut held = Vec::new();
        lands(|| {}, &mut held);
        assert_eq!(held, [1]);
        let start = lands as *const () as usize;
        let function = function_at(start + 1).unwrap();
        assert_eq!(function.code.start, start);
        assert!(function.code.len() > 8);
        let (calls, pad) = &function.landing_pads[0];
        assert!(function.code.contains(&calls.start) && function.code.contains(&(calls.end - 1)));
        assert!(function.code.contains(pad) && !calls.contains(pad), "{function:x?}");
    }
}
