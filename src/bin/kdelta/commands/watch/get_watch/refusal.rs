//! The server's refusal of a watch, where a list was tried next and refused too.

use std::sync::{Arc, Mutex, PoisonError};

use kdelta::listwatch::Error;
use kdelta::reflector::{Observer, ReflectorEvent};

/// Keeps the refusal of the watch that was to deliver the initial state. kubectl reports it where it does not list.
#[derive(Clone, Default)]
pub(in crate::commands::watch) struct WatchRefusal {
    /// A std mutex: held for a read or an update.
    error: Arc<Mutex<Option<Error>>>,
}

impl WatchRefusal {
    /// Makes an observer keep the refusal.
    pub(in crate::commands::watch) fn observe(&self, observer: Observer) -> Observer {
        let kept = Arc::clone(&self.error);
        Arc::new(move |event| {
            if let ReflectorEvent::WatchListFellBack { error: error @ Error::Forbidden(_), .. } = event {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
            }
            observer(event);
        })
    }

    /// Takes the refusal.
    pub(in crate::commands::watch) fn take(&self) -> Option<Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
