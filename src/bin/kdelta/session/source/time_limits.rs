//! The time limits of single requests.

use std::time::{Duration, Instant};

use kdelta::api::ResourceClient;
use kdelta::clock::{Clock, TokioClock};
use kdelta::listwatch::WatchOptions;
use kdelta::reflector::ReflectorOptions;

/// The time limit for reading one object. A list may pause for as long; Kubernetes servers end requests after 60 s.
const OBJECT_LIMIT: Duration = Duration::from_secs(90);

/// Returns the client with requests that end by the deadline, and whose caller accepts a silence of this length.
pub(super) fn limited(
    client: &ResourceClient,
    due: Option<Instant>,
    silence: Option<Duration>,
) -> ResourceClient {
    client.clone().request_timeout(time_until(due)).silence_limit(silence)
}

/// Returns the time until the deadline.
pub(super) fn time_until(due: Option<Instant>) -> Option<Duration> {
    due.map(|due| due.saturating_duration_since(TokioClock.now()))
}

/// Returns the time that the reflector, whose limits are the defaults, gives the response to begin.
pub(super) fn watch_limit(options: &WatchOptions) -> Option<Duration> {
    let limits = ReflectorOptions::default();
    if options.send_initial_events {
        return Some(limits.initial_events_deadline);
    }
    options.timeout.map(|timeout| timeout.saturating_add(limits.idle_margin))
}

/// Returns the deadline for one object if the user set no request timeout.
pub(super) fn get_deadline() -> Option<Instant> {
    TokioClock.now().checked_add(OBJECT_LIMIT)
}
