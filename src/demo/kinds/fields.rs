//! The fields that a resource can be selected by.

use serde_json::Value;

use super::Kind;
use crate::demo::faces;

impl Kind {
    /// What is said of a field that may not stand in a field selector; nothing of one that may.
    pub(in crate::demo) fn refuses_field(&self, field: &str) -> Option<String> {
        if field == "metadata.name" || (field == "metadata.namespace" && self.names_namespace()) {
            return None;
        }
        match self.field_labels() {
            Some(own) if own.contains(&field) => None,
            Some(_) if self.plural == "jobs" => Some(format!("field label {field:?} not supported for Job")),
            Some(_) => Some(format!("field label not supported: {field}")),
            None if self
                .custom
                .as_ref()
                .is_some_and(|custom| custom.selectable.iter().any(|own| own == field)) =>
            {
                None
            }
            None if self.is_custom() => Some(format!("field label not supported: {field}")),
            None => Some(format!(
                "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )),
        }
    }

    /// Whether its objects can be selected by their namespace: where a resource has a list of its own, only if it is in
    /// there.
    fn names_namespace(&self) -> bool {
        !["nodes", "namespaces"].contains(&self.plural.as_str())
    }

    /// The fields that this resource can be selected by beside its names; nothing where it has no list of its own.
    fn field_labels(&self) -> Option<&'static [&'static str]> {
        Some(match (self.group.as_str(), self.plural.as_str()) {
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

    /// Whether the field of a selector is not one that objects have, or one that they leave out.
    pub(in crate::demo) fn derives(&self, field: &str) -> bool {
        faces::is_event(self) || DERIVED.contains(&(self.plural.as_str(), field))
    }

    /// Writes the derived fields into an object, to be selected by.
    pub(in crate::demo) fn derive(&self, object: &mut Value) {
        let is_true = |value: &Value| Value::from(*value == true);
        match self.plural.as_str() {
            "jobs" => {
                object["status"]["successful"] = object["status"]["succeeded"].as_u64().unwrap_or(0).into();
            }
            "nodes" => object["spec"]["unschedulable"] = is_true(&object["spec"]["unschedulable"]),
            "events" if faces::is_event(self) => faces::reword(self, object),
            "events" => object["source"] = object["source"]["component"].take(),
            "pods" => {
                object["spec"]["hostNetwork"] = is_true(&object["spec"]["hostNetwork"]);
                object["status"]["podIPs"] = object["status"]["podIP"].clone();
            }
            _ => {}
        }
    }
}

const DERIVED: [(&str, &str); 5] = [
    ("jobs", "status.successful"),
    ("nodes", "spec.unschedulable"),
    ("events", "source"),
    ("pods", "spec.hostNetwork"),
    ("pods", "status.podIPs"),
];
