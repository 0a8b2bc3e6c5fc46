//! The namespace of an object that was not found.

use kdelta::api::ResourceClient;
use kdelta::listwatch::Error;
use kdelta::wire::Representation;

use super::cluster::namespaces;
use super::{Part, Session};

impl Session {
    /// Returns the error to report for an object that was not found: the one about its namespace if that does not
    /// exist. As in kubectl, the namespace `default` is not looked up.
    pub(crate) async fn with_missing_namespace(&self, part: &Part, error: Error) -> Error {
        let is_missing = matches!(error, Error::NotFound(_));
        if !is_missing || part.name.is_none() || matches!(&*part.namespace, "" | "default") {
            return error;
        }
        let client = self.clusters[part.cluster].client.clone();
        let client = ResourceClient::new(client, namespaces()).representation(Representation::Metadata);
        match client.get_named(&part.namespace).await {
            Err(missing @ Error::NotFound(_)) => missing,
            _ => error,
        }
    }
}
