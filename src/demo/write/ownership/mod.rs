//! Field ownership: `metadata.managedFields`, apply conflicts, and the fields that an apply gives up.

mod fields;

use serde_json::{Value, json};

use crate::demo::schema;
use crate::server::http::query::Query;
use crate::server::source::Kind;
use fields::FieldSet;

/// The field manager of a write, and its operation.
pub(super) struct FieldManager {
    manager: String,
    operation: &'static str,
    subresource: String,
    api_version: String,
    time: String,
}

impl FieldManager {
    pub(super) fn of(query: &Query, subresource: Option<&str>, api_version: &str, time: &str) -> Self {
        Self {
            manager: query.manager().to_owned(),
            operation: if query.applies() { "Apply" } else { "Update" },
            subresource: subresource.unwrap_or_default().to_owned(),
            api_version: api_version.to_owned(),
            time: time.to_owned(),
        }
    }

    fn is_of(&self, entry: &Value) -> bool {
        entry["manager"] == *self.manager
            && entry["operation"] == self.operation
            && entry["subresource"].as_str().unwrap_or_default() == self.subresource
    }

    fn entry(&self, fields: FieldSet) -> Value {
        let mut entry = json!({
            "manager": self.manager, "operation": self.operation, "apiVersion": self.api_version, "time": self.time,
            "fieldsType": "FieldsV1", "fieldsV1": fields.into_json(),
        });
        if !self.subresource.is_empty() {
            entry["subresource"] = self.subresource.as_str().into();
        }
        entry
    }

    fn name(&self) -> String {
        let subresource = if self.subresource.is_empty() {
            String::new()
        } else {
            format!(" with subresource {:?}", self.subresource)
        };
        let using =
            if self.operation == "Apply" { String::new() } else { format!(" using {}", self.api_version) };
        format!("{:?}{subresource}{using}", self.manager)
    }
}

fn entries(object: &Value) -> Vec<Value> {
    object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default()
}

fn set_entries(object: &mut Value, mut entries: Vec<Value>) {
    entries.retain(|entry| entry["fieldsV1"].as_object().is_some_and(|fields| !fields.is_empty()));
    // A server's order: applies first, then by time.
    entries.sort_by_key(|entry| {
        (entry["operation"].to_string(), entry["time"].to_string(), entry["manager"].to_string())
    });
    if entries.is_empty() {
        object["metadata"].as_object_mut().map(|metadata| metadata.remove("managedFields"));
    } else {
        object["metadata"]["managedFields"] = entries.into();
    }
}

fn fields_of(entry: &Value) -> FieldSet {
    FieldSet::of_json(&entry["fieldsV1"])
}

/// Returns the object without unowned fields.
fn owned_part(object: &Value) -> Value {
    const UNOWNED: [&str; 10] = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "generateName",
        "managedFields",
    ];
    let mut object = object.clone();
    if let Value::Object(map) = &mut object {
        map.remove("apiVersion");
        map.remove("kind");
        if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
            metadata.retain(|key, _| !UNOWNED.contains(&key.as_str()));
            if metadata.is_empty() {
                map.remove("metadata");
            }
        }
    }
    object
}

/// Updates ownership after an update: the writer becomes the only owner of changed fields; removed fields lose their
/// owners.
pub(super) fn record_update(object: &mut Value, before: &Value, kind: &Kind, manager: &FieldManager) {
    let node = schema::of(kind);
    let (current, previous) = (owned_part(object), owned_part(before));
    if current == previous {
        return;
    }
    let (all, changed) = (FieldSet::of(&current, node), FieldSet::changed(&current, &previous, node));
    let mut own = changed.clone();
    let mut updated = Vec::new();
    for mut entry in entries(object) {
        let fields = fields_of(&entry).common(&all);
        if manager.is_of(&entry) {
            own = own.with(&fields);
        } else {
            entry["fieldsV1"] = fields.without(&changed).into_json();
            updated.push(entry);
        }
    }
    updated.push(manager.entry(own));
    set_entries(object, updated);
}

/// Sets the ownership of an object created by an apply.
pub(super) fn record_creation(object: &mut Value, given: &Value, kind: &Kind, manager: &FieldManager) {
    set_entries(object, vec![manager.entry(FieldSet::of(&owned_part(given), schema::of(kind)))]);
}

/// Returns the fields that an apply would change and that other managers own, with those managers.
pub(super) fn conflicts(
    object: &Value,
    given: &Value,
    kind: &Kind,
    manager: &FieldManager,
) -> Vec<(String, String)> {
    let node = schema::of(kind);
    let (current, applied) = (owned_part(object), owned_part(given));
    let changed = FieldSet::changed(&applied, &current, node);
    let mut found = Vec::new();
    for entry in entries(object).iter().filter(|entry| !manager.is_of(entry)) {
        let other = FieldManager {
            manager: entry["manager"].as_str().unwrap_or_default().to_owned(),
            operation: if entry["operation"] == "Apply" { "Apply" } else { "Update" },
            subresource: entry["subresource"].as_str().unwrap_or_default().to_owned(),
            api_version: entry["apiVersion"].as_str().unwrap_or_default().to_owned(),
            time: String::new(),
        };
        for path in fields_of(entry).common(&changed).paths() {
            found.push((format!("conflict with {}", other.name()), path));
        }
    }
    found
}

