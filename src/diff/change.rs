//! A change: its operation, its path, and the values before and after.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// The operation of a change. Two states of a value differ in no other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeOp {
    /// A value was added.
    Add,
    /// A value was removed.
    Remove,
    /// A value was replaced.
    Replace,
}

impl ChangeOp {
    /// Returns `add`, `remove` or `replace`, as in RFC 6902.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Replace => "replace",
        }
    }
}

/// One difference between two states. Values are JSON slices of the states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<'a> {
    /// The operation.
    pub op: ChangeOp,
    /// The path: in the old state for a removal, otherwise in the new one.
    pub path: ChangePath<'a>,
    /// The value before; `None` for an addition.
    pub old: Option<&'a str>,
    /// The value after; `None` for a removal.
    pub new: Option<&'a str>,
}

/// The path from the root to a value. It prints in the usual notation: `status.conditions[Ready].status`,
/// `metadata.labels['app.kubernetes.io/name']`; the root prints as `.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePath<'a>(pub(super) Vec<PathStep<'a>>);

/// A step of a path. JSON has no other containers than objects and arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep<'a> {
    /// A member of an object.
    Member(Cow<'a, str>),
    /// An element of a list.
    Element {
        /// Its index.
        at: usize,
        /// The key that identifies it among the other elements, if not the index.
        key: Option<Cow<'a, str>>,
    },
}

impl<'a> ChangePath<'a> {
    /// Returns the steps from the root; none for the root.
    #[must_use]
    pub fn steps(&self) -> &[PathStep<'a>] {
        &self.0
    }

    /// Returns the JSON pointer (RFC 6901): `/status/conditions/0/status`; empty for the root.
    #[must_use]
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.0 {
            match step {
                PathStep::Member(name) => {
                    pointer.push('/');
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                // Writing to a String can't fail.
                PathStep::Element { at, .. } => drop(write!(pointer, "/{at}")),
            }
        }
        pointer
    }

    /// Writes the path as it prints: to a string, without the cost of formatting.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str(".");
        }
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Member(name) if is_plain(name) => {
                    out.write_str(if at == 0 { "" } else { "." })?;
                    out.write_str(name)?;
                }
                PathStep::Member(name) => {
                    ["['", name, "']"].into_iter().try_for_each(|part| out.write_str(part))?;
                }
                PathStep::Element { key: Some(key), .. } => {
                    ["[", key, "]"].into_iter().try_for_each(|part| out.write_str(part))?;
                }
                PathStep::Element { at, key: None } => write!(out, "[{at}]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for ChangePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
}
