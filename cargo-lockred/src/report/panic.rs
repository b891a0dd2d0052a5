//! Panics as they are reported in a program's recorded output.

use lockred_protocol::message::Output;

/// Lines of output that a report shows.
const LAST_LINES: usize = 5;

/// A panic that the default hook printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Panic {
    /// The number of the thread that printed it.
    pub thread: u32,
    /// `file:line:column` as printed.
    pub location: String,
    /// What it said; may have several lines.
    pub message: String,
}

/// The panics in a recorded output, in their order. They are printed as
/// `thread 'name' (7) panicked at src/lib.rs:5:9:`, then the message, then perhaps a `note:`.
pub fn find(output: &[Output]) -> Vec<Panic> {
    // One panic is written in pieces; pieces of different threads may be interleaved.
    let mut threads: Vec<(u32, String, usize)> = Vec::new();
    for (order, piece) in output.iter().enumerate().filter(|(_, piece)| piece.descriptor == 2) {
        match threads.iter_mut().find(|(thread, ..)| *thread == piece.thread) {
            Some((_, text, _)) => text.push_str(&piece.text),
            None => threads.push((piece.thread, piece.text.clone(), order)),
        }
    }
    threads.sort_by_key(|(_, _, order)| *order);
    threads.iter().flat_map(|(thread, text, _)| of_thread(*thread, text)).collect()
}

fn of_thread(thread: u32, text: &str) -> Vec<Panic> {
    let mut panics = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(location) = line
            .strip_prefix("thread '")
            .and_then(|rest| rest.split_once(" panicked at "))
            .and_then(|(_, location)| location.strip_suffix(':'))
        else {
            continue;
        };
        let mut message: Vec<&str> = Vec::new();
        let ends = |line: &str| {
            line.starts_with("note: run with `RUST_BACKTRACE")
                || line.starts_with("stack backtrace:")
                || line.starts_with("thread '")
        };
        while let Some(line) = lines.next_if(|line| !ends(line)) {
            message.push(line);
        }
        let message = message.join("\n").trim().to_owned();
        panics.push(Panic { thread, location: location.to_owned(), message });
    }
    panics
}

/// The end of what a test printed, without what the harness prints around it: says why a test
/// without a panic failed.
pub fn last_words(output: &[Output]) -> Option<String> {
    let text: String = output.iter().map(|piece| piece.text.as_str()).collect();
    let harness = ["running ", "test ", "failures:", "test result:"];
    let own = |line: &&str| {
        !line.trim().is_empty() && !harness.iter().any(|start| line.starts_with(start))
    };
    let lines: Vec<&str> = text.lines().filter(own).collect();
    let shown = &lines[lines.len().saturating_sub(LAST_LINES)..];
    (!shown.is_empty()).then(|| format!("the last output was:\n{}", shown.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(thread: u32, text: &str) -> Output {
        Output { thread, descriptor: 2, text: text.into(), step: 0 }
    }

    #[test]
    fn panics_are_found_in_pieces_of_several_threads() {
        let output = [
            Output { descriptor: 1, ..piece(0, "thread 'x' panicked at no:1:1:\n") },
            piece(1, "\nthread '<unnamed>' (123) panicked at src/"),
            piece(0, "unrelated\n"),
            piece(1, "lib.rs:5:9:\nassertion `left == right` failed\n  left: 1\n right: 2\n"),
            piece(1, "note: run with `RUST_BACKTRACE=1` environment variable\n"),
            piece(0, "thread 'main' panicked at src/lib.rs:9:1:\nboom\n"),
        ];
        let panics = find(&output);
        assert_eq!(panics.len(), 2);
        assert_eq!(panics[0].location, "src/lib.rs:5:9");
        assert_eq!(panics[0].message, "assertion `left == right` failed\n  left: 1\n right: 2");
        assert_eq!((panics[1].thread, panics[1].message.as_str()), (0, "boom"));
    }

    #[test]
    fn the_last_words_are_those_of_the_test() {
        let output = [
            piece(0, "running 1 test\ntest a::b ... "),
            piece(0, "\nError: \"wrong order\"\nFAILED\n\nfailures:\n"),
        ];
        assert_eq!(
            last_words(&output).unwrap(),
            "the last output was:\nError: \"wrong order\"\nFAILED"
        );
        assert_eq!(last_words(&output[..1]), None);
    }
}
