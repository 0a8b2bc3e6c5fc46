//! The first page of a collection: enough names and labels for completion and hints, whatever the size of the
//! collection.

use std::sync::Arc;

use kdelta::api::ResourceClient;
use kdelta::listwatch::{Error, ListOptions, ListStream, ListerWatcher};
use kdelta::object::{ApiResource, Object};
use kdelta::wire::Representation;

use super::Cluster;

/// The maximum number of objects. A server sends that many rows, or that much metadata, in a few milliseconds.
const PAGE_LIMIT: u32 = 500;
/// The maximum size in bytes: a server may ignore the limit of the request.
const PAGE_BYTES: usize = 16 << 20;

impl Cluster {
    /// Returns the namespace of requests that name none.
    pub(crate) fn default_namespace(&self) -> &str {
        self.client.config().default_namespace()
    }

    /// Lists the first page of a collection in one namespace, or in all if `namespace` is empty.
    ///
    /// # Errors
    /// The request fails.
    pub(crate) async fn first_page(
        &self,
        resource: &ApiResource,
        namespace: &str,
        representation: Representation,
    ) -> Result<Vec<Arc<Object>>, Error> {
        let client = ResourceClient::new(self.client.clone(), resource.clone())
            .namespace(Some(namespace.to_owned()))
            .representation(representation);
        let mut page = client.list(&ListOptions::default().limit(PAGE_LIMIT)).await?;
        let (mut objects, mut bytes) = (Vec::new(), 0);
        while objects.len() < PAGE_LIMIT as usize
            && bytes < PAGE_BYTES
            && let Some(object) = page.next().await?
        {
            bytes += object.weight();
            objects.push(object);
        }
        Ok(objects)
    }
}
