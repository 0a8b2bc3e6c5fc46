//! The fake source as its client uses it: lists, pages and watches, with the checks of a Kubernetes server.

use std::sync::Arc;
use std::vec;

use tokio::sync::mpsc;

use super::channel::Channel;
use super::errors::{expired, invalid, status};
use super::source::{FakeSource, InitialEvents, Request, State};
use crate::listwatch::{
    Error, ListMeta, ListOptions, ListStream, ListerWatcher, ResourceVersionMatch, WatchEvent, WatchOptions,
    WatchStream,
};
use crate::object::{Object, ResourceVersion, TypeMeta};

/// A watch of a [`FakeSource`].
pub struct FakeWatch {
    events: mpsc::UnboundedReceiver<Result<WatchEvent, Error>>,
}

impl WatchStream for FakeWatch {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        self.events.recv().await
    }
}

/// A page of a [`FakeSource`].
pub struct FakeList {
    items: vec::IntoIter<Arc<Object>>,
    breaks_with: Option<Error>,
    meta: ListMeta,
}

impl ListStream for FakeList {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        match self.items.next() {
            Some(object) => Ok(Some(object)),
            None => self.breaks_with.take().map_or(Ok(None), Err),
        }
    }

    fn meta(&self) -> &ListMeta {
        &self.meta
    }
}

impl ListerWatcher for FakeSource {
    type List = FakeList;
    type Watch = FakeWatch;

    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        self.lock().expected_type.clone()
    }

    async fn list(&self, options: &ListOptions) -> Result<FakeList, Error> {
        self.lock().requests.push(Request::List(options.clone()));
        self.released().await;
        let mut state = self.lock();
        let (items, error) = match state.failing_lists.pop_front() {
            Some((None, error)) => return Err(error),
            Some((Some(items), error)) => (Some(items), Some(error)),
            None => (None, None),
        };
        let mut page = state.page(options)?;
        if let Some(items) = items {
            page.items = page.items.take(items).collect::<Vec<_>>().into_iter();
        }
        page.breaks_with = error;
        Ok(page)
    }

    async fn watch(&self, options: &WatchOptions) -> Result<FakeWatch, Error> {
        self.lock().requests.push(Request::Watch(options.clone()));
        self.released().await;
        let mut state = self.lock();
        let (sender, events) = mpsc::unbounded_channel();
        let channel = Channel {
            events: sender,
            bookmarks: options.allow_bookmarks,
            after: if state.silent_ahead { number_of(&options.resource_version).unwrap_or(0) } else { 0 },
        };
        match state.failing_watches.pop_front() {
            Some(Some(error)) => return Err(error),
            Some(None) => channel.end(),
            None => match state.first_events(options)? {
                Ok(first) => {
                    for event in first {
                        channel.send(Ok(event));
                    }
                    state.watches.push(channel);
                }
                Err(error) => channel.send(Err(error)),
            },
        }
        Ok(FakeWatch { events })
    }

    fn supports_watch_list(&self) -> bool {
        let state = self.lock();
        !state.watch_list_disabled && !matches!(state.initial_events, InitialEvents::Unsupported)
    }

    fn disable_watch_list(&self) {
        self.lock().watch_list_disabled = true;
    }
}

impl FakeSource {
    /// Waits while requests are held.
    async fn released(&self) {
        // An error would mean that the sender is dropped, but this source owns it.
        let _ = self.shared.held.subscribe().wait_for(|held| !held).await;
    }
}

impl State {
    fn page(&mut self, options: &ListOptions) -> Result<FakeList, Error> {
        let version = &options.resource_version;
        if options.version_match.is_some() && version.is_unset() {
            return Err(invalid("resourceVersionMatch is forbidden unless resourceVersion is provided"));
        }
        if options.version_match == Some(ResourceVersionMatch::Exact) && version.is_any() {
            return Err(invalid("resourceVersionMatch Exact is forbidden for resourceVersion 0"));
        }
        let (items, version) = if options.continue_token.is_empty() {
            let number = self.requested(version)?;
            let exact = options.limit > 0 && !version.is_any() && options.version_match.is_none();
            if let Some(number) = number.filter(|_| exact) {
                self.replay(number)?;
            }
            (self.log.objects(), self.log.version())
        } else {
            if !version.is_unset() || options.version_match.is_some() {
                return Err(invalid("specifying resource version is not allowed when using continue"));
            }
            self.continues.get(&options.continue_token).cloned().ok_or_else(|| {
                expired("The provided continue parameter is too old to display a consistent list result")
            })?
        };
        let limit = match options.limit {
            0 => usize::MAX,
            _ if options.resource_version.is_any() && !self.pages_at_any => usize::MAX,
            limit => limit as usize,
        };
        Ok(self.split(items, version, limit))
    }

    /// Returns the first `limit` items, and a token for the rest.
    fn split(&mut self, mut items: Vec<Arc<Object>>, version: ResourceVersion, limit: usize) -> FakeList {
        let mut continue_token = String::new();
        if items.len() > limit {
            let rest = items.split_off(limit);
            self.next_token += 1;
            continue_token = format!("C{}", self.next_token);
            self.continues.insert(continue_token.clone(), (rest, version.clone()));
        }
        let meta = ListMeta { resource_version: version, continue_token };
        FakeList { items: items.into_iter(), breaks_with: None, meta }
    }

