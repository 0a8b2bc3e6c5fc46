//! The wait for a point in time that may not be set.

use tokio::time::Instant;

/// Waits until the given time, or forever.
pub(in crate::commands) async fn reached(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}
