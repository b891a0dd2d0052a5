//! The command line of a gcc-flavoured linker driver, as rustc writes it.

use std::fs;
use std::path::{Path, PathBuf};

/// One argument, in the order of the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A file to link.
    Input(PathBuf),
    /// `-lNAME`.
    Library(String),
    /// `-L DIRECTORY`.
    Directory(PathBuf),
    /// Anything else, with its value if it takes one.
    Flag(Vec<String>),
}

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandLine {
    /// All arguments but the output.
    pub arguments: Vec<Argument>,
    /// The file to make.
    pub output: PathBuf,
    /// Whether it is a shared library (or a relocatable object): linked plainly, not checked.
    pub shared: bool,
}

/// Flags of cc whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-T",
    "-u",
    "-z",
    "-e",
    "-Xlinker",
    "-B",
    "-isysroot",
    "--sysroot",
    "-target",
    "-include",
    "-x",
    "-undefined",
    "-install_name",
    "-h",
    "-soname",
    "-arch",
    "-F",
    "-rpath",
];

impl CommandLine {
    /// Sorts the arguments (without the program's name), reading response files.
    ///
    /// # Errors
    /// When a response file cannot be read, or there is no output.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut words = Vec::new();
        for argument in arguments {
            match argument.strip_prefix('@') {
                Some(file) => words.extend(response_file(Path::new(file))?),
                None => words.push(argument),
            }
        }
        let mut parsed = Vec::new();
        let mut output = None;
        let mut shared = false;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = |flag: &str| {
                words.next().ok_or_else(|| format!("the argument {flag} lacks its value"))
            };
            match word.as_str() {
                "-o" => output = Some(PathBuf::from(value("-o")?)),
                "-L" => parsed.push(Argument::Directory(value("-L")?.into())),
                "-l" => parsed.push(Argument::Library(value("-l")?)),
                flag if WITH_VALUE.contains(&flag) => {
                    let value = value(flag)?;
                    parsed.push(Argument::Flag(vec![word, value]));
                }
                flag if flag.starts_with("-L") => {
                    parsed.push(Argument::Directory(flag[2..].into()));
                }
                flag if flag.starts_with("-l") => parsed.push(Argument::Library(flag[2..].into())),
                flag if flag.starts_with('-') => {
                    shared |= matches!(flag, "-shared" | "-r" | "-dynamiclib");
                    parsed.push(Argument::Flag(vec![word]));
                }
                _ => parsed.push(Argument::Input(word.into())),
            }
        }
        let output = output.ok_or("no output is given (-o)")?;
        Ok(Self { arguments: parsed, output, shared })
    }
}

/// The words of a response file: separated by white space; a backslash takes the next character as
/// it is, quotes group.
fn response_file(path: &Path) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(path)
        .map_err(|e| format!("cannot read the response file {}: {e}", path.display()))?;
    Ok(split_words(&text))
}

fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rustc_command_line_is_sorted() {
        let words =
            ["-m64", "a.o", "-L", "/x", "-Wl,-Bstatic", "libb.rlib", "-lc", "-o", "out", "-pie"];
        let line = CommandLine::parse(words.map(String::from)).unwrap();
        assert_eq!(line.output, Path::new("out"));
        assert!(!line.shared);
        assert_eq!(line.arguments[1], Argument::Input("a.o".into()));
        assert_eq!(line.arguments[2], Argument::Directory("/x".into()));
        assert_eq!(line.arguments[5], Argument::Library("c".into()));
    }

    #[test]
    fn response_files_keep_spaces_that_are_escaped_or_quoted() {
        assert_eq!(split_words("a\\ b\n\"c d\"  e\\\\f\n''"), ["a b", "c d", "e\\f", ""]);
    }

    #[test]
    fn a_missing_output_is_reported() {
        assert!(CommandLine::parse(["a.o".into()]).unwrap_err().contains("-o"));
    }
}
