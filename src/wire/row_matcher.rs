//! Matches the rows of a list to the objects of another list of the same collection.

use std::collections::HashSet;

/// The order of a matcher's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// No name occurs twice, so the order does not matter.
    Distinct,
    /// Some name occurs twice, and the entries are sorted by the keys under which servers store their objects.
    Sorted,
    /// Some name occurs twice, and the entries are not sorted.
    Unsorted,
}

/// Namespaces, names and versions of the objects of a list, in its order. They are matched one after the other to rows that
/// have only a name.
#[derive(Debug, Default)]
pub(crate) struct RowMatcher {
    /// All texts, concatenated.
    text: String,
    /// The lengths of namespace, name and version of each object.
    lengths: Vec<[u32; 3]>,
    /// The number of objects that have been matched.
    matched: usize,
    /// The end of their texts.
    offset: usize,
}

impl RowMatcher {
    /// Adds an object.
    pub(crate) fn push(&mut self, namespace: &str, name: &str, version: &str) {
        for text in [namespace, name, version] {
            self.text.push_str(text);
        }
        // Each text is part of a frame, which is far shorter than 4 GiB.
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.lengths.push([length(namespace), length(name), length(version)]);
    }

    /// Returns namespace and version of the next object if it has this name.
    pub(crate) fn next(&mut self, name: &str) -> Option<(&str, &str)> {
        let lengths = self.lengths.get(self.matched)?;
        let [namespace_len, name_len, version_len] = lengths.map(|length| length as usize);
        let text = self.text.get(self.offset..self.offset + namespace_len + name_len + version_len)?;
        if &text[namespace_len..namespace_len + name_len] != name {
            return None;
        }
        self.matched += 1;
        self.offset += text.len();
        Some((&text[..namespace_len], &text[namespace_len + name_len..]))
    }

    /// Returns the order of the entries.
    pub(crate) fn order(&self) -> Order {
        let mut names = HashSet::with_capacity(self.lengths.len());
        if self.keys().all(|(_, name)| names.insert(name)) {
            return Order::Distinct;
        }
        // Compared as storage keys: their slash sorts after `-` and `.`.
        let paths = self.keys().map(|(namespace, name)| format!("{namespace}/{name}"));
        if paths.is_sorted_by(|one, next| one < next) { Order::Sorted } else { Order::Unsorted }
    }

    /// Returns namespace and name of each object.
    fn keys(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut at = 0;
        self.lengths.iter().map(move |lengths| {
            let [namespace, name, version] = lengths.map(|length| length as usize);
            let text = &self.text[at..at + namespace + name];
            at += namespace + name + version;
            text.split_at(namespace)
        })
    }

    /// Goes back to the first object.
    pub(crate) fn rewind(&mut self) {
        (self.matched, self.offset) = (0, 0);
    }

    /// Returns namespace and name of the first objects.
    pub(crate) fn first_keys(&self, count: usize) -> HashSet<(String, String)> {
        let first = self.keys().take(count);
        first.map(|(namespace, name)| (namespace.to_owned(), name.to_owned())).collect()
    }

    /// Returns whether every object was matched.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.matched == self.lengths.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_need_an_order() {
        let order = |keys: &[(&str, &str)]| {
            let mut matcher = RowMatcher::default();
            for (namespace, name) in keys {
                matcher.push(namespace, name, "1");
            }
            matcher.order()
        };
        assert_eq!(order(&[]), Order::Distinct);
        assert_eq!(order(&[("b", "x"), ("a", "y")]), Order::Distinct);
        assert_eq!(order(&[("a-b", "x"), ("a", "x"), ("a", "y")]), Order::Sorted);
        assert_eq!(order(&[("a", "x"), ("a-b", "x")]), Order::Unsorted);
        assert_eq!(order(&[("a", "x"), ("a", "x")]), Order::Unsorted);
    }

    #[test]
    fn entries_match_by_name_and_in_order() {
        let mut matcher = RowMatcher::default();
        for (namespace, name, version) in [("a", "x", "7"), ("", "node", ""), ("b", "x", "9")] {
            matcher.push(namespace, name, version);
        }
        for _ in 0..2 {
            assert_eq!(matcher.next("y"), None);
            assert_eq!(matcher.next("x"), Some(("a", "7")));
            assert_eq!(matcher.next("x"), None);
            assert_eq!(matcher.next("node"), Some(("", "")));
            assert!(!matcher.is_exhausted());
            assert_eq!(matcher.next("x"), Some(("b", "9")));
            assert!(matcher.is_exhausted());
            assert_eq!(matcher.next("x"), None);
            matcher.rewind();
        }
        let key = |namespace: &str, name: &str| (namespace.to_owned(), name.to_owned());
        assert_eq!(matcher.first_keys(2), HashSet::from([key("a", "x"), key("", "node")]));
        assert_eq!(matcher.first_keys(9).len(), 3);
    }
}
