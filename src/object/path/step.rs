//! A step of a path.

/// A step from a value to its members.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Name(Box<str>),
    Element(usize),
    Each,
}
