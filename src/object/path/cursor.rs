//! Stepwise evaluation of a path by code that walks an object itself.

use super::{FieldPath, Step};

/// The remainder of a [`FieldPath`] at a position in an object. Created by [`FieldPath::cursor`].
#[derive(Debug, Clone, Copy)]
pub struct PathCursor<'p>(&'p [Step]);

impl FieldPath {
    /// Returns a cursor at the root of an object.
    #[must_use]
    pub fn cursor(&self) -> PathCursor<'_> {
        PathCursor(&self.0)
    }
}

impl PathCursor<'_> {
    /// Returns whether the path ends at this position.
    #[must_use]
    pub fn is_at_end(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the remainder at the member with this name, or `None` if the path does not include it.
    #[must_use]
    pub fn member(self, name: &str) -> Option<Self> {
        match self.0.split_first()? {
            (Step::Each, rest) => Some(Self(rest)),
            (Step::Name(expected), rest) if **expected == *name => Some(Self(rest)),
            _ => None,
        }
    }

    /// Returns the remainder at this array element, or `None` if the path does not include it.
    #[must_use]
    pub fn element(self, at: usize) -> Option<Self> {
        match self.0.split_first()? {
            (Step::Each, rest) => Some(Self(rest)),
            (Step::Element(expected), rest) if *expected == at => Some(Self(rest)),
            // A name applied to an array applies to each of its elements.
            (Step::Name(_), _) => Some(self),
            (Step::Element(_), _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_follows_the_path() {
        let path = FieldPath::parse("spec.containers.ports[1].*").expect("a path");
        let containers = path
            .cursor()
            .member("spec")
            .and_then(|at| at.member("containers"))
            .expect("the path includes it");
        assert!(path.cursor().member("status").is_none());
        let ports = containers.element(7).and_then(|at| at.member("ports")).expect("through any element");
        assert!(ports.element(0).is_none());
        let port = ports.element(1).expect("the named element");
        assert!(!port.is_at_end());
        assert!(port.member("anything").is_some_and(PathCursor::is_at_end));
    }
}
