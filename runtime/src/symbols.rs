//! The addresses of the hooks, from the executable's own symbol table: by these, frames of the program are told from ours on a stack.

use std::fs;

/// What names of hooks begin with.
const PREFIX: &[u8] = b"__lr_";
/// `st_info & 0xf` of a function.
const FUNCTION: u8 = 2;
/// `sh_type` of the symbol table.
const SYMTAB: u32 = 2;

fn bytes(file: &[u8], at: usize, length: usize) -> Option<&[u8]> {
    file.get(at..at.checked_add(length)?)
}

/// The number of `N` bytes at an offset from somewhere in a file, which may hold anything.
fn number<const N: usize>(file: &[u8], from: usize, offset: usize) -> Option<u64> {
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(bytes(file, from.checked_add(offset)?, N)?);
    Some(u64::from_le_bytes(wide))
}

/// Contents of a section whose header is at `header`.
fn section(file: &[u8], header: usize) -> Option<&[u8]> {
    let at = number::<8>(file, header, 24)? as usize;
    bytes(file, at, number::<8>(file, header, 32)? as usize)
}

/// The functions of an ELF file for 64-bit little-endian machines whose names begin with [`PREFIX`], sorted; `None` if it has no symbols.
fn functions(file: &[u8]) -> Option<Vec<usize>> {
    const ENTRY: usize = 24;
    let headers = number::<8>(file, 0, 40)? as usize;
    let (size, count) = (number::<2>(file, 0, 58)? as usize, number::<2>(file, 0, 60)? as usize);
    let header = |index: usize| headers.checked_add(index.checked_mul(size)?);
    let is_table = |&at: &usize| number::<4>(file, at, 4) == Some(u64::from(SYMTAB));
    let table = (0..count).filter_map(header).find(is_table)?;
    let names = section(file, header(number::<4>(file, table, 40)? as usize)?)?;
    let is_hook = |entry: &&[u8]| {
        let name = number::<4>(entry, 0, 0).and_then(|at| names.get(at as usize..));
        entry[4] & 0xf == FUNCTION && name.is_some_and(|name| name.starts_with(PREFIX))
    };
    let entries = section(file, table)?.chunks_exact(ENTRY);
    let addresses = entries.filter(is_hook).filter_map(|entry| number::<8>(entry, 0, 8));
    let mut addresses: Vec<usize> = addresses.map(|address| address as usize).collect();
    addresses.sort_unstable();
    Some(addresses)
}

/// Where the hooks of this process are, sorted; empty if its executable was stripped. (It is linked to fixed addresses.)
pub fn hooks() -> Vec<usize> {
    fs::read("/proc/self/exe").ok().and_then(|file| functions(&file)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_found_in_an_executable() {
        // Unit tests are linked to any address, so what is compared is how the functions lie to each other.
        let hooks = hooks();
        let (load, store) = (
            crate::atomics::__lr_atomic_load as *const () as usize,
            crate::atomics::__lr_atomic_store as *const () as usize,
        );
        assert!(hooks.len() > 10 && hooks.is_sorted(), "{}", hooks.len());
        let base = hooks.iter().any(|&hook| {
            let base = load.wrapping_sub(hook);
            hooks.binary_search(&store.wrapping_sub(base)).is_ok()
        });
        assert!(base);
    }

    #[test]
    fn what_is_no_executable_has_no_hooks() {
        assert_eq!(functions(b""), None);
        assert_eq!(functions(&[0xff; 64]), None);
    }
}
