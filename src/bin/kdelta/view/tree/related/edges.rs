//! The relations between known objects.

use std::collections::{HashMap, HashSet};

use super::EdgeKind;
use super::event::EventNote;
use super::reference::{Reference, Target};
use crate::view::tree::{ObjectId, OwnerIndex, Presence};

/// The number of owners above an object among which its relations are looked for.
const MAX_OWNERS: usize = 8;

/// A relation of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge<'a> {
    pub(super) kind: EdgeKind,
    /// The object at the other end.
    pub(super) other: &'a ObjectId,
    pub(super) is_ambient: bool,
}

/// All relations of the objects whose references are known.
#[derive(Default)]
pub(super) struct Edges<'a> {
    from: HashMap<&'a ObjectId, Vec<Edge<'a>>>,
    to: HashMap<&'a ObjectId, Vec<Edge<'a>>>,
    known: HashSet<(&'a ObjectId, EdgeKind, &'a ObjectId)>,
    /// The events about each object.
    events: HashMap<&'a ObjectId, Vec<(&'a ObjectId, &'a EventNote)>>,
    /// The references of each object to objects that are unknown.
    unresolved: HashMap<&'a ObjectId, Vec<&'a Reference>>,
}

impl<'a> Edges<'a> {
    pub(super) fn of(index: &'a OwnerIndex) -> Self {
        let mut edges = Self::default();
        for object in index.objects() {
            let Some(relations) = &object.relations else { continue };
            for reference in &relations.references {
                match index.named(&reference.target) {
                    None => edges.unresolved.entry(&object.uid).or_default().push(reference),
                    Some(found) => match &relations.event {
                        Some(note) if note.about.as_ref().is_none_or(|uid| *uid == **found) => {
                            edges.events.entry(found).or_default().push((&object.uid, note));
                        }
                        Some(_) => {}
                        None => edges.add(index, &object.uid, reference, found),
                    },
                }
            }
        }
        edges
    }

    fn add(
        &mut self,
        index: &'a OwnerIndex,
        uid: &'a ObjectId,
        reference: &'a Reference,
        found: &'a ObjectId,
    ) {
        let is_missing = index.get(found).is_some_and(|object| object.presence == Presence::Missing);
        if reference.is_optional && is_missing {
            return;
        }
        let (from, to) = if reference.is_reverse { (found, uid) } else { (uid, found) };
        let Reference { edge: kind, is_ambient, .. } = *reference;
        if from == to || !self.known.insert((from, kind, to)) {
            return;
        }
        self.from.entry(from).or_default().push(Edge { kind, other: to, is_ambient });
        self.to.entry(to).or_default().push(Edge { kind, other: from, is_ambient });
    }

    /// Returns the relations that lead from an object.
    pub(super) fn from(&self, uid: &ObjectId) -> impl Iterator<Item = Edge<'a>> {
        self.from.get(uid).into_iter().flatten().copied()
    }

    /// Returns the relations that lead to an object.
    pub(super) fn to(&self, uid: &ObjectId) -> impl Iterator<Item = Edge<'a>> {
        self.to.get(uid).into_iter().flatten().copied()
    }

    /// Whether an owner above an object has the same relation, and fulfils a condition.
    pub(super) fn is_inherited(
        &self,
        index: &OwnerIndex,
        uid: &ObjectId,
        (kind, to): (EdgeKind, &ObjectId),
        is_shown: impl Fn(&ObjectId) -> bool,
    ) -> bool {
        let mut uid = uid;
        for _ in 0..MAX_OWNERS {
            let Some(owner) = index.known_owners(uid).next() else { return false };
            uid = &owner.uid;
            if is_shown(uid) && self.known.contains(&(uid, kind, to)) {
                return true;
            }
        }
        false
    }

    /// Returns the events about an object: warnings first, then the newest.
    pub(super) fn events(&self, uid: &ObjectId) -> Vec<(&'a ObjectId, &'a EventNote)> {
        let mut events = self.events.get(uid).cloned().unwrap_or_default();
        events.sort_by(|(one, note), (other, next)| {
            let rank = |note: &EventNote| (note.is_warning(), note.last_seen);
            rank(next).cmp(&rank(note)).then_with(|| one.cmp(other))
        });
        events
    }

    /// Returns the unknown objects to which an object refers, in one or both directions of its relations.
    pub(super) fn unresolved(&self, uid: &ObjectId, forward: bool, backward: bool) -> Vec<&'a Target> {
        let references = self.unresolved.get(uid).into_iter().flatten();
        let is_followed = |reference: &&&Reference| {
            let in_direction = if reference.is_reverse { backward } else { forward };
            in_direction && !reference.is_ambient && reference.edge != EdgeKind::About
        };
        references.filter(is_followed).map(|reference| &reference.target).collect()
    }
}
