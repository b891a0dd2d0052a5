//! What `--message-format` takes: formats for machines, each with the place that it goes to.

use clap::ValueEnum;
use std::path::PathBuf;

/// What `--message-format` takes of commands that print lines on stdout.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lines {
    /// Text
    Human,
    /// One JSON object a line
    Json,
}

/// A format, and where it goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Format {
    /// Which.
    pub name: FormatName,
    /// A file; `None` for stdout.
    pub file: Option<PathBuf>,
}

/// Names of the formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormatName {
    /// For people, on stderr, where it is printed with every other format, too.
    Human,
    /// One JSON object a line.
    Json,
    /// A SARIF 2.1.0 log.
    Sarif,
    /// A JUnit report.
    Junit,
    /// Workflow commands of GitHub Actions.
    Github,
}

impl FormatName {
    const ALL: [(&'static str, Self); 5] = [
        ("human", Self::Human),
        ("json", Self::Json),
        ("sarif", Self::Sarif),
        ("junit", Self::Junit),
        ("github", Self::Github),
    ];
}

impl Format {
    /// Parses `FORMAT` or `FORMAT=FILE`.
    ///
    /// # Errors
    /// What is wrong with it, as clap prints it after the value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((_, "")) => return Err("the file has no name".into()),
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let known = FormatName::ALL.iter().find(|(known, _)| *known == name);
        let Some((_, name)) = known else {
            let names = FormatName::ALL.map(|(name, _)| name).join(", ");
            return Err(format!("the formats are {names}, each with or without =FILE"));
        };
        if *name == FormatName::Human && file.is_some() {
            return Err("what is for people goes to stderr, not to a file".into());
        }
        Ok(Self { name: *name, file })
    }
}

/// What is to be written, given what was asked for. Where that is nothing and GitHub Actions runs
/// us, it is annotations.
///
/// # Errors
/// When two formats are to go to one place.
pub fn wanted(asked: &[Format], in_actions: bool) -> Result<Vec<Format>, String> {
    if asked.is_empty() && in_actions {
        return Ok(vec![Format { name: FormatName::Github, file: None }]);
    }
    let formats: Vec<Format> =
        asked.iter().filter(|format| format.name != FormatName::Human).cloned().collect();
    for (index, format) in formats.iter().enumerate() {
        if formats[..index].iter().any(|other| other.file == format.file) {
            let place = match &format.file {
                Some(file) => file.display().to_string(),
                None => "stdout (a file can be named: --message-format sarif=lockred.sarif)".into(),
            };
            return Err(format!("two formats cannot both go to {place}"));
        }
    }
    Ok(formats)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(texts: &[&str]) -> Vec<Format> {
        texts.iter().map(|text| Format::parse(text).unwrap()).collect()
    }

    #[test]
    fn formats_have_files_or_none() {
        let formats = parsed(&["json", "sarif=a=b.sarif"]);
        assert_eq!(formats[0], Format { name: FormatName::Json, file: None });
        assert_eq!(formats[1], Format { name: FormatName::Sarif, file: Some("a=b.sarif".into()) });
        for wrong in ["xml", "", "sarif=", "human=x", "SARIF"] {
            assert!(Format::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn two_formats_are_not_mixed_in_one_place() {
        assert!(wanted(&parsed(&["json", "sarif"]), false).is_err());
        assert!(wanted(&parsed(&["json=x", "sarif=x"]), false).is_err());
        assert_eq!(wanted(&parsed(&["human", "json", "sarif=x"]), false).unwrap().len(), 2);
    }

    #[test]
    fn annotations_are_for_actions_unless_something_else_is_asked_for() {
        assert_eq!(wanted(&[], true).unwrap(), parsed(&["github"]));
        assert_eq!(wanted(&[], false).unwrap(), []);
        assert_eq!(wanted(&parsed(&["human"]), true).unwrap(), []);
        assert_eq!(wanted(&parsed(&["junit=x"]), true).unwrap(), parsed(&["junit=x"]));
    }
}
