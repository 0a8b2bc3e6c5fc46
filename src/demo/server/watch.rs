//! Watches: the initial state where it is asked for, then what the log of changes holds, in its order.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http_body_util::StreamBody;
use hyper::body::Frame;
use tokio::sync::watch;

use super::selection::Selection;
use crate::demo::api_error::ApiError;
use crate::demo::cluster::Cluster;
use crate::demo::http::accept::Representation;
use crate::demo::http::query::{ListOptions, RequestedVersion};
use crate::demo::http::response::{Body, boxed};
use crate::demo::kinds::{Kind, KindId};
use crate::demo::representations::writer::Writer;
use crate::demo::store::{Change, CollectionRange, ObjectKey, Snapshot, StoredObject};

/// How often a watch that wants bookmarks gets one.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);

/// How long before its end a watch gets the last bookmark.
const BEFORE_END: Duration = Duration::from_secs(2);

/// How long a watch lasts that does not say.
const LASTS: Duration = Duration::from_mins(45);

/// The size of a piece of the initial state. A watch whose client does not read keeps at most one piece.
const CHUNK: usize = 32 * 1024;

/// The number of initial objects read from the store at a time, which bounds the objects that a watch keeps alive for a
/// slow client.
const PAGE: usize = 4096;

/// Changes read from the log at a time, which bounds how long its lock is held.
const AT_A_TIME: usize = 256;

/// One watch. It is driven by its connection alone: there is no task behind it, so that it ends when the client goes,
/// and a client that does not read holds up nobody else. One that falls behind the log is told that it expired.
struct Watch {
    cluster: Arc<Cluster>,
    kind_id: KindId,
    kind: Arc<Kind>,
    selection: Selection,
    writer: Writer,
    /// The rest of the current page of the initial state.
    initial: std::vec::IntoIter<Arc<StoredObject>>,
    /// The last place of the current page; `None` after the last page.
    next_page: Option<ObjectKey>,
    /// Whether the end of the initial state has still to be said.
    end_bookmark: bool,
    bookmarks: bool,
    /// Everything up to this version has been told.
    position: u64,
    latest: watch::Receiver<u64>,
    /// Both by the cluster's clock.
    next_bookmark: Duration,
    ends: Duration,
    /// Told in place of anything else.
    refusal: Option<ApiError>,
    over: bool,
}

