//! The errors before the first sync that end a command, in place of another attempt.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kdelta::listwatch::Error;
use kdelta::reflector::GiveUp;

use super::PartSource;

impl PartSource {
    /// Returns whether an error before the first sync is final. Errors that the user must fix are final, and so are
    /// connection errors of a server that has never responded. Connections refused by a server that has are
    /// retried only with `retries_refused`: a watch survives a server restart, a one-shot command does not wait that
    /// long.
    pub(crate) fn gives_up(&self, retries_refused: bool) -> GiveUp {
        let has_responded = Arc::clone(&self.shared.has_responded);
        if self.is_one_shot {
            let attempts = self.attempts();
            return Arc::new(move |error| attempts.end(error));
        }
        Arc::new(move |error| match error {
            Error::Refused(_) => !(retries_refused && has_responded.load(Ordering::Relaxed)),
            Error::Tls(_)
            | Error::TlsAlert(_)
            | Error::Unauthorized(_)
            | Error::Forbidden(_)
            | Error::NotFound(_)
            | Error::NotSupported(_)
            | Error::Invalid(_)
            | Error::UnsupportedFieldSelector(_) => true,
            Error::Transport(_) | Error::Timeout(_) => !has_responded.load(Ordering::Relaxed),
            _ => false,
        })
    }
}
