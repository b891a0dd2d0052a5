//! What objects hold: a node for each place, and where it goes on to.

use super::PointsTo;
use super::objects::{ANYWHERE, Kind, ObjectId, Outlet, PlaceId, Target};
use super::solver::Node;

impl PointsTo<'_> {
    /// The node of what a place holds.
    pub(super) fn content(&mut self, place: PlaceId) -> Node {
        let it = self.objects.places[place as usize];
        if let Some(content) = it.content {
            return content;
        }
        if let Some(same) = it.same {
            return self.content(same);
        }
        let content = self.graph.add(1);
        self.objects.places[place as usize].content = Some(content);
        let places = self.objects.objects[it.object as usize].places.clone();
        for (offset, other) in places {
            let Some(other) = self.objects.places[other as usize].content else { continue };
            if it.offset == ANYWHERE && offset != ANYWHERE {
                self.graph.copy(content, other);
            } else if offset == ANYWHERE && it.offset != ANYWHERE {
                self.graph.copy(other, content);
            }
        }
        for outlet in self.objects.objects[it.object as usize].outlets.clone() {
            self.let_out(it.object, it.offset, content, outlet);
        }
        content
    }

    /// What a place at an offset holds goes where an outlet says, if it is in its part.
    pub(super) fn let_out(&mut self, source: ObjectId, offset: u32, content: Node, outlet: Outlet) {
        let Outlet { range: (start, end), target } = outlet;
        let stride = self.objects.objects[source as usize].stride;
        // How far after the beginning of the part it is, first, and then again and again.
        let distance = match (offset, stride) {
            (ANYWHERE, _) => None,
            (_, 0) if (start..end).contains(&offset) => Some(offset - start),
            (_, 0) => return,
            _ => {
                let first = (i64::from(offset) - i64::from(start)).rem_euclid(i64::from(stride));
                if i64::from(start) + first >= i64::from(end) {
                    return;
                }
                Some(first as u32)
            }
        };
        match target {
            Target::Node(node) => self.graph.copy(content, node),
            Target::Place(object, first) => {
                let repeats = stride > 0 && end - start > stride;
                let known = distance.filter(|_| first != ANYWHERE);
                let known = known.filter(|_| !repeats || self.fold(object, stride));
                let to = known.map(|distance| i64::from(first) + i64::from(distance));
                let to = self.objects.place(object, to);
                let to = self.content(to);
                self.graph.copy(content, to);
            }
        }
    }

    /// Takes the places of an object that are multiples of so many bytes apart for the same, if it
    /// looks like an array.
    pub(super) fn fold(&mut self, object: ObjectId, stride: u32) -> bool {
        if !matches!(self.objects.objects[object as usize].kind, Kind::Heap(..)) {
            return false;
        }
        let before = self.objects.objects[object as usize].stride;
        let merged = self.objects.fold(object, stride);
        if self.objects.objects[object as usize].stride == before {
            return true;
        }
        for (place, same) in merged {
            if let Some(content) = self.objects.places[place as usize].content {
                let same = self.content(same);
                self.graph.copy(content, same);
                self.graph.copy(same, content);
            }
        }
        // What is in it goes to more places now.
        let it = &self.objects.objects[object as usize];
        for outlet in it.outlets.clone() {
            for (offset, place) in self.objects.objects[object as usize].places.clone() {
                if let Some(content) = self.objects.places[place as usize].content {
                    self.let_out(object, offset, content, outlet);
                }
            }
        }
        true
    }

    /// What is in a part of an object goes somewhere, now and later.
    pub(super) fn add_outlet(&mut self, object: ObjectId, outlet: Outlet) {
        let it = &mut self.objects.objects[object as usize];
        if !it.outlets.insert(outlet) {
            return;
        }
        let places = it.places.clone();
        for (offset, place) in places {
            if let Some(content) = self.objects.places[place as usize].content {
                self.let_out(object, offset, content, outlet);
            }
        }
    }

    /// The node of what all places of an object hold.
    pub(super) fn all(&mut self, object: ObjectId) -> Node {
        if let Some(all) = self.objects.objects[object as usize].all {
            return all;
        }
        let all = self.graph.add(1);
        self.objects.objects[object as usize].all = Some(all);
        self.add_outlet(object, Outlet { range: (0, ANYWHERE), target: Target::Node(all) });
        all
    }

    /// Those who are not known read it, write it, and call it.
    pub(super) fn escaped(&mut self, object: ObjectId) {
        match self.objects.objects[object as usize].kind {
            Kind::Foreign | Kind::Data => {}
            Kind::Library if object == self.bytes => {}
            Kind::Library => {
                self.graph.copy(self.library, self.foreign);
                self.graph.copy(self.foreign, self.library);
            }
            Kind::Function(function) => {
                if self.facts.functions[function as usize].body.is_some() {
                    self.enter_from_outside(function);
                }
            }
            kind => {
                let all = self.all(object);
                self.graph.copy(all, self.foreign);
                // What a constant of others holds is what they know.
                let constant = matches!(kind, Kind::Global(id) if {
                    let global = &self.facts.globals[id as usize];
                    global.is_constant && !(global.is_foreign && global.initial.is_empty())
                });
                if !constant {
                    let place = self.objects.place(object, None);
                    let content = self.content(place);
                    self.graph.copy(self.foreign, content);
                }
            }
        }
    }
}
