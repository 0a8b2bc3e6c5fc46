//! The current objects of a watch as the source of a server.

mod collection;
mod mirrored;
mod shared;
mod source;
mod state;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;

use shared::Shared;
use source::MirrorSource;
use state::is_definitions;

use super::endpoint::NetworkEndpoint;
use super::reviews;
use crate::lines::Change;
use crate::object::{ApiResource, ResourceVersion};
use crate::recording::error::RecordingError;
use crate::server::api_error::ApiError;
use crate::server::http::request::ApiRequest;
use crate::server::http::response::{self, Body};

/// A read-only mirror of a cluster: the current objects of a watch in memory, served as a Kubernetes API.
///
/// The caller reports the parts of its watch, their changes, and the discovery and `OpenAPI` documents of the server. A
/// type is served once the initial state of a part is complete. Its lists have the version that the server has reached,
/// and watches continue from it while their version is among the last 8192 changes of the type, or fewer if these take
/// more than 32 MiB. Cheap to clone: all clones are the same mirror.
///
/// ```no_run
/// use std::sync::Arc;
/// use kdelta::object::ApiResource;
/// use kdelta::recording::Mirror;
///
/// # async fn serve(pods: Arc<ApiResource>) -> Result<(), kdelta::recording::RecordingError> {
/// let mirror = Mirror::new();
/// mirror.begin(0, &pods);
/// // `mirror.apply(0, &change)` for each object of the initial list.
/// mirror.synced(0, &"100".into());
/// let endpoint = mirror.serve(([127, 0, 0, 1], 0).into()).await?;
/// println!("{}", endpoint.url());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Mirror {
    shared: Arc<Shared>,
}

impl Mirror {
    /// Creates a mirror without objects.
    #[must_use]
    pub fn new() -> Self {
        Self { shared: Arc::new(Shared::new()) }
    }

    /// Begins a part of the watch, with a number that no running part has. A type may have several parts, such as one
    /// for each namespace.
    pub fn begin(&self, part: usize, resource: &Arc<ApiResource>) {
        self.shared.lock().begin(part, resource);
    }

    /// Applies a change of a part. Changes before [`Mirror::synced`] are the initial state.
    pub fn apply(&self, part: usize, change: &Change) {
        self.shared.update(|state| {
            let Some((collection, _)) = state.collection(part) else { return };
            collection.apply(part, change);
            if is_definitions(&collection.resource) {
                state.definitions_changed();
            }
        });
    }

    /// Serves the type of a part, whose initial state is complete at this version.
    pub fn synced(&self, part: usize, version: &ResourceVersion) {
        self.shared.update(|state| state.synced(part, version.number().unwrap_or_default()));
    }

    /// Records that the server has reached a version in a part, as a bookmark or a list reports it. Of a type with
    /// several parts, only changes advance the version.
    pub fn advance(&self, part: usize, version: &ResourceVersion) {
        self.shared.update(|state| {
            if let (Some((collection, true)), Some(version)) = (state.collection(part), version.number()) {
                collection.advance(version);
            }
        });
    }

    /// Ends a part. Its objects are deleted. If no other part of its type is served, the type is not served any more, and
    /// watches of it end.
    pub fn end(&self, part: usize) {
        self.shared.update(|state| state.end(part));
    }

    /// Sets the document at a path of discovery or `OpenAPI`, or a definition of a custom resource at its own path.
    pub fn set_document(&self, path: &str, body: &Bytes) {
        self.shared.lock().set_document(path, body);
    }

    /// Returns the number of types that are served.
    #[must_use]
    pub fn served_types(&self) -> usize {
        self.shared.lock().collections.iter().filter(|collection| collection.is_served()).count()
    }

    /// Starts a server in the current tokio runtime, on an address of this machine; the port 0 selects a free one.
    ///
    /// # Errors
    /// [`RecordingError::Listen`] when the address is not available.
    pub async fn serve(&self, address: SocketAddr) -> Result<NetworkEndpoint, RecordingError> {
        let source = Arc::new(MirrorSource::new(Arc::clone(&self.shared)));
        let shared = Arc::clone(&self.shared);
        let handler = Box::new(move |request: &ApiRequest| respond(&shared, request));
        NetworkEndpoint::start(address, source, handler).await
    }
}

impl Default for Mirror {
    fn default() -> Self {
        Self::new()
    }
}

/// Prints no objects.
impl std::fmt::Debug for Mirror {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mirror").finish_non_exhaustive()
    }
}

/// Returns the response to a request, or `None` if the server handles it as for any source.
fn respond(shared: &Shared, request: &ApiRequest) -> Option<Response<Body>> {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["kdelta", "moment"] => {
            let error = ApiError::bad_request("a mirror follows its cluster: it has no other moments");
            Some(response::error_response(&error))
        }
        ["apis", group, "v1", plural] if request.method == http::Method::POST => {
            let served = shared.lock().served();
            reviews::respond(group, plural, request, &served.kinds)
        }
        _ => None,
    }
}
