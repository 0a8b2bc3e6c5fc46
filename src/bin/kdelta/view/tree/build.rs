//! The tree around requested objects: their owners above, all that they own below.
//!
//! Ownership is a graph: an object may have several owners, and a faulty controller may make a cycle. Each object is a
//! row once, below its controller if that is part of the tree.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::object::{ObjectId, OwnerReference, Presence, titled};
use super::owner_index::OwnerIndex;
use super::related::Link;

/// The deepest level of a tree. Objects below it are only counted.
const MAX_LEVELS: usize = 64;

/// The rows of a tree, each after its parent and before the next row of the parent's level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) rows: Vec<TreeRow>,
    /// The number of rows of related objects that are left out.
    pub(crate) left_out: usize,
}

/// An object in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeRow {
    pub(crate) uid: ObjectId,
    /// The index of the row above it; `None` for a root.
    pub(crate) parent: Option<usize>,
    /// The number of rows between it and the root, itself included; 0 for a root.
    pub(crate) level: usize,
    /// Whether it is the last child of its parent.
    pub(crate) is_last: bool,
    /// Whether the user requested it.
    pub(crate) is_requested: bool,
    /// The number of objects below it that are left out.
    pub(crate) hidden: usize,
    /// The titles of owners other than the parent.
    pub(crate) other_owners: Vec<String>,
    /// The titles of those that do not exist.
    pub(crate) missing_owners: Vec<String>,
    /// The relation to the row above; `None` for ownership.
    pub(crate) link: Option<Link>,
}

impl TreeRow {
    /// Whether another row has the object with all that is below it.
    pub(crate) fn is_repetition(&self) -> bool {
        self.link.is_some_and(|link| link.repeats.is_some())
    }
}

/// An object on its way into the rows.
struct Placed {
    parent: Option<ObjectId>,
    level: usize,
    /// The distance from the nearest requested object above it; `None` above all requested ones.
    depth: Option<usize>,
    /// The object itself, or the nearest one above it that is a row.
    shown: ObjectId,
}

impl Tree {
    /// Builds the tree of the requested objects that the index has, with at most `depth` levels below each.
    pub(crate) fn of(index: &OwnerIndex, requested: &[ObjectId], depth: Option<usize>) -> Self {
        let requested: Vec<&ObjectId> = requested.iter().filter(|uid| index.get(uid).is_some()).collect();
        let is_requested: HashSet<&ObjectId> = requested.iter().copied().collect();
        // The parents of the requested objects and of those above them; a root has none.
        let mut above: HashMap<&ObjectId, Option<&ObjectId>> = HashMap::new();
        for uid in &requested {
            climb(index, uid, &mut above);
        }
        let uids: Vec<ObjectId> = requested.iter().copied().cloned().collect();
        let below: HashSet<&ObjectId> = index.below(&uids).map(|object| &object.uid).collect();
        let is_part = |uid: &ObjectId| below.contains(uid) || above.contains_key(uid);
        let parent_of = |uid: &ObjectId| match above.get(uid) {
            Some(parent) => parent.cloned(),
            None => index.known_owners(uid).map(|owner| &owner.uid).find(|owner| is_part(owner)).cloned(),
        };
        let mut placer = Placer { index, depth, placed: HashMap::new(), is_requested: &is_requested };
        let mut queue = VecDeque::new();
        for uid in &requested {
            let root = top(uid, &above);
            if placer.place(root, None, &above) {
                queue.push_back(root.clone());
            }
        }
        let mut deferred = VecDeque::new();
        loop {
            while let Some(uid) = queue.pop_front() {
                for child in index.dependents(&uid).filter(|child| is_part(child)) {
                    if parent_of(child).as_ref() != Some(&uid) {
                        deferred.push_back((child, uid.clone()));
                    } else if placer.place(child, Some(&uid), &above) {
                        queue.push_back(child.clone());
                    }
                }
            }
            // An object whose parent is part of a cycle has another owner.
            let Some((child, owner)) = deferred.pop_front() else { break };
            if placer.place(child, Some(&owner), &above) {
                queue.push_back(child.clone());
            }
        }
        let roots = requested.iter().copied().filter_map(|uid| placer.root_of(uid));
        let roots: Vec<ObjectId> = without_repetitions(roots);
        placer.rows(&roots)
    }

    /// Returns the UIDs of all objects.
    pub(crate) fn uids(&self) -> impl Iterator<Item = &ObjectId> {
        self.rows.iter().filter(|row| !row.is_repetition()).map(|row| &row.uid)
    }

    /// Whether its objects belong to several namespaces.
    pub(crate) fn has_several_namespaces(&self, index: &OwnerIndex) -> bool {
        let objects = self.uids().filter_map(|uid| index.get(uid));
        let namespaces: BTreeSet<&str> = objects.map(|object| &*object.namespace).collect();
        namespaces.iter().filter(|namespace| !namespace.is_empty()).count() > 1
    }
}

/// Records the parents of an object and of all above it.
fn climb<'a>(
    index: &'a OwnerIndex,
    uid: &'a ObjectId,
    above: &mut HashMap<&'a ObjectId, Option<&'a ObjectId>>,
) {
    let mut path: HashSet<&ObjectId> = HashSet::new();
    let mut uid = uid;
    while !above.contains_key(uid) {
        path.insert(uid);
        let parent = index.known_owners(uid).map(|owner| &owner.uid).next();
        let parent = parent.filter(|parent| !path.contains(parent));
        above.insert(uid, parent);
        let Some(parent) = parent else { return };
        uid = parent;
    }
}

