//! Names that are there, for who types one: those in the kubeconfig, and namespaces like one that does not exist.

use std::time::Duration;

use kdelta::api::{Contexts, Error, Representation, ResourceClient, nearest};
use kdelta::listwatch;
use kdelta::object::ApiResource;
use tokio::time::timeout;

use super::part::Part;
use super::{Session, connect};
use crate::settings::Connection;

/// How long a hint may be looked for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The names that the kubeconfig has.
///
/// # Errors
/// A file that can't be read.
pub(crate) fn configured(connection: &Connection) -> Result<Contexts, Error> {
    Contexts::load(&connect::options(connection, false))
}

/// Names in the kubeconfig that are like the one which the error misses; none for other errors.
pub(crate) fn similar_names(error: &Error, connection: &Connection) -> Vec<String> {
    let Ok(names) = configured(connection) else { return Vec::new() };
    let (wrong, names) = match error {
        Error::NoContext(name) | Error::NoCurrentContext(name) => (name, names.names),
        Error::NoCluster(name) => (name, names.clusters),
        Error::NoUser(name) => (name, names.users),
        _ => return Vec::new(),
    };
    near(wrong, names)
}

fn near(wrong: &str, names: Vec<String>) -> Vec<String> {
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
    /// A namespace of these parts that does not exist, with those that are like it; nothing where all exist, or who
    /// asks may not know.
    pub(crate) async fn similar_namespaces(&self, parts: &[Part]) -> Option<(String, Vec<String>)> {
        let asked = parts.iter().map(|part| &*part.namespace).filter(|namespace| !namespace.is_empty());
        let find = async {
            for namespace in asked {
                if !self.is_missing(namespace).await {
                    continue;
                }
                let all = self.first(&namespaces(), "", Representation::Metadata).await.ok()?;
                let names = all.iter().map(|object| object.name().to_owned()).collect();
                return Some((namespace.to_owned(), near(namespace, names)));
            }
            None
        };
        timeout(PATIENCE, find).await.ok().flatten().filter(|(_, near)| !near.is_empty())
    }

    async fn is_missing(&self, namespace: &str) -> bool {
        let client = ResourceClient::new(self.client.clone(), namespaces());
        let answer = client.representation(Representation::Metadata).get_named(namespace).await;
        matches!(answer, Err(listwatch::Error::NotFound(_)))
    }
}