/// The stream of events that these options come to.
pub(in crate::demo) fn body(
    cluster: Arc<Cluster>,
    (kind_id, kind): (KindId, Arc<Kind>),
    form: Representation,
    selection: Selection,
    options: &ListOptions,
) -> Body {
    let watch = Watch::new(cluster, (kind_id, kind), form, selection, options);
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
        cluster: Arc<Cluster>,
        (kind_id, kind): (KindId, Arc<Kind>),
        form: Representation,
        selection: Selection,
        options: &ListOptions,
    ) -> Self {
        let latest = cluster.store.subscribe();
        let current = cluster.store.version();
        let mut refusal = None;
        let with_initial = match (options.send_initial_events, options.wanted) {
            (Some(initial), _) => initial,
            (None, wanted) => !matches!(wanted, RequestedVersion::Version(_)),
        };
        if let (true, RequestedVersion::Version(asked)) = (with_initial, options.wanted)
            && asked > current
        {
            refusal = Some(ApiError::from_the_future(asked, current));
        }
        let (position, initial) = match options.wanted {
            _ if with_initial => {
                let all = CollectionRange::all(kind_id, selection.namespace.as_deref());
                let first = cluster.store.now(&CollectionRange { limit: PAGE, ..all });
                (first.version, Some(first))
            }
            RequestedVersion::Version(asked) => (asked, None),
            RequestedVersion::Latest | RequestedVersion::Any => (current, None),
        };
        let started = cluster.clock.elapsed();
        let ends = started + options.timeout.unwrap_or(LASTS);
        let mut watch = Self {
            writer: Writer::new(Arc::clone(&kind), form),
            initial: Vec::new().into_iter(),
            next_page: None,
            end_bookmark: options.send_initial_events == Some(true) && options.bookmarks,
            bookmarks: options.bookmarks,
            position,
            latest,
            next_bookmark: next_bookmark(started, ends),
            ends,
            refusal,
            over: false,
            cluster,
            kind_id,
            kind,
            selection,
        };
        if let Some(first) = initial {
            watch.take_page(first);
        }
        watch
    }

    /// The next events, some at a time; nothing at the end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        if self.over {
            return None;
        }
        let mut out = Vec::new();
        if let Some(refusal) = self.refusal.take() {
            self.fail(&mut out, &refusal);
            return Some(out);
        }
        if self.initial_events(&mut out) {
            // Its chunks are made faster than a socket takes them: others get their turn.
            tokio::task::yield_now().await;
            return Some(out);
        }
        loop {
            // Marked as seen before the log is read: what comes after that wakes the wait below.
            self.latest.borrow_and_update();
            // The resource may go with its definition, and its watches go with it: after the deletions of its objects, so
            // that it is looked at before they are.
            let is_served = self.cluster.store.serves(self.kind_id);
            self.changes(&mut out);
            let now = self.cluster.clock.elapsed();
            if now >= self.ends || !is_served {
                self.over = true;
                return Some(out).filter(|out| !out.is_empty());
            }
            if now >= self.next_bookmark {
                self.next_bookmark = next_bookmark(now, self.ends);
                if self.bookmarks {
                    self.writer.bookmark(&mut out, self.position, false);
                }
            }
            if !out.is_empty() {
                return Some(out);
            }
            if self.position < *self.latest.borrow() {
                continue;
            }
            tokio::select! {
                // A resource that goes is told of in the same way.
                changed = self.latest.changed() => changed.ok()?,
                () = self.cluster.clock.reaches(self.ends.min(self.next_bookmark)) => {}
            }
        }
    }

    /// Writes a piece of the initial state; answers whether there was one.
    fn initial_events(&mut self, out: &mut Vec<u8>) -> bool {
        let now = self.cluster.clock.now();
        while out.len() < CHUNK && !self.over {
            if let Some(item) = self.initial.next() {
                if self.selection.matches(&item.json) {
                    self.writer.event(out, "ADDED", &item, now);
                }
                continue;
            }
            let Some(after) = self.next_page.take() else { break };
            let all = CollectionRange::all(self.kind_id, self.selection.namespace.as_deref());
            let part = CollectionRange { after: Some(&after), limit: PAGE, ..all };
            match self.cluster.store.at(&part, self.position) {
                Ok(page) => self.take_page(page),
                Err(compacted) => {
                    let refusal = ApiError::expired_watch(self.position, compacted.oldest);
                    self.fail(out, &refusal);
                }
            }
        }
        let is_complete = self.initial.len() == 0 && self.next_page.is_none() && !self.over;
        if is_complete && std::mem::take(&mut self.end_bookmark) {
            self.writer.bookmark(out, self.position, true);
        }
        !out.is_empty()
    }

    fn take_page(&mut self, page: Snapshot) {
        self.next_page = page.items.last().filter(|_| page.more > 0).map(|last| last.key());
        self.initial = page.items.into_iter();
    }

    /// Writes what the log holds after our position.
    fn changes(&mut self, out: &mut Vec<u8>) {
        match self.cluster.store.changes(self.kind_id, self.position, AT_A_TIME) {
            Ok((changes, to)) => {
                for change in &changes {
                    self.change(out, change);
                }
                self.position = to;
            }
            Err(compacted) => {
                let refusal = ApiError::expired_watch(self.position, compacted.oldest);
                self.fail(out, &refusal);
            }
        }
    }

    /// Writes one change as who watches with these selectors sees it: what begins to match is added, what ceases to
    /// is deleted, in its last matching state and under the version of the change.
    fn change(&mut self, out: &mut Vec<u8>, change: &Change) {
        let new = &change.new;
        if self.selection.namespace.as_deref().is_some_and(|namespace| *namespace != *new.namespace) {
            return;
        }
        let matches = |object: &StoredObject| self.selection.matches(&object.json);
        let before = change.old.as_deref().is_some_and(matches);
        let after = !change.deleted && matches(new);
        let now = self.cluster.clock.now();
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

    fn fail(&mut self, out: &mut Vec<u8>, refusal: &ApiError) {
        self.over = true;
        out.extend_from_slice(b"{\"type\":\"ERROR\",\"object\":");
        out.extend_from_slice(&refusal.json());
        out.extend_from_slice(b"}\n");
    }
}

