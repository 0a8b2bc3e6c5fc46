//! The table columns and cells of each resource, as shown by `kubectl get`.

mod access;
mod cluster;
mod custom;
mod network;
mod pods;
mod storage;
mod workloads;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{Custom, Kind};
use crate::object::human_duration;

/// Name, type, priority.
pub(super) type Definition = (&'static str, &'static str, u8);

const NAME: Definition = ("Name", "string", 0);
const AGE: Definition = ("Age", "string", 0);
const CREATED_AT: Definition = ("Created At", "date", 0);
const CONTAINERS: Definition = ("Containers", "string", 1);
const IMAGES: Definition = ("Images", "string", 1);
const SELECTOR: Definition = ("Selector", "string", 1);

/// Creates the cells of a built-in resource from the object.
pub(super) type Cells = fn(&Value, Known) -> Vec<Value>;

/// The name and time that every row needs.
pub(super) struct Known {
    name: Value,
    age: Value,
    now: Timestamp,
}

/// The columns of a resource.
pub(super) enum Columns {
    BuiltIn(&'static [Definition], Cells),
    Custom(Arc<Custom>),
}

impl Columns {
    pub(super) fn of(kind: &Kind) -> Self {
        if let Some(custom) = &kind.custom {
            return Self::Custom(Arc::clone(custom));
        }
        let (columns, cells): (&'static [Definition], Cells) = match kind.plural.as_str() {
            "pods" => (pods::COLUMNS, pods::cells),
            "deployments" => (workloads::DEPLOYMENTS, workloads::deployment),
            "replicasets" => (workloads::REPLICA_SETS, workloads::replica_set),
            "statefulsets" => (workloads::STATEFUL_SETS, workloads::stateful_set),
            "daemonsets" => (workloads::DAEMON_SETS, workloads::daemon_set),
            "jobs" => (workloads::JOBS, workloads::job),
            "cronjobs" => (workloads::CRON_JOBS, workloads::cron_job),
            "controllerrevisions" => (workloads::REVISIONS, workloads::revision),
            "horizontalpodautoscalers" => (workloads::AUTOSCALERS, workloads::autoscaler),
            "services" => (network::SERVICES, network::service),
            "endpoints" => (network::ENDPOINTS, network::endpoints),
            "endpointslices" => (network::ENDPOINT_SLICES, network::endpoint_slice),
            "ingresses" => (network::INGRESSES, network::ingress),
            "ingressclasses" => (network::INGRESS_CLASSES, network::ingress_class),
            "networkpolicies" => (network::NETWORK_POLICIES, network::network_policy),
            "nodes" => (cluster::NODES, cluster::node),
            "events" => (cluster::EVENTS, cluster::event),
            "namespaces" => (cluster::NAMESPACES, cluster::namespace),
            "leases" => (cluster::LEASES, cluster::lease),
            "priorityclasses" => (cluster::PRIORITY_CLASSES, cluster::priority_class),
            "poddisruptionbudgets" => (cluster::DISRUPTION_BUDGETS, cluster::disruption_budget),
            "resourcequotas" => (cluster::RESOURCE_QUOTAS, cluster::resource_quota),
            "configmaps" => (storage::CONFIG_MAPS, storage::config_map),
            "secrets" => (storage::SECRETS, storage::secret),
            "persistentvolumes" => (storage::VOLUMES, storage::volume),
            "persistentvolumeclaims" => (storage::CLAIMS, storage::claim),
            "storageclasses" => (storage::STORAGE_CLASSES, storage::storage_class),
            "rolebindings" | "clusterrolebindings" => (access::BINDINGS, access::binding),
            "serviceaccounts" => (&[NAME, AGE], plain),
            _ => (&[NAME, CREATED_AT], created),
        };
        Self::BuiltIn(columns, cells)
    }

    /// Returns `columnDefinitions`.
    pub(super) fn definitions(&self) -> Value {
        match self {
            Self::BuiltIn(columns, _) => columns.iter().map(definition).collect(),
            Self::Custom(custom) => custom::definitions(&custom.columns),
        }
    }

