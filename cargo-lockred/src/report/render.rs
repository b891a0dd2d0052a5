//! Reports as text, in rustc's manner.

use super::span;
use super::{Place, Report, Severity};
use crate::executable::source::Sources;
use crate::executable::symbols::{Frame, Origin};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use lockred_protocol::message::Role;
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

/// How much of the stacks is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stacks {
    /// Frames of the user's own code; all, where there are none.
    User,
    /// Every frame.
    Full,
}

/// A file with what to point at in it.
struct Annotated<'a> {
    file: &'a str,
    text: Rc<str>,
    marks: Vec<(bool, std::ops::Range<usize>, String)>,
}

/// The report as text, without a line break at its end.
pub fn text(report: &Report, sources: &Sources, stacks: Stacks, colored: bool) -> String {
    let files = annotated(&report.places, sources);
    let level = match report.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = level.primary_title(report.title.as_str());
    if let Some(code) = report.code {
        title = title.id(code);
    }
    let snippets = files.iter().map(|file| {
        let annotations = file.marks.iter().map(|(primary, range, label)| {
            let kind = if *primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(range.clone()).label(label.as_str())
        });
        Snippet::source(&*file.text).path(file.file).annotations(annotations)
    });
    let mut group = title.elements(snippets);
    for note in unplaced(&report.places, &files).iter().chain(&report.notes) {
        group = group.element(Level::NOTE.message(note.clone()));
    }
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.render(&[group]);
    let lists: Vec<String> =
        report.places.iter().filter_map(|place| stack(place, stacks)).collect();
    if !lists.is_empty() {
        text.push('\n');
        lists.iter().for_each(|list| text.push_str(list));
    }
    text
}

/// The places by file, the first place's file first.
fn annotated<'a>(places: &'a [Place], sources: &Sources) -> Vec<Annotated<'a>> {
    let mut files: Vec<Annotated<'_>> = Vec::new();
    for (index, place) in places.iter().enumerate() {
        // A panic after the first only passes that on.
        let panicked = |place: &Place| place.role == Some(Role::Panicked);
        let follows = panicked(place) && places[..index].iter().any(panicked);
        let Some(frame) = place.frame().filter(|frame| frame.line > 0) else { continue };
        let Some(text) = sources.text(Path::new(&frame.file)) else { continue };
        let Some(range) = span::range(&text, frame.line, frame.column) else { continue };
        let mark = (place.is_primary() && !follows, range, place.label.clone());
        match files.iter_mut().find(|known| known.file == frame.file) {
            Some(known) if known.marks.contains(&mark) => {}
            Some(known) => known.marks.push(mark),
            None => files.push(Annotated { file: &frame.file, text, marks: vec![mark] }),
        }
    }
    files
}

/// Sentences for places whose source cannot be shown.
fn unplaced(places: &[Place], shown: &[Annotated<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    for place in places {
        let frame = place.frame();
        let is_shown = frame.is_some_and(|frame| {
            let mut files = shown.iter().filter(|file| file.file == frame.file);
            files.any(|file| file.marks.iter().any(|(_, _, label)| *label == place.label))
        });
        if let Some(frame) = frame.filter(|_| !is_shown) {
            sentences.push(format!("{}: {}", place.label, location(frame)));
        }
    }
    sentences
}

/// The stack of a place as a list, each line with a line break before it.
fn stack(place: &Place, stacks: Stacks) -> Option<String> {
    // What the program says is no call.
    if place.role == Some(Role::Said) {
        return None;
    }
    let user = |frame: &&Frame| frame.origin == Origin::User;
    let all = stacks == Stacks::Full || !place.frames.iter().any(|frame| user(&frame));
    let mut shown: Vec<&Frame> = place.frames.iter().filter(|frame| all || user(frame)).collect();
    if stacks == Stacks::User {
        without_harness(&mut shown);
    }
    let width = shown.iter().map(|frame| frame.function.chars().count()).max()?.min(100);
    let mut text = format!("\n{}:", place.label.replace(" here", ""));
    for alike in shown.chunk_by(|a, b| a == b) {
        let frame = alike[0];
        let name = &frame.function;
        let padding = width.saturating_sub(name.chars().count());
        let _ = write!(text, "\n    {name}{:padding$}  {}", "", location(frame));
        if alike.len() > 1 {
            let _ = write!(text, "  ({} times)", alike.len());
        }
    }
    Some(text)
}

/// Drops the outermost frames that `#[test]` makes: the harness's `main`, and the closure around a
/// test function.
fn without_harness(frames: &mut Vec<&Frame>) {
    if let [.., outer] = &frames[..]
        && is_harness(outer)
    {
        frames.pop();
    }
    if let [.., inner, outer] = &frames[..]
        && outer.function == format!("{}::{{closure}}", inner.function)
    {
        frames.pop();
    }
}

/// Whether a frame is that of the harness's `main`, which `#[test]` puts at the beginning of the
/// crate.
pub fn is_harness(frame: &Frame) -> bool {
    frame.line <= 1 && frame.function.ends_with("::main")
}

/// `file:line:column`, as far as it is known.
pub fn location(frame: &Frame) -> String {
    match (frame.file.as_str(), frame.line, frame.column) {
        ("", ..) => "an unknown place".into(),
        (file, 0, _) => file.into(),
        (file, line, 0) => format!("{file}:{line}"),
        (file, line, column) => format!("{file}:{line}:{column}"),
    }
}
