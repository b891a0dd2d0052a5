//! Numbers of executions that other checkers have published, beside lockred's.

use super::lockred::Answers;

#[path = "../../../peers/src/published.rs"]
mod list;

macro_rules! counts {
    ($($test:ident: $name:ident $size:tt = $count:tt $source:tt $(takes $takes:tt)?,)*) => {
        &[$(Count {
            test: stringify!($test),
            count: $count,
            source: $source,
            more: &[$($takes)?],
        },)*]
    };
}

/// A program, and the number that was published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    pub test: &'static str,
    pub count: u64,
    /// Where in GenMC's tests.
    pub source: &'static str,
    /// What lockred takes, where it is more.
    more: &'static [u64],
}

impl Count {
    /// What lockred takes.
    fn ours(&self) -> u64 {
        self.more.first().copied().unwrap_or(self.count)
    }
}

/// All of them.
pub const COUNTS: &[Count] = list::each_count!(counts);

/// A sentence for each number of lockred's that is another one than is written down.
pub fn differences(answers: &Answers) -> Vec<String> {
    let differences = COUNTS.iter().filter_map(|count| {
        let test = format!("tests::counts::{}", count.test);
        let answer = answers.get(&test);
        let is_same = answer.is_some_and(|answer| {
            answer.failure.is_none() && answer.complete && answer.executions == count.ours()
        });
        (!is_same).then(|| {
            let ours = answer.map_or("nothing".into(), |answer| {
                answer.failure.clone().unwrap_or_else(|| answer.executions.to_string())
            });
            format!("{}: {ours} executions, where {} are written down", count.test, count.ours())
        })
    });
    differences.collect()
}

#[cfg(test)]
mod tests {
    use super::super::judge::Answer;
    use super::*;

    #[test]
    fn another_number_a_bug_or_no_end_is_a_difference() {
        let answer =
            |count: u64| Answer { failure: None, executions: count, complete: true, seconds: 0.1 };
        let mut answers: Answers = COUNTS
            .iter()
            .map(|count| (format!("tests::counts::{}", count.test), answer(count.ours())))
            .collect();
        assert!(differences(&answers).is_empty());
        let first = format!("tests::counts::{}", COUNTS[0].test);
        let set = |answers: &mut Answers, answer| answers.insert(first.clone(), answer);
        set(&mut answers, answer(COUNTS[0].count + 1));
        assert_eq!(differences(&answers).len(), 1);
        set(&mut answers, Answer { complete: false, ..answer(COUNTS[0].count) });
        assert_eq!(differences(&answers).len(), 1);
        let failure = Some("a bug".to_owned());
        set(&mut answers, Answer { failure, ..answer(COUNTS[0].count) });
        assert!(differences(&answers)[0].contains("a bug"));
        answers.remove(&first);
        assert!(differences(&answers)[0].contains("nothing"));
    }
}
