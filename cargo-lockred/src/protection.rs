//! What protects the memory that threads share: the part of `cargo lockred audit --accesses` that
//! prints it.

use crate::executable::place::{Place, relative};
use crate::printing::line::json;
use lockred_protocol::protection::{Class, Field, Lock, Protection};
use lockred_protocol::sites::{Sidecar, SiteId};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// What is known of one executable, and what names its places.
pub struct Reported<'a> {
    pub protection: &'a Protection,
    pub sidecar: &'a Sidecar,
    /// The workspace's root: its files are reported relative to it.
    pub root: &'a Path,
    pub target: &'a str,
}

/// A line of JSON: bytes of an object.
#[derive(Serialize)]
struct FieldLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    object: String,
    users: bool,
    start: u64,
    end: Option<u64>,
    class: Class,
    locks: Vec<String>,
    place: Option<String>,
}

/// A line of JSON: where threads begin, and what they may operate on.
#[derive(Serialize)]
struct ThreadLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    name: &'a str,
    objects: Vec<String>,
}

/// The line of JSON after those.
#[derive(Serialize)]
struct ProtectionLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    known: bool,
    objects: usize,
    locked: usize,
    unwritten: usize,
    operation: usize,
    shared: usize,
}

impl Reported<'_> {
    /// For people: the user's own memory, and how much there is of each class.
    pub fn human(&self) -> String {
        let Protection { known, objects, fields, threads } = self.protection;
        if !known {
            return "what protects memory is not known: the program is too large, or something that it accesses is not understood\n\n".into();
        }
        let mut text =
            String::from("what protects memory that threads share, once it is published\n");
        let mut object = None;
        // The user's own memory, and what the user's own code accesses.
        let own: BTreeSet<u32> = fields
            .iter()
            .filter(|field| field.site.is_some() && objects[field.object as usize].users)
            .map(|field| field.object)
            .collect();
        for field in fields.iter().filter(|field| own.contains(&field.object)) {
            if object.replace(field.object) != Some(field.object) {
                let _ = writeln!(text, "\n{}", self.object(field.object));
            }
            let place = field.site.map_or_else(String::new, |site| self.place(site));
            let line = format!(
                "  {:>9}  {:9}  {:24}  {place}",
                bytes(field),
                field.class.text(),
                locks(field).join(", ")
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push('\n');
        for thread in threads {
            let names: Vec<String> = thread
                .objects
                .iter()
                .filter(|object| own.contains(object))
                .map(|&object| self.object(object))
                .collect();
            let others = thread.objects.len() - names.len();
            let beside = if names.is_empty() { "" } else { ", and on" };
            let name = &thread.name;
            let _ = writeln!(text, "{name} may operate on {others} objects{beside}");
            names.iter().for_each(|name| {
                let _ = writeln!(text, "  {name}");
            });
        }
        let [locked, unwritten, operation, shared] = self.counts();
        let _ = writeln!(
            text,
            "\nthe whole program: {} objects; {locked} parts of them are locked, {unwritten} unwritten, {operation} for operations, {shared} shared\n",
            objects.len()
        );
        text
    }

    /// For machines.
    pub fn json(&self) -> String {
        let Protection { known, objects, fields, threads } = self.protection;
        let target = self.target;
        let field = |field: &Field| {
            json(&FieldLine {
                reason: "field",
                v: VERSION,
                target,
                object: self.object(field.object),
                users: objects[field.object as usize].users,
                start: field.start,
                end: field.end,
                class: field.class,
                locks: locks(field),
                place: field.site.map(|site| self.place(site)),
            })
        };
        let mut text: String = fields.iter().map(field).collect();
        for thread in threads {
            text += &json(&ThreadLine {
                reason: "thread",
                v: VERSION,
                target,
                name: &thread.name,
                objects: thread.objects.iter().map(|&object| self.object(object)).collect(),
            });
        }
        let [locked, unwritten, operation, shared] = self.counts();
        text + &json(&ProtectionLine {
            reason: "protection",
            v: VERSION,
            target,
            known: *known,
            objects: objects.len(),
            locked,
            unwritten,
            operation,
            shared,
        })
    }

    /// How many parts of objects there are of each class.
    fn counts(&self) -> [usize; 4] {
        let fields = &self.protection.fields;
        Class::ALL.map(|class| fields.iter().filter(|field| field.class == class).count())
    }

    /// An object's name, with files relative to the workspace.
    fn object(&self, index: u32) -> String {
        let object = self.protection.objects.get(index as usize);
        object.map_or_else(String::new, |object| relative(&object.name, self.root))
    }

    /// The line of source that a site is in.
    fn place(&self, site: SiteId) -> String {
        let Place { function, file, line } = Place::of(site, self.sidecar, self.root);
        format!("{file}:{line} in {function}")
    }
}

fn bytes(field: &Field) -> String {
    match field.end {
        Some(end) => format!("{}..{end}", field.start),
        None => format!("{}..", field.start),
    }
}

fn locks(field: &Field) -> Vec<String> {
    let name = |lock: &Lock| match lock {
        Lock::Own(offset) => format!("the lock at {offset}"),
        Lock::Global(name, 0) => name.clone(),
        Lock::Global(name, offset) => format!("{name} + {offset}"),
    };
    field.locks.iter().map(name).collect()
}
