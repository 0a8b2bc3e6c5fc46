//! The expiry of an `OpenID` Connect token. Its signature is the server's to verify.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::Deserialize;

#[derive(Deserialize)]
struct Claims {
    exp: f64,
}

/// Returns the time of the claim `exp`.
///
/// # Errors
/// Why it is not such a token, without any of its content.
pub(super) fn expiry(token: &str) -> Result<Timestamp, String> {
    let not_one = || "ID Token is not a valid JWT".to_owned();
    let parts: Vec<&str> = token.split('.').collect();
    let [_, claims, _] = parts[..] else { return Err(not_one()) };
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).map_err(|_| not_one())?;
    let claims: Claims = serde_json::from_slice(&claims).map_err(|_| not_one())?;
    // The conversion saturates, and times out of range are refused.
    #[expect(clippy::cast_possible_truncation, reason = "whole seconds are meant")]
    Timestamp::from_second(claims.exp as i64).map_err(|_| not_one())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_claims(claims: &str) -> String {
        format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn expiry_may_have_any_number_format() {
        let expected: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        for claims in [r#"{"exp":1795262400}"#, r#"{"exp":1.7952624e9,"sub":"x"}"#] {
            assert_eq!(expiry(&with_claims(claims)), Ok(expected), "{claims}");
        }
    }

    #[test]
    fn invalid_token_is_refused_without_showing_it() {
        for claims in ["", "{}", r#"{"exp":"s3cret"}"#, r#"{"exp":1e300}"#, "s3cret"] {
            assert_eq!(expiry(&with_claims(claims)).unwrap_err(), "ID Token is not a valid JWT", "{claims}");
        }
        for token in ["", "s3cret", "a.b", "a.b.c.d", "a.!.c"] {
            assert_eq!(expiry(token).unwrap_err(), "ID Token is not a valid JWT", "{token}");
        }
    }
}
