//! The rows of related objects, below the objects of a tree.
//!
//! An object of the tree has its relations in both directions. From a related object only those of the same direction lead
//! on: from an ingress through services and endpoint slices to pods and their nodes, or the other way round. Pods that
//! depend on an object are the end, as are workloads. Each object has its relations below its first row only, so that
//! cycles end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::edges::Edges;
use super::kinds::{POD, WORKLOADS, kind_of};
use super::needs::{Direction, Needs, NeedsBuilder};
use super::{EdgeKind, Link, Repetition};
use crate::view::tree::{ObjectId, OwnerIndex, Tree, TreeObject, TreeRow};

/// The number of events that are shown of an object.
const MAX_EVENTS: usize = 3;
/// The number of relations between an object of the tree and a related one. Real ones have six: from an ingress to a volume.
const MAX_LINKS: usize = 8;
/// The number of rows of related objects.
const MAX_ROWS: usize = 10_000;

/// A related object and its relation.
struct RelatedObject<'a> {
    kind: EdgeKind,
    is_reverse: bool,
    object: &'a TreeObject,
}

impl Tree {
    /// Adds the rows of related objects. Returns the tree and the requests that would complete them.
    pub(crate) fn with_related(self, index: &OwnerIndex) -> (Self, Needs) {
        let Self { rows, .. } = self;
        let tree_uids = rows.iter().map(|row| &row.uid).collect();
        let placer = Placer {
            index,
            edges: Edges::of(index),
            tree_uids,
            placed: HashMap::new(),
            needs: NeedsBuilder::default(),
            rows: Vec::with_capacity(rows.len()),
            count: 0,
            left_out: 0,
        };
        placer.place(&rows)
    }
}

struct Placer<'a> {
    index: &'a OwnerIndex,
    edges: Edges<'a>,
    /// The objects that are part of the tree by ownership.
    tree_uids: HashSet<&'a ObjectId>,
    /// The objects that have a row, with the number of rows below it.
    placed: HashMap<&'a ObjectId, usize>,
    needs: NeedsBuilder,
    rows: Vec<TreeRow>,
    /// The number of rows of related objects.
    count: usize,
    left_out: usize,
}

impl<'a> Placer<'a> {
    fn place(mut self, tree_rows: &'a [TreeRow]) -> (Tree, Needs) {
        let mut places = Vec::with_capacity(tree_rows.len());
        for (at, row) in tree_rows.iter().enumerate() {
            let place = self.rows.len();
            places.push(place);
            self.rows.push(TreeRow { parent: row.parent.map(|parent| places[parent]), ..row.clone() });
            let has_children = tree_rows.get(at + 1).is_some_and(|next| next.parent == Some(at));
            self.placed.insert(&row.uid, usize::from(has_children));
            self.add_related_rows(&row.uid, place, Direction::Both, 0, has_children);
        }
        let tree = Tree { rows: self.rows, left_out: self.left_out };
        (tree, self.needs.finish())
    }

    /// Adds the rows below the row at `place`. `is_followed` is whether others of its level follow them.
    fn add_related_rows(
        &mut self,
        uid: &'a ObjectId,
        place: usize,
        direction: Direction,
        links: usize,
        is_followed: bool,
    ) {
        let Some(object) = self.index.get(uid) else { return };
        let is_in_tree = links == 0;
        self.needs.expand(self.index, object, direction, is_in_tree);
        let (forward, backward) = (direction != Direction::Backward, direction != Direction::Forward);
        for target in self.edges.unresolved(uid, forward, backward) {
            self.needs.target(target);
        }
        let above = self.rows[place].parent.map(|parent| Arc::clone(&self.rows[parent].uid));
        let related = self.related(object, direction, above.as_ref());
        let mut events = if is_in_tree { self.edges.events(uid) } else { Vec::new() };
        let further_events = events.len().saturating_sub(MAX_EVENTS);
        events.truncate(MAX_EVENTS);
        let room = MAX_ROWS.saturating_sub(self.count);
        self.left_out += (related.len() + events.len()).saturating_sub(room);
        let (related_count, event_count) = (related.len().min(room), events.len());
        let event_count = event_count.min(room - related_count);
        self.count += related_count + event_count;
        *self.placed.entry(uid).or_default() += related_count;
        let last = (related_count + event_count).checked_sub(1).filter(|_| !is_followed);
        for (at, next) in related.into_iter().take(related_count).enumerate() {
            self.add_row(&next, place, links + 1, last == Some(at));
        }
        for (at, (event, _)) in events.into_iter().take(event_count).enumerate() {
            let further_events = if at + 1 == event_count { further_events } else { 0 };
            let link = Link { kind: EdgeKind::About, is_reverse: true, repeats: None, further_events };
            self.push(event, place, link, last == Some(related_count + at));
        }
    }

