//! The HTTP client of a route: the service that sends a request, and the settings that all routes share.

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use tower::BoxError;
use tower::util::BoxCloneSyncService;

use crate::kubeconfig::ConnectionOptions;

/// The flow-control windows of one stream and of a connection. The second holds the sum of the first, so that an
/// unread stream can't block the others. A busy server writes events in bursts of more than a megabyte, which must
/// not wait for a window update in the middle.
pub(super) const STREAM_WINDOW: u32 = 2 * 1024 * 1024;
pub(super) const CONNECTION_WINDOW: u32 = 80 * STREAM_WINDOW;

/// The body of a response as it arrives.
pub(super) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// The service that sends a request.
pub(super) type Http = BoxCloneSyncService<http::Request<Bytes>, http::Response<Body>, BoxError>;

/// Returns the ALPN protocols to offer, in order of preference.
pub(super) fn protocols(options: &ConnectionOptions) -> Vec<Vec<u8>> {
    let http2 = (!options.http1_only).then(|| b"h2".to_vec());
    http2.into_iter().chain([b"http/1.1".to_vec()]).collect()
}
