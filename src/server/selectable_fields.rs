//! The fields supported in field selectors.

use serde_json::Value;

use crate::server::source::{Conversion, Kind};

/// Returns the error for an unsupported field in a field selector, or `None` for a supported one.
pub(super) fn unsupported(kind: &Kind, field: &str) -> Option<String> {
    if field == "metadata.name" || (field == "metadata.namespace" && names_namespace(kind)) {
        return None;
    }
    match field_labels(kind) {
        Some(own) if own.contains(&field) => None,
        Some(_) if kind.plural == "jobs" => Some(format!("field label {field:?} not supported for Job")),
        Some(_) => Some(format!("field label not supported: {field}")),
        None if kind
            .custom
            .as_ref()
            .is_some_and(|custom| custom.selectable.iter().any(|own| own == field)) =>
        {
            None
        }
        None if kind.is_custom() => Some(format!("field label not supported: {field}")),
        None => Some(format!(
            "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        )),
    }
}

/// Returns whether objects can be selected by namespace. A resource with its own list of fields must include it
/// there.
fn names_namespace(kind: &Kind) -> bool {
    !["nodes", "namespaces"].contains(&kind.plural.as_str())
}

/// Returns the selectable fields of this resource in addition to its names, or `None` if it has no list of its own.
fn field_labels(kind: &Kind) -> Option<&'static [&'static str]> {
    Some(match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "reason",
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reportingController",
            "type",
        ],
        ("", "namespaces") => &["status.phase"],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("batch", "jobs") => &["status.successful"],
        _ => return None,
    })
}

/// Returns whether a selectable field is computed, because objects don't have it or may omit it.
pub(super) fn is_computed(kind: &Kind, field: &str) -> bool {
    kind.conversion.is_some() || COMPUTED.contains(&(kind.plural.as_str(), field))
}

/// Writes the computed fields into an object, for the evaluation of a selector.
pub(super) fn compute(kind: &Kind, object: &mut Value) {
    if let Some(Conversion(convert)) = kind.conversion {
        convert(object);
        return;
    }
    let is_true = |value: &Value| Value::from(*value == true);
    match kind.plural.as_str() {
        "jobs" => {
            object["status"]["successful"] = object["status"]["succeeded"].as_u64().unwrap_or(0).into();
        }
        "nodes" => object["spec"]["unschedulable"] = is_true(&object["spec"]["unschedulable"]),
        "events" => object["source"] = object["source"]["component"].take(),
        "pods" => {
            object["spec"]["hostNetwork"] = is_true(&object["spec"]["hostNetwork"]);
            object["status"]["podIPs"] = object["status"]["podIP"].clone();
        }
        _ => {}
    }
}

const COMPUTED: [(&str, &str); 5] = [
    ("jobs", "status.successful"),
    ("nodes", "spec.unschedulable"),
    ("events", "source"),
    ("pods", "spec.hostNetwork"),
    ("pods", "status.podIPs"),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_declares_selectable_fields() {
        let definition = json!({"spec": {
            "group": "g", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "storage": true, "selectableFields": [{"jsonPath": ".spec.color"}]}],
        }});
        let kind = Kind::of_definition(&definition).expect("a kind");
        assert_eq!(unsupported(&kind, "spec.color"), None);
        assert!(unsupported(&kind, "spec.size").is_some());
    }
}