    /// Returns the first events of a new watch. The inner error is sent in the stream; the outer one fails the start.
    fn first_events(&self, options: &WatchOptions) -> Result<Result<Vec<WatchEvent>, Error>, Error> {
        if options.version_match.is_some() && !options.send_initial_events {
            return Err(invalid(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        if options.send_initial_events && options.version_match != Some(ResourceVersionMatch::NotOlderThan) {
            return Err(invalid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
        }
        let version = &options.resource_version;
        let number = match number_of(version) {
            Some(ahead) if self.silent_ahead && ahead > self.log.version && !options.send_initial_events => {
                return Ok(Ok(Vec::new()));
            }
            _ => self.requested(version)?,
        };
        match &self.initial_events {
            InitialEvents::Refused(error) if options.send_initial_events => return Err(error.clone()),
            InitialEvents::Unsupported if options.send_initial_events => {
                return Err(invalid(
                    "sendInitialEvents is forbidden for watch unless the WatchList feature is on",
                ));
            }
            InitialEvents::Sent if options.send_initial_events => {
                let mut events = self.current_objects_added();
                events.push(WatchEvent::Bookmark {
                    resource_version: self.log.version(),
                    initial_events_end: true,
                });
                return Ok(Ok(events));
            }
            InitialEvents::WithoutEnd if options.send_initial_events => {
                return Ok(Ok(self.current_objects_added()));
            }
            _ => {}
        }
        match number.filter(|_| !version.is_any()) {
            None => Ok(Ok(self.current_objects_added())),
            Some(number) => match self.replay(number) {
                Err(error) if !self.expired_in_stream => Err(error),
                replay => Ok(replay),
            },
        }
    }

    fn current_objects_added(&self) -> Vec<WatchEvent> {
        self.log.objects().into_iter().map(WatchEvent::Added).collect()
    }

    /// Returns the number of a requested version, if the request has one.
    fn requested(&self, version: &ResourceVersion) -> Result<Option<u64>, Error> {
        if version.is_unset() {
            return Ok(None);
        }
        let text = version.to_string();
        let number =
            text.parse().map_err(|_| invalid(&format!("resourceVersion: Invalid value: {text:?}")))?;
        if number > self.log.version {
            let message = format!("Too large resource version: {number}, current: {}", self.log.version);
            return Err(Error::TooLargeResourceVersion(status("Timeout", &message)));
        }
        Ok(Some(number))
    }
}

/// Returns the number of a version, if it is one.
fn number_of(version: &ResourceVersion) -> Option<u64> {
    version.to_string().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::pod;

    fn at(version: &str) -> WatchOptions {
        WatchOptions { resource_version: version.into(), ..WatchOptions::default() }
    }

    fn changed() -> FakeSource {
        let source = FakeSource::new();
        source.add(pod("a"));
        source.modify_silently(pod("a"));
        source.delete("a");
        source
    }

    async fn versions(source: &FakeSource, from: &str) -> Vec<String> {
        let mut watch = source.watch(&at(from)).await.expect("a watch");
        source.drop_watches();
        let mut versions = Vec::new();
        while let Some(event) = watch.next().await {
            let (WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object)) =
                event.expect("an event")
            else {
                continue;
            };
            versions.push(object.resource_version().to_string());
        }
        versions
    }

    // K1, K2
    #[tokio::test]
    async fn a_watch_begins_with_the_events_since_its_version() {
        let source = changed();
        for (from, expected) in [("1", &["2", "3", "4"][..]), ("2", &["3", "4"]), ("4", &[])] {
            assert_eq!(versions(&source, from).await, expected, "{from}");
        }
        assert_eq!(source.version(), "4".into());
        assert!(matches!(source.watch(&at("9")).await, Err(Error::TooLargeResourceVersion(_))));
    }

    // K3
    #[tokio::test]
    async fn a_cleared_log_serves_only_the_current_state() {
        let source = changed();
        source.reset_watches();
        source.set_expired_in_stream(false);
        let error = source.watch(&at("1")).await.err().expect("too old");
        assert_eq!(error.to_string(), "too old resource version: 1 (4)");
        source.set_expired_in_stream(true);
        let mut stream = source.watch(&at("1")).await.expect("a stream that reports it");
        assert!(matches!(stream.next().await, Some(Err(Error::Expired(_)))));
        assert!(stream.next().await.is_none());
        let mut watch = source.watch(&at("4")).await.expect("a watch");
        source.add(pod("b"));
        assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Added(_)))));
        assert_eq!(source.open_watches(), 1);
        drop(watch);
        assert_eq!(source.open_watches(), 0);
    }

    #[tokio::test]
    async fn a_list_comes_in_pages_until_its_tokens_expire() {
        let source = FakeSource::new();
        for name in ["a", "b", "c"] {
            source.add(pod(name));
        }
        let first = ListOptions { limit: 2, ..ListOptions::default() };
        let token = source.list(&first).await.expect("a page").meta().continue_token.clone();
        let second = ListOptions { continue_token: token, ..first };
        let mut page = source.list(&second).await.expect("a page");
        assert_eq!(page.next().await.expect("an item").expect("one").name(), "c");
        assert_eq!(page.meta(), &ListMeta { resource_version: "4".into(), continue_token: String::new() });
        let wrong = ListOptions { resource_version: "4".into(), ..second.clone() };
        assert!(matches!(source.list(&wrong).await, Err(Error::Invalid(_))));
        source.expire_continue_tokens();
        assert!(matches!(source.list(&second).await, Err(Error::Expired(_))));
    }
}
