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
///
/// ```
/// # use kdelta::object::{DeletedFinalStateUnknown, DeletedObject};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let seen = DeletedObject::Known(web.clone());
/// assert_eq!(seen.object().map(|last| last.resource_version().to_string()).as_deref(), Some("2"));
/// let inferred = DeletedFinalStateUnknown { key: web.key().clone(), object: None };
/// let inferred = DeletedObject::FinalStateUnknown(inferred);
/// assert!(inferred.object().is_none() && inferred.is_final_state_unknown());
/// assert_eq!(seen.key(), inferred.key());
/// ```
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
