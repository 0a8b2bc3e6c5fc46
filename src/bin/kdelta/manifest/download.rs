//! Texts at http and https URLs, requested without credentials and with kubectl's number of attempts.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use kdelta::clock::{Clock, TokioClock};
use kdelta::object::go_quote;
use reqwest::{Client, StatusCode};
use rustls_platform_verifier::BuilderVerifierExt;

use super::limits::TEXT_LIMIT;
use super::text::{ReadError, decoded};
use crate::system_words::system_words;

/// The number of attempts, of which each follows a failure of the network or of the server.
const ATTEMPTS: usize = 3;
/// The pause before a further attempt.
const PAUSE: Duration = Duration::from_secs(1);
/// The time limits for connecting, and for the next part of a response.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
const SILENCE_LIMIT: Duration = Duration::from_mins(1);

/// Why a URL has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum DownloadError {
    /// The server was not reached. The message is kubectl's, which has no `error: ` before it.
    #[error("{0}")]
    Unreachable(String),
    #[error("unable to read URL {}, server reported {}, status code={}", go_quote(.url), .status, .status.as_u16())]
    Status { url: String, status: StatusCode },
    /// The text ended early, or is too large.
    #[error("error parsing {url}: {reason}")]
    Text { url: String, reason: String },
}

/// Downloads a text. Messages name the URL as `shown`.
pub(super) async fn text(url: &str, shown: &str) -> Result<String, DownloadError> {
    let client = client().map_err(|error| DownloadError::Unreachable(unable(&*error)))?;
    let response = repeated(async || {
        let response = client.get(url).send().await.map_err(|error| unreachable(&error))?;
        match response.status() {
            StatusCode::OK => Ok(response),
            status => Err(DownloadError::Status { url: shown.to_owned(), status }),
        }
    });
    body(shown, response.await?).await
}

/// Sends a request until it succeeds, the server refuses it, or the attempts are used up.
async fn repeated<T>(mut request: impl AsyncFnMut() -> Result<T, DownloadError>) -> Result<T, DownloadError> {
    let mut attempt = 1;
    loop {
        let failed = match request().await {
            Ok(response) => return Ok(response),
            Err(failed) => failed,
        };
        let may_pass = match &failed {
            DownloadError::Status { status, .. } => status.is_server_error(),
            _ => true,
        };
        if attempt == ATTEMPTS || !may_pass {
            return Err(failed);
        }
        attempt += 1;
        TokioClock.sleep(PAUSE).await;
    }
}

/// Creates a client that trusts the authorities of the system and uses the proxies of the environment.
fn client() -> Result<Client, Box<dyn StdError>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    let agent = concat!("kdelta/", env!("CARGO_PKG_VERSION"));
    let builder = Client::builder().tls_backend_preconfigured(tls).user_agent(agent);
    Ok(builder.connect_timeout(CONNECT_LIMIT).read_timeout(SILENCE_LIMIT).build()?)
}

async fn body(url: &str, mut response: reqwest::Response) -> Result<String, DownloadError> {
    let failed = |reason: String| DownloadError::Text { url: url.to_owned(), reason };
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(innermost(&error)))? {
        if bytes.len() + chunk.len() > TEXT_LIMIT {
            return Err(failed(ReadError::TooLarge.to_string()));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(decoded(bytes))
}

/// Returns kubectl's message for a request without a response.
fn unreachable(error: &reqwest::Error) -> DownloadError {
    let is_refused = |cause: Cause<'_>| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    };
    let url = error.url().filter(|_| causes(error).any(is_refused));
    DownloadError::Unreachable(match url {
        Some(url) => {
            let host = url.host_str().unwrap_or_default();
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!(
                "The connection to the server {host}{port} was refused - did you specify the right host or port?"
            )
        }
        None => unable(error),
    })
}

fn unable(error: Cause<'_>) -> String {
    format!("Unable to connect to the server: {}", innermost(error))
}

/// Returns the text of the innermost cause, which has no URL in it.
fn innermost(error: Cause<'_>) -> String {
    let cause = causes(error).last().unwrap_or(error);
    cause.downcast_ref().map_or_else(|| cause.to_string(), system_words)
}

/// An error with its chain of sources.
type Cause<'a> = &'a (dyn StdError + 'static);

/// Iterates over an error and its sources. An `io::Error` made from another error hides that one from `source`.
fn causes<'a>(error: Cause<'a>) -> impl Iterator<Item = Cause<'a>> {
    std::iter::successors(Some(error), |&cause: &Cause<'a>| {
        match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as Cause<'a>),
            None => cause.source(),
        }
    })
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    /// Returns the number of attempts, and their duration in seconds.
    async fn attempts(failed: &DownloadError) -> (usize, u64) {
        let (began, mut count) = (Instant::now(), 0);
        let ended = repeated(async || {
            count += 1;
            Err::<(), _>(failed.clone())
        });
        assert_eq!(ended.await.as_ref(), Err(failed));
        (count, began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn failures_that_may_pass_are_retried() {
        let status = |status| DownloadError::Status { url: "http://x/a b".into(), status };
        assert_eq!(attempts(&status(StatusCode::NOT_FOUND)).await, (1, 0));
        assert_eq!(attempts(&status(StatusCode::NO_CONTENT)).await, (1, 0));
        assert_eq!(attempts(&status(StatusCode::BAD_GATEWAY)).await, (3, 2));
        assert_eq!(attempts(&DownloadError::Unreachable("x".into())).await, (3, 2));
        assert_eq!(
            status(StatusCode::NOT_FOUND).to_string(),
            "unable to read URL \"http://x/a b\", server reported 404 Not Found, status code=404"
        );
    }
}
