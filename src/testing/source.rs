//! The fake source as its test sees it: what to change, what to break, what was asked.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::log::{Change, Entry, Log};
use super::serve::{Channel, expired};
use crate::listwatch::{Error, ListOptions, WatchEvent, WatchOptions};
use crate::object::{Object, ResourceVersion, TypeMeta};

/// What a source does when a watch is asked to send the initial state.
#[derive(Debug, Clone, Default)]
pub enum InitialEvents {
    /// Sends it, with the bookmark that ends it.
    #[default]
    Sent,
    /// Sends it without the bookmark, which comes only with [`FakeSource::end_initial_events`].
    WithoutEnd,
    /// Ignores the wish, as a server that does not know it: what is there comes only where no version was asked for.
    Ignored,
    /// Refuses the watch.
    Refused(Error),
    /// Has said beforehand that it can't.
    Unsupported,
}

/// One request, as it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A list, or a page of one.
    List(ListOptions),
    /// A watch.
    Watch(WatchOptions),
}

/// A collection in memory that can be listed, watched and broken. Clones share it.
#[derive(Clone)]
pub struct FakeSource {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    /// A std mutex: it is held for one request or one change, never across an `.await`.
    state: Mutex<State>,
    /// Whether requests are kept waiting. A watch channel, because each waiter needs the latest word only; it lives
    /// as long as the source.
    pub(super) held: watch::Sender<bool>,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct State {
    pub(super) log: Log,
    pub(super) requests: Vec<Request>,
    pub(super) initial_events: InitialEvents,
    /// Somebody found out that the initial state does not come through a watch.
    pub(super) gave_up_watch_list: bool,
    /// Watches that stand, and those that ended until the next change.
    pub(super) watches: Vec<Channel>,
    /// What the next lists fail with: at their start, or after so many items.
    pub(super) failing_lists: VecDeque<(Option<usize>, Error)>,
    /// What the next watches fail with; `None` ends one cleanly at once.
    pub(super) failing_watches: VecDeque<Option<Error>>,
    /// The remaining items of lists by their continue tokens, and the version of the list.
    pub(super) continues: HashMap<String, (Vec<Arc<Object>>, ResourceVersion)>,
    pub(super) next_token: u64,
    pub(super) pages_at_any: bool,
    pub(super) expired_in_stream: bool,
    /// A watch of a version to come is silent until then, and not refused.
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
    /// An empty collection at version 1.
    #[must_use]
    pub fn new() -> Self {
        let mut state = State { expired_in_stream: true, ..State::default() };
        state.log.skip_to(1);
        Self { shared: Arc::new(Shared { state: Mutex::new(state), held: watch::Sender::new(false) }) }
    }

    /// Adds an object ([`pod`](super::pod) makes one) at the next version, which is set in it, as a uid is where it
    /// has none.
    pub fn add(&self, object: Value) {
        self.change(Change::Added, object, true);
    }

    /// Changes an object.
    pub fn modify(&self, object: Value) {
        self.change(Change::Modified, object, true);
    }

    /// Deletes the object of that key.
    pub fn delete(&self, key: &str) {
        let object = self.lock().log.value(key);
        self.change(Change::Deleted, object, true);
    }

    /// As [`FakeSource::add`], but the watches that stand do not hear of it.
    pub fn add_silently(&self, object: Value) {
        self.change(Change::Added, object, false);
    }

    /// As [`FakeSource::modify`], but the watches that stand do not hear of it.
    pub fn modify_silently(&self, object: Value) {
        self.change(Change::Modified, object, false);
    }

    /// As [`FakeSource::delete`], but the watches that stand do not hear of it.
    pub fn delete_silently(&self, key: &str) {
        let object = self.lock().log.value(key);
        self.change(Change::Deleted, object, false);
    }

    fn change(&self, change: Change, object: Value, aloud: bool) {
        let mut state = self.lock();
        let entry = state.log.change(change, object);
        if aloud {
            state.broadcast(|| entry.event());
        }
    }

    /// Sends a bookmark at the present version to every watch that takes them.
    pub fn bookmark(&self) {
        self.send_bookmark(false);
    }

    /// Sends the bookmark that ends an initial state, at the present version, to every watch that takes them.
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

    /// Ends every watch with this error: what the server sent in the stream, or what became of the connection.
    pub fn break_watches(&self, error: &Error) {
        self.lock().watches.drain(..).for_each(|watch| {
            watch.send(Err(error.clone()));
            watch.end();
        });
    }

    /// Forgets all that happened and ends every watch cleanly: none can go on from an older version than the present.
    pub fn reset_watches(&self) {
        let mut state = self.lock();
        state.log.forget();
        state.watches.drain(..).for_each(Channel::end);
    }

    /// Becomes what it was at that version, as a server that was restored from a backup, and breaks every watch with this
    /// error. From then on a watch of a version that has not come is silent until it has, as a Kubernetes server's is.
    pub fn restore(&self, version: u64, error: &Error) {
        {
            let mut state = self.lock();
            state.log.go_back(version);
            state.silent_ahead = true;
        }
        self.break_watches(error);
    }

    /// Makes every continue token given out so far too old.
    pub fn expire_continue_tokens(&self) {
        self.lock().continues.clear();
    }

    /// Moves the version on to this one, as if something else had changed.
    pub fn skip_to(&self, version: u64) {
        self.lock().log.skip_to(version);
    }

    /// Has the next list, or page of one, fail with this error; called again, the one after that.
    pub fn fail_list(&self, error: Error) {
        self.lock().failing_lists.push_back((None, error));
    }

    /// As [`FakeSource::fail_list`], but only after so many items were sent.
    pub fn fail_list_after(&self, items: usize, error: Error) {
        self.lock().failing_lists.push_back((Some(items), error));
    }

    /// Has the next watch fail at its start with this error; called again, the one after that.
    pub fn fail_watch(&self, error: Error) {
        self.lock().failing_watches.push_back(Some(error));
    }

    /// Has the next watch end cleanly at once, in line with [`FakeSource::fail_watch`].
    pub fn end_watch_at_once(&self) {
        self.lock().failing_watches.push_back(None);
    }

    /// What to do when a watch is asked to send the initial state. [`InitialEvents::Unsupported`] must be set before
    /// the source is handed to a reflector.
    pub fn set_initial_events(&self, initial_events: InitialEvents) {
        self.lock().initial_events = initial_events;
    }

    /// Whether a list at version "0" heeds its limit, as a server does that has no memory to answer from.
    pub fn set_pages_at_any(&self, pages: bool) {
        self.lock().pages_at_any = pages;
    }

    /// Whether a version that is too old is said in the stream, as servers do by default, or at its start.
    pub fn set_expired_in_stream(&self, in_stream: bool) {
        self.lock().expired_in_stream = in_stream;
    }

    /// Keeps every further request waiting, until this is called with `false`.
    pub fn hold(&self, hold: bool) {
        self.shared.held.send_replace(hold);
    }

    /// Sets the type that this source claims to deliver; none by default. Objects of other types are delivered all the same.
    pub fn set_expected_type(&self, api_version: &str, kind: &str) {
        let type_meta = TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() };
        self.lock().expected_type = Some(Arc::new(type_meta));
    }

    /// What was asked, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// What was asked since this was last called, in order.
    #[must_use]
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.lock().requests)
    }

    /// How many watches stand: started, not ended, and not dropped by who started them.
    #[must_use]
    pub fn open_watches(&self) -> usize {
        self.lock().watches.iter().filter(|watch| watch.is_open()).count()
    }

    /// What is there, in the order of keys: what a list would answer.
    #[must_use]
    pub fn objects(&self) -> Vec<Arc<Object>> {
        self.lock().log.objects()
    }

    /// The present version.
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

    /// The events after that version, or that it is too old.
    pub(super) fn replay(&self, version: u64) -> Result<Vec<WatchEvent>, Error> {
        let since = self
            .log
            .since(version)
            .map_err(|oldest| expired(&format!("too old resource version: {version} ({oldest})")))?;
        Ok(since.iter().map(Entry::event).collect())
    }
}
