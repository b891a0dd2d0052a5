//! Notes: what the attributes of the crate `lockred` say of the program's own code, as the
//! executable carries it.
//!
//! A note is a line, in words that tabs separate: its kind, its subject with the module's path,
//! file and line, and words of its own. The attributes make statics with the name [`STATIC`] of
//! them (`runtime/annotations/macros/src/note.rs`); the shim puts these into [`SECTION`].

/// The section.
pub const SECTION: &str = "lockred_notes";
/// The name of the statics, within whatever they are in.
pub const STATIC: &str = "__LOCKRED_NOTE";

/// How the names of the statics begin that are predicates of `exclusive_when`; line, type and field
/// follow, each after `_`, and `_E`.
pub const PREDICATE: &str = "__LOCKRED_PREDICATE";

/// A note.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Note {
    /// What it says: `check`, `guarded_by`, ….
    pub kind: String,
    /// What it is about, with the path of its module: `krate::module::name`.
    pub subject: String,
    /// The file, as rustc got it.
    pub file: String,
    /// The line there.
    pub line: u32,
    /// What belongs to the kind.
    pub words: Vec<String>,
}

/// The notes of a section. What is none is left out: padding, and what a later version may write.
#[must_use]
pub fn parse(section: &[u8]) -> Vec<Note> {
    let text = String::from_utf8_lossy(section);
    let mut notes: Vec<Note> = text.lines().filter_map(note).collect();
    notes.sort();
    notes.dedup();
    notes
}

fn note(line: &str) -> Option<Note> {
    let mut words = line.trim_matches('\0').split('\t').map(str::to_owned);
    let (kind, subject, file) = (words.next()?, words.next()?, words.next()?);
    let line = words.next()?.parse().ok()?;
    Some(Note { kind, subject, file, line, words: words.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_lines_between_which_there_may_be_padding() {
        let section =
            b"\0\0unshared\tk::A.b\tsrc/lib.rs\t7\n\0check\tk::t\tt.rs\t3\tseed=1\tleaks\n\0";
        let notes = parse(section);
        let note = |kind: &str, subject: &str, file: &str, line, words: &[&str]| Note {
            kind: kind.into(),
            subject: subject.into(),
            file: file.into(),
            line,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        };
        assert_eq!(
            notes,
            [
                note("check", "k::t", "t.rs", 3, &["seed=1", "leaks"]),
                note("unshared", "k::A.b", "src/lib.rs", 7, &[]),
            ]
        );
        assert_eq!(parse(b"check\tk::t\tt.rs\tx\n\nno note\n"), []);
    }
}
