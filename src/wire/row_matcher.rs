//! Matches the rows of a list to the objects of another list of the same collection.

use std::collections::HashSet;

/// The order of a matcher's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Any order, and no name occurs twice.
    Distinct,
    /// The order of the keys under which servers store their objects, strictly increasing.
    Sorted,
    /// Any other order.
    Random,
}

/// Namespaces, names and versions of the objects of a list, in its order.
#[derive(Debug, Default)]
pub(crate) struct RowMatcher {
    /// All texts, concatenated.
    text: String,
    /// The lengths of namespace, name and version of each object.
    lengths: Vec<[u32; 3]>,
    /// The number of objects that were matched, and the end of their texts.
    come: (usize, usize),
}

impl RowMatcher {
    /// Adds an object.
    pub(crate) fn push(&mut self, namespace: &str, name: &str, version: &str) {
        for text in [namespace, name, version] {
            self.text.push_str(text);
        }
        // Frames are far shorter than that.
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.lengths.push([length(namespace), length(name), length(version)]);
    }

    /// Returns namespace and version of the next object if it has this name.
    pub(crate) fn next(&mut self, name: &str) -> Option<(&str, &str)> {
        let lengths = self.lengths.get(self.come.0)?;
        let [namespace, own, version] = lengths.map(|length| length as usize);
        let text = self.text.get(self.come.1..self.come.1 + namespace + own + version)?;
        if &text[namespace..namespace + own] != name {
            return None;
        }
        self.come = (self.come.0 + 1, self.come.1 + text.len());
        Some((&text[..namespace], &text[namespace + own..]))
    }

    /// Returns the order, which matters only if names repeat.
    pub(crate) fn order(&self) -> Order {
        let mut names = HashSet::with_capacity(self.lengths.len());
        if self.keys().all(|(_, name)| names.insert(name)) {
            return Order::Distinct;
        }
        // A storage key has a slash between the two, which sorts after `-` and `.`.
        let paths = self.keys().map(|(namespace, name)| format!("{namespace}/{name}"));
        if paths.is_sorted_by(|one, next| one < next) { Order::Sorted } else { Order::Random }
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
        self.come = (0, 0);
    }

    /// Returns the keys of the first objects.
    pub(crate) fn first(&self, count: usize) -> HashSet<(String, String)> {
        let first = self.keys().take(count);
        first.map(|(namespace, name)| (namespace.to_owned(), name.to_owned())).collect()
    }

    /// Returns whether every object was matched.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.come.0 == self.lengths.len()
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
        assert_eq!(order(&[("a", "x"), ("a-b", "x")]), Order::Random);
        assert_eq!(order(&[("a", "x"), ("a", "x")]), Order::Random);
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
        assert_eq!(matcher.first(2), HashSet::from([key("a", "x"), key("", "node")]));
        assert_eq!(matcher.first(9).len(), 3);
    }
}
