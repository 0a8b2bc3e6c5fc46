//! Requests of single objects by name.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kdelta::listwatch::Error;
use kdelta::object::Object;

use super::PartSource;
use super::time_limits::{get_deadline, limited};

impl PartSource {
    /// Requests one object by name, or its subresource, ignoring the filter, in a single attempt.
    ///
    /// # Errors
    /// The request fails.
    pub(crate) async fn get_named(&self, name: &str) -> Result<Arc<Object>, Error> {
        let client = limited(&self.client, self.attempts.due()?.or_else(get_deadline), None);
        let got = client.get_named(name).await;
        if self.client.has_response() {
            self.shared.has_responded.store(true, Ordering::Relaxed);
        }
        got.map_err(|error| self.attempts.failed(error))
    }
}
