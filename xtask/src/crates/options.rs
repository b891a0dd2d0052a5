//! What the command line of `cargo xtask crates` asks for.

use super::list::{List, Set};

/// The command line.
#[derive(PartialEq, Debug)]
pub struct Options {
    pub set: Set,
    /// Crates or bugs; empty for all of the set.
    pub names: Vec<String>,
    /// The most that a test gets, where the list does not say.
    pub seconds: u32,
    /// Tests that are explored at a time.
    pub jobs: usize,
    /// Whether the table goes into the document.
    pub write: bool,
}

impl Options {
    /// Reads the words after `crates`. Fails with a sentence for who typed them.
    pub fn parse(words: &[&str]) -> Result<Options, String> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let mut options =
            Options { set: Set::First, names: Vec::new(), seconds: 5, jobs, write: false };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
            match word {
                "--set" => options.set = Set::named(value()?)?,
                "--seconds" => options.seconds = number(word, value()?)?,
                "--jobs" => options.jobs = number(word, value()?)?,
                "--write" => options.write = true,
                _ if word.starts_with('-') => return Err(format!("`{word}` is no option")),
                _ => options.names.push(word.to_owned()),
            }
        }
        if options.write && !options.names.is_empty() && options.set == Set::Bugs {
            return Err("--write needs all bugs, not single names".into());
        }
        Ok(options)
    }

    /// Whether something of this name was asked for.
    pub fn selects(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }

    /// Fails for names that the set does not have.
    pub fn names_are_known(&self, list: &List) -> Result<(), String> {
        let known = list.names(self.set);
        let unknown = self.names.iter().find(|name| !known.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| {
            Err(format!("`{name}` is not in this set, which has: {}", known.join(" ")))
        })
    }
}

fn number<T: std::str::FromStr>(option: &str, word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("`{option} {word}`: that is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_names_come_in_any_order() {
        let options = Options::parse(&["spin", "--set", "2", "--seconds", "9", "state"]);
        let options = options.expect("all of that is known");
        assert_eq!((options.set, options.seconds), (Set::Second, 9));
        assert_eq!(options.names, ["spin", "state"]);
        assert!(options.selects("spin") && !options.selects("scc"));
        let nothing = Options::parse(&[]).expect("nothing is needed");
        assert!(nothing.selects("scc") && nothing.set == Set::First && !nothing.write);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |words: &[&str]| Options::parse(words).expect_err("that is wrong");
        assert_eq!(wrong(&["--sets"]), "`--sets` is no option");
        assert_eq!(wrong(&["--set"]), "`--set` needs a value");
        assert_eq!(wrong(&["--set", "4"]), "there is no set `4`: 1, 2, 3 or bugs");
        assert_eq!(wrong(&["--seconds", "x"]), "`--seconds x`: that is no number");
        let single = ["--set", "bugs", "--write", "dashmap-shrink"];
        assert_eq!(wrong(&single), "--write needs all bugs, not single names");
        assert!(Options::parse(&["--write", "spin"]).is_ok(), "other crates keep their rows");
    }
}