    /// Returns the cells of an object.
    pub(super) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let name = object["metadata"]["name"].clone();
        let age = since(&object["metadata"]["creationTimestamp"], now).into();
        let known = Known { name, age, now };
        match self {
            Self::BuiltIn(_, cells) => cells(object, known),
            Self::Custom(custom) => custom::cells(&custom.columns, object, known),
        }
    }

    /// Returns the row conditions, which mark finished pods.
    pub(super) fn conditions(object: &Value) -> Option<Value> {
        let phase = object["status"]["phase"].as_str().filter(|_| object["kind"] == "Pod")?;
        let message = match phase {
            "Succeeded" => "The pod has completed successfully.",
            "Failed" => "The pod failed.",
            _ => return None,
        };
        Some(json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}]))
    }

    /// Returns the cells of a row without an object, as in a bookmark.
    pub(super) fn empty_cells(&self) -> Vec<Value> {
        let nobody = json!({"metadata": {"name": ""}});
        let cells = self.cells(&nobody, Timestamp::UNIX_EPOCH).into_iter();
        cells.map(|cell| if cell.is_null() { json!("") } else { cell }).collect()
    }
}

fn plain(_: &Value, known: Known) -> Vec<Value> {
    vec![known.name, known.age]
}

fn created(object: &Value, known: Known) -> Vec<Value> {
    vec![known.name, object["metadata"]["creationTimestamp"].clone()]
}

fn definition((name, kind, priority): &Definition) -> Value {
    let format = if *name == "Name" { "name" } else { "" };
    json!({
        "name": name, "type": kind, "format": format, "priority": priority,
        "description": format!("{name} of the object"),
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a string, or kubectl's placeholder for an empty one.
fn or_none(text: &str) -> Value {
    if text.is_empty() { "<none>".into() } else { text.into() }
}

fn joined(values: &Value, key: &str) -> String {
    let each = values.as_array().into_iter().flatten();
    each.map(|value| text(&value[key])).collect::<Vec<_>>().join(",")
}

/// Returns `matchLabels` as `a=b,c=d`.
fn labels(labels: &Value) -> Value {
    let pairs = labels.as_object().into_iter().flatten();
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", text(value))).collect();
    or_none(&pairs.join(","))
}

/// Returns a `LabelSelector` as text, sorted by label.
pub(super) fn selector(selector: &Value) -> String {
    let pairs = selector["matchLabels"].as_object().into_iter().flatten();
    let mut terms: Vec<(&str, String)> =
        pairs.map(|(key, value)| (key.as_str(), format!("{key}={}", text(value)))).collect();
    for term in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = text(&term["key"]);
        let mut values: Vec<&str> = term["values"].as_array().into_iter().flatten().map(text).collect();
        values.sort_unstable();
        let values = values.join(",");
        terms.push((
            key,
            match text(&term["operator"]) {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "DoesNotExist" => format!("!{key}"),
                _ => key.to_owned(),
            },
        ));
    }
    terms.sort();
    terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(",")
}

/// Returns the first few strings and the number of the others.
fn first_few(list: &[String], separator: &str, none: &str) -> Value {
    const MOST: usize = 3;
    match list.len().checked_sub(MOST) {
        Some(more @ 1..) => format!("{} + {more} more...", list[..MOST].join(separator)).into(),
        _ if list.is_empty() => none.into(),
        _ => list.join(separator).into(),
    }
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a number or string as text.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the age of a timestamp in kubectl's format.
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
        let size = json!([{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]);
        for columns in [size, json!([])] {
            let custom = Some(Arc::new(Custom { columns, ..Custom::default() }));
            kinds.push(Kind { custom, ..kinds[0].clone() });
        }
        let object = json!({"metadata": {"name": "a"}, "spec": {"size": 3}});
        for kind in kinds {
            let columns = Columns::of(&kind);
            let count = columns.definitions().as_array().map(Vec::len);
            assert_eq!(Some(columns.cells(&object, Timestamp::UNIX_EPOCH).len()), count, "{kind:?}");
        }
    }
}
