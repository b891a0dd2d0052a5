//! Options of the benches that write documents: `[--seconds N] [--write] [FILTER]`.

/// What was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The budget of one run, in whole seconds.
    pub seconds: u64,
    /// Whether the document is written; otherwise it is printed.
    pub write: bool,
    /// Only what has this in its name.
    pub filter: String,
}

impl Options {
    /// Reads the words after the name of the bench.
    ///
    /// # Errors
    ///
    /// Names the word that is not understood. A part of a document is not written in the place of
    /// the whole.
    pub fn read(words: &[&str], seconds: u64) -> Result<Options, String> {
        let mut options = Options { seconds, write: false, filter: String::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--write" => options.write = true,
                "--seconds" => {
                    let number = words.next().and_then(|word| word.parse().ok());
                    options.seconds = number
                        .filter(|&seconds| seconds > 0)
                        .ok_or("`--seconds` takes a number of seconds")?;
                }
                _ if word.starts_with('-') => return Err(format!("`{word}` is not understood")),
                _ if options.filter.is_empty() => options.filter = word.to_owned(),
                _ => return Err(format!("`{word}`: one filter is enough")),
            }
        }
        if options.write && !options.filter.is_empty() {
            return Err("`--write` writes the whole document: leave the filter out".into());
        }
        Ok(options)
    }

    /// Whether something of that name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        name.contains(&self.filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_any_order() {
        let read = |words: &[&str]| Options::read(words, 2);
        let options = |seconds, write, filter: &str| {
            Ok(Options { seconds, write, filter: filter.to_owned() })
        };
        assert_eq!(read(&[]), options(2, false, ""));
        assert_eq!(read(&["--write", "--seconds", "7"]), options(7, true, ""));
        assert_eq!(read(&["locks", "--seconds", "7"]), options(7, false, "locks"));
    }

    #[test]
    fn what_is_not_understood_is_reported() {
        let wrong = |words: &[&str]| Options::read(words, 2).expect_err("it is wrong");
        assert!(wrong(&["--seconds"]).contains("--seconds"));
        assert!(wrong(&["--seconds", "0"]).contains("--seconds"));
        assert!(wrong(&["--wirte"]).contains("--wirte"));
        assert!(wrong(&["a", "b"]).contains("`b`"));
        assert!(wrong(&["a", "--write"]).contains("filter"));
    }
}
