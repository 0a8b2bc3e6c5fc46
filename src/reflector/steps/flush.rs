//! Flushes of a store that batches the objects of a list: at each pause of the source, and at the end of each page, even if it
//! fails.

use std::pin::pin;
use std::time::Duration;

use crate::clock::{Clock, within};
use crate::reflector::reflector_store::ReflectorStore;

/// The time without an object after which the store is flushed: too short to be noticed, and long enough that a list that
/// arrives without a pause is never flushed.
const PAUSE: Duration = Duration::from_millis(5);

/// Returns the output of `future`, the next object of a list, or `None` at the limit; flushes the store at a pause. If `read`
/// shows at the limit that more bytes were read meanwhile, the limit starts again.
pub(in crate::reflector) async fn within_of_list<T>(
    clock: &dyn Clock,
    store: &impl ReflectorStore,
    read: impl Fn() -> u64,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let pause = PAUSE.min(limit);
    if let Some(output) = within(clock, pause, future.as_mut()).await {
        return Some(output);
    }
    store.flush();
    let (mut left, mut before) = (limit.saturating_sub(pause), read());
    loop {
        if let Some(output) = within(clock, left, future.as_mut()).await {
            return Some(output);
        }
        match read() {
            same if same == before => return None,
            more => (left, before) = (limit, more),
        }
    }
}

/// Flushes the store when it is dropped: the objects so far are valid even if the list waits for another page, fails or is
/// cancelled.
pub(in crate::reflector) struct FlushOnDrop<'s, S: ReflectorStore>(pub(super) &'s S);

impl<S: ReflectorStore> Drop for FlushOnDrop<'_, S> {
    fn drop(&mut self) {
        self.0.flush();
    }
}
