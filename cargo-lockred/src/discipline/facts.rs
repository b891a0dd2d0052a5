//! What was observed of the locking discipline, by field: who accesses it where, under which locks.

use super::protection::Protection;
use crate::executable::symbols::{Frame, Origin, Symbols};
use lockred_protocol::message::{AccessSeen, Broken, Observation};
use std::collections::{BTreeMap, BTreeSet};

/// What was observed of some tests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// By name.
    pub fields: BTreeMap<String, Field>,
    /// Predicates that are not what they have to be, with the place that shows it.
    pub broken: Vec<(Broken, Vec<Frame>)>,
}

/// A field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// What it is in the program's own types, from the outermost on: `krate::Type.field`; or
    /// `static NAME`, and what is in that.
    pub names: Vec<String>,
    /// Where it is accessed.
    pub places: Vec<Place>,
    /// It is no field of a type and no static, but a local variable.
    pub is_local: bool,
    /// It is inside of a lock, whose type sees to it that it is held.
    pub is_guarded: bool,
    /// Executions that were looked at.
    pub executions: u64,
    /// All interleavings of the tests that share it were covered.
    pub verified: bool,
}

/// A place where a field is accessed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The stack, innermost frame first.
    pub frames: Vec<Frame>,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Locks that are held whenever it counts.
    pub held: BTreeSet<Lock>,
    /// Predicates that its thread did not satisfy in some execution, by address.
    pub refused: BTreeSet<u64>,
    /// Something has to order it with what others do. Else it initialises the field, or comes when
    /// all others are done.
    pub counts: bool,
}

/// A lock that is held.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lock {
    /// The field that it is.
    pub name: String,
    /// See [`Field::names`].
    pub names: Vec<String>,
    /// With others who might hold it, too.
    pub shared: bool,
}

impl Place {
    /// Where it is in the user's own code, if it is there.
    pub fn frame(&self) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.origin == Origin::User && frame.line > 0)
    }

    /// Whether it holds a lock as it has to for what it does.
    pub fn is_under(&self, lock: &str) -> bool {
        self.held.iter().any(|held| held.name == lock && !(held.shared && self.writes))
    }

    /// Places are reported in the order of this: by the source, reads first.
    fn order(&self) -> impl Ord {
        let frame = self.frame().or(self.frames.first()).cloned();
        let at = frame.map(|frame| (frame.file, frame.line, frame.column, frame.function));
        (at, self.writes, self.atomic)
    }

    fn is_same(&self, other: &Self) -> bool {
        let at = |place: &Self| place.frame().or(place.frames.first()).cloned();
        at(self) == at(other) && (self.writes, self.atomic) == (other.writes, other.atomic)
    }

    /// Another observation of the same place. Of the ways there, the one is reported that shows
    /// which locks are not held.
    fn merge(&mut self, other: &Self) {
        match (self.counts, other.counts) {
            (true, true) => {
                if !self.held.is_subset(&other.held) {
                    self.frames.clone_from(&other.frames);
                }
                self.refused.extend(&other.refused);
                self.held = self.held.intersection(&other.held).cloned().collect();
            }
            (false, true) => *self = other.clone(),
            _ => {}
        }
    }

    /// Ways to one place are merged in the order of this, and not of addresses, which each build
    /// has others of.
    fn precedence(&self) -> impl Ord + use<> {
        let lines = self.frames.iter();
        let way: Vec<_> = lines.map(|f| (f.file.clone(), f.line, f.column)).collect();
        (!self.counts, self.held.len(), way)
    }
}

impl Facts {
    /// Of one test. What has no name is left out.
    pub fn of(observation: &Observation, symbols: &Symbols, verified: bool) -> Self {
        let mut facts = Self::default();
        let frames = |broken: &Broken| symbols.frames(broken.site, &broken.stack);
        facts.broken =
            observation.broken.iter().map(|broken| (broken.clone(), frames(broken))).collect();
        let seen = observation.accesses.iter().filter_map(|access| {
            let name = symbols.name_of(&access.memory)?;
            Some((name, place(access, symbols)))
        });
        let mut seen: Vec<_> = seen.collect();
        seen.sort_by_cached_key(|(_, place)| place.precedence());
        for (name, place) in seen {
            let field = Field {
                names: name.names.clone(),
                places: vec![place],
                is_local: name.is_local,
                is_guarded: name.is_guarded,
                executions: observation.executions,
                verified,
            };
            facts.add(name.text, field, false);
        }
        facts
    }

    /// Adds what was observed of another test.
    pub fn merge(&mut self, other: Self) {
        for (name, field) in other.fields {
            self.add(name, field, true);
        }
    }

