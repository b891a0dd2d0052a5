//! From a replayed execution that ended in a bug to a report: who did what where, and why that is a
//! bug.

use super::{Place, Report, Severity};
use super::{panic, render};
use crate::executable::symbols::{Frame, Origin, Symbols};
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{self, Bug, Replay, Role, Stronger};
use lockred_protocol::sites::SiteId;
use std::collections::HashMap;

/// The report of the bug that a replay ended in.
pub fn report(replay: &Replay, bug: &Bug, symbols: &Symbols) -> Report {
    let races = bug.kind == BugKind::DataRace;
    let fields = fields(replay, bug, symbols);
    let atomic = |place: &message::Place| is_atomic(place.role);
    let mixed = races && bug.places.first_chunk::<2>().is_some_and(|both| both.iter().all(atomic));
    let objects = object_names(replay, bug, &fields);
    let names = Names { replay, objects, fields, races, mixed };
    let mut places: Vec<Place> =
        bug.places.iter().map(|place| names.place(place, symbols)).collect();
    // What the report is about comes first; within it the order is the runtime's.
    places.sort_by_key(|place| !place.is_primary());
    let mut notes: Vec<String> = bug.notes.iter().map(|note| with_main(note)).collect();
    let whole = title(bug, names.subject(bug));
    let (first, rest) = whole.split_once('\n').unwrap_or((&whole, ""));
    let mut title = first.to_owned();
    if title.ends_with(PARKED) {
        // The runtime sees a parked thread where a library's condition variable or channel parks
        // it.
        let waits = places.iter().find(|place| {
            place.role == Some(Role::Waits) && title.contains(&format!(" {} is", place.thread))
        });
        if let Some(place) = waits.filter(|place| !place.label.contains("is parked")) {
            title = format!("deadlock: {} waits for ever", place.thread);
        }
    }
    if !rest.is_empty() {
        notes.insert(0, rest.to_owned());
    }
    if bug.kind == BugKind::Panic {
        let panics = panic::find(&replay.output);
        if panics.is_empty() {
            notes.extend(panic::last_words(&replay.output));
        }
        for panic in panics {
            let text = panic.message.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
            let first = text.lines().next().unwrap_or_default();
            if title == "panic" || title == "panic: the test panicked" {
                title = format!("panic: {first}");
            }
            if !whole.contains(&text) {
                let thread = thread_name(replay, panic.thread);
                notes.push(format!("{thread} panicked at {}:\n{text}", panic.location));
            }
        }
    }
    notes.extend(order_note(replay, bug, &names));
    notes.extend(replay.scaled.iter().map(|cut| scaled_note(cut, symbols)));
    Report { severity: Severity::Error, code: Some(bug.kind.code()), title, places, notes }
}

/// How the runtime reports a thread that is parked for ever.
const PARKED: &str = "is parked, and nobody is left to unpark it";

/// The kind in words, then the runtime's line.
fn title(bug: &Bug, subject: Option<&str>) -> String {
    let kind = kind_words(bug.kind);
    let message = with_main(bug.message.trim());
    let message = message.as_str();
    if let Some(subject) = subject {
        let message = message.strip_prefix(kind).unwrap_or(message).trim_start_matches([':', ' ']);
        let on = if bug.kind == BugKind::DataRace { "on" } else { "of" };
        return format!("{kind} {on} {subject}: {message}");
    }
    if message.is_empty() {
        kind.to_owned()
    } else if message.to_lowercase().starts_with(kind) {
        message.to_owned()
    } else {
        format!("{kind}: {message}")
    }
}

/// A sentence of the runtime's, which numbers all threads, with `main` in place of `thread 0`.
pub fn with_main(sentence: &str) -> String {
    sentence.replace("thread 0", "main")
}

/// How people call a kind.
pub const fn kind_words(kind: BugKind) -> &'static str {
    match kind {
        BugKind::DataRace => "data race",
        BugKind::Deadlock => "deadlock",
        BugKind::Panic => "panic",
        BugKind::UseAfterFree => "use after free",
        BugKind::DoubleFree => "double free",
        BugKind::Livelock => "livelock",
        BugKind::Abort => "abort",
        BugKind::Signal => "signal",
        BugKind::Exit => "exit",
        BugKind::OutOfBounds => "out of bounds",
    }
}

