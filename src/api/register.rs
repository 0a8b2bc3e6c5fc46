//! Whose the rows of a list are, as another list of the same objects says.

use std::collections::HashSet;

/// Namespaces, names and versions of the objects of a list, in its order.
#[derive(Debug, Default)]
pub(super) struct Register {
    /// All of them, one behind the other.
    text: String,
    /// How long namespace, name and version of each object are.
    lengths: Vec<[u32; 3]>,
    /// Of how many objects the row has come, and where in the text they end.
    come: (usize, usize),
}

impl Register {
    /// Adds an object.
    pub(super) fn push(&mut self, namespace: &str, name: &str, version: &str) {
        for text in [namespace, name, version] {
            self.text.push_str(text);
        }
        // Frames are far shorter than that.
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.lengths.push([length(namespace), length(name), length(version)]);
    }

    /// Namespace and version of the next object, if that is its name.
    pub(super) fn next(&mut self, name: &str) -> Option<(&str, &str)> {
        let lengths = self.lengths.get(self.come.0)?;
        let [namespace, own, version] = lengths.map(|length| length as usize);
        let text = self.text.get(self.come.1..self.come.1 + namespace + own + version)?;
        if &text[namespace..namespace + own] != name {
            return None;
        }
        self.come = (self.come.0 + 1, self.come.1 + text.len());
        Some((&text[..namespace], &text[namespace + own..]))
    }

    /// Goes back to the first object.
    pub(super) fn rewind(&mut self) {
        self.come = (0, 0);
    }

    /// The keys of the first objects.
    pub(super) fn first(&self, count: usize) -> HashSet<(String, String)> {
        let mut at = 0;
        let mut keys = HashSet::with_capacity(count);
        for lengths in self.lengths.iter().take(count) {
            let [namespace, name, version] = lengths.map(|length| length as usize);
            let text = &self.text[at..at + namespace + name];
            keys.insert((text[..namespace].to_owned(), text[namespace..].to_owned()));
            at += namespace + name + version;
        }
        keys
    }

    /// Whether there was a row for each.
    pub(super) fn is_used_up(&self) -> bool {
        self.come.0 == self.lengths.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