/// Returns the last object above another one.
fn top<'a>(uid: &'a ObjectId, above: &HashMap<&'a ObjectId, Option<&'a ObjectId>>) -> &'a ObjectId {
    let mut uid = uid;
    // Each object climbed before its parent was recorded, so that the parents make no cycle.
    while let Some(Some(parent)) = above.get(uid) {
        uid = parent;
    }
    uid
}

fn without_repetitions(uids: impl Iterator<Item = ObjectId>) -> Vec<ObjectId> {
    let mut seen = BTreeSet::new();
    uids.filter(|uid| seen.insert(Arc::clone(uid))).collect()
}

struct Placer<'a> {
    index: &'a OwnerIndex,
    depth: Option<usize>,
    placed: HashMap<ObjectId, Placed>,
    is_requested: &'a HashSet<&'a ObjectId>,
}

impl Placer<'_> {
    /// Gives an object its place below its parent; returns whether it had none.
    fn place(
        &mut self,
        uid: &ObjectId,
        parent: Option<&ObjectId>,
        above: &HashMap<&ObjectId, Option<&ObjectId>>,
    ) -> bool {
        if self.placed.contains_key(uid) {
            return false;
        }
        let over = parent.and_then(|parent| self.placed.get(parent));
        let level = over.map_or(0, |over| over.level + 1);
        let depth = match over.and_then(|over| over.depth) {
            _ if self.is_requested.contains(uid) => Some(0),
            depth => depth.map(|depth| depth + 1),
        };
        let is_too_deep = depth.zip(self.depth).is_some_and(|(depth, limit)| depth > limit);
        let is_shown = level < MAX_LEVELS && (!is_too_deep || above.contains_key(uid));
        let shown = match over {
            Some(over) if !is_shown => Arc::clone(&over.shown),
            _ => Arc::clone(uid),
        };
        self.placed.insert(Arc::clone(uid), Placed { parent: parent.cloned(), level, depth, shown });
        true
    }

    /// Returns the root above an object.
    fn root_of(&self, uid: &ObjectId) -> Option<ObjectId> {
        let mut uid = uid;
        while let Some(parent) = &self.placed.get(uid)?.parent {
            uid = parent;
        }
        Some(Arc::clone(uid))
    }

    /// Returns the rows below these roots, in order.
    fn rows(&self, roots: &[ObjectId]) -> Tree {
        let mut children: HashMap<&ObjectId, Vec<&ObjectId>> = HashMap::new();
        let mut hidden: HashMap<&ObjectId, usize> = HashMap::new();
        for (uid, placed) in &self.placed {
            if placed.shown != *uid {
                *hidden.entry(&placed.shown).or_default() += 1;
            } else if let Some(parent) = &placed.parent {
                // A shown object may be below hidden ones.
                let over = self.placed.get(parent).map_or(parent, |parent| &parent.shown);
                children.entry(over).or_default().push(uid);
            }
        }
        for siblings in children.values_mut() {
            siblings.sort_by_cached_key(|uid| self.sort_key(uid));
        }
        let mut rows: Vec<TreeRow> = Vec::with_capacity(self.placed.len());
        let mut pending: Vec<(&ObjectId, Option<usize>, bool)> =
            roots.iter().rev().map(|uid| (uid, None, true)).collect();
        while let Some((uid, parent, is_last)) = pending.pop() {
            let at = rows.len();
            let below = children.remove(uid).unwrap_or_default();
            let count = below.len();
            let is_last_child = |at: usize| at + 1 == count;
            pending.extend(
                below.into_iter().enumerate().rev().map(|(i, child)| (child, Some(at), is_last_child(i))),
            );
            let over = parent.map(|parent| &rows[parent].uid);
            let (missing_owners, other_owners) = self.other_owners(uid, over);
            rows.push(TreeRow {
                other_owners,
                missing_owners,
                level: parent.map_or(0, |parent| rows[parent].level + 1),
                uid: Arc::clone(uid),
                parent,
                is_last,
                is_requested: self.is_requested.contains(uid),
                hidden: hidden.get(uid).copied().unwrap_or_default(),
                link: None,
            });
        }
        Tree { rows, left_out: 0 }
    }

    /// Siblings are in the order of their types and names.
    fn sort_key(&self, uid: &ObjectId) -> (String, String, String, String) {
        let Some(object) = self.index.get(uid) else { return Default::default() };
        let resource = &object.resource;
        (resource.kind.clone(), resource.group.clone(), object.namespace.clone(), object.name.clone())
    }

    /// Returns the owners other than the parent: those that do not exist, and the others.
    fn other_owners(&self, uid: &ObjectId, parent: Option<&ObjectId>) -> (Vec<String>, Vec<String>) {
        let owners = self.index.get(uid).map(|object| &*object.owners).unwrap_or_default();
        let others = owners.iter().filter(|owner| Some(&owner.uid) != parent);
        let is_missing = |owner: &&OwnerReference| {
            self.index.get(&owner.uid).is_some_and(|owner| owner.presence == Presence::Missing)
        };
        let (missing, others): (Vec<_>, Vec<_>) = others.partition(is_missing);
        let titles = |owners: Vec<&OwnerReference>| {
            owners.iter().map(|owner| titled(&owner.kind, owner.group(), &owner.name)).collect()
        };
        (titles(missing), titles(others))
    }
}