/// A loop that ended early may itself be what fails.
fn scaled_note(cut: &message::Assumption, symbols: &Symbols) -> String {
    let frames = symbols.frames(cut.site, &[]);
    let frame = frames.iter().find(|frame| frame.line > 0);
    let place = frame.map_or("a place that is not known".into(), render::location);
    format!(
        "under --scale-loops: the loop at {place} made {}. What counts on all of them may fail for that reason",
        cut.detail
    )
}

/// What would make two racing accesses well ordered.
fn order_note(replay: &Replay, bug: &Bug, names: &Names<'_>) -> Option<String> {
    if bug.kind != BugKind::DataRace {
        return None;
    }
    let of = |role: Role| bug.places.iter().filter(move |place| place.role == role);
    let weak = of(Role::WeakOrder).count();
    if weak > 0 {
        let which = if weak == 1 { "this order" } else { "these orders, each of them needed," };
        return Some(format!(
            "with {which} made stronger, the accesses are ordered in this execution"
        ));
    }
    let [first, second] = bug.places.first_chunk::<2>()?;
    let held = |thread: u32| -> Vec<u32> {
        of(Role::Held).filter(|held| held.thread == thread).filter_map(|held| held.object).collect()
    };
    let (mine, theirs) = (held(first.thread), held(second.thread));
    let lock = |object: u32| names.objects.get(object as usize).map_or("", String::as_str);
    let thread = |place: &message::Place| thread_name(replay, place.thread);
    if let Some(both) = mine.iter().find(|object| theirs.contains(object)) {
        let lock = lock(*both);
        return Some(format!(
            "both threads held {lock}, but only to read: the one that writes has to hold it exclusively"
        ));
    }
    match (&mine[..], &theirs[..]) {
        ([], []) => {}
        ([only, ..], []) | ([], [only, ..]) => {
            let other = if mine.is_empty() { first } else { second };
            let (lock, other) = (lock(*only), thread(other));
            return Some(format!(
                "{other} did not hold {lock}: held at both accesses it would order them"
            ));
        }
        _ => {
            return Some(
                "the threads held different locks: one lock held at both accesses would order them"
                    .into(),
            );
        }
    }
    let joins = |joiner: u32, ended: u32| {
        let join = format!("join thread {ended}");
        replay.steps.iter().any(|step| step.thread == joiner && step.operation == join)
    };
    let atomic = |place: &message::Place| is_atomic(place.role);
    let advice = if atomic(first) && atomic(second) {
        "access the bytes by words of one size, or order the accesses"
    } else if atomic(first) || atomic(second) {
        "one access is not atomic: make both atomic, or order them"
    } else {
        "nothing orders the two accesses"
    };
    for (joiner, ended) in [(first, second), (second, first)] {
        if joins(joiner.thread, ended.thread) {
            let (joiner, ended) = (thread(joiner), thread(ended));
            return Some(format!(
                "{advice}\n{joiner} joins {ended} only after its access; a lock held at both would order them, too"
            ));
        }
    }
    Some(format!(
        "{advice}\na lock held at both, joining the thread, or a Release store that the other side reads\n\
         with Acquire would order them"
    ))
}

/// Whether a place shows an atomic access.
const fn is_atomic(role: Role) -> bool {
    matches!(role, Role::AtomicRead | Role::AtomicWrite)
}

/// What threads and objects are called in one report.
struct Names<'a> {
    replay: &'a Replay,
    /// By index; empty for objects that the bug does not mention.
    objects: Vec<String>,
    /// By index: the field, static or variable that each is, in backticks, where that is known.
    fields: HashMap<usize, String>,
    /// The bug is a race.
    races: bool,
    /// It is one of atomic accesses of different sizes.
    mixed: bool,
}

