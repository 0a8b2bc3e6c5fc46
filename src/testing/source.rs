//! The fake source as a test uses it: its state, its faults, and the requests it received.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::channel::Channel;
use super::errors::expired;
use super::log::{ChangeKind, Entry, Log};
use crate::listwatch::{Error, ListOptions, WatchEvent, WatchOptions};
use crate::object::{Object, ResourceVersion, TypeMeta};

/// The source's response to a watch that requests the initial state.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum InitialEvents {
    /// Sends it, with the bookmark that ends it.
    #[default]
    Sent,
    /// Sends it without the bookmark, which follows only with [`FakeSource::end_initial_events`].
    WithoutEnd,
    /// Ignores the option, as an older server does: existing objects are sent only if the watch has no version.
    Ignored,
    /// Refuses the watch.
    Refused(Error),
    /// Declares beforehand that it does not support it.
    Unsupported,
}

/// A recorded request. A [`ListerWatcher`](crate::listwatch::ListerWatcher) receives no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A list, or a page of one.
    List(ListOptions),
    /// A watch.
    Watch(WatchOptions),
}

/// A collection in memory that supports lists, watches and injected faults. Clones share it.
#[derive(Clone)]
pub struct FakeSource {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    /// A std mutex, held for one request or one change, never across an `.await`.
    state: Mutex<State>,
    /// Whether requests are held. A watch channel, because each waiter needs only the latest value; it lives as long as
    /// the source.
    pub(super) held: watch::Sender<bool>,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct State {
    pub(super) log: Log,
    pub(super) requests: Vec<Request>,
    pub(super) initial_events: InitialEvents,
    /// Set when a client reported that the initial state does not arrive through a watch.
    pub(super) watch_list_disabled: bool,
    /// Open watches. Ended ones are removed at the next change.
    pub(super) watches: Vec<Channel>,
    /// The errors of the next lists: at their start, or after some items.
    pub(super) failing_lists: VecDeque<(Option<usize>, Error)>,
    /// The errors of the next watches; `None` ends one cleanly at once.
    pub(super) failing_watches: VecDeque<Option<Error>>,
    /// The remaining items of lists by their continue tokens, and the version of the list.
    pub(super) continues: HashMap<String, (Vec<Arc<Object>>, ResourceVersion)>,
    pub(super) next_token: u64,
    pub(super) pages_at_any: bool,
    pub(super) expired_in_stream: bool,
    /// Whether a watch of a future version stays silent until then instead of failing.
    pub(super) silent_ahead: bool,
    /// The type that the source claims to deliver.
    pub(super) expected_type: Option<Arc<TypeMeta>>,
}

impl Default for FakeSource {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeSource {
    /// Creates an empty collection at version 1.
    #[must_use]
    pub fn new() -> Self {
        let mut state = State { expired_in_stream: true, ..State::default() };
        state.log.skip_to(1);
        Self { shared: Arc::new(Shared { state: Mutex::new(state), held: watch::Sender::new(false) }) }
    }

    /// Adds an object (see [`pod`](super::pod)) and sets its version to the next one, and its UID if it has none.
    pub fn add(&self, object: Value) {
        self.change(ChangeKind::Added, object, true);
    }

    /// Changes an object.
    pub fn modify(&self, object: Value) {
        self.change(ChangeKind::Modified, object, true);
    }

    /// Deletes the object with this key.
    pub fn delete(&self, key: &str) {
        let object = self.lock().log.value(key);
        self.change(ChangeKind::Deleted, object, true);
    }

    /// Adds an object without an event on the open watches.
    pub fn add_silently(&self, object: Value) {
        self.change(ChangeKind::Added, object, false);
    }

    /// Modifies an object without an event on the open watches.
    pub fn modify_silently(&self, object: Value) {
        self.change(ChangeKind::Modified, object, false);
    }

    /// Deletes an object without an event on the open watches.
    pub fn delete_silently(&self, key: &str) {
        let object = self.lock().log.value(key);
        self.change(ChangeKind::Deleted, object, false);
    }

    /// Deletes an object in the version of the last change, as servers delete all objects of an expired etcd lease, without an
    /// event on the open watches.
    pub fn delete_in_last_version_silently(&self, key: &str) {
        self.lock().log.delete_in_last_version(key);
    }

    fn change(&self, change: ChangeKind, object: Value, notify: bool) {
        let mut state = self.lock();
        let entry = state.log.change(change, object);
        if notify {
            state.broadcast(|| entry.event());
        }
    }

    /// Sends a bookmark at the current version to every watch that accepts bookmarks.
    pub fn bookmark(&self) {
        self.send_bookmark(false);
    }

    /// Sends the bookmark that ends an initial state, at the current version, to every watch that accepts bookmarks.
    pub fn end_initial_events(&self) {
        self.send_bookmark(true);
    }

