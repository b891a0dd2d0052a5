//! What ripgrep is made of: searches the files of a directory, side by side.

use grep::regex::RegexMatcher;
use grep::searcher::{Searcher, sinks::UTF8};
use ignore::{WalkBuilder, WalkState};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let pattern = arguments.next().expect("a pattern");
    let matcher = RegexMatcher::new(&pattern).expect("a regular expression");
    WalkBuilder::new(arguments.next().expect("a directory")).build_parallel().run(|| {
        let (matcher, mut searcher) = (matcher.clone(), Searcher::new());
        Box::new(move |entry| {
            if let Ok(entry) = entry {
                let told = UTF8(|line, text| {
                    print!("{}:{line}:{text}", entry.path().display());
                    Ok(true)
                });
                let _ = searcher.search_path(&matcher, entry.path(), told);
            }
            WalkState::Continue
        })
    });
}
