//! The objects of a list that have been returned already.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::listwatch::Error;
use crate::object::Object;

/// The objects that have been returned.
pub(super) enum ReturnedObjects {
    /// The number of returned rows of a join.
    Rows(usize),
    /// The returned objects, by namespace and name.
    Keys(HashSet<(String, String)>),
    /// Returned names without namespaces: their number, and a hash of them in order. There may be millions.
    Names { count: usize, sum: DefaultHasher },
    /// While the rest repeats the returned names: how many are left, and the hash so far.
    Repeating { left: usize, expected: u64, sum: DefaultHasher },
}

impl Default for ReturnedObjects {
    fn default() -> Self {
        Self::Rows(0)
    }
}

impl ReturnedObjects {
    /// Returns a record of no names.
    pub(super) fn names() -> Self {
        Self::Names { count: 0, sum: DefaultHasher::new() }
    }

    /// Records a returned object.
    pub(super) fn add(&mut self, object: &Object) {
        match self {
            Self::Rows(count) => *count += 1,
            Self::Names { count, sum } => {
                *count += 1;
                object.name().hash(sum);
            }
            Self::Keys(_) | Self::Repeating { .. } => {}
        }
    }

    /// Returns whether this object, the next of the rest, was returned already.
    ///
    /// # Errors
    /// Returns an error if the remainder does not begin with the returned objects.
    pub(super) fn has(&mut self, object: &Object) -> Result<bool, Error> {
        if let Self::Names { count, sum } = self {
            *self = Self::Repeating { left: *count, expected: sum.finish(), sum: DefaultHasher::new() };
        }
        match self {
            Self::Keys(keys) => {
                let key = || (object.namespace().to_owned(), object.name().to_owned());
                Ok(!keys.is_empty() && keys.remove(&key()))
            }
            Self::Repeating { left: 0, .. } | Self::Rows(_) | Self::Names { .. } => Ok(false),
            Self::Repeating { left, expected, sum } => {
                object.name().hash(sum);
                *left -= 1;
                if *left == 0 && sum.finish() != *expected { Err(moved_on()) } else { Ok(true) }
            }
        }
    }

    /// Ends the rest.
    ///
    /// # Errors
    /// Returns an error if the remainder lacks some of the returned objects.
    pub(super) fn end(&self) -> Result<(), Error> {
        match self {
            Self::Keys(keys) if !keys.is_empty() => Err(moved_on()),
            Self::Repeating { left: 1.., .. } | Self::Names { count: 1.., .. } => Err(moved_on()),
            _ => Ok(()),
        }
    }
}

/// Returns the error of a list that can't be continued. It differs from that of an expired version: a caller that
/// lists again after that one would return objects twice.
pub(super) fn moved_on() -> Error {
    Error::Decode(
        "the server's rows ended early, and their version is no longer available: list again".into(),
    )
}
