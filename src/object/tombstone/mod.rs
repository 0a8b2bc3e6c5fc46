//! Deleted objects: the final state, or a tombstone for a deletion that was missed.

mod at_version;

use std::sync::Arc;

use crate::object::{Key, Object};

/// A tombstone for a deletion that the watch missed and a later list revealed.
///
/// `object` is the last known state, which may be outdated, or `None`. (client-go: `DeletedFinalStateUnknown`.)
#[derive(Debug, Clone)]
pub struct DeletedFinalStateUnknown {
    /// The key of the deleted object.
    pub key: Key,
    /// Its last known state.
    pub object: Option<Arc<Object>>,
}

/// The payload of a deletion. An enum, so that consumers must handle both cases.
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
///
/// The set of variants is complete: a deletion is either observed or inferred.
#[derive(Debug, Clone)]
pub enum DeletedObject {
    /// The final state that the server sent with the deletion; its resourceVersion is the deletion's.
    Known(Arc<Object>),
    /// The deletion was inferred from a list.
    FinalStateUnknown(DeletedFinalStateUnknown),
}

impl DeletedObject {
    /// Returns the key of the deleted object.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Known(object) => object.key(),
            Self::FinalStateUnknown(tombstone) => &tombstone.key,
        }
    }

    /// Returns the last known state, if any.
    #[must_use]
    pub fn object(&self) -> Option<&Arc<Object>> {
        match self {
            Self::Known(object) => Some(object),
            Self::FinalStateUnknown(tombstone) => tombstone.object.as_ref(),
        }
    }

    /// Returns whether the deletion was inferred rather than observed.
    #[must_use]
    pub fn is_final_state_unknown(&self) -> bool {
        matches!(self, Self::FinalStateUnknown(_))
    }
}