    /// Adds the row of a related object and those below it.
    fn add_row(&mut self, next: &RelatedObject<'a>, parent: usize, links: usize, is_last: bool) {
        let uid = &next.object.uid;
        let repeats = match self.placed.get(uid) {
            Some(0) => Some(Repetition::OfLeaf),
            Some(_) => Some(Repetition::Above),
            None => self.tree_uids.contains(uid).then_some(Repetition::Below),
        };
        let RelatedObject { kind, is_reverse, .. } = *next;
        let place = self.push(uid, parent, Link { kind, is_reverse, repeats, further_events: 0 }, is_last);
        if repeats.is_some() {
            return;
        }
        self.placed.insert(uid, 0);
        if links < MAX_LINKS {
            let direction = if is_reverse { Direction::Backward } else { Direction::Forward };
            self.add_related_rows(uid, place, direction, links, false);
        }
    }

    fn push(&mut self, uid: &ObjectId, parent: usize, link: Link, is_last: bool) -> usize {
        self.rows.push(TreeRow {
            uid: Arc::clone(uid),
            parent: Some(parent),
            level: self.rows[parent].level + 1,
            is_last,
            is_requested: false,
            hidden: 0,
            other_owners: Vec::new(),
            missing_owners: Vec::new(),
            link: Some(link),
        });
        self.rows.len() - 1
    }

    /// Returns the related objects of an object in order, except the object above it and those that its owners in the tree
    /// are related to.
    fn related(
        &self,
        object: &'a TreeObject,
        direction: Direction,
        above: Option<&ObjectId>,
    ) -> Vec<RelatedObject<'a>> {
        let uid = &object.uid;
        let mut related = Vec::new();
        let is_end = direction == Direction::Backward && ends_backward(object);
        let is_in_tree = |uid: &ObjectId| self.tree_uids.contains(uid);
        let mut add = |kind, is_reverse, other: &'a ObjectId| {
            let Some(object) = self.index.get(other) else { return };
            related.push(RelatedObject { kind, is_reverse, object });
        };
        if direction != Direction::Backward {
            let is_inherited = |kind, to| self.edges.is_inherited(self.index, uid, (kind, to), is_in_tree);
            self.edges
                .from(uid)
                .filter(|edge| !edge.is_ambient && !is_inherited(edge.kind, edge.other))
                .for_each(|edge| add(edge.kind, false, edge.other));
        }
        if direction != Direction::Forward && !is_end {
            let is_inherited = |kind, from| self.edges.is_inherited(self.index, from, (kind, uid), |_| true);
            self.edges
                .to(uid)
                .filter(|edge| !is_inherited(edge.kind, edge.other))
                .for_each(|edge| add(edge.kind, true, edge.other));
        }
        let is_owner =
            |object: &TreeObject, other: &ObjectId| object.owners.iter().any(|owner| owner.uid == *other);
        related.retain(|next| {
            let other = &next.object.uid;
            let is_drawn = is_in_tree(uid) && is_in_tree(other);
            Some(other) != above && !(is_drawn && (is_owner(object, other) || is_owner(next.object, uid)))
        });
        related.sort_by(|left, right| sort_key(left).cmp(&sort_key(right)));
        related
    }
}

/// Whether the rows end at this object when relations are followed backward.
fn ends_backward(object: &TreeObject) -> bool {
    let kind = kind_of(&object.resource);
    kind == POD || WORKLOADS.contains(&kind)
}

fn sort_key<'a>(next: &'a RelatedObject<'_>) -> (EdgeKind, bool, [&'a str; 4]) {
    let TreeObject { resource, namespace, name, .. } = next.object;
    (next.kind, next.is_reverse, [&resource.kind, &resource.group, namespace, name])
}
