//! Deadlines for a source that do not count the time the source spends waiting for something else.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use crate::clock::{Clock, within};
use crate::listwatch::{Error, ListerWatcher};

/// Returns the output of `future`, or `None` once `limit` has passed, not counting the time for which the source was held
/// up by something other than its server, such as an interactive login.
pub(in crate::reflector) async fn within_of_source<T>(
    clock: &dyn Clock,
    source: &impl ListerWatcher,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let (began, before) = (clock.now(), source.external_wait());
    let mut left = limit;
    loop {
        if let Some(output) = within(clock, left, future.as_mut()).await {
            return Some(output);
        }
        let external_wait = source.external_wait().saturating_sub(before);
        left = (limit + external_wait).saturating_sub(clock.now().saturating_duration_since(began));
        if left.is_zero() {
            return None;
        }
    }
}

/// Returns the error of a source whose response to `request` was silent for `limit`.
pub(in crate::reflector) fn silent(request: &str, limit: Duration) -> Error {
    Error::Timeout(format!("{request} was silent for {}s", limit.as_secs()).into())
}
