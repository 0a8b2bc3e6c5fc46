//! The resources of stored `CustomResourceDefinition`s.

use crate::demo::cluster::Cluster;
use crate::server::source::{CollectionRange, Kind, StoredObject};

/// Defines the resource of a definition.
pub(super) fn define(cluster: &Cluster, kind: &Kind, stored: &StoredObject) {
    if kind.plural == "customresourcedefinitions"
        && let Some(defined) = Kind::of_definition(&stored.value())
    {
        cluster.store.define(defined);
    }
}

/// Removes a resource with its definition and its objects.
pub(super) fn undefine(cluster: &Cluster, definition: &str) {
    let Some((plural, group)) = definition.split_once('.') else { return };
    let Some(id) = cluster.store.id(group, plural) else { return };
    for item in cluster.store.now(&CollectionRange::all(id, None)).items {
        cluster.store.remove(id, &item.namespace, &item.name);
    }
    cluster.store.undefine(id);
}
