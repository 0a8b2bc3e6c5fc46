//! How a state of an object came to be known.

use std::fmt;

/// What brought a delta: carried from the reflector to whoever prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The initial state, however it came: by list, or by a watch that sends initial events.
    List,
    /// A live watch event.
    Watch,
    /// The difference between the state before and after a gap that needed a new list.
    Relist,
    /// Nothing changed: a periodic resync repeats what the store holds.
    Resync,
}

impl Origin {
    /// The word in the JSON line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Watch => "watch",
            Self::Relist => "relist",
            Self::Resync => "resync",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
