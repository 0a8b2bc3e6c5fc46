//! Errors of lists and watches, by what the caller can do about them.

use std::fmt;
use std::time::Duration;

use crate::object::ResourceVersion;

/// The upper bound of a delay that a server requests: a wrong header must not stop the client for good.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(5);

/// The error of a list or a watch. The variant determines the reaction; the text is for people.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The requested version or continue token is no longer available: list again.
    #[error("{0}")]
    Expired(Status),
    /// The requested version does not exist yet: retry, or request without a version.
    #[error("{0}")]
    TooLargeResourceVersion(Status),
    /// Too many requests, or an overloaded server: retry later.
    #[error("{status}")]
    TooManyRequests {
        /// The server's status.
        status: Status,
        /// The requested delay.
        retry_after: Option<Duration>,
    },
    /// The server, or a proxy in front of it, is temporarily unavailable: retry later.
    #[error("{status}")]
    Unavailable {
        /// The server's status.
        status: Status,
        /// The requested delay.
        retry_after: Option<Duration>,
    },
    /// An internal error of the server: a retry may succeed.
    #[error("{0}")]
    Internal(Status),
    /// The credentials are missing, wrong or expired.
    #[error("{0}")]
    Unauthorized(Status),
    /// The user is authenticated but not allowed to do this.
    #[error("{0}")]
    Forbidden(Status),
    /// The resource or object does not exist.
    #[error("{0}")]
    NotFound(Status),
    /// The server does not support this operation on this resource, such as watching one that can only be listed.
    #[error("{0}")]
    NotSupported(Status),
    /// The request is invalid and will remain so: a selector, an option, a representation.
    #[error("{0}")]
    Invalid(Status),
    /// The server does not support the field selector for this resource: request without it, and select afterwards.
    #[error("{0}")]
    UnsupportedFieldSelector(Status),
    /// The connection was refused: retry later.
    #[error("{0}")]
    Refused(String),
    /// The client ended TLS: it does not trust the server's certificate, or the server does not speak TLS.
    #[error("{0}")]
    Tls(String),
    /// The server ended TLS: it did not accept the client's certificate, or requires one.
    #[error("{0}")]
    TlsAlert(String),
    /// The connection broke, or failed for another reason.
    #[error("{0}")]
    Transport(NetworkFailure),
    /// No data arrived within the time limit.
    #[error("{0}")]
    Timeout(NetworkFailure),
    /// Invalid data arrived: the rest of the stream is unusable.
    #[error("{0}")]
    Decode(String),
    /// The state arrived completely, but the store rejected it: retry later.
    #[error("{0}")]
    NotStored(String),
}

impl Error {
    /// Returns the server's status, if a server responded.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Expired(status)
            | Self::TooLargeResourceVersion(status)
            | Self::TooManyRequests { status, .. }
            | Self::Unavailable { status, .. }
            | Self::Internal(status)
            | Self::Unauthorized(status)
            | Self::Forbidden(status)
            | Self::NotFound(status)
            | Self::NotSupported(status)
            | Self::Invalid(status)
            | Self::UnsupportedFieldSelector(status) => Some(status),
            Self::Refused(_)
            | Self::Tls(_)
            | Self::TlsAlert(_)
            | Self::Transport(_)
            | Self::Timeout(_)
            | Self::Decode(_)
            | Self::NotStored(_) => None,
        }
    }

    /// Returns whether the request failed before the server responded: it was not reached, or stayed silent. The message
    /// is kubectl's then.
    #[must_use]
    pub fn is_before_response(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Tls(_) | Self::TlsAlert(_) => true,
            Self::Transport(failure) | Self::Timeout(failure) => failure.is_before_response,
            _ => false,
        }
    }

    /// Creates the error for a version that the source has not reached, in a server's words.
    pub(crate) fn too_large(version: &ResourceVersion, latest: &ResourceVersion) -> Self {
        let message = format!("Too large resource version: {version}, current: {latest}");
        let reason = "Timeout".to_owned();
        Self::TooLargeResourceVersion(Status { code: Some(504), reason, message, ..Status::default() })
    }

    /// Returns the delay that the server requested, limited to five minutes.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let requested = match self {
            Self::TooManyRequests { retry_after, .. } | Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        };
        requested.map(|requested| requested.min(MAX_RETRY_AFTER))
    }
}

/// A failure of the network or of a time limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkFailure {
    /// The message for users: one sentence.
    pub message: String,
    /// Whether the server had not responded when the request failed.
    pub is_before_response: bool,
}

impl NetworkFailure {
    /// Creates the failure of a request to which the server did not respond.
    #[must_use]
    pub fn before_response(message: String) -> Self {
        Self { message, is_before_response: true }
    }
}

/// The failure of a response that had begun, or of a source without requests.
impl From<String> for NetworkFailure {
    fn from(message: String) -> Self {
        Self { message, is_before_response: false }
    }
}

/// As from a [`String`].
impl From<&str> for NetworkFailure {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl fmt::Display for NetworkFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A server's error response (`meta/v1` Status), or its substitute when a proxy responded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The HTTP status code; `None` if no server sent it, because the client rejected the request itself or has no
    /// credentials for it.
    pub code: Option<u16>,
    /// The machine-readable reason: `Forbidden`, `Expired`, …; empty if absent.
    pub reason: String,
    /// The human-readable message.
    pub message: String,
    /// The name of the object that the request is about (`details.name`), if there is one. A server that does not serve
    /// a type names no object.
    pub name: Option<Box<str>>,
    /// The whole Status as compact JSON, for callers that forward it.
    pub json: String,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_delays_are_bounded() {
        let errors: [fn(_) -> Error; 2] = [
            |retry_after| Error::TooManyRequests { status: Status::default(), retry_after },
            |retry_after| Error::Unavailable { status: Status::default(), retry_after },
        ];
        for error in errors {
            for (requested, bounded) in [(7, 7), (300, 300), (301, 300), (u64::MAX, 300)] {
                let requested = error(Some(Duration::from_secs(requested)));
                assert_eq!(requested.retry_after(), Some(Duration::from_secs(bounded)));
            }
            assert_eq!(error(None).retry_after(), None);
        }
    }
}
