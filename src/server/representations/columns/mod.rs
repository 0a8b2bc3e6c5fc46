//! The table columns and cells of each resource, as shown by `kubectl get`.

mod access;
mod cells;
mod cluster;
mod custom;
mod network;
mod pods;
mod storage;
mod workloads;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::server::source::{Custom, Kind};
use cells::{AGE, CREATED_AT, Definition, NAME, RowContext, definition, since};

pub(crate) use cells::selector;

/// Creates the cells of a built-in resource from the object.
type Cells = fn(&Value, RowContext) -> Vec<Value>;

/// The columns of a resource.
pub(crate) enum Columns {
    BuiltIn(&'static [Definition], Cells),
    Custom(Arc<Custom>),
}

impl Columns {
    pub(crate) fn of(kind: &Kind) -> Self {
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
    pub(crate) fn definitions(&self) -> Value {
        match self {
            Self::BuiltIn(columns, _) => columns.iter().map(definition).collect(),
            Self::Custom(custom) => custom::definitions(&custom.columns),
        }
    }

    /// Returns the cells of an object.
    pub(crate) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let name = object["metadata"]["name"].clone();
        let age = since(&object["metadata"]["creationTimestamp"], now).into();
        let row = RowContext { name, age, now };
        match self {
            Self::BuiltIn(_, cells) => cells(object, row),
            Self::Custom(custom) => custom::cells(&custom.columns, object, row),
        }
    }

    /// Returns the row conditions, which mark finished pods.
    pub(crate) fn conditions(object: &Value) -> Option<Value> {
        let phase = object["status"]["phase"].as_str().filter(|_| object["kind"] == "Pod")?;
        let message = match phase {
            "Succeeded" => "The pod has completed successfully.",
            "Failed" => "The pod failed.",
            _ => return None,
        };
        Some(json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}]))
    }

    /// Returns the cells of a row without an object, as in a bookmark.
    pub(crate) fn empty_cells(&self) -> Vec<Value> {
        let unnamed = json!({"metadata": {"name": ""}});
        let cells = self.cells(&unnamed, Timestamp::UNIX_EPOCH).into_iter();
        cells.map(|cell| if cell.is_null() { json!("") } else { cell }).collect()
    }
}

fn plain(_: &Value, row: RowContext) -> Vec<Value> {
    vec![row.name, row.age]
}

fn created(object: &Value, row: RowContext) -> Vec<Value> {
    vec![row.name, object["metadata"]["creationTimestamp"].clone()]
}
