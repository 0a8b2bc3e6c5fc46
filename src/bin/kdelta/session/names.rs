//! Names that are there, for who types one: those in the kubeconfig, and namespaces like one that does not exist.

use std::time::Duration;

use kdelta::api::{Contexts, Error, Representation, ResourceClient, nearest};
use kdelta::listwatch;
use kdelta::object::ApiResource;
use tokio::time::timeout;

use super::plan::PlannedPart;
use super::{Cluster, Session, connect};
use crate::settings::Connection;

/// How long a hint may be looked for.
const HINT_TIMEOUT: Duration = Duration::from_secs(1);

/// The names that the kubeconfig has.
///
/// # Errors
/// A file that can't be read.
pub(crate) fn kubeconfig_names(connection: &Connection) -> Result<Contexts, Error> {
    Contexts::load(&connect::options(connection, false))
}

/// Names in the kubeconfig that are like the one which the error misses; none for other errors.
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

fn nearest_names(wrong: &str, names: Vec<String>) -> Vec<String> {
    nearest(wrong, names.into_iter().map(|name| (name.clone(), vec![name])))
}

/// What namespaces are, which no discovery has to tell.
pub(crate) fn namespaces() -> ApiResource {
    ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "namespaces".into(),
        kind: "Namespace".into(),
        namespaced: false,
    }
}

impl Session {
    /// A namespace of these parts that does not exist, with those that are like it; nothing where all exist, who asks
    /// may not know, or there are several contexts.
    pub(crate) async fn similar_namespaces(&self, parts: &[PlannedPart]) -> Option<(String, Vec<String>)> {
        match &self.clusters[..] {
            [cluster] => cluster.similar_namespaces(parts).await,
            _ => None,
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
