//! Pairing of list elements.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::document::Document;
use crate::object::JsonKind;

/// Members that identify elements of Kubernetes lists, the most common first.
const KEYS: [&str; 10] =
    ["name", "type", "containerPort", "port", "mountPath", "devicePath", "uid", "ip", "key", "topologyKey"];

/// Paired elements, in an order common to both lists, and the keys of the elements of each list that are not identified
/// by index.
pub(super) struct Pairs<'a> {
    pub(super) places: Vec<(usize, usize)>,
    /// The index of the first element with a key, which is the same in both lists.
    first_key: usize,
    old_keys: Keys<'a>,
    new_keys: Keys<'a>,
}

impl<'a> Pairs<'a> {
    /// Returns the key of an element of the old list.
    pub(super) fn old_key(&self, at: usize) -> Option<Cow<'a, str>> {
        self.old_keys.get(at.checked_sub(self.first_key)?).cloned()
    }

    /// Returns the key of an element of the new list.
    pub(super) fn new_key(&self, at: usize) -> Option<Cow<'a, str>> {
        self.new_keys.get(at.checked_sub(self.first_key)?).cloned()
    }

    /// Pairs the elements of a list of each document, the old one first.
    pub(super) fn of(documents: [Document<'a>; 2], old: &[&'a str], new: &[&'a str]) -> Self {
        let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let end =
            old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
        let old_middle = &old_rest[..old_rest.len() - end];
        let new_middle = &new_rest[..new_rest.len() - end];

        let keys = keys(documents, old_middle, new_middle);
        let (middle, old_keys, new_keys) = if let Some((old_keys, new_keys)) = keys {
            let pairs = in_order(&old_keys, &new_keys);
            let unquoted = |keys: Keys<'a>| keys.into_iter().map(unquoted).collect();
            (pairs, unquoted(old_keys), unquoted(new_keys))
        } else {
            let pairs = filled(equal_values(old_middle, new_middle), old_middle.len(), new_middle.len());
            (pairs, Vec::new(), Vec::new())
        };
        let mut pairs: Vec<_> = (0..start).map(|at| (at, at)).collect();
        pairs.extend(middle.into_iter().map(|(one, other)| (start + one, start + other)));
        pairs.extend((0..end).map(|at| (old.len() - end + at, new.len() - end + at)));
        Self { places: pairs, first_key: start, old_keys, new_keys }
    }
}

/// The keys of the elements of one list.
type Keys<'a> = Vec<Cow<'a, str>>;

/// Returns the keys of the elements of both lists as JSON: the values of the first member that is unique within each
/// list.
fn keys<'a>(
    [old_document, new_document]: [Document<'a>; 2],
    old: &[&'a str],
    new: &[&'a str],
) -> Option<(Keys<'a>, Keys<'a>)> {
    KEYS.iter().find_map(|key| {
        let values = |document: Document<'a>, list: &[&'a str]| {
            let value = |element: &&'a str| {
                let value = last_member(document, element, key)?;
                (!value.starts_with(['{', '[', 'n'])).then_some(Cow::Borrowed(value))
            };
            list.iter().map(value).collect::<Option<Vec<_>>>().filter(|values| are_distinct(values))
        };
        Some((values(old_document, old)?, values(new_document, new)?))
    })
}

/// Returns the value of a member of an object: the last one, if it occurs twice. `None` for other values, and for an object
/// that can't be split.
fn last_member<'a>(document: Document<'a>, element: &'a str, name: &str) -> Option<&'a str> {
    let (text, object) = document.node(element);
    if object.kind() != JsonKind::Object {
        return None;
    }
    let mut found = None;
    let mut members = object.members();
    while let Some(member) = members.next() {
        let (own, value) = member.ok()?;
        if own == name {
            found = Some(text.get(value.offset()..members.offset())?);
        }
    }
    found
}

/// Returns a key without its JSON quotes.
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

