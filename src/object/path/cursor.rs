//! A path followed step by step, by who walks over an object for reasons of its own.

use super::{FieldPath, Step};

/// What is left of a [`FieldPath`] at some place of an object. Made by [`FieldPath::cursor`].
#[derive(Debug, Clone, Copy)]
pub struct PathCursor<'p>(&'p [Step]);

impl FieldPath {
    /// The path at the root of an object.
    #[must_use]
    pub fn cursor(&self) -> PathCursor<'_> {
        PathCursor(&self.0)
    }
}

impl PathCursor<'_> {
    /// Whether the path leads to this very place.
    #[must_use]
    pub fn is_at_end(self) -> bool {
        self.0.is_empty()
    }

    /// What is left of it at the member of this name; nothing where it does not lead there.
    #[must_use]
    pub fn member(self, name: &str) -> Option<Self> {
        match self.0.split_first()? {
            (Step::Each, rest) => Some(Self(rest)),
            (Step::Name(wanted), rest) if **wanted == *name => Some(Self(rest)),
            _ => None,
        }
    }

    /// What is left of it at this element of an array; nothing where it does not lead there.
    #[must_use]
    pub fn element(self, at: usize) -> Option<Self> {
        match self.0.split_first()? {
            (Step::Each, rest) => Some(Self(rest)),
            (Step::Element(wanted), rest) if *wanted == at => Some(Self(rest)),
            // A name that meets an array goes on into each of its elements.
            (Step::Name(_), _) => Some(self),
            (Step::Element(_), _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_where_the_path_leads() {
        let path = FieldPath::parse("spec.containers.ports[1].*").expect("a path");
        let containers =
            path.cursor().member("spec").and_then(|at| at.member("containers")).expect("it leads there");
        assert!(path.cursor().member("status").is_none());
        let ports = containers.element(7).and_then(|at| at.member("ports")).expect("through any element");
        assert!(ports.element(0).is_none());
        let port = ports.element(1).expect("the one that is named");
        assert!(!port.is_at_end());
        assert!(port.member("anything").is_some_and(PathCursor::is_at_end));
    }
}
