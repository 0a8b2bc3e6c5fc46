//! Requests of paths: `get --raw`, and the documents that describe a server.

use bytes::Bytes;
use kdelta::api::{Request, Response};
use kdelta::clock::{Clock, TokioClock};
use kdelta::listwatch::Error;

use super::Cluster;
use crate::settings::RawPath;

/// The representations that kubectl accepts.
const ACCEPT: &str = "application/json, */*";

/// The accepted representations of documents: aggregated discovery, or JSON where the server does not have it.
const DOCUMENT_ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// The size of the largest document: three times the types of a cluster with 2,000 definitions.
const MAX_DOCUMENT_BYTES: usize = 32 << 20;

/// The number of attempts for a request that the server throttles with `Retry-After`: kubectl's.
const ATTEMPTS: usize = 10;

impl Cluster {
    /// Requests a path and returns the response once its body begins.
    ///
    /// # Errors
    /// The server's refusal or the network's failure.
    pub(crate) async fn raw(&self, path: &RawPath) -> Result<Response, Error> {
        let mut request = Request::new(&path.path).accept(ACCEPT).timeout(self.request_timeout());
        for (name, value) in &path.query {
            request = request.query(name.clone(), value);
        }
        let mut attempt = 1;
        loop {
            let error = match self.client.send(&request).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let Some(after) = error.retry_after().filter(|_| attempt < ATTEMPTS) else { return Err(error) };
            attempt += 1;
            TokioClock.sleep(after).await;
        }
    }

    /// Requests a discovery or `OpenAPI` document, by its hash if the index lists one: servers cache such responses.
    ///
    /// # Errors
    /// The request fails, or the document is too large.
    pub(crate) async fn document(&self, path: &str, hash: Option<&str>) -> Result<Bytes, Error> {
        let request = Request::new(path).accept(DOCUMENT_ACCEPT).timeout(self.request_timeout());
        let request = match hash {
            Some(hash) => request.query("hash", hash),
            None => request,
        };
        self.client.send(&request).await?.body(MAX_DOCUMENT_BYTES).await
    }
}
