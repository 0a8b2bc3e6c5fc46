//! The `Authorization` header of a bearer token.

use http::header::HeaderValue;

use crate::kubeconfig::Error;

/// Returns a token as a header, marked as sensitive so that no log shows it.
pub(super) fn header(token: &str) -> Result<HeaderValue, Error> {
    let mut header = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| Error::Credentials("the token holds characters that a header can't carry".to_owned()))?;
    header.set_sensitive(true);
    Ok(header)
}
