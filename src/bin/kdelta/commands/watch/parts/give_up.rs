//! The errors after which a part is not requested again.

use std::sync::Arc;

use kdelta::listwatch::Error;
use kdelta::reflector::GiveUp;

/// Gives up only on permanent errors. The server responded before, since other parts are watched: any other error
/// affects all of them, and they wait for it to pass.
pub(super) fn permanent_only(give_up: GiveUp) -> GiveUp {
    Arc::new(move |error| {
        let stays = matches!(
            error,
            Error::Forbidden(_)
                | Error::NotFound(_)
                | Error::NotSupported(_)
                | Error::Invalid(_)
                | Error::UnsupportedFieldSelector(_)
        );
        stays && give_up(error)
    })
}

/// Gives up if the user lacks a permission.
pub(super) fn if_forbidden() -> GiveUp {
    Arc::new(|error| matches!(error, Error::Forbidden(_)))
}

/// Gives up as before, except after a missing type or object.
pub(super) fn except_not_found(give_up: GiveUp) -> GiveUp {
    Arc::new(move |error| !matches!(error, Error::NotFound(_)) && give_up(error))
}
