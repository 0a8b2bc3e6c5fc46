//! The errors of a way to list that another way may avoid.

use crate::listwatch::Error;

/// Returns whether an error means that this way does not work, and another may.
pub(super) fn is_fallback_error(error: &Error) -> bool {
    matches!(
        error,
        Error::Expired(_)
            | Error::TooLargeResourceVersion(_)
            | Error::Invalid(_)
            | Error::UnsupportedFieldSelector(_)
            | Error::NotSupported(_)
            | Error::Internal(_)
            | Error::Decode(_)
    )
}