impl Names<'_> {
    fn place(&self, place: &message::Place, symbols: &Symbols) -> Place {
        let thread = thread_name(self.replay, place.thread);
        let mut frames = symbols.frames(place.site, &place.stack);
        let mut label = format!("{thread} {}", self.action(place, called(&frames)));
        let known = |frame: &Frame| {
            matches!(frame.origin, Origin::User | Origin::Dependency) && frame.line > 0
        };
        // A thread that runs nothing but a library's function is identified by where it was
        // created.
        if !frames.iter().any(known)
            && let Some(thread) = self.replay.threads.get(place.thread as usize)
        {
            let created = symbols.frames(SiteId(0), &thread.created);
            if created.iter().any(known) {
                frames.extend(created);
                label = format!("{}; it was created here", label.replace(" here", ""));
            }
        }
        Place { role: Some(place.role), thread, label, frames, order: place.order }
    }

    /// What a bug about an access is about.
    fn subject(&self, bug: &Bug) -> Option<&str> {
        use BugKind::{DataRace, UseAfterFree};
        if !matches!(bug.kind, DataRace | UseAfterFree) {
            return None;
        }
        let access =
            |role| matches!(role, Role::Read | Role::Write | Role::AtomicRead | Role::AtomicWrite);
        let mut accesses = bug.places.iter().filter(|place| access(place.role));
        accesses.find_map(|place| self.fields.get(&(place.object? as usize)).map(String::as_str))
    }

    /// ` `Queue.len``, where the field is known.
    fn field(&self, index: Option<usize>) -> String {
        let field = index.and_then(|index| self.fields.get(&index));
        field.map_or_else(String::new, |field| format!(" {field}"))
    }

    /// The same, or else how many bytes it is.
    fn accessed(&self, index: Option<usize>) -> String {
        let field = self.field(index);
        if field.is_empty() { bytes(self.replay, index) } else { field }
    }

    /// `: 2 bytes`, where the sizes of atomic accesses are what matters.
    fn sized(&self, index: Option<usize>) -> String {
        if self.mixed { format!(":{}", bytes(self.replay, index)) } else { String::new() }
    }

    fn action(&self, place: &message::Place, called: Option<&str>) -> String {
        let index = place.object.map(|index| index as usize);
        let name = index.and_then(|index| self.objects.get(index)).map_or("", String::as_str);
        let kind = index
            .and_then(|index| self.replay.objects.get(index))
            .map_or("", |object| object.kind.as_str());
        match place.role {
            Role::Read => format!("reads{} here", self.accessed(index)),
            Role::Write => format!("writes{} here", self.accessed(index)),
            Role::AtomicRead => {
                format!("reads{} here, atomically{}", self.field(index), self.sized(index))
            }
            Role::AtomicWrite => {
                format!("writes{} here, atomically{}", self.field(index), self.sized(index))
            }
            Role::Allocates => "allocates the memory here".into(),
            Role::Waits => waits(kind, name, called.unwrap_or_default()),
            Role::Holds if name.is_empty() => "acquired a lock here and holds it".into(),
            Role::Holds => format!("acquired {name} here and holds it"),
            Role::Nests => format!("acquired {name} here, under another lock"),
            Role::Panicked => "panicked here".into(),
            Role::Died => "ended here".into(),
            Role::Spins => "spins here".into(),
            Role::Frees => "frees the memory here".into(),
            Role::Freed => "freed the block here".into(),
            Role::Held if self.races => format!("acquired {name} here and held it then"),
            Role::Held => format!("acquired {name} here and held it when it freed the block"),
            Role::WeakOrder => weak_order(place.order, called.unwrap_or_default()),
            Role::Allocated => "allocated the block here".into(),
            Role::NotifiedNobody => "notified here, when nobody waited".into(),
            Role::NotifiedOther => "notified here, and woke another one".into(),
            Role::Said => "said here".into(),
            Role::Sleeps => "sleeps here".into(),
            Role::Slow => "could have gone on here".into(),
        }
    }
}

/// The function of a library that the user's code, or else a dependency's, called: its last two
/// names.
fn called(frames: &[Frame]) -> Option<&str> {
    let of = |origin| frames.iter().position(|frame| frame.origin == origin);
    let caller = of(Origin::User).or_else(|| of(Origin::Dependency))?;
    Some(&frames[caller.checked_sub(1)?].function)
}

/// What a thread waits for, by what the object is and by what it called.
fn waits(kind: &str, name: &str, called: &str) -> String {
    let method = called.rsplit("::").next().unwrap_or_default();
    let of = |class: &str| called.contains(class);
    match kind {
        "thread" => "waits here for a thread to end".into(),
        "channel" if method.contains("send") => format!("waits here for room in {name}"),
        "channel" => format!("waits here for a message from {name}"),
        "parker" if method.contains("send") => "waits here for room in a channel".into(),
        "parker" if method.contains("recv") => "waits here for a message".into(),
        "reference count" | "counter" if method == "scope" => {
            "waits here for the threads of its scope to end".into()
        }
        "reference count" | "counter" => "waits here for the others".into(),
        "once" => "waits here for an initialisation to end".into(),
        _ if method.starts_with("park") && !of("parking_lot") => "is parked here".into(),
        _ if of("Barrier") => "waits here at the barrier".into(),
        _ if of("Condvar") => "waits here to be notified".into(),
        "condition variable" => "waits here to be notified".into(),
        "parker" => "is parked here".into(),
        "" | "futex" | "atomic" => "waits here".into(),
        _ if name.starts_with("the thread ") => {
            format!("waits here for {} to end", name.trim_start_matches("the "))
        }
        _ => format!("waits here for {name}"),
    }
}

