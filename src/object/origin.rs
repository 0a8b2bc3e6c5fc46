//! The origin of an object's state: initial list, watch, relist, resync or filter.

use std::fmt;

/// The origin of a delta, carried from the reflector to the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The initial state, from a list or from a watch that sends initial events.
    List,
    /// A live watch event.
    Watch,
    /// The difference between the states before and after a gap that required a new list.
    Relist,
    /// No change: a periodic resync repeats the store's contents.
    Resync,
    /// No change of the object: as time passed, it began or ceased to match a filter that depends on the time. The
    /// program's filters produce it; a reflector never does.
    Filter,
}

impl Origin {
    /// Returns the word in the JSON line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Watch => "watch",
            Self::Relist => "relist",
            Self::Resync => "resync",
            Self::Filter => "filter",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