    fn send_bookmark(&self, initial_events_end: bool) {
        let mut state = self.lock();
        let resource_version = state.log.version();
        state.watches.retain(Channel::is_open);
        for watch in state.watches.iter().filter(|watch| watch.bookmarks) {
            watch.send(Ok(WatchEvent::Bookmark {
                resource_version: resource_version.clone(),
                initial_events_end,
            }));
        }
    }

    /// Ends every watch cleanly, as a server does at the timeout.
    pub fn drop_watches(&self) {
        self.lock().watches.drain(..).for_each(Channel::end);
    }

    /// Ends every watch with this error, either sent in the stream or caused by the connection.
    pub fn break_watches(&self, error: &Error) {
        self.lock().watches.drain(..).for_each(|watch| {
            watch.send(Err(error.clone()));
            watch.end();
        });
    }

    /// Clears the log and ends every watch cleanly: none can continue from a version before the current one.
    pub fn reset_watches(&self) {
        let mut state = self.lock();
        state.log.clear();
        state.watches.drain(..).for_each(Channel::end);
    }

    /// Returns to the state at that version, as a server restored from a backup, and ends every watch with this error.
    /// From then on a watch of a future version stays silent until the source has reached it, as on a Kubernetes
    /// server.
    pub fn restore(&self, version: u64, error: &Error) {
        {
            let mut state = self.lock();
            state.log.roll_back(version);
            state.silent_ahead = true;
        }
        self.break_watches(error);
    }

    /// Expires every continue token issued so far.
    pub fn expire_continue_tokens(&self) {
        self.lock().continues.clear();
    }

    /// Advances the version, as if something outside of the collection had changed.
    pub fn skip_to(&self, version: u64) {
        self.lock().log.skip_to(version);
    }

    /// Fails the next list or page with this error. Further calls queue errors for the lists after it.
    pub fn fail_list(&self, error: Error) {
        self.lock().failing_lists.push_back((None, error));
    }

    /// Fails the next list like [`FakeSource::fail_list`], but after this many items.
    pub fn fail_list_after(&self, items: usize, error: Error) {
        self.lock().failing_lists.push_back((Some(items), error));
    }

    /// Fails the start of the next watch with this error. Further calls queue errors for the watches after it.
    pub fn fail_watch(&self, error: Error) {
        self.lock().failing_watches.push_back(Some(error));
    }

    /// Ends the next watch cleanly at once; queued together with [`FakeSource::fail_watch`].
    pub fn end_watch_at_once(&self) {
        self.lock().failing_watches.push_back(None);
    }

    /// Sets the response to watches that request the initial state. [`InitialEvents::Unsupported`] must be set before
    /// the source is passed to a reflector.
    pub fn set_initial_events(&self, initial_events: InitialEvents) {
        self.lock().initial_events = initial_events;
    }

    /// Sets whether a list at version "0" respects its limit, as a server without a watch cache does.
    pub fn set_pages_at_any(&self, pages: bool) {
        self.lock().pages_at_any = pages;
    }

    /// Sets whether an expired version is reported in the stream, as servers do by default, or at the start of the
    /// watch.
    pub fn set_expired_in_stream(&self, in_stream: bool) {
        self.lock().expired_in_stream = in_stream;
    }

    /// Holds every further request, until this is called with `false`.
    pub fn hold(&self, hold: bool) {
        self.shared.held.send_replace(hold);
    }

    /// Sets the type that this source claims to deliver; none by default. Objects of other types are delivered all the same.
    pub fn set_expected_type(&self, api_version: &str, kind: &str) {
        let type_meta = TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() };
        self.lock().expected_type = Some(Arc::new(type_meta));
    }

    /// Returns all requests in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// Returns the requests since the last call, in order.
    #[must_use]
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.lock().requests)
    }

    /// Returns the number of open watches: started, not ended, and not dropped by the client.
    #[must_use]
    pub fn open_watches(&self) -> usize {
        self.lock().watches.iter().filter(|watch| watch.is_open()).count()
    }

    /// Returns the current objects in key order, as a list would.
    #[must_use]
    pub fn objects(&self) -> Vec<Arc<Object>> {
        self.lock().log.objects()
    }

    /// Returns the current version.
    #[must_use]
    pub fn version(&self) -> ResourceVersion {
        self.lock().log.version()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn broadcast(&mut self, event: impl Fn() -> WatchEvent) {
        self.watches.retain(Channel::is_open);
        for watch in self.watches.iter().filter(|watch| watch.after < self.log.version) {
            watch.send(Ok(event()));
        }
    }

    /// Returns the events after that version, or an error if it is expired.
    pub(super) fn replay(&self, version: u64) -> Result<Vec<WatchEvent>, Error> {
        let since = self
            .log
            .since(version)
            .map_err(|oldest| expired(&format!("too old resource version: {version} ({oldest})")))?;
        Ok(since.iter().map(Entry::event).collect())
    }
}