/// Returns the fields that a client-side apply has set, according to its annotation: a server-side apply by the same
/// client takes them over.
pub(super) fn client_side_applied(object: &Value, kind: &Kind) -> Vec<String> {
    let last = &object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
    let last = last.as_str().and_then(|last| serde_json::from_str::<Value>(last).ok());
    last.map_or_else(Vec::new, |last| FieldSet::of(&owned_part(&last), schema::of(kind)).paths())
}

/// Applies a configuration: merges it, removes fields that the same manager applied before and no longer includes
/// unless another manager owns them, and takes over the changed ones.
pub(super) fn apply(object: &mut Value, given: &Value, kind: &Kind, manager: &FieldManager) {
    let node = schema::of(kind);
    let all = entries(object);
    let set = FieldSet::of(&owned_part(given), node);
    let changed = FieldSet::changed(&owned_part(given), &owned_part(object), node);
    fields::merge(object, &owned_part(given), node);
    let mut others = FieldSet::default();
    let mut before = FieldSet::default();
    let mut updated = Vec::new();
    let mut own = manager.entry(set.clone());
    for mut entry in all {
        if manager.is_of(&entry) {
            before = fields_of(&entry);
            if before == set {
                // An equal apply keeps the entry of the previous one.
                own = entry;
            }
            continue;
        }
        let fields = fields_of(&entry).without(&changed);
        others = others.with(&fields);
        entry["fieldsV1"] = fields.into_json();
        updated.push(entry);
    }
    fields::remove(object, &before.without(&set).without(&others), node);
    updated.push(own);
    set_entries(object, updated);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::kinds;

    fn manager(manager: &str, operation: &'static str) -> FieldManager {
        FieldManager {
            manager: manager.to_owned(),
            operation,
            subresource: String::new(),
            api_version: "apps/v1".to_owned(),
            time: "t".to_owned(),
        }
    }

    fn deployment(image: &str, replicas: u64) -> Value {
        json!({
            "metadata": {"name": "d", "labels": {"a": "b"}},
            "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "c", "image": image}]}}},
        })
    }

    fn deployments() -> Kind {
        kinds::built_in().nth(kinds::DEPLOYMENTS).expect("deployments")
    }

    #[test]
    fn applies_conflict_with_managers_of_other_values() {
        let kind = deployments();
        let mut object = deployment("one", 1);
        record_update(&mut object, &json!({}), &kind, &manager("x", "Update"));
        assert_eq!(conflicts(&object, &deployment("one", 1), &kind, &manager("y", "Apply")), []);
        let found = conflicts(&object, &deployment("two", 1), &kind, &manager("y", "Apply"));
        let expected = (
            "conflict with \"x\" using apps/v1".to_owned(),
            ".spec.template.spec.containers[name=\"c\"].image".to_owned(),
        );
        assert_eq!(found, [expected]);
        apply(&mut object, &deployment("two", 1), &kind, &manager("y", "Apply"));
        assert_eq!(object["spec"]["template"]["spec"]["containers"], json!([{"name": "c", "image": "two"}]));
        assert_eq!(conflicts(&object, &deployment("two", 1), &kind, &manager("z", "Apply")), []);
    }

    #[test]
    fn fields_no_longer_applied_are_removed_unless_owned_by_another() {
        let kind = deployments();
        let mut object = json!({"metadata": {"name": "d"}});
        apply(&mut object, &deployment("one", 2), &kind, &manager("y", "Apply"));
        let before = object.clone();
        object["spec"]["replicas"] = 3.into();
        record_update(&mut object, &before, &kind, &manager("scaler", "Update"));
        let less = json!({"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}});
        apply(&mut object, &less, &kind, &manager("y", "Apply"));
        assert_eq!(object["spec"]["replicas"], 3, "the scaler's");
        assert_eq!(object["spec"]["template"]["spec"]["containers"], json!([{"name": "c"}]));
        assert_eq!(object["metadata"].get("labels").filter(|labels| labels["a"].is_string()), None);
    }

    #[test]
    fn repeated_apply_changes_nothing() {
        let kind = deployments();
        let mut object = json!({"metadata": {"name": "d"}});
        apply(&mut object, &deployment("one", 2), &kind, &manager("y", "Apply"));
        let before = object.clone();
        let later = FieldManager { time: "later".to_owned(), ..manager("y", "Apply") };
        apply(&mut object, &deployment("one", 2), &kind, &later);
        assert_eq!(object, before);
    }
}
