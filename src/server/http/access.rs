//! The access checks of a server: the host must be one of its names, and the token must match if it has one.

use http::header::{self, HeaderValue};
use http::request::Parts;

use super::host;
use crate::server::api_error::ApiError;

/// The conditions that every request must meet.
#[derive(Default)]
pub(crate) struct Access {
    /// A name of the server in addition to those of this machine.
    host: Option<Box<str>>,
    /// The bearer token.
    token: Option<Box<str>>,
}

impl Access {
    /// Requires a token, and accepts `host` as a name of the server.
    #[cfg(any(test, feature = "serve"))]
    pub(crate) fn with_token(token: &str, host: &str) -> Self {
        Self { host: Some(host.into()), token: Some(token.into()) }
    }

    /// Returns whether requests need a token.
    pub(super) fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks the head of a request.
    ///
    /// # Errors
    /// The host is another one, or the token is missing or wrong.
    pub(super) fn check(&self, head: &Parts) -> Result<(), ApiError> {
        host::check(head, self.host.as_deref())?;
        let Some(token) = &self.token else { return Ok(()) };
        let sent = head.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let sent = sent.and_then(|value| {
            let (scheme, token) = value.split_at_checked(b"Bearer ".len())?;
            scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
        });
        if sent.is_some_and(|sent| is_equal(sent, token.as_bytes())) {
            Ok(())
        } else {
            Err(ApiError::unauthorized())
        }
    }
}

/// Compares in a time that does not depend on the position of the first difference.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |found, (one, other)| found | one ^ other) == 0
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn code(access: &Access, host: &str, authorization: Option<&str>) -> u16 {
        let mut request = Request::builder().uri("/api").header(header::HOST, host);
        if let Some(value) = authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        access.check(&head).err().map_or(200, |error| error.code)
    }

    #[test]
    fn requests_need_the_token() {
        let access = Access::with_token("secret", "192.0.2.7");
        for (host, authorization, expected) in [
            ("127.0.0.1:80", Some("Bearer secret"), 200),
            ("192.0.2.7:80", Some("bearer secret"), 200),
            ("192.0.2.8:80", Some("Bearer secret"), 403),
            ("localhost", None, 401),
            ("localhost", Some("Bearer secrex"), 401),
            ("localhost", Some("Bearer secretx"), 401),
            ("localhost", Some("Bearer "), 401),
            ("localhost", Some("Basic secret"), 401),
            ("localhost", Some("secret"), 401),
            ("localhost", Some(""), 401),
        ] {
            assert_eq!(code(&access, host, authorization), expected, "{host} {authorization:?}");
        }
        assert_eq!(code(&Access::default(), "localhost", None), 200);
        assert_eq!(code(&Access::default(), "192.0.2.7", None), 403);
    }
}
