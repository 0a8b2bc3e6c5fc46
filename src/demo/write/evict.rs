//! Evictions: deletions of pods subject to disruption budgets.

use serde_json::Value;

use super::delete::{Deletion, delete};
use crate::demo::cluster::Cluster;
use crate::demo::{errors, kinds};
use crate::object::LabelSelector;
use crate::server::api_error::ApiError;
use crate::server::http::query::Query;
use crate::server::source::CollectionRange;
use crate::server::target::Target;

/// Evicts a pod.
///
/// # Errors
/// The pod does not exist, or a budget forbids the eviction.
pub(in crate::demo) fn evict(
    cluster: &Cluster,
    target: &Target,
    eviction: &Value,
    query: &Query,
) -> Result<Deletion, ApiError> {
    let Target { id, kind, namespace, name, .. } = target;
    let pod = cluster.store.get(*id, namespace, name).ok_or_else(|| ApiError::not_found(kind, name))?;
    let is_finished =
        ["Succeeded", "Failed"].contains(&pod.value()["status"]["phase"].as_str().unwrap_or_default());
    let budgets = cluster.store.now(&CollectionRange::all(kinds::DISRUPTION_BUDGETS, Some(namespace))).items;
    for budget in budgets.iter().filter(|_| !is_finished) {
        let value = budget.value();
        let status = &value["status"];
        if selects(&value["spec"]["selector"], &pod.json) && status["disruptionsAllowed"].as_u64() == Some(0)
        {
            let number = |key: &str| status[key].as_u64().unwrap_or_default();
            return Err(errors::disruption(&budget.name, number("desiredHealthy"), number("currentHealthy")));
        }
    }
    delete(cluster, target, &eviction["deleteOptions"], query)
}

/// Returns whether a `LabelSelector` selects the object.
pub(in crate::demo) fn selects(selector: &Value, json: &[u8]) -> bool {
    LabelSelector::parse(&crate::server::representations::columns::selector(selector))
        .is_ok_and(|labels| labels.matches_json(json))
}