    /// The fields of types, and statics, that threads share, with what protects them.
    pub fn shared(&self) -> impl Iterator<Item = (&str, Protection)> {
        let fields = self.fields.iter().filter(|(_, field)| !field.is_local);
        fields.filter_map(|(name, field)| Some((name.as_str(), field.protection()?)))
    }

    fn add(&mut self, name: String, field: Field, others: bool) {
        let Some(known) = self.fields.get_mut(&name) else {
            self.fields.insert(name, field);
            return;
        };
        for name in field.names {
            if !known.names.contains(&name) {
                known.names.push(name);
            }
        }
        known.is_local |= field.is_local;
        known.is_guarded &= field.is_guarded;
        known.verified &= field.verified;
        if others {
            known.executions += field.executions;
        }
        for place in field.places {
            match known.places.iter_mut().find(|known| known.is_same(&place)) {
                Some(known) => known.merge(&place),
                None => known.places.push(place),
            }
        }
        // The runtime's order is that of site numbers, which a build in another directory may give
        // otherwise.
        known.places.sort_by(|a, b| a.order().cmp(&b.order()));
    }
}

fn place(access: &AccessSeen, symbols: &Symbols) -> Place {
    let lock = |held: &lockred_protocol::message::LockSeen| {
        let name = symbols.name_of(&held.lock)?;
        Some(Lock { name: name.text, names: name.names, shared: held.shared })
    };
    Place {
        frames: symbols.frames(access.site, &access.stack),
        writes: access.writes,
        atomic: access.atomic,
        held: access.held.iter().filter_map(lock).collect(),
        refused: access.refused.iter().copied().collect(),
        counts: access.counted > 0,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A place at a line, which holds locks (`~` for shared).
    pub fn at(line: u32, writes: bool, held: &[&str]) -> Place {
        let lock = |name: &&str| Lock {
            name: name.trim_start_matches('~').into(),
            names: vec![name.trim_start_matches('~').into()],
            shared: name.starts_with('~'),
        };
        let frame = Frame {
            function: "f".into(),
            file: "q.rs".into(),
            line,
            column: 1,
            origin: Origin::User,
        };
        let held = held.iter().map(lock).collect();
        Place {
            frames: vec![frame],
            writes,
            atomic: false,
            held,
            refused: BTreeSet::new(),
            counts: true,
        }
    }

    /// A field with these places.
    pub fn field(places: &[Place]) -> Field {
        let places = places.to_vec();
        Field {
            names: Vec::new(),
            places,
            is_local: false,
            is_guarded: false,
            executions: 16,
            verified: true,
        }
    }

    #[test]
    fn places_come_in_the_order_of_the_source_whatever_the_order_of_sites() {
        let all = [at(3, true, &[]), at(3, false, &[]), at(2, true, &[])];
        let mut facts = Facts::default();
        for place in &all {
            facts.add("Q.len".into(), field(std::slice::from_ref(place)), true);
        }
        let [last, middle, first] = all;
        assert_eq!(facts.fields["Q.len"].places, [first, middle, last]);
    }

    #[test]
    fn the_way_is_reported_that_shows_which_lock_is_not_held() {
        let way = |line, held: &[&str]| {
            let mut place = at(1, true, held);
            place.frames.push(Frame { line, ..place.frames[0].clone() });
            place
        };
        let reported = |ways: &[Place]| {
            let mut facts = Facts::default();
            ways.iter()
                .for_each(|way| facts.add("Q.len".into(), field(std::slice::from_ref(way)), true));
            facts.fields["Q.len"].places[0].frames[1].line
        };
        let (with, without) = (way(7, &["Q.lock"]), way(8, &[]));
        assert_eq!(reported(&[with.clone(), without.clone()]), 8);
        assert_eq!(reported(&[without, with.clone()]), 8);
        assert_eq!(reported(&[with.clone(), way(9, &["Q.lock"])]), 7);
        assert!(with.precedence() < way(9, &["Q.lock"]).precedence());
        assert!(way(9, &[]).precedence() < with.precedence());
    }

    #[test]
    fn a_place_holds_what_it_always_holds_when_it_counts() {
        let mut facts = Facts::default();
        facts.add("Q.len".into(), field(&[at(1, true, &["Q.lock", "Q.other"])]), true);
        facts.add("Q.len".into(), field(&[at(1, true, &["Q.lock"])]), true);
        let apart = Place { counts: false, ..at(1, true, &[]) };
        facts.add("Q.len".into(), field(&[apart]), true);
        let held = &facts.fields["Q.len"].places[0].held;
        assert_eq!(held.iter().map(|lock| lock.name.as_str()).collect::<Vec<_>>(), ["Q.lock"]);
        assert_eq!((facts.fields["Q.len"].places.len(), facts.fields["Q.len"].executions), (1, 48));
    }
}
