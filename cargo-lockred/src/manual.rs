//! The manual: a page a code, carried in the executable from `docs/codes`.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// A page of the manual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// What it is about, as printed: `LR0002`, `memory-model-sc`.
    pub code: &'static str,
    text: &'static str,
}

/// All pages, sorted by code.
pub fn pages() -> impl Iterator<Item = Page> {
    PAGES.iter().map(|(code, text)| Page { code, text })
}

/// The page of a code.
pub fn page(code: &str) -> Option<Page> {
    pages().find(|page| page.code == code)
}

impl Page {
    /// A page that is in no manual.
    #[cfg(test)]
    pub const fn new(code: &'static str, text: &'static str) -> Self {
        Self { code, text }
    }

    /// The page in Markdown.
    pub const fn text(self) -> &'static str {
        self.text
    }

    /// What the code stands for: the heading, without the code.
    pub fn title(self) -> &'static str {
        let heading = self.text.lines().next().unwrap_or_default().trim_start_matches("# ");
        heading.split_once(": ").map_or(heading, |(_, title)| title)
    }

    /// The title as a name in programs: `DataRace`.
    pub fn name(self) -> String {
        let words = self.title().split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
        words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
    }

    /// The first paragraph.
    pub fn meaning(self) -> String {
        let lines = self.text.lines().skip(1).skip_while(|line| line.is_empty());
        lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