/// Once in a while, and shortly before the end; never in a watch that is shorter than that.
fn next_bookmark(now: Duration, ends: Duration) -> Duration {
    let last = ends.checked_sub(BEFORE_END).filter(|last| *last > now).unwrap_or(ends);
    last.min(now + BOOKMARK_EVERY)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::demo::clock::Clock;
    use crate::demo::http::query::Query;
    use crate::demo::store::{Edit, Store};

    fn cluster(names: &[&str]) -> Arc<Cluster> {
        let clock = Clock::new(Timestamp::UNIX_EPOCH);
        let cluster = Cluster::new(Store::new(1, 1), clock, String::new());
        for name in names {
            create(&cluster, name);
        }
        Arc::new(cluster)
    }

    fn maps(cluster: &Cluster) -> (KindId, Arc<Kind>) {
        cluster.store.find("", "v1", "configmaps").expect("configmaps")
    }

    fn create(cluster: &Cluster, name: &str) {
        let map = json!({"metadata": {"name": name, "namespace": "n", "labels": {"app": "web"}}});
        cluster.store.create(maps(cluster).0, map).expect("new");
    }

    fn label(cluster: &Cluster, name: &str, value: &str) {
        let edit = |object: &mut Value| {
            object["metadata"]["labels"]["app"] = value.into();
            Ok(Edit::Keep)
        };
        cluster.store.edit(maps(cluster).0, "n", name, edit).expect("there");
    }

    fn watch(cluster: &Arc<Cluster>, query: &str) -> Watch {
        let query = Query::parse(query);
        let (kind_id, kind) = maps(cluster);
        let selection = Selection::read(&query, &kind, None).expect("selectors");
        let options = ListOptions::read(&query).expect("options");
        Watch::new(Arc::clone(cluster), (kind_id, kind), Representation::Objects, selection, &options)
    }

    async fn next(watch: &mut Watch) -> Option<Vec<(String, String)>> {
        let chunk = String::from_utf8(watch.chunk().await?).expect("text");
        let told = chunk.lines().map(|line| {
            let event: Value = serde_json::from_str(line).expect("JSON");
            let name = event["object"]["metadata"]["name"].as_str().unwrap_or_default();
            (event["type"].as_str().expect("a type").to_owned(), name.to_owned())
        });
        Some(told.collect())
    }

    fn told(events: &[(&str, &str)]) -> Vec<(String, String)> {
        events.iter().map(|(kind, name)| ((*kind).to_owned(), (*name).to_owned())).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_ends_with_its_resource() {
        let cluster = cluster(&["a"]);
        let mut watch = watch(&cluster, "watch=1&timeoutSeconds=100");
        assert_eq!(next(&mut watch).await, Some(told(&[("ADDED", "a")])));
        let (id, _) = maps(&cluster);
        cluster.store.remove(id, "n", "a");
        cluster.store.undefine(id);
        assert_eq!(next(&mut watch).await, Some(told(&[("DELETED", "a")])));
        assert_eq!(next(&mut watch).await, None);
        assert!(cluster.clock.elapsed() < Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn the_initial_state_ends_with_a_bookmark_where_it_was_asked_for() {
        let cluster = cluster(&["a", "b"]);
        let all = "watch=1&allowWatchBookmarks=1&timeoutSeconds=100";
        let mut list =
            watch(&cluster, &format!("{all}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
        assert_eq!(next(&mut list).await, Some(told(&[("ADDED", "a"), ("ADDED", "b"), ("BOOKMARK", "")])));
        create(&cluster, "c");
        assert_eq!(next(&mut list).await, Some(told(&[("ADDED", "c")])));
        assert_eq!(next(&mut list).await, Some(told(&[("BOOKMARK", "")])), "after a minute");
        assert_eq!(next(&mut list).await, Some(told(&[("BOOKMARK", "")])), "before the end");
        assert_eq!(next(&mut list).await, None);
        let mut plain = watch(&cluster, all);
        assert_eq!(next(&mut plain).await, Some(told(&[("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")])));
    }

    #[tokio::test(start_paused = true)]
    async fn initial_state_is_paged_at_one_version() {
        let names: Vec<String> = (0..=PAGE).map(|at| format!("m{at:05}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let cluster = cluster(&names);
        let mut watch = watch(&cluster, "watch=1");
        let mut seen = next(&mut watch).await.expect("a piece");
        let (id, _) = maps(&cluster);
        cluster.store.remove(id, "n", names[PAGE]);
        create(&cluster, "later");
        while seen.len() < names.len() + 2 {
            seen.extend(next(&mut watch).await.expect("more"));
        }
        let mut expected: Vec<_> = names.iter().map(|name| ("ADDED", *name)).collect();
        expected.extend([("DELETED", names[PAGE]), ("ADDED", "later")]);
        assert_eq!(seen, told(&expected));
        assert_eq!(watch.initial.as_slice().len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unread_watch_keeps_one_page_and_expires_with_its_version() {
        let names: Vec<String> = (0..=PAGE).map(|at| format!("m{at:05}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let cluster = cluster(&names);
        let mut watch = watch(&cluster, "watch=1");
        next(&mut watch).await.expect("a piece");
        let (id, _) = maps(&cluster);
        let last = Arc::downgrade(&cluster.store.get(id, "n", names[PAGE]).expect("the last one"));
        cluster.store.remove(id, "n", names[PAGE]);
        cluster.store.compact();
        assert!(last.upgrade().is_none(), "the watch still holds it");
        let mut seen = Vec::new();
        while let Some(events) = next(&mut watch).await {
            seen.extend(events);
        }
        assert_eq!(seen.last(), Some(&("ERROR".to_owned(), String::new())));
    }

    #[tokio::test(start_paused = true)]
    async fn what_ceases_to_match_is_deleted() {
        let cluster = cluster(&["a"]);
        let version = cluster.store.version();
        let mut watch = watch(
            &cluster,
            &format!("watch=1&labelSelector=app%3Dweb&resourceVersion={version}&timeoutSeconds=5"),
        );
        label(&cluster, "a", "api");
        assert_eq!(next(&mut watch).await, Some(told(&[("DELETED", "a")])));
        label(&cluster, "a", "db");
        label(&cluster, "a", "web");
        assert_eq!(next(&mut watch).await, Some(told(&[("ADDED", "a")])));
        cluster.store.remove(maps(&cluster).0, "n", "a");
        assert_eq!(next(&mut watch).await, Some(told(&[("DELETED", "a")])));
        assert_eq!(next(&mut watch).await, None, "timeoutSeconds");
    }

    #[tokio::test(start_paused = true)]
    async fn a_version_that_is_forgotten_or_to_come_is_an_error_in_the_stream() {
        let cluster = cluster(&["a", "b"]);
        cluster.store.compact();
        let mut old = watch(&cluster, "watch=1&resourceVersion=1");
        assert_eq!(next(&mut old).await, Some(told(&[("ERROR", "")])));
        assert_eq!(next(&mut old).await, None);
        let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
        let mut future = watch(&cluster, &format!("watch=1&resourceVersion=999&{initial}"));
        assert_eq!(next(&mut future).await, Some(told(&[("ERROR", "")])));
    }

    #[tokio::test(start_paused = true)]
    async fn more_changes_than_are_read_at_a_time_all_come() {
        let cluster = cluster(&["a"]);
        let version = cluster.store.version();
        let mut watch = watch(&cluster, &format!("watch=1&resourceVersion={version}"));
        for round in 0..=AT_A_TIME * 2 {
            label(&cluster, "a", &round.to_string());
        }
        let mut count = 0;
        while count < AT_A_TIME * 2 + 1 {
            count += next(&mut watch).await.expect("more").len();
        }
        assert_eq!(count, AT_A_TIME * 2 + 1);
    }
}
