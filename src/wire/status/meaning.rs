//! The meaning of a refusal, by its reason or its HTTP code.

/// The meaning of a refusal: the variants of [`Error`](crate::listwatch::Error) that a server can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Expired,
    TooLarge,
    TooMany,
    Unavailable,
    Internal,
    Unauthorized,
    Forbidden,
    NotFound,
    NotSupported,
    Invalid,
    UnsupportedFieldSelector,
}

impl Meaning {
    /// Returns the code of a Status in a watch that has none, as servers set it for this meaning.
    pub(super) fn code(self) -> u16 {
        match self {
            Self::Expired => 410,
            Self::TooLarge => 504,
            Self::TooMany => 429,
            Self::Unavailable => 503,
            Self::Internal => 500,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::NotSupported => 405,
            Self::Invalid | Self::UnsupportedFieldSelector => 400,
        }
    }

    /// Returns the meaning of a reason of the Kubernetes API (`StatusReason` of `meta/v1`).
    pub(super) fn of_reason(reason: &str) -> Option<Self> {
        Some(match reason {
            "Expired" | "Gone" => Self::Expired,
            "TooManyRequests" => Self::TooMany,
            "Timeout" | "ServerTimeout" | "ServiceUnavailable" => Self::Unavailable,
            "InternalError" | "StoreReadError" => Self::Internal,
            "Unauthorized" => Self::Unauthorized,
            "Forbidden" => Self::Forbidden,
            "NotFound" => Self::NotFound,
            "MethodNotAllowed" => Self::NotSupported,
            "BadRequest"
            | "Invalid"
            | "NotAcceptable"
            | "UnsupportedMediaType"
            | "RequestEntityTooLarge"
            | "AlreadyExists"
            | "Conflict" => Self::Invalid,
            _ => return None,
        })
    }

    /// Returns the meaning of a code alone. The errors of a gateway (502, 504) are temporary and not about the request; a
    /// redirect is not followed, and would not be the next time either.
    pub(super) fn of_code(code: u16) -> Self {
        match code {
            401 | 407 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            405 | 501 => Self::NotSupported,
            410 => Self::Expired,
            429 => Self::TooMany,
            408 | 425 | 502..=504 => Self::Unavailable,
            300..=499 => Self::Invalid,
            _ => Self::Internal,
        }
    }
}