/// Pairs equal elements if both lists contain only distinct strings and numbers.
fn equal_values(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let is_set =
        |list: &[&str]| list.iter().all(|element| !element.starts_with(['{', '['])) && are_distinct(list);
    if is_set(old) && is_set(new) { in_order(old, new) } else { Vec::new() }
}

/// The number of values up to which comparing each with all others is fastest.
const FEW: usize = 8;

fn are_distinct<T: Hash + Eq>(values: &[T]) -> bool {
    if values.len() <= FEW {
        return values.iter().enumerate().all(|(at, value)| !values[..at].contains(value));
    }
    let mut seen = HashSet::with_capacity(values.len());
    values.iter().all(|value| seen.insert(value))
}

/// Pairs equal keys in one common order, as many as possible: the longest subsequence that increases in both lists.
pub(super) fn in_order<K: Hash + Eq>(old: &[K], new: &[K]) -> Vec<(usize, usize)> {
    // Most updates change elements in their places.
    if old == new {
        return (0..old.len()).map(|at| (at, at)).collect();
    }
    let places: HashMap<&K, usize> = new.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let pairs: Vec<(usize, usize)> =
        old.iter().enumerate().filter_map(|(at, key)| Some((at, *places.get(key)?))).collect();
    // `ends[n]` is the pair that ends the subsequence of length n + 1 with the smallest end; `before` links each pair
    // to its predecessor.
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

/// Returns these pairs and, between them, pairs of elements at the same index of their gaps.
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

    fn paired<'a>(old: &[&'a str], new: &[&'a str]) -> Pairs<'a> {
        Pairs::of([Document::of(""); 2], old, new)
    }

    fn pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
        paired(old, new).places
    }

    #[test]
    fn elements_with_equal_keys_are_paired() {
        let a = r#"{"name":"a","x":1}"#;
        let b = r#"{"name":"b","x":1}"#;
        let changed = r#"{"x":2,"name":"b"}"#;
        assert_eq!(pairs(&[a, b], &[changed]), [(1, 0)]);
        // Two elements share the name, so it does not identify them; the port does.
        let (one, two) = (r#"{"name":"a","port":1}"#, r#"{"name":"a","port":2}"#);
        assert_eq!(pairs(&[one, two], &[r#"{"name":"b","port":2}"#]), [(1, 0)]);
        // Keys are found by hash in long lists, and elements at the ends that are equal have none.
        let long = |x: i32| (0..20).map(|n| format!(r#"{{"name":"n{n}","x":{x}}}"#)).collect::<Vec<_>>();
        let (old, new) = (long(1), long(2));
        let [mut old, mut new] = [&old, &new].map(|list| list.iter().map(String::as_str).collect::<Vec<_>>());
        new.reverse();
        old.push(a);
        new.push(a);
        assert_eq!(pairs(&old, &new).len(), 2, "one element keeps its order, and the last");
        assert_eq!(
            (paired(&old, &new).old_key(0).as_deref(), paired(&old, &new).old_key(20)),
            (Some("n0"), None)
        );
        let named = paired(&[a, b], &[a, changed]);
        assert_eq!((named.old_key(1).as_deref(), named.new_key(0)), (Some("b"), None));
    }

    #[test]
    fn strings_pair_by_value_and_the_rest_by_index() {
        assert_eq!(pairs(&["1", "2", "3", "4"], &["2", "3", "4", "5"]), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(pairs(&["1", "2", "3"], &["1", "9", "3"]), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(pairs(&["1", "1"], &["1", "1", "1"]), [(0, 0), (1, 1)]);
        assert_eq!(pairs(&["{}", "[1]"], &["[2]", "{}"]), [(0, 0), (1, 1)]);
    }

    #[test]
    fn a_moved_element_is_unpaired() {
        assert_eq!(pairs(&["1", "2", "3", "4"], &["4", "1", "2", "3"]), [(0, 1), (1, 2), (2, 3)]);
    }
}
