//! The initial state in a watch (KEP-3157): one request, and the same watch continues after the state.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::coop::consume_budget;

use super::flush::{FlushOnDrop, within_of_list};
use super::live_watch::{LiveWatch, start_watch};
use super::whole_state::{WholeState, complete};
use crate::listwatch::{Error, ListerWatcher, ResourceVersionMatch, WatchEvent, WatchOptions, WatchStream};
use crate::object::{Key, Object, Origin, ResourceVersion};
use crate::reflector::expected_type::refuse_table;
use crate::reflector::recovery::action::Phase;
use crate::reflector::reflector_store::ReflectorStore;
use crate::reflector::run_context::RunContext;

/// The reason for which the initial state did not arrive in a watch.
pub(in crate::reflector) enum InitialFailure {
    /// The source did not start the watch.
    NotStarted(Error),
    /// The watch broke before the state was complete.
    Broken(Error),
    /// The source ended the watch before the state was complete. A Kubernetes server does so when the changes that happen meanwhile exceed the
    /// buffer that it keeps for the watch (100 events for most types): another watch would end in the same way, and a list
    /// does not.
    Ended(Error),
    /// The deadline passed, for the start of the watch or for the bookmark that ends the initial state.
    NoBookmark(Error),
    /// The state arrived, and the store refused it.
    NotStored(Error),
}

/// Receives the initial state in a watch, and returns the watch.
pub(in crate::reflector) async fn watch_list<L: ListerWatcher, S: ReflectorStore>(
    context: &mut RunContext<L, S>,
) -> Result<LiveWatch<L::Watch>, InitialFailure> {
    let requested_at = context.options.clock.now();
    let options = WatchOptions {
        resource_version: context.version_to_request(Phase::WatchList),
        version_match: Some(ResourceVersionMatch::NotOlderThan),
        send_initial_events: true,
        allow_bookmarks: true,
        timeout: Some(context.options.watch_timeout()),
    };
    let limit = context.options.initial_events_deadline;
    let started = start_watch(context, options, limit).await.map_err(InitialFailure::NotStarted)?;
    let mut live = started.ok_or_else(|| not_started(limit))?;
    let origin = context.state_origin();
    context.store.list_begin(origin, context.may_be_unrelated());
    let fetched = receive_initial(context, &mut live, origin).await?;
    live.from = fetched.version.clone();
    live.synthetic = false;
    live.delivered = true;
    complete(context, Phase::WatchList, fetched, requested_at).map_err(InitialFailure::NotStored)?;
    Ok(live)
}

/// Collects events up to the bookmark that ends the initial state.
async fn receive_initial<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
    live: &mut LiveWatch<L::Watch>,
    origin: Origin,
) -> Result<WholeState, InitialFailure> {
    let _flush = FlushOnDrop(&*context.store);
    let clock = &context.options.clock;
    let limit = context.options.initial_events_deadline;
    let mut collected = InitialState::default();
    let mut waited = Duration::ZERO;
    let mut only_added = true;
    loop {
        consume_budget().await;
        context.store.ready().await;
        let before = clock.now();
        let left = limit.saturating_sub(waited);
        // Bytes that were read but not delivered are assumed to be of the kind that was delivered before.
        let read = || if only_added { context.source.objects_read() } else { 0 };
        let event = match within_of_list(&**clock, &*context.store, read, left, live.stream.next()).await {
            Some(Some(Ok(event))) => event,
            Some(Some(Err(error))) => return Err(InitialFailure::Broken(error)),
            Some(None) => {
                let error = "the watch ended before its initial state did";
                return Err(InitialFailure::Ended(Error::Transport(error.into())));
            }
            None => return Err(no_bookmark(limit)),
        };
        let is_refused = refuses(context, &event).map_err(InitialFailure::Broken)?;
        only_added &= is_refused || matches!(event, WatchEvent::Added(_));
        let has_advanced = only_added && !is_refused;
        waited = if has_advanced { Duration::ZERO } else { waited + (clock.now() - before) };
        if is_refused {
            continue;
        }
        match event {
            WatchEvent::Added(object) => initial_item(context, &mut collected, object, origin, false),
            WatchEvent::Modified(object) => initial_item(context, &mut collected, object, origin, true),
            WatchEvent::Deleted(object) => initial_deleted(context, &mut collected, object, origin),
            WatchEvent::Bookmark { resource_version, initial_events_end: true } => {
                return Ok(collected.into_fetched(resource_version));
            }
            WatchEvent::Bookmark { .. } => {}
        }
    }
}

/// Returns true for an event whose object is of another type than the source's, which must change nothing.
fn refuses<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
    event: &WatchEvent,
) -> Result<bool, Error> {
    match event {
        WatchEvent::Bookmark { .. } => Ok(false),
        WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) => {
            refuse_table(object)?;
            Ok(context.expected.refuses(object, &context.options))
        }
    }
}

