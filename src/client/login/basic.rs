//! Basic authentication (RFC 7617).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;

use crate::kubeconfig::Error;

/// Returns the header, marked as sensitive so that no log shows it.
///
/// # Errors
/// [`Error::Invalid`] for a name with a colon, where it would be split.
pub(super) fn header(name: &str, password: &str) -> Result<HeaderValue, Error> {
    let unusable = || Error::Invalid("a user name for basic authentication can't hold a colon".to_owned());
    if name.contains(':') {
        return Err(unusable());
    }
    let text = format!("Basic {}", STANDARD.encode(format!("{name}:{password}")));
    let mut header = HeaderValue::try_from(text).map_err(|_| unusable())?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_password_are_joined_and_encoded() {
        let header = header("Aladdin", "open: sesame ü").unwrap();
        assert_eq!(header, "Basic QWxhZGRpbjpvcGVuOiBzZXNhbWUgw7w=");
        assert!(header.is_sensitive());
    }

    #[test]
    fn user_name_with_colon_is_refused_without_its_password() {
        let error = super::header("a:b", "s3cret").unwrap_err().to_string();
        assert!(error.contains("colon") && !error.contains("s3cret"), "{error}");
    }
}
