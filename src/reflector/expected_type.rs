//! The type that a source is expected to deliver, and the refusal of objects of another type.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::event::ReflectorEvent;
use super::options::ReflectorOptions;
use crate::listwatch::Error;
use crate::object::{Object, TypeMeta};

/// The expected type of one reflector (client-go: `expectedType` and `expectedGVK`).
pub(super) struct ExpectedType {
    type_meta: Option<Arc<TypeMeta>>,
    /// Whether a refusal has been reported. Relaxed: it only prevents a second report.
    is_reported: AtomicBool,
}

impl ExpectedType {
    pub(super) fn new(type_meta: Option<Arc<TypeMeta>>) -> Self {
        Self { type_meta, is_reported: AtomicBool::new(false) }
    }

    /// Returns true if the object is of another type and must be dropped. The first one is reported.
    pub(super) fn refuses(&self, object: &Object, options: &ReflectorOptions) -> bool {
        let Some(expected) = &self.type_meta else { return false };
        let found = object.type_meta();
        // The decoder gives every object of the expected type the same allocation.
        if Arc::ptr_eq(expected, found) || is_same_type(expected, found) {
            return false;
        }
        if !self.is_reported.swap(true, Ordering::Relaxed) {
            let (expected, found) = (Arc::clone(expected), Arc::clone(found));
            options.report(&ReflectorEvent::UnexpectedType { expected, found, key: object.key().clone() });
        }
        true
    }
}

/// Refuses a Table: it would be stored as one object, and its bookmarks would be lost.
pub(super) fn refuse_table(object: &Object) -> Result<(), Error> {
    let type_meta = object.type_meta();
    if type_meta.kind == "Table" && type_meta.api_version.starts_with("meta.k8s.io/") {
        let message =
            format!("a reflector can't store a Table of {}: request objects", type_meta.api_version);
        return Err(Error::Decode(message));
    }
    Ok(())
}

/// Returns true if an object of type `found` belongs to a collection of type `expected`: the same group and kind, in any
/// version, or the metadata of any object, which does not name the type it was made from.
fn is_same_type(expected: &TypeMeta, found: &TypeMeta) -> bool {
    let is_metadata = found.kind == "PartialObjectMetadata" && group(found) == "meta.k8s.io";
    is_metadata || (expected.kind == found.kind && group(expected) == group(found))
}

/// Returns the group of an API version; empty for the core group.
fn group(type_meta: &TypeMeta) -> &str {
    type_meta.api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_of(api_version: &str, kind: &str) -> TypeMeta {
        TypeMeta { api_version: api_version.into(), kind: kind.into() }
    }

    #[test]
    fn group_and_kind_decide_and_the_version_does_not() {
        let pod = type_of("v1", "Pod");
        let autoscaler = type_of("autoscaling/v2", "HorizontalPodAutoscaler");
        assert!(is_same_type(&pod, &pod));
        assert!(is_same_type(&autoscaler, &type_of("autoscaling/v1", "HorizontalPodAutoscaler")));
        assert!(is_same_type(&pod, &type_of("meta.k8s.io/v1", "PartialObjectMetadata")));
        for other in [
            type_of("v1", "Service"),
            type_of("example.com/v1", "Pod"),
            type_of("example.com/v1", "PartialObjectMetadata"),
        ] {
            assert!(!is_same_type(&pod, &other), "{other:?}");
        }
    }
}
