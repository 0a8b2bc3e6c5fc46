//! The URL of a request, whose path must stay below that of the server.

use http::uri::Uri;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::api::Request;
use crate::listwatch;

/// Returns the URL of a request to the server with this base URL. An error if the path leaves that of the server.
pub(super) fn request_url(base: &Url, request: &Request) -> Result<Uri, listwatch::Error> {
    let mut url = base.clone();
    let path = format!("{}{}", url.path().trim_end_matches('/'), request.path);
    url.set_path(&path);
    if !stays_below(&request.path, &path, url.path()) {
        let message =
            format!("the request can't be sent: its path {:?} leaves that of the server", request.path);
        return Err(listwatch::Error::Invalid(listwatch::Status { message, ..listwatch::Status::default() }));
    }
    if !request.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&request.query);
    }
    url.as_str().parse().map_err(invalid_request)
}

/// Returns whether a path stays below the server's: the URL contains the whole path, which the URL parser shortens at
/// dot segments, and decoding it yields no further dot segments.
fn stays_below(below: &str, path: &str, in_url: &str) -> bool {
    let is_dots = |segment: &[u8]| matches!(segment, b"." | b"..");
    let decoded: Vec<u8> = percent_decode_str(below).collect();
    below.starts_with('/')
        && percent_decode_str(in_url).eq(percent_decode_str(path))
        && !decoded.split(|byte| *byte == b'/').any(is_dots)
}

/// Returns the error of a request that can't be encoded.
pub(super) fn invalid_request(error: impl Into<http::Error>) -> listwatch::Error {
    let message = format!("the request can't be sent: {}", error.into());
    listwatch::Error::Invalid(listwatch::Status { message, ..listwatch::Status::default() })
}
