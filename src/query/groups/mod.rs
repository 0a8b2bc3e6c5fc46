//! Objects grouped by the values of indices, with the counts and aggregates of each group. Objects may be added, replaced
//! and removed at any time; the groups always reflect the current objects.

mod group_key;
mod member;
mod numbers;
#[cfg(test)]
mod tests;

pub use group_key::GroupKey;
pub use member::{Member, TooManyGroups};
pub use numbers::{Aggregate, Number};

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use numbers::Numbers;

/// A group of objects that share values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    count: usize,
    /// The numbers at each path.
    numbers: Box<[Numbers]>,
}

impl Group {
    /// Returns the number of its objects.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns an aggregate of the numbers that the objects have at a path, given by its position; `None` if they have
    /// none.
    #[must_use]
    pub fn aggregate(&self, aggregate: Aggregate, path: usize) -> Option<Number> {
        self.numbers.get(path)?.aggregate(aggregate)
    }
}

/// The groups of the current objects, each of which is known under a key.
///
/// ```
/// use kdelta::query::{Aggregate, Groups, Member, Number};
///
/// let pod = |node: &str, memory: &str| {
///     let numbers = vec![Number::parse(memory).into_iter().collect()];
///     Member::new(0, vec![vec![node.into()]], numbers).expect("few values")
/// };
/// let mut groups = Groups::default();
/// groups.set("web-1", Some(pod("north", "512Mi")));
/// groups.set("web-2", Some(pod("north", "1Gi")));
/// groups.set("web-2", Some(pod("north", "1536Mi")));
/// let (_, north) = groups.iter().next().expect("one node");
/// assert_eq!(north.count(), 2);
/// assert_eq!(north.aggregate(Aggregate::Sum, 0).expect("two numbers").to_string(), "2Gi");
/// groups.set("web-1", None);
/// groups.set("web-2", None);
/// assert_eq!(groups.iter().count(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct Groups<K> {
    members: HashMap<K, Member>,
    by_key: BTreeMap<GroupKey, Group>,
    /// The groups that have changed since the last [`Groups::take_changed`].
    changed: BTreeSet<GroupKey>,
}

impl<K> Default for Groups<K> {
    fn default() -> Self {
        Self { members: HashMap::new(), by_key: BTreeMap::new(), changed: BTreeSet::new() }
    }
}

impl<K: Eq + Hash> Groups<K> {
    /// Replaces an object; `None` removes it.
    pub fn set(&mut self, key: K, member: Option<Member>) {
        if self.members.get(&key) == member.as_ref() {
            return;
        }
        // The new state first, so that a group that holds both is not removed in between.
        for (key, member) in member.iter().flat_map(|member| member.groups().map(move |key| (key, member))) {
            self.changed.insert(key.clone());
            self.by_key.entry(key).or_insert_with(|| Group::of(member)).add(member);
        }
        let old = match member {
            Some(new) => self.members.insert(key, new),
            None => self.members.remove(&key),
        };
        for (key, member) in old.iter().flat_map(|member| member.groups().map(move |key| (key, member))) {
            if let Some(group) = self.by_key.get_mut(&key) {
                group.remove(member);
                if group.count == 0 {
                    self.by_key.remove(&key);
                }
            }
            self.changed.insert(key);
        }
    }

    /// Removes the objects whose keys match.
    pub fn remove_where(&mut self, matches: impl Fn(&K) -> bool)
    where
        K: Clone,
    {
        let keys: Vec<K> = self.members.keys().filter(|key| matches(key)).cloned().collect();
        for key in keys {
            self.set(key, None);
        }
    }

    /// Returns the number of objects, those without a group included.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.members.len()
    }

    /// Returns the groups with at least one object, sorted by their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&GroupKey, &Group)> {
        self.by_key.iter()
    }

    /// Returns a group; `None` if it has no object.
    #[must_use]
    pub fn get(&self, key: &GroupKey) -> Option<&Group> {
        self.by_key.get(key)
    }

    /// Returns the keys of the groups that may have changed since the last call.
    pub fn take_changed(&mut self) -> BTreeSet<GroupKey> {
        std::mem::take(&mut self.changed)
    }
}

impl Group {
    /// Creates an empty group for members with as many paths as this one.
    fn of(member: &Member) -> Self {
        Self { count: 0, numbers: member.numbers().iter().map(|_| Numbers::default()).collect() }
    }

    fn add(&mut self, member: &Member) {
        self.count += 1;
        for (numbers, added) in self.numbers.iter_mut().zip(member.numbers()) {
            for number in added {
                numbers.add(*number);
            }
        }
    }

    fn remove(&mut self, member: &Member) {
        self.count -= 1;
        for (numbers, removed) in self.numbers.iter_mut().zip(member.numbers()) {
            for number in removed {
                numbers.remove(*number);
            }
        }
    }
}
