//! What can go wrong with a list or a watch, by what the caller can do about it.

use std::fmt;
use std::time::Duration;

use crate::object::ResourceVersion;

/// Longer than this nobody waits because a server asked for it: a wrong header would be as bad as giving up.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(5);

/// Why a list or a watch failed. The variant says what can be done; the text inside is for people.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The version or continue token asked for is too old to be served: list anew.
    #[error("{0}")]
    Expired(Status),
    /// The version asked for is not known yet: ask again, or without a version.
    #[error("{0}")]
    TooLargeResourceVersion(Status),
    /// Asked too often, or of a server that is overloaded: the same again, later.
    #[error("{status}")]
    TooManyRequests {
        /// What the server said.
        status: Status,
        /// How long it asked us to wait.
        retry_after: Option<Duration>,
    },
    /// The server, or something in front of it, is not able to answer for now: the same again, later.
    #[error("{status}")]
    Unavailable {
        /// What the server said.
        status: Status,
        /// How long it asked us to wait.
        retry_after: Option<Duration>,
    },
    /// The server failed inside: the same again may work.
    #[error("{0}")]
    Internal(Status),
    /// The credentials are missing, wrong or expired.
    #[error("{0}")]
    Unauthorized(Status),
    /// Known, and not allowed.
    #[error("{0}")]
    Forbidden(Status),
    /// No such resource or object.
    #[error("{0}")]
    NotFound(Status),
    /// The server does not do this with this resource, as watching one that can only be listed.
    #[error("{0}")]
    NotSupported(Status),
    /// The request is wrong and stays so: a selector, an option, a representation.
    #[error("{0}")]
    Invalid(Status),
    /// Nobody listens at the address: the same again, later.
    #[error("{0}")]
    Refused(String),
    /// The other side could not prove who it is, or did not accept our proof.
    #[error("{0}")]
    Tls(String),
    /// The connection broke, or could not be made for another reason.
    #[error("{0}")]
    Transport(String),
    /// Nothing arrived for as long as we are ready to wait.
    #[error("{0}")]
    Timeout(String),
    /// What arrived can't be read: the rest of the stream is worthless.
    #[error("{0}")]
    Decode(String),
    /// The state came in whole, and the store did not take it: the same again, later.
    #[error("{0}")]
    NotStored(String),
}

impl Error {
    /// The server's own words, where a server spoke.
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
            | Self::Invalid(status) => Some(status),
            Self::Refused(_)
            | Self::Tls(_)
            | Self::Transport(_)
            | Self::Timeout(_)
            | Self::Decode(_)
            | Self::NotStored(_) => None,
        }
    }

    /// That of a version which the source has not come to, as a server words it.
    pub(crate) fn too_large(version: &ResourceVersion, latest: &ResourceVersion) -> Self {
        let message = format!("Too large resource version: {version}, current: {latest}");
        Self::TooLargeResourceVersion(Status { reason: "Timeout".into(), message, json: String::new() })
    }

    /// How long to wait before the next try, as the server asked: five minutes at most, whatever it says.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let asked = match self {
            Self::TooManyRequests { retry_after, .. } | Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        };
        asked.map(|asked| asked.min(LONGEST_RETRY_AFTER))
    }
}

/// What a server says when it refuses (`meta/v1` Status), or what stands in for it when a proxy answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// One word for programs: `Forbidden`, `Expired`, …; empty when none was given.
    pub reason: String,
    /// One sentence for people.
    pub message: String,
    /// The whole Status as compact JSON, for those who pass it on.
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
    fn what_a_server_asks_for_is_waited_for_within_reason() {
        let errors: [fn(_) -> Error; 2] = [
            |retry_after| Error::TooManyRequests { status: Status::default(), retry_after },
            |retry_after| Error::Unavailable { status: Status::default(), retry_after },
        ];
        for error in errors {
            for (asked, waited) in [(7, 7), (300, 300), (301, 300), (u64::MAX, 300)] {
                let asked = error(Some(Duration::from_secs(asked)));
                assert_eq!(asked.retry_after(), Some(Duration::from_secs(waited)));
            }
            assert_eq!(error(None).retry_after(), None);
        }
    }
}
