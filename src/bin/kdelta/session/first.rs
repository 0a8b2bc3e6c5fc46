//! The first objects of a collection: enough to know its names and labels by, however large it is.

use std::sync::Arc;

use kdelta::api::{Representation, ResourceClient};
use kdelta::listwatch::{Error, ListOptions, ListStream, ListerWatcher};
use kdelta::object::{ApiResource, Object};

use super::Session;

/// How many of them. A server sends so many rows, or so much metadata, in a few milliseconds.
const FIRST: u32 = 500;

impl Session {
    /// The namespace of requests that name none.
    pub(crate) fn default_namespace(&self) -> &str {
        self.client.config().default_namespace()
    }

    /// The first page of a collection, in one namespace or, where that is empty, in all.
    ///
    /// # Errors
    /// What the server refused.
    pub(crate) async fn first(
        &self,
        resource: &ApiResource,
        namespace: &str,
        representation: Representation,
    ) -> Result<Vec<Arc<Object>>, Error> {
        let client = ResourceClient::new(self.client.clone(), resource.clone())
            .namespace(Some(namespace.to_owned()))
            .representation(representation);
        let mut page = client.list(&ListOptions { limit: FIRST, ..ListOptions::default() }).await?;
        let mut objects = Vec::new();
        while let Some(object) = page.next().await? {
            objects.push(object);
        }
        Ok(objects)
    }
}
