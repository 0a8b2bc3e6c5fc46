//! Watches: the initial state if the client requests it, then the changes in the order of the log.

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http_body_util::StreamBody;
use hyper::body::Frame;
use tokio::sync::watch;

use super::selection::Selection;
use crate::server::api_error::ApiError;
use crate::server::http::accept::ResponseForm;
use crate::server::http::query::{ListOptions, RequestedVersion};
use crate::server::http::response::{Body, boxed};
use crate::server::representations::writer::Writer;
use crate::server::source::{
    Change, CollectionRange, Kind, KindId, ObjectData, ObjectKey, ReadError, Snapshot, Source, StoredObject,
};

/// The interval between bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);

/// The time between the last bookmark and the end of a watch.
const LAST_BOOKMARK_LEAD: Duration = Duration::from_secs(2);

/// The duration of a watch without `timeoutSeconds`.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(45);

/// The size of a chunk of the initial state. A watch whose client does not read keeps at most one chunk.
const CHUNK: usize = 32 * 1024;

/// The number of initial objects read from the source at a time, which bounds the objects that a watch keeps alive for a
/// slow client.
const PAGE: usize = 4096;

/// The number of changes read from the log at a time, which bounds how long its lock is held.
const CHANGES_PER_READ: usize = 256;

/// A watch.
///
/// Its connection drives it; it has no task. It thus ends with its connection, and a client that does not read delays no
/// other client. A watch whose version is compacted before the client reads on ends with an expired error.
struct Watch {
    source: Arc<dyn Source>,
    kind_id: KindId,
    kind: Arc<Kind>,
    selection: Selection,
    /// What the events of the initial state need of their objects.
    data: ObjectData,
    writer: Writer,
    /// The rest of the current page of the initial state.
    initial: std::vec::IntoIter<Arc<StoredObject>>,
    /// The last key of the current page; `None` after the last page.
    next_page: Option<ObjectKey>,
    /// Whether the bookmark at the end of the initial state is still to be sent.
    end_bookmark: bool,
    bookmarks: bool,
    /// The version up to which all events have been sent.
    position: u64,
    /// The source's history that the position belongs to.
    epoch: u64,
    latest: watch::Receiver<u64>,
    /// By the source's clock, as is `end`.
    next_bookmark: Duration,
    end: Duration,
    /// The error to send instead of events.
    error: Option<ApiError>,
    is_ended: bool,
}

/// Returns the body of a watch with these options.
pub(crate) fn body(
    source: Arc<dyn Source>,
    (kind_id, kind): (KindId, Arc<Kind>),
    representation: ResponseForm,
    selection: Selection,
    options: &ListOptions,
) -> Body {
    let watch = Watch::new(source, (kind_id, kind), representation, selection, options);
    boxed(StreamBody::new(frames(watch)))
}

fn frames(watch: Watch) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
    stream::unfold(watch, |mut watch| async move {
        let chunk = watch.chunk().await?;
        Some((Ok(Frame::data(chunk.into())), watch))
    })
}

impl Watch {
    fn new(
        source: Arc<dyn Source>,
        (kind_id, kind): (KindId, Arc<Kind>),
        representation: ResponseForm,
        selection: Selection,
        options: &ListOptions,
    ) -> Self {
        let latest = source.subscribe();
        let epoch = source.epoch();
        let data = match selection.data(representation) {
            // Rows of later events come from the JSON. Those of the initial state need it too, or finished pods would have
            // their conditions in later events only.
            ObjectData::Rows => ObjectData::RowsAndJson,
            data => data,
        };
        let current = source.version(kind_id);
        let mut error = None;
        let sends_initial = match (options.send_initial_events, options.version) {
            (Some(initial), _) => initial,
            (None, version) => !matches!(version, RequestedVersion::Version(_)),
        };
        if let (true, RequestedVersion::Version(requested)) = (sends_initial, options.version)
            && requested > current
        {
            error = Some(ApiError::future_version(requested, current));
        }
        let (position, initial) = match options.version {
            _ if sends_initial => {
                let all = CollectionRange::all(kind_id, selection.namespace.as_deref());
                match source.now(&CollectionRange { limit: PAGE, data, ..all }) {
                    Ok(first) => (first.version, Some(first)),
                    Err(reason) => {
                        error = error.or(Some(ApiError::unreadable(reason)));
                        (current, None)
                    }
                }
            }
            RequestedVersion::Version(requested) => (requested, None),
            RequestedVersion::Latest | RequestedVersion::Any => (current, None),
        };
        let started = source.clock().elapsed();
        let end = started + options.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let mut watch = Self {
            data,
            writer: Writer::new(Arc::clone(&kind), representation),
            initial: Vec::new().into_iter(),
            next_page: None,
            end_bookmark: options.send_initial_events == Some(true) && options.bookmarks,
            bookmarks: options.bookmarks,
            position,
            epoch,
            latest,
            next_bookmark: next_bookmark(started, end),
            end,
            error,
            is_ended: false,
            source,
            kind_id,
            kind,
            selection,
        };
        if let Some(first) = initial {
            watch.take_page(first);
        }
        watch
    }

