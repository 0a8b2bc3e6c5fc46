//! Requests for the `OpenAPI` documents, which describe the fields of the resources.

use super::Discovery;
use super::fetch::{AGGREGATED_LIMITS, request_document};
use crate::api::Request;
use crate::listwatch::Error;
use crate::object::{is_dns_label, is_dns_subdomain};
use crate::wire::openapi::{OpenApiIndex, OpenApiV2, OpenApiV3};

impl Discovery {
    /// Requests the list of the documents of version 3.
    ///
    /// # Errors
    /// The server's refusal or the network's failure; [`Error::Decode`] for a response that is too large or malformed.
    pub async fn openapi_index(&self) -> Result<OpenApiIndex, Error> {
        let request = Request::new("/openapi/v3").timeout(self.inner.timeout);
        request_document(&self.inner.client, &request, &AGGREGATED_LIMITS).await
    }

    /// Requests the document of a group version; `None` if the list has none.
    ///
    /// # Errors
    /// Those of [`Discovery::openapi_index`].
    pub async fn openapi_v3(
        &self,
        index: &OpenApiIndex,
        group: &str,
        version: &str,
    ) -> Result<Option<OpenApiV3>, Error> {
        let is_valid = (group.is_empty() || is_dns_subdomain(group)) && is_dns_label(version);
        let path = match group {
            "" => format!("api/{version}"),
            group => format!("apis/{group}/{version}"),
        };
        if !is_valid || !index.contains(&path) {
            return Ok(None);
        }
        let mut request = Request::new(format!("/openapi/v3/{path}")).timeout(self.inner.timeout);
        if let Some(hash) = index.hash(&path) {
            request = request.query("hash", hash);
        }
        request_document(&self.inner.client, &request, &AGGREGATED_LIMITS).await.map(Some)
    }

    /// Requests the document of version 2.
    ///
    /// # Errors
    /// Those of [`Discovery::openapi_index`].
    pub async fn openapi_v2(&self) -> Result<OpenApiV2, Error> {
        let request = Request::new("/openapi/v2").timeout(self.inner.timeout);
        request_document(&self.inner.client, &request, &AGGREGATED_LIMITS).await
    }
}
