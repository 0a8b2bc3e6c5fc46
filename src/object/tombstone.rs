//! What a delete carries: the object itself, or the word that it is gone.

use std::sync::Arc;

use super::{Key, Object};

/// A delete that was inferred: the watch missed it, and a later list no longer held the object.
///
/// `object` is the last state that was known, which may be old, or nothing at all. (client-go:
/// `DeletedFinalStateUnknown`.)
#[derive(Debug, Clone)]
pub struct DeletedFinalStateUnknown {
    /// The key of the object that is gone.
    pub key: Key,
    /// Its last known state.
    pub object: Option<Arc<Object>>,
}

/// What a delete carries. An enum, so that no consumer can forget the second case.
#[derive(Debug, Clone)]
pub enum DeletedObject {
    /// The state the server sent with the deletion; its resourceVersion is the deletion's.
    Known(Arc<Object>),
    /// The deletion was not seen, only its effect.
    FinalStateUnknown(DeletedFinalStateUnknown),
}

impl DeletedObject {
    /// The key of the object that is gone.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Known(object) => object.key(),
            Self::FinalStateUnknown(tombstone) => &tombstone.key,
        }
    }

    /// The last state that is known, if any is.
    #[must_use]
    pub fn object(&self) -> Option<&Arc<Object>> {
        match self {
            Self::Known(object) => Some(object),
            Self::FinalStateUnknown(tombstone) => tombstone.object.as_ref(),
        }
    }

    /// Whether the deletion was inferred and not seen.
    #[must_use]
    pub fn is_final_state_unknown(&self) -> bool {
        matches!(self, Self::FinalStateUnknown(_))
    }
}
