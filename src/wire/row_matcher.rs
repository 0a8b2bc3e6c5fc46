//! Whose the rows of a list are, as another list of the same objects says.

use std::collections::HashSet;

/// In what order a register is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// In whatever order: no name occurs twice.
    Distinct,
    /// In that of the keys under which servers keep their objects, each greater than the one before.
    Sorted,
    /// In another.
    Random,
}

/// Namespaces, names and versions of the objects of a list, in its order.
#[derive(Debug, Default)]
pub(crate) struct Register {
    /// All of them, one behind the other.
    text: String,
    /// How long namespace, name and version of each object are.
    lengths: Vec<[u32; 3]>,
    /// Of how many objects the row has come, and where in the text they end.
    come: (usize, usize),
}

impl Register {
    /// Adds an object.
    pub(crate) fn push(&mut self, namespace: &str, name: &str, version: &str) {
        for text in [namespace, name, version] {
            self.text.push_str(text);
        }
        // Frames are far shorter than that.
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.lengths.push([length(namespace), length(name), length(version)]);
    }

    /// Namespace and version of the next object, if that is its name.
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

    /// Its order, and whether that matters.
    pub(crate) fn order(&self) -> Order {
        let mut names = HashSet::with_capacity(self.lengths.len());
        if self.keys().all(|(_, name)| names.insert(name)) {
            return Order::Distinct;
        }
        // A key of theirs has a slash between the two, which stands behind `-` and `.`.
        let paths = self.keys().map(|(namespace, name)| format!("{namespace}/{name}"));
        if paths.is_sorted_by(|one, next| one < next) { Order::Sorted } else { Order::Random }
    }

    /// Namespace and name of each object.
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

    /// The keys of the first objects.
    pub(crate) fn first(&self, count: usize) -> HashSet<(String, String)> {
        let first = self.keys().take(count);
        first.map(|(namespace, name)| (namespace.to_owned(), name.to_owned())).collect()
    }

    /// Whether there was a row for each.
    pub(crate) fn is_used_up(&self) -> bool {
        self.come.0 == self.lengths.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_occur_twice_need_an_order() {
        let order = |keys: &[(&str, &str)]| {
            let mut register = Register::default();
            for (namespace, name) in keys {
                register.push(namespace, name, "1");
            }
            register.order()
        };
        assert_eq!(order(&[]), Order::Distinct);
        assert_eq!(order(&[("b", "x"), ("a", "y")]), Order::Distinct);
        assert_eq!(order(&[("a-b", "x"), ("a", "x"), ("a", "y")]), Order::Sorted);
        assert_eq!(order(&[("a", "x"), ("a-b", "x")]), Order::Random);
        assert_eq!(order(&[("a", "x"), ("a", "x")]), Order::Random);
    }

    #[test]
    fn an_entry_is_used_by_its_name_and_in_its_turn() {
        let mut register = Register::default();
        for (namespace, name, version) in [("a", "x", "7"), ("", "node", ""), ("b", "x", "9")] {
            register.push(namespace, name, version);
        }
        for _ in 0..2 {
            assert_eq!(register.next("y"), None);
            assert_eq!(register.next("x"), Some(("a", "7")));
            assert_eq!(register.next("x"), None);
            assert_eq!(register.next("node"), Some(("", "")));
            assert!(!register.is_used_up());
            assert_eq!(register.next("x"), Some(("b", "9")));
            assert!(register.is_used_up());
            assert_eq!(register.next("x"), None);
            register.rewind();
        }
        let key = |namespace: &str, name: &str| (namespace.to_owned(), name.to_owned());
        assert_eq!(register.first(2), HashSet::from([key("a", "x"), key("", "node")]));
        assert_eq!(register.first(9).len(), 3);
    }
}
