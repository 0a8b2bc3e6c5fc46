//! Commonly used index functions.
//!
//! ```
//! # use kdelta::object::FieldPath;
//! # use kdelta::store::index_funcs;
//! # let source = kdelta::testing::FakeSource::new();
//! # source.add(serde_json::json!({
//! #     "metadata": {"namespace": "shop", "name": "web", "labels": {"tier": "front"}, "annotations": {"note": "n"},
//! #         "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "u-1"}]},
//! #     "spec": {"nodeName": "north", "containers": [{"image": "web:1"}]},
//! #     "status": {"phase": "Running"},
//! # }));
//! # let web = source.objects().remove(0);
//! let phase = index_funcs::field(FieldPath::parse("status.phase")?);
//! for (function, values) in [
//!     (index_funcs::namespace(), vec!["shop"]),
//!     (index_funcs::name(), vec!["web"]),
//!     (index_funcs::label("tier"), vec!["front"]),
//!     (index_funcs::annotation("note"), vec!["n"]),
//!     (index_funcs::owner(), vec!["ReplicaSet/web", "u-1"]),
//!     (index_funcs::node(), vec!["north"]),
//!     (index_funcs::image(), vec!["web:1"]),
//!     (phase, vec!["Running"]),
//! ] {
//!     assert_eq!(function.values(&web)?, values);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;

use serde::Deserialize;

use super::{IndexFunc, IndexFuncError};
use crate::object::{FieldPath, ObjectError};

/// The name of the namespace index that listers use.
pub const NAMESPACE_INDEX: &str = "namespace";

/// Indexes by namespace; a cluster-scoped object has the empty text.
#[must_use]
pub fn namespace() -> IndexFunc {
    IndexFunc::new(|object, visit| {
        visit(object.namespace());
        Ok(())
    })
}

/// Indexes by name.
#[must_use]
pub fn name() -> IndexFunc {
    IndexFunc::new(|object, visit| {
        visit(object.name());
        Ok(())
    })
}

/// Indexes by the value of one label.
#[must_use]
pub fn label(key: &str) -> IndexFunc {
    field(FieldPath::of_names(["metadata", "labels", key]))
}

/// Indexes by the value of one annotation.
#[must_use]
pub fn annotation(key: &str) -> IndexFunc {
    field(FieldPath::of_names(["metadata", "annotations", key]))
}

/// Indexes by each owner reference, as `Kind/name` and as the owner's uid. `Kind/name` is short to type and the same
/// for an owner and its later namesake; the uid distinguishes them.
#[must_use]
pub fn owner() -> IndexFunc {
    let owners = FieldPath::of_names(["metadata", "ownerReferences"]);
    IndexFunc::new(move |object, visit| {
        let mut read = Ok(());
        owners.values_of(object, |references| read = visit_owners(references, visit))?;
        read
    })
}

/// Indexes by the node to which a pod is bound.
#[must_use]
pub fn node() -> IndexFunc {
    field(FieldPath::of_names(["spec", "nodeName"]))
}

/// Indexes by the image of each container and init container of a pod.
#[must_use]
pub fn image() -> IndexFunc {
    let paths = ["containers", "initContainers"].map(|list| FieldPath::of_names(["spec", list, "image"]));
    IndexFunc::new(move |object, visit| {
        for path in &paths {
            path.values_of(object, &mut *visit)?;
        }
        Ok(())
    })
}

/// Indexes by the values at a path; an array on the path contributes each element.
#[must_use]
pub fn field(path: FieldPath) -> IndexFunc {
    IndexFunc::new(move |object, visit| Ok(path.values_of(object, visit)?))
}

#[derive(Deserialize)]
struct OwnerReference<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    uid: Cow<'a, str>,
}

fn visit_owners(references: &str, visit: &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> {
    let owners: Vec<OwnerReference<'_>> = serde_json::from_str(references).map_err(ObjectError::from)?;
    for owner in owners {
        visit(&format!("{}/{}", owner.kind, owner.name));
        visit(&owner.uid);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::object::{Object, TypeMeta};
    use crate::store::fixtures::from_json;

    fn web() -> Arc<Object> {
        from_json(&serde_json::json!({
            "metadata": {
                "name": "web-1",
                "namespace": "shop",
                "labels": {"app.kubernetes.io/name": "web", "tier": ""},
                "annotations": {"note": "two\nlines"},
                "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u-1", "controller": true},
                    {"kind": "Fleet", "name": "all", "uid": "u-2"},
                ],
            },
            "spec": {
                "nodeName": "node-7",
                "containers": [{"image": "web:1"}, {"image": "proxy:2"}],
                "initContainers": [{"image": "init:3"}],
            },
            "status": {"phase": "Running"},
        }))
    }

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).expect(text)
    }

    #[test]
    fn index_functions_return_the_object_values() {
        for (func, expected) in [
            (namespace(), &["shop"][..]),
            (name(), &["web-1"]),
            (label("app.kubernetes.io/name"), &["web"]),
            (label("tier"), &[""]),
            (label("absent"), &[]),
            (annotation("note"), &["two\nlines"]),
            (owner(), &["ReplicaSet/web", "u-1", "Fleet/all", "u-2"]),
            (node(), &["node-7"]),
            (image(), &["web:1", "proxy:2", "init:3"]),
            (field(path("status.phase")), &["Running"]),
            (field(path("spec.containers[*].image")), &["web:1", "proxy:2"]),
        ] {
            assert_eq!(func.values(&web()).expect("values"), expected);
        }
    }

    #[test]
    fn object_without_a_body_has_only_its_names() {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Node".into() });
        let object = Object::named(type_meta, "", "node-1");
        for func in [label("a"), annotation("a"), owner(), node(), image(), field(path("status.phase"))] {
            assert_eq!(func.values(&object).expect("values"), [""; 0]);
        }
        assert_eq!(namespace().values(&object).expect("values"), [""]);
        assert_eq!(name().values(&object).expect("values"), ["node-1"]);
    }

    #[test]
    fn malformed_owners_are_refused() {
        let odd =
            from_json(&serde_json::json!({"metadata": {"name": "a", "ownerReferences": [{"kind": 7}]}}));
        assert!(owner().values(&odd).is_err());
    }
}