fn initial_item<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
    collected: &mut InitialState,
    object: Arc<Object>,
    origin: Origin,
    again: bool,
) {
    let key = again.then(|| object.key().clone());
    match (context.store.list_item(object, origin), key) {
        (Some(object), None) => collected.push(object),
        (Some(object), Some(_)) => collected.replace(object),
        (None, None) => collected.taken += 1,
        (None, Some(key)) => {
            // The store has taken the newer state, so the older one must not be passed again.
            if collected.remove(&key) || collected.taken == 0 {
                collected.taken += 1;
            }
        }
    }
}

/// Handles the deletion of an object before the state was complete. If the store took the object, it is deleted there;
/// if it returned the object, the object is dropped.
fn initial_deleted<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
    collected: &mut InitialState,
    object: Arc<Object>,
    origin: Origin,
) {
    if !collected.remove(object.key()) && collected.taken > 0 {
        collected.taken -= 1;
        let deleted = context.store.delete(object, origin);
        context.report_store_error(deleted);
    }
}

fn not_started(limit: Duration) -> InitialFailure {
    let limit = limit.as_secs();
    let text = format!("the server did not start the watch for the initial state within {limit}s");
    InitialFailure::NoBookmark(Error::Timeout(text.into()))
}

fn no_bookmark(limit: Duration) -> InitialFailure {
    let text = format!("no bookmark ended the initial state within {}s of its last object", limit.as_secs());
    InitialFailure::NoBookmark(Error::Timeout(text.into()))
}

/// The objects of the initial state that the store returned, in the order of their arrival.
#[derive(Default)]
struct InitialState {
    items: Vec<Option<Arc<Object>>>,
    /// The position of each key. Created at the first event about an object that was received before: most initial states have
    /// no such event, and then no key is hashed.
    places: Option<HashMap<Key, usize>>,
    /// The number of objects that the store took.
    taken: usize,
}

impl InitialState {
    fn push(&mut self, object: Arc<Object>) {
        match &self.places {
            Some(places) if places.contains_key(object.key()) => self.replace(object),
            Some(_) => {
                let (key, at) = (object.key().clone(), self.items.len());
                self.places().insert(key, at);
                self.items.push(Some(object));
            }
            None => self.items.push(Some(object)),
        }
    }

    fn places(&mut self) -> &mut HashMap<Key, usize> {
        let items = &mut self.items;
        self.places.get_or_insert_with(|| {
            let mut places = HashMap::with_capacity(items.len());
            for at in 0..items.len() {
                let key = items[at].as_ref().map(|object| object.key().clone());
                // Of an object that was added twice the last state counts: its deletion must not restore the first.
                if let Some(earlier) = key.and_then(|key| places.insert(key, at)) {
                    items[earlier] = None;
                }
            }
            places
        })
    }

    /// Replaces the older state of an object.
    fn replace(&mut self, object: Arc<Object>) {
        match self.places().get(object.key()).copied() {
            Some(at) => self.items[at] = Some(object),
            None => self.push(object),
        }
    }

    /// Removes an object; returns true if it was there.
    fn remove(&mut self, key: &Key) -> bool {
        let place = self.places().remove(key);
        if let Some(at) = place {
            self.items[at] = None;
        }
        place.is_some()
    }

    fn into_fetched(self, version: ResourceVersion) -> WholeState {
        let items = self.items.into_iter().flatten().collect();
        WholeState { items, taken: self.taken, version, paginated: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakeSource, pod};

    fn versions(collected: InitialState) -> Vec<String> {
        let fetched = collected.into_fetched(ResourceVersion::UNSET);
        fetched.items.iter().map(|object| object.resource_version().to_string()).collect()
    }

    /// Returns the states 2 and 3 of object a and state 4 of object b.
    fn states() -> [Arc<Object>; 3] {
        let source = FakeSource::new();
        let latest = || source.objects().pop().expect("an object");
        source.add(pod("a"));
        let first = latest();
        source.modify(pod("a"));
        let second = latest();
        source.add(pod("b"));
        [first, second, latest()]
    }

    #[test]
    fn object_added_twice_counts_once() {
        for known_before in [false, true] {
            let [first, second, other] = states();
            let mut collected = InitialState::default();
            if known_before {
                collected.places();
            }
            for object in [&first, &other, &second] {
                collected.push(Arc::clone(object));
            }
            assert!(collected.remove(first.key()));
            assert!(!collected.remove(first.key()));
            assert_eq!(versions(collected), ["4"]);
        }
    }

    #[test]
    fn newer_state_replaces_the_older() {
        let [first, second, other] = states();
        let mut collected = InitialState::default();
        collected.push(first);
        collected.push(other);
        collected.replace(second);
        assert_eq!(versions(collected), ["3", "4"]);
    }
}
