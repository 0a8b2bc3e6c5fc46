//! Existing names for completion and hints: the entries of the kubeconfig, and objects and namespaces similar to a missing
//! one.

use std::time::Duration;

use kdelta::api::ResourceClient;
use kdelta::kubeconfig::{Contexts, Error};
use kdelta::listwatch;
use kdelta::wire::Representation;
use tokio::time::timeout;

use super::cluster::namespaces;
use super::plan::PlannedPart;
use super::{Cluster, Part, Session};
use crate::settings::Connection;
use crate::suggest::nearest;

/// The time limit for finding a hint.
const HINT_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the names in the kubeconfig.
///
/// # Errors
/// A file can't be read.
pub(crate) fn kubeconfig_names(connection: &Connection) -> Result<Contexts, Error> {
    Contexts::load(&connection.options)
}

/// Returns the kubeconfig names most similar to the one that the error reports missing; empty for other errors.
pub(crate) fn similar_names(error: &Error, connection: &Connection) -> Vec<String> {
    let Ok(names) = kubeconfig_names(connection) else { return Vec::new() };
    let (wrong, names) = match error {
        Error::NoContext(name) | Error::NoCurrentContext(name) => (name, names.names),
        Error::NoCluster(name) => (name, names.clusters),
        Error::NoUser(name) => (name, names.users),
        _ => return Vec::new(),
    };
    nearest_names(wrong, names)
}

/// Returns the names most similar to one that does not exist.
pub(crate) fn nearest_names(wrong: &str, names: Vec<String>) -> Vec<String> {
    nearest(wrong, names.into_iter().map(|name| (name.clone(), vec![name])))
}

impl Session {
    /// Returns a namespace of the parts that does not exist, with similar names. `None` if all exist, the user may not
    /// look them up, or there are several contexts.
    pub(crate) async fn similar_namespaces(&self, parts: &[PlannedPart]) -> Option<(String, Vec<String>)> {
        match &self.clusters[..] {
            [cluster] => cluster.similar_namespaces(parts).await,
            _ => None,
        }
    }

    /// Returns names similar to the one that does not exist: of objects like the part's, or of namespaces if that is the
    /// part's namespace. Empty if the user may not list them.
    pub(crate) async fn similar_objects(&self, part: &Part, missing: &str) -> Vec<String> {
        let cluster = &self.clusters[part.cluster];
        let is_object = part.name.as_deref() == Some(missing);
        let all_namespaces = namespaces();
        let (resource, namespace) =
            if is_object { (&*part.resource, &*part.namespace) } else { (&all_namespaces, "") };
        let page = cluster.first_page(resource, namespace, Representation::Metadata);
        match timeout(HINT_TIMEOUT, page).await {
            Ok(Ok(objects)) => {
                nearest_names(missing, objects.iter().map(|object| object.name().to_owned()).collect())
            }
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }
}

impl Cluster {
    async fn similar_namespaces(&self, parts: &[PlannedPart]) -> Option<(String, Vec<String>)> {
        let requested = parts.iter().map(|planned| &*planned.part.namespace);
        let requested = requested.filter(|namespace| !namespace.is_empty());
        let find = async {
            for namespace in requested {
                if !self.is_missing(namespace).await {
                    continue;
                }
                let all = self.first_page(&namespaces(), "", Representation::Metadata).await.ok()?;
                let names = all.iter().map(|object| object.name().to_owned()).collect();
                return Some((namespace.to_owned(), nearest_names(namespace, names)));
            }
            None
        };
        timeout(HINT_TIMEOUT, find).await.ok().flatten().filter(|(_, near)| !near.is_empty())
    }

    async fn is_missing(&self, namespace: &str) -> bool {
        let client = ResourceClient::new(self.client.clone(), namespaces());
        let response = client.representation(Representation::Metadata).get_named(namespace).await;
        matches!(response, Err(listwatch::Error::NotFound(_)))
    }
}
