//! Logins that several clients of this process share: a plugin run, or a spent refresh token, for one of them serves
//! all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::refresh::{Issuer, RefreshingCredential};

/// The issuers in use, by their settings.
///
/// A std mutex: held for a lookup or an insertion. Weak, so that a login ends with its last client; bounded by the
/// number of live clients, since dropped entries are removed with each insertion.
pub(super) struct Registry<I>(Mutex<BTreeMap<String, Weak<RefreshingCredential<I>>>>);

impl<I: Issuer> Registry<I> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the issuer with the same settings, or adds this one. `sharing_key` may contain credentials and is
    /// never shown.
    pub(super) fn share(&self, sharing_key: String, issuer: I) -> Arc<RefreshingCredential<I>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = known.get(&sharing_key).and_then(Weak::upgrade) {
            return shared;
        }
        known.retain(|_, issuer| issuer.strong_count() > 0);
        let new = Arc::new(RefreshingCredential::new(issuer));
        known.insert(sharing_key, Arc::downgrade(&new));
        new
    }
}
