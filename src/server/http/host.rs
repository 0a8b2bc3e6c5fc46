//! The `Host` check: a defence against DNS rebinding.
//!
//! A web page can resolve its own name to 127.0.0.1 after it is loaded. Its scripts can then read and write everything on
//! that port, because the browser treats the address as the page's own origin. The `Host` header still contains the name of
//! the page, thus the demo serves only names that no other party can own.

use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, header};

use crate::server::api_error::ApiError;

/// The names of this machine. The port is not compared: a tunnel or a container can map it.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Checks the host in the request target, if the target is an absolute URL, and in the `Host` header. `server_name`
/// is a name of the server in addition to those of this machine.
///
/// # Errors
/// The request has no host or several `Host` headers, or a host is not a name of the server.
pub(super) fn check(head: &Parts, server_name: Option<&str>) -> Result<(), ApiError> {
    let target = head.uri.authority();
    if let Some(authority) = target {
        check_authority(authority, server_name)?;
    }
    match (header(&head.headers)?, target) {
        (Some(authority), _) => check_authority(&authority, server_name),
        (None, Some(_)) => Ok(()),
        (None, None) => Err(ApiError::bad_request("the request has no Host header")),
    }
}

fn header(headers: &HeaderMap) -> Result<Option<Authority>, ApiError> {
    let mut all = headers.get_all(header::HOST).iter();
    let Some(first) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(ApiError::bad_request("the request has several Host headers"));
    }
    let authority = Authority::try_from(first.as_bytes());
    authority.map(Some).map_err(|_| ApiError::bad_request("the Host header of the request is malformed"))
}

fn check_authority(authority: &Authority, server_name: Option<&str>) -> Result<(), ApiError> {
    let host = authority.host();
    let is_known = NAMES.into_iter().chain(server_name).any(|name| name.eq_ignore_ascii_case(host));
    if is_known && !authority.as_str().contains('@') { Ok(()) } else { Err(ApiError::foreign_host(host)) }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn code(target: &str, hosts: &[&str]) -> u16 {
        let request = hosts
            .iter()
            .fold(Request::builder().uri(target), |request, host| request.header(header::HOST, *host));
        check(&request.body(()).expect("a request").into_parts().0, None)
            .err()
            .map_or(200, |error| error.code)
    }

    #[test]
    fn only_local_names_are_served() {
        for (host, expected) in [
            ("localhost", 200),
            ("LocalHost:8001", 200),
            ("127.0.0.1:1", 200),
            ("[::1]:8001", 200),
            ("[::1]", 200),
            ("rebound.example:8001", 403),
            ("localhost.rebound.example", 403),
            ("127.0.0.1.rebound.example", 403),
            ("localhost@rebound.example", 403),
            ("rebound.example@localhost", 403),
            ("192.0.2.1:8001", 403),
            ("", 400),
            ("a b", 400),
        ] {
            assert_eq!(code("/api", &[host]), expected, "{host:?}");
        }
        assert_eq!(code("/api", &[]), 400);
        assert_eq!(code("/api", &["localhost", "rebound.example"]), 400);
    }

    #[test]
    fn host_of_an_absolute_target_is_checked() {
        assert_eq!(code("http://127.0.0.1:8001/api", &[]), 200);
        assert_eq!(code("http://rebound.example/api", &["localhost"]), 403);
        assert_eq!(code("http://localhost/api", &["rebound.example"]), 403);
    }
}
