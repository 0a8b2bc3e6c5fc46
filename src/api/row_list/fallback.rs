//! The errors after which a list is requested in another form.

use crate::listwatch::Error;

/// Returns whether a request in another representation, or at another version, may succeed after this error. Other errors,
/// such as missing permissions or a lost connection, concern every form of the list.
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
