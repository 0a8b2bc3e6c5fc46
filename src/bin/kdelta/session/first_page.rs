//! The first objects of a collection: enough to know its names and labels by, however large it is.

use std::sync::Arc;

use kdelta::api::{Representation, ResourceClient};
use kdelta::listwatch::{Error, ListOptions, ListStream, ListerWatcher};
use kdelta::object::{ApiResource, Object};

use super::Cluster;

/// How many of them. A server sends so many rows, or so much metadata, in a few milliseconds.
const PAGE_LIMIT: u32 = 500;
/// And how much of their text: a server need not keep to the limit that it is given.
const PAGE_BYTES: usize = 16 << 20;

impl Cluster {
    /// The namespace of requests that name none.
    pub(crate) fn default_namespace(&self) -> &str {
        self.client.config().default_namespace()
    }

    /// The first page of a collection, in one namespace or, where that is empty, in all.
    ///
    /// # Errors
    /// What the server refused.
    pub(crate) async fn first_page(
        &self,
        resource: &ApiResource,
        namespace: &str,
        representation: Representation,
    ) -> Result<Vec<Arc<Object>>, Error> {
        let client = ResourceClient::new(self.client.clone(), resource.clone())
            .namespace(Some(namespace.to_owned()))
            .representation(representation);
        let mut page = client.list(&ListOptions { limit: PAGE_LIMIT, ..ListOptions::default() }).await?;
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