    /// Returns the next events, or `None` at the end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        if self.is_ended {
            return None;
        }
        let mut out = Vec::new();
        if let Some(error) = self.error.take() {
            self.fail(&mut out, &error);
            return Some(out);
        }
        if self.initial_events(&mut out) {
            // Chunks are written faster than a socket sends them: yields to other tasks.
            tokio::task::yield_now().await;
            return Some(out);
        }
        loop {
            // Marks the version as seen before it reads the log: later changes wake the wait below.
            self.latest.borrow_and_update();
            // A watch ends when the definition of its resource is deleted. This is checked before the log is read, so
            // that the deletions of the objects are sent first.
            let is_served = self.source.serves(self.kind_id);
            if self.fail_in_another_history(&mut out) {
                return Some(out);
            }
            self.logged_changes(&mut out);
            let now = self.source.clock().elapsed();
            if now >= self.end || !is_served {
                self.is_ended = true;
                return Some(out).filter(|out| !out.is_empty());
            }
            if now >= self.next_bookmark {
                self.next_bookmark = next_bookmark(now, self.end);
                if self.bookmarks {
                    self.writer.bookmark(&mut out, self.position, false);
                }
            }
            if !out.is_empty() {
                return Some(out);
            }
            if self.position < self.source.version(self.kind_id) {
                continue;
            }
            tokio::select! {
                // The end of a resource wakes this wait as well.
                changed = self.latest.changed() => changed.ok()?,
                () = self.source.clock().reaches(self.end.min(self.next_bookmark)) => {}
            }
        }
    }

    /// Writes a chunk of the initial state. Returns whether anything was written.
    fn initial_events(&mut self, out: &mut Vec<u8>) -> bool {
        let now = self.source.clock().now();
        while out.len() < CHUNK && !self.is_ended {
            if let Some(item) = self.initial.next() {
                if self.selection.matches(&item.json) {
                    self.writer.event(out, "ADDED", &item, now);
                }
                continue;
            }
            let Some(after) = self.next_page.take() else { break };
            if self.fail_in_another_history(out) {
                break;
            }
            let all = CollectionRange::all(self.kind_id, self.selection.namespace.as_deref());
            let range = CollectionRange { after: Some(&after), limit: PAGE, data: self.data, ..all };
            match self.source.at(&range, self.position) {
                Ok(page) => self.take_page(page),
                Err(ReadError::Compacted(compacted)) => {
                    let error = ApiError::expired_watch(self.position, compacted.oldest);
                    self.fail(out, &error);
                }
                Err(ReadError::Unreadable(reason)) => self.fail(out, &ApiError::unreadable(reason)),
            }
        }
        let is_complete = self.initial.len() == 0 && self.next_page.is_none() && !self.is_ended;
        if is_complete && std::mem::take(&mut self.end_bookmark) {
            self.writer.bookmark(out, self.position, true);
        }
        !out.is_empty()
    }

    fn take_page(&mut self, page: Snapshot) {
        self.next_page = page.items.last().filter(|_| page.more > 0).map(|last| last.key());
        self.initial = page.items.into_iter();
    }

    /// Writes the changes in the log after the position.
    fn logged_changes(&mut self, out: &mut Vec<u8>) {
        match self.source.changes(self.kind_id, self.position, CHANGES_PER_READ) {
            Ok((changes, to)) => {
                for change in &changes {
                    self.change(out, change);
                }
                self.position = to;
            }
            Err(compacted) => {
                let error = ApiError::expired_watch(self.position, compacted.oldest);
                self.fail(out, &error);
            }
        }
    }

    /// Writes a change as seen through the selectors: an object that starts to match is added, and one that stops to match
    /// is deleted, in its last matching state and with the version of the change.
    fn change(&mut self, out: &mut Vec<u8>, change: &Change) {
        let new = &change.new;
        if self.selection.namespace.as_deref().is_some_and(|namespace| *namespace != *new.namespace) {
            return;
        }
        let matches = |object: &StoredObject| self.selection.matches(&object.json);
        let before = change.old.as_deref().is_some_and(matches);
        let after = !change.deleted && matches(new);
        let now = self.source.clock().now();
        match (before, after) {
            (false, false) => {}
            (false, true) => self.writer.event(out, "ADDED", new, now),
            (true, true) => self.writer.event(out, "MODIFIED", new, now),
            (true, false) if change.deleted => self.writer.event(out, "DELETED", new, now),
            (true, false) => {
                if let Some(old) = &change.old {
                    let last = old.at(&self.kind, change.version);
                    self.writer.event(out, "DELETED", &last, now);
                }
            }
        }
    }

    /// Ends the watch if its position belongs to a history that the source has left. Returns whether it ends.
    fn fail_in_another_history(&mut self, out: &mut Vec<u8>) -> bool {
        let has_moved = self.source.epoch() != self.epoch;
        if has_moved {
            let error = ApiError::expired_watch(self.position, self.source.version(self.kind_id));
            self.fail(out, &error);
        }
        has_moved
    }

    fn fail(&mut self, out: &mut Vec<u8>, error: &ApiError) {
        self.is_ended = true;
        out.extend_from_slice(b"{\"type\":\"ERROR\",\"object\":");
        out.extend_from_slice(&error.json());
        out.extend_from_slice(b"}\n");
    }
}

/// Returns the time of the next bookmark: after the interval or shortly before the end, whichever is first. A watch that
/// is shorter than that sends none.
fn next_bookmark(now: Duration, end: Duration) -> Duration {
    let last = end.checked_sub(LAST_BOOKMARK_LEAD).filter(|last| *last > now).unwrap_or(end);
    last.min(now + BOOKMARK_INTERVAL)
}
