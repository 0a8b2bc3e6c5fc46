//! Which elements of two lists belong together.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::level::{Level, Members};

/// What Kubernetes tells elements of a list apart by, the usual first.
const KEYS: [&str; 10] =
    ["name", "type", "containerPort", "port", "mountPath", "devicePath", "uid", "ip", "key", "topologyKey"];

/// The elements that belong together, in an order that is that of both lists; and what those of either list are told
/// apart by, where that is not their place.
pub(super) struct Pairs<'a> {
    pub(super) pairs: Vec<(usize, usize)>,
    /// By place in the old list and in the new one.
    names: (HashMap<usize, Cow<'a, str>>, HashMap<usize, Cow<'a, str>>),
}

impl<'a> Pairs<'a> {
    /// The name of an element of the old list.
    pub(super) fn old_name(&self, at: usize) -> Option<Cow<'a, str>> {
        self.names.0.get(&at).cloned()
    }

    /// The name of an element of the new list.
    pub(super) fn new_name(&self, at: usize) -> Option<Cow<'a, str>> {
        self.names.1.get(&at).cloned()
    }

    pub(super) fn of(old: &[&'a str], new: &[&'a str]) -> Self {
        let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let end =
            old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
        let old_middle = &old_rest[..old_rest.len() - end];
        let new_middle = &new_rest[..new_rest.len() - end];

        let mut names = (HashMap::new(), HashMap::new());
        let middle = match keys(old_middle, new_middle) {
            Some((old_keys, new_keys)) => {
                let pairs = in_order(&old_keys, &new_keys);
                let placed = |keys: Keys<'a>| {
                    keys.into_iter().enumerate().map(|(at, key)| (start + at, unquoted(key))).collect()
                };
                names = (placed(old_keys), placed(new_keys));
                pairs
            }
            None => filled(same(old_middle, new_middle), old_middle.len(), new_middle.len()),
        };
        let mut pairs: Vec<_> = (0..start).map(|at| (at, at)).collect();
        pairs.extend(middle.into_iter().map(|(one, other)| (start + one, start + other)));
        pairs.extend((0..end).map(|at| (old.len() - end + at, new.len() - end + at)));
        Self { pairs, names }
    }
}

/// What the elements of one list are told apart by.
type Keys<'a> = Vec<Cow<'a, str>>;

/// The keys of the elements of both lists, as JSON: values of the first member that tells those of each list apart.
fn keys<'a>(old: &[&'a str], new: &[&'a str]) -> Option<(Keys<'a>, Keys<'a>)> {
    let taken = |list: &[&'a str]| {
        let objects = list.iter().map(|element| match Level::of(element) {
            Level::Object(members) => Some(members),
            _ => None,
        });
        objects.collect::<Option<Vec<_>>>()
    };
    let (old, new) = (taken(old)?, taken(new)?);
    KEYS.iter().find_map(|key| {
        let values = |list: &[Members<'a>]| {
            let mut seen = HashSet::new();
            let value = |members: &Members<'a>| {
                let value = members.get(key).filter(|value| !value.starts_with(['{', '[', 'n']))?;
                seen.insert(value).then_some(Cow::Borrowed(value))
            };
            list.iter().map(value).collect::<Option<Vec<_>>>()
        };
        Some((values(&old)?, values(&new)?))
    })
}

/// A key as a person writes it.
fn unquoted(key: Cow<'_, str>) -> Cow<'_, str> {
    match key {
        Cow::Borrowed(json) => match json.strip_prefix('"').and_then(|json| json.strip_suffix('"')) {
            Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
            Some(_) => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
            None => Cow::Borrowed(json),
        },
        owned @ Cow::Owned(_) => owned,
    }
}

/// Elements that are the same in both lists, where each list holds texts and numbers only, each once.
fn same(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let is_set = |list: &[&str]| {
        let mut seen = HashSet::new();
        list.iter().all(|element| !element.starts_with(['{', '[']) && seen.insert(*element))
    };
    if is_set(old) && is_set(new) { in_order(old, new) } else { Vec::new() }
}

/// The pairs of equal keys, as many as there are in one order: the longest run of them that grows in both lists.
fn in_order<K: std::hash::Hash + Eq>(old: &[K], new: &[K]) -> Vec<(usize, usize)> {
    let places: HashMap<&K, usize> = new.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let pairs: Vec<(usize, usize)> =
        old.iter().enumerate().filter_map(|(at, key)| Some((at, *places.get(key)?))).collect();
    // `ends[n]` is the pair that ends the run of length n + 1 with the smallest end; `before` leads back along a run.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        before[at] = length.checked_sub(1).map(|shorter| ends[shorter]);
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = before[at];
    }
    run.reverse();
    run
}

/// The same pairs, and between them those that stand in the same place of their gaps.
fn filled(pairs: Vec<(usize, usize)>, old: usize, new: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::with_capacity(old.min(new));
    let (mut from_old, mut from_new) = (0, 0);
    for (to_old, to_new) in pairs.into_iter().chain([(old, new)]) {
        all.extend((from_old..to_old).zip(from_new..to_new));
        if (to_old, to_new) != (old, new) {
            all.push((to_old, to_new));
        }
        (from_old, from_new) = (to_old + 1, to_new + 1);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
        Pairs::of(old, new).pairs
    }

    #[test]
    fn elements_with_the_same_key_belong_together() {
        let a = r#"{"name":"a","x":1}"#;
        let b = r#"{"name":"b","x":1}"#;
        let changed = r#"{"x":2,"name":"b"}"#;
        assert_eq!(pairs(&[a, b], &[changed]), [(1, 0)]);
        // A name that two of them share tells nothing apart, but a port does.
        let (one, two) = (r#"{"name":"a","port":1}"#, r#"{"name":"a","port":2}"#);
        assert_eq!(pairs(&[one, two], &[r#"{"name":"b","port":2}"#]), [(1, 0)]);
        let named = Pairs::of(&[a, b], &[a, changed]);
        assert_eq!((named.old_name(1).as_deref(), named.new_name(0)), (Some("b"), None));
    }

    #[test]
    fn texts_belong_to_their_equals_and_what_is_left_to_its_place() {
        assert_eq!(pairs(&["1", "2", "3", "4"], &["2", "3", "4", "5"]), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(pairs(&["1", "2", "3"], &["1", "9", "3"]), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(pairs(&["1", "1"], &["1", "1", "1"]), [(0, 0), (1, 1)]);
        assert_eq!(pairs(&["{}", "[1]"], &["[2]", "{}"]), [(0, 0), (1, 1)]);
    }

    #[test]
    fn what_changes_its_place_leaves_the_order_of_the_others() {
        assert_eq!(pairs(&["1", "2", "3", "4"], &["4", "1", "2", "3"]), [(0, 1), (1, 2), (2, 3)]);
    }
}
