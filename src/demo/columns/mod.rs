//! The columns that the server prints objects in, and their cells: what `kubectl get` shows.

mod cluster;
mod pods;
mod workloads;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::Kind;
use crate::object::human_duration;

/// Name, type, priority.
type Definition = (&'static str, &'static str, u8);

const NAME: Definition = ("Name", "string", 0);
const AGE: Definition = ("Age", "string", 0);
const CONTAINERS: Definition = ("Containers", "string", 1);
const IMAGES: Definition = ("Images", "string", 1);
const SELECTOR: Definition = ("Selector", "string", 1);

/// What a resource is printed in.
pub(super) enum Columns {
    Pods,
    Deployments,
    ReplicaSets,
    Jobs,
    Services,
    Nodes,
    Events,
    Namespaces,
    ConfigMaps,
    Secrets,
    Leases,
    Definitions,
    Custom(Value),
    Plain,
}

impl Columns {
    pub(super) fn of(kind: &Kind) -> Self {
        if let Some(columns) = &kind.custom_columns {
            return Self::Custom(columns.clone());
        }
        match (kind.group.as_str(), kind.plural.as_str()) {
            ("", "pods") => Self::Pods,
            ("apps", "deployments") => Self::Deployments,
            ("apps", "replicasets") => Self::ReplicaSets,
            ("batch", "jobs") => Self::Jobs,
            ("", "services") => Self::Services,
            ("", "nodes") => Self::Nodes,
            ("", "events") => Self::Events,
            ("", "namespaces") => Self::Namespaces,
            ("", "configmaps") => Self::ConfigMaps,
            ("", "secrets") => Self::Secrets,
            (_, "leases") => Self::Leases,
            (_, "customresourcedefinitions") => Self::Definitions,
            _ => Self::Plain,
        }
    }

    /// `columnDefinitions`.
    pub(super) fn definitions(&self) -> Value {
        let built_in: &[Definition] = match self {
            Self::Pods => pods::COLUMNS,
            Self::Deployments => workloads::DEPLOYMENTS,
            Self::ReplicaSets => workloads::REPLICA_SETS,
            Self::Jobs => workloads::JOBS,
            Self::Services => cluster::SERVICES,
            Self::Nodes => cluster::NODES,
            Self::Events => cluster::EVENTS,
            Self::Namespaces => &[NAME, ("Status", "string", 0), AGE],
            Self::ConfigMaps => &[NAME, ("Data", "string", 0), AGE],
            Self::Secrets => &[NAME, ("Type", "string", 0), ("Data", "string", 0), AGE],
            Self::Leases => &[NAME, ("Holder", "string", 0), AGE],
            Self::Definitions => &[NAME, ("Created At", "date", 0)],
            Self::Plain => &[NAME, AGE],
            Self::Custom(columns) => return custom_definitions(columns),
        };
        built_in.iter().map(definition).collect()
    }

    /// The cells of one object.
    pub(super) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let name = object["metadata"]["name"].clone();
        let age = since(&object["metadata"]["creationTimestamp"], now);
        let count = |field: &str| object[field].as_object().map_or(0, serde_json::Map::len);
        match self {
            Self::Pods => pods::cells(object, name, age, now),
            Self::Deployments => workloads::deployment(object, name, age),
            Self::ReplicaSets => workloads::replica_set(object, name, age),
            Self::Jobs => workloads::job(object, name, age, now),
            Self::Services => cluster::service(object, name, age),
            Self::Nodes => cluster::node(object, name, age),
            Self::Events => cluster::event(object, name, now),
            Self::Namespaces => vec![name, object["status"]["phase"].clone(), age.into()],
            Self::ConfigMaps => vec![name, (count("data") + count("binaryData")).into(), age.into()],
            Self::Secrets => vec![name, object["type"].clone(), count("data").into(), age.into()],
            Self::Leases => vec![name, object["spec"]["holderIdentity"].clone(), age.into()],
            Self::Definitions => vec![name, object["metadata"]["creationTimestamp"].clone()],
            Self::Plain => vec![name, age.into()],
            Self::Custom(columns) => custom_cells(columns, object, name, age, now),
        }
    }

    /// The cells of a row that stands for no object, as in a bookmark.
    pub(super) fn empty_cells(&self) -> Vec<Value> {
        let nobody = json!({"metadata": {"name": ""}});
        let cells = self.cells(&nobody, Timestamp::UNIX_EPOCH).into_iter();
        cells.map(|cell| if cell.is_null() { json!("") } else { cell }).collect()
    }
}

fn definition((name, kind, priority): &Definition) -> Value {
    let format = if *name == "Name" { "name" } else { "" };
    json!({
        "name": name, "type": kind, "format": format, "priority": priority,
        "description": format!("{name} of the object"),
    })
}

fn custom_definitions(columns: &Value) -> Value {
    let mut definitions = vec![definition(&NAME)];
    for column in columns.as_array().into_iter().flatten() {
        definitions.push(json!({
            "name": column["name"], "type": column["type"], "format": text(&column["format"]),
            "description": text(&column["description"]), "priority": column["priority"].as_u64().unwrap_or(0),
        }));
    }
    if definitions.len() == 1 {
        definitions.push(definition(&AGE));
    }
    definitions.into()
}

/// The paths of printer columns are plain ones here: names joined by dots.
fn custom_cells(columns: &Value, object: &Value, name: Value, age: String, now: Timestamp) -> Vec<Value> {
    let mut cells = vec![name];
    for column in columns.as_array().into_iter().flatten() {
        let path = text(&column["jsonPath"]);
        let value = path.split('.').filter(|step| !step.is_empty()).fold(object, |value, step| &value[step]);
        cells.push(if column["type"] == "date" { since(value, now).into() } else { value.clone() });
    }
    if cells.len() == 1 {
        cells.push(age.into());
    }
    cells
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text, or what kubectl shows in place of none.
fn or_none(text: &str) -> Value {
    if text.is_empty() { "<none>".into() } else { text.into() }
}

fn joined(values: &Value, key: &str) -> String {
    let each = values.as_array().into_iter().flatten();
    each.map(|value| text(&value[key])).collect::<Vec<_>>().join(",")
}

/// `a=b,c=d`, of labels to match.
fn selector(labels: &Value) -> Value {
    let pairs = labels.as_object().into_iter().flatten();
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", text(value))).collect();
    or_none(&pairs.join(","))
}

/// How long ago a time was, as kubectl shows ages.
fn since(time: &Value, now: Timestamp) -> String {
    match time.as_str().and_then(|time| time.parse::<Timestamp>().ok()) {
        Some(time) => human_duration(now.as_second() - time.as_second()),
        None => "<unknown>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_as_many_cells_as_there_are_columns() {
        let mut kinds: Vec<Kind> = crate::demo::kinds::built_in().collect();
        let columns = json!([{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]);
        kinds.push(Kind { custom_columns: Some(columns), ..kinds[0].clone() });
        kinds.push(Kind { custom_columns: Some(json!([])), ..kinds[0].clone() });
        let object = json!({"metadata": {"name": "a"}, "spec": {"size": 3}});
        for kind in kinds {
            let columns = Columns::of(&kind);
            let count = columns.definitions().as_array().map(Vec::len);
            assert_eq!(Some(columns.cells(&object, Timestamp::UNIX_EPOCH).len()), count, "{kind:?}");
        }
    }
}
