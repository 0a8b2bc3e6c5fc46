//! Log-ins that several clients of this process have in common: what is run, or spent, for one of them serves all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::refresh::{Issuer, Renewing};

/// The issuers in use, by what they are made of.
///
/// A std mutex: held to look and to put one in. Weak, so that a log-in ends with its last client; bounded by the clients
/// that live, since those of the others are swept out with each new one.
pub(super) struct Registry<I>(Mutex<BTreeMap<String, Weak<Renewing<I>>>>);

impl<I: Issuer> Registry<I> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The one made of the same, or this one from now on. `made_of` may hold credentials: it is shown nowhere.
    pub(super) fn share(&self, made_of: String, issuer: I) -> Arc<Renewing<I>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = known.get(&made_of).and_then(Weak::upgrade) {
            return shared;
        }
        known.retain(|_, issuer| issuer.strong_count() > 0);
        let new = Arc::new(Renewing::new(issuer));
        known.insert(made_of, Arc::downgrade(&new));
        new
    }
}
