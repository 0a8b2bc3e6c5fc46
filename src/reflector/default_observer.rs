//! The observer of a reflector whose caller sets none.

use super::event::ReflectorEvent;
use crate::listwatch::Error;

/// Logs failed lists and watches, refused objects and objects of another type as warnings of `tracing`, so that a reflector
/// that may not list is noticed (client-go: `DefaultWatchErrorHandler`). An expired version, after which the source is
/// listed again, is logged at the level of debugging only.
///
/// It is the observer of [`ReflectorOptions::default`](super::ReflectorOptions). An observer of one's own can call it, too.
pub fn log_failures(event: &ReflectorEvent) {
    match event {
        ReflectorEvent::Lost { phase, error: error @ Error::Expired(_) } => {
            tracing::debug!(?phase, %error, "the version expired; the reflector lists again");
        }
        ReflectorEvent::Lost { phase, error } => {
            tracing::warn!(?phase, %error, "the reflector failed, and tries again");
        }
        ReflectorEvent::StoreRefused { error } => {
            tracing::warn!(%error, "the store refused an object");
        }
        ReflectorEvent::UnexpectedType { expected, found, key } => {
            tracing::warn!(%key, found = %found.kind, expected = %expected.kind, "an object of another type is ignored");
        }
        _ => {}
    }
}
