//! When a store that gathers the objects of a list is told to do something with them: at each pause, and at the end of
//! each page, however it ends.

use std::pin::pin;
use std::time::Duration;

use super::sink::ReflectorStore;
use crate::clock::{Clock, within};

/// How long a list may let us wait until the store is to do something with what came before: no longer than is noticed,
/// and long enough that a list in full flow never does.
const PAUSE: Duration = Duration::from_millis(5);

/// As [`within`], for the next object of a list on its way into this store. The limit begins anew where, at its end, more
/// has been read than before.
pub(super) async fn within_of_list<T>(
    clock: &dyn Clock,
    store: &impl ReflectorStore,
    read: impl Fn() -> u64,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let pause = PAUSE.min(limit);
    if let Some(answer) = within(clock, pause, future.as_mut()).await {
        return Some(answer);
    }
    store.flush();
    let (mut left, mut before) = (limit.saturating_sub(pause), read());
    loop {
        if let Some(answer) = within(clock, left, future.as_mut()).await {
            return Some(answer);
        }
        match read() {
            same if same == before => return None,
            more => (left, before) = (limit, more),
        }
    }
}

/// Tells the store when it is dropped: a list that pauses for another page, breaks off or is given up was true so far, and
/// the rest may be far.
pub(super) struct Flush<'s, S: ReflectorStore>(pub(super) &'s S);

impl<S: ReflectorStore> Drop for Flush<'_, S> {
    fn drop(&mut self) {
        self.0.flush();
    }
}
