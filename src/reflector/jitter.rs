//! The source of randomness of waits.

use std::sync::Arc;

/// Returns a random number in `[0, 1)`.
pub type Jitter = Arc<dyn Fn() -> f64 + Send + Sync>;
