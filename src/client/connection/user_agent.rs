//! The user agent of all requests.

use http::header::HeaderValue;

/// Returns the user agent, which administrators find in audit logs.
pub(super) fn user_agent() -> HeaderValue {
    const NAME: &str = concat!("kdelta/", env!("CARGO_PKG_VERSION"));
    let text = format!("{NAME} ({}/{})", std::env::consts::OS, std::env::consts::ARCH);
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(NAME))
}