/// What an atomic operation with too weak an order does.
fn weak_order(order: Option<Stronger>, called: &str) -> String {
    let method = called.rsplit("::").next().unwrap_or_default();
    let what = match method {
        "load" => "loads here".to_owned(),
        "store" => "stores here".to_owned(),
        "" => "synchronises here".to_owned(),
        method => format!("does `{method}` here"),
    };
    match order {
        Some(Stronger { has, needs, fails: true }) => {
            format!("{what}, which fails, with {has:?}: {needs:?} would order the accesses")
        }
        Some(Stronger { has, needs, .. }) => {
            format!("{what} with {has:?}: {needs:?} would order the accesses")
        }
        None => what,
    }
}

/// ` 4 bytes`, where the size is known.
fn bytes(replay: &Replay, object: Option<usize>) -> String {
    match object.and_then(|index| replay.objects.get(index)?.size) {
        Some(1) => " 1 byte".into(),
        Some(size) => format!(" {size} bytes"),
        None => String::new(),
    }
}

/// How a thread is called: `main`, ``thread 1 `worker` ``, `thread 2`.
pub fn thread_name(replay: &Replay, thread: u32) -> String {
    let name = replay.threads.get(thread as usize).and_then(|thread| thread.name.as_deref());
    match (thread, name) {
        (0, _) => "main".into(),
        (number, Some(name)) if !name.is_empty() => format!("thread {number} `{name}`"),
        (number, _) => format!("thread {number}"),
    }
}

/// The fields that a bug mentions, by the index of their objects.
fn fields(replay: &Replay, bug: &Bug, symbols: &Symbols) -> HashMap<usize, String> {
    let indices = bug.places.iter().filter_map(|place| Some(place.object? as usize));
    let named = indices.filter_map(|index| {
        let name = symbols.name(replay.objects.get(index)?)?;
        Some((index, format!("`{name}`")))
    });
    named.collect()
}

/// Names for the objects that a bug mentions: the field that each is; `the mutex`, or `mutex A` and
/// `mutex B` where there are several of a kind, and `mutex A (the field)` where several are the
/// same one.
fn object_names(replay: &Replay, bug: &Bug, fields: &HashMap<usize, String>) -> Vec<String> {
    // The reader meets main first, and what it holds before what it waits for.
    let mut places: Vec<&message::Place> = bug.places.iter().collect();
    places.sort_by_key(|place| (place.thread, !place.role.is_lock()));
    let mut mentioned: Vec<usize> = Vec::new();
    for index in places.iter().filter_map(|place| Some(place.object? as usize)) {
        if !mentioned.contains(&index) {
            mentioned.push(index);
        }
    }
    let mut names = vec![String::new(); replay.objects.len()];
    for (index, object) in replay.objects.iter().enumerate() {
        let same =
            |other: &&usize| replay.objects.get(**other).is_some_and(|o| o.kind == object.kind);
        let alike: Vec<usize> = mentioned.iter().filter(same).copied().collect();
        let field = fields.get(&index);
        let namesakes = alike.iter().filter(|other| fields.get(other) == field).count();
        if let Some(place) = alike.iter().position(|other| *other == index) {
            let letter = u8::try_from(place).ok().filter(|place| *place < 26);
            names[index] = match (alike.len(), letter) {
                _ if field.is_some() && namesakes == 1 => field.cloned().unwrap_or_default(),
                (1, _) => format!("the {}", object.kind),
                (_, Some(letter)) => format!("{} {}", object.kind, char::from(b'A' + letter)),
                (_, None) => format!("{} {}", object.kind, place + 1),
            };
            if let Some(field) = field.filter(|_| namesakes > 1) {
                names[index] = format!("{} ({field})", names[index]);
            }
        }
    }
    names
}
