//! The interface between informers and the source of objects: list, then watch from the version that the list returned.
//!
//! This module does not depend on any source: `api` implements it for a Kubernetes server, `testing` for a fake with
//! faults, and library users for anything with states and versions. Errors carry a meaning; callers
//! decide by it, and the HTTP code in a [`Status`] serves messages only.

mod closures;
mod direct;
mod error;
#[cfg(any(feature = "api", feature = "demo"))]
mod system_words;

pub use closures::{ListWatch, PageStream};
pub use direct::{DirectContents, DirectList, DirectLists};
pub use error::{Error, NetworkFailure, Status};
#[doc(hidden)]
#[cfg(any(feature = "api", feature = "demo"))]
pub(crate) use system_words::system_words;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::object::{Object, ResourceVersion, TypeMeta};

/// A collection of objects that can be listed and watched (client-go: `ListerWatcher`).
///
/// The implementor determines the collection, the selectors and the representation; the options determine only the
/// version and the delivery.
pub trait ListerWatcher: Send + Sync + 'static {
    /// The stream of a list's items.
    type List: ListStream;
    /// The stream of a watch's events.
    type Watch: WatchStream;

    /// Starts a list. Returns once the source has accepted it, before the items have arrived.
    fn list(&self, options: &ListOptions) -> impl Future<Output = Result<Self::List, Error>> + Send;

    /// Starts a watch. Returns once the source has accepted it.
    fn watch(&self, options: &WatchOptions) -> impl Future<Output = Result<Self::Watch, Error>> + Send;

    /// Returns the source's current version. It is requested before a watch resumes, to detect a source that went back
    /// to an earlier state.
    ///
    /// If the caller received `seen` from this source a moment ago, any version that the source has reached since may
    /// be returned, as long as it is not older than `seen`. For an unset or "0" `seen` the version of the most recent
    /// state must be returned. The default always returns the latter, from a list of one item. Implement it if there is
    /// a cheaper way, and forward it in wrappers.
    fn progress(
        &self,
        seen: &ResourceVersion,
    ) -> impl Future<Output = Result<ResourceVersion, Error>> + Send {
        let _ = seen;
        async move {
            let mut page = self.list(&ListOptions { limit: 1, ..ListOptions::default() }).await?;
            while page.next().await?.is_some() {}
            Ok(page.meta().resource_version.clone())
        }
    }

    /// Returns whether a watch may request the initial state (KEP-3157). The reflector lists a source that returns `false`,
    /// and one that refuses the request.
    fn supports_watch_list(&self) -> bool {
        true
    }

    /// Returns the type of the objects that this source delivers. A reflector drops objects of another group or kind, and
    /// reports the first one. `None`, the default, accepts every type. A wrapper must forward it.
    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        None
    }

    /// Returns the total time spent waiting for anything other than the source itself, such as an interactive login.
    /// Callers that bound the duration of a request exclude this time.
    fn external_wait(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the total number of objects that its lists and watches have read, delivered or not. A source that
    /// filters on the client side may read for long without delivering anything. Callers that bound the silence of a
    /// stream restart that bound when this number has grown.
    fn objects_read(&self) -> u64 {
        0
    }

    /// Called when a watch did not deliver the requested initial state and would not the next time. A shared source
    /// returns `false` from [`ListerWatcher::supports_watch_list`] from then on, so that its other users need not
    /// repeat the attempt.
    fn disable_watch_list(&self) {}
}

/// The items of one page as they arrive.
pub trait ListStream: Send + 'static {
    /// Returns the next item, or `None` at the end of the page. Dropping the future loses no item. After an error the
    /// page is void.
    fn next(&mut self) -> impl Future<Output = Result<Option<Arc<Object>>, Error>> + Send;

    /// Returns the list's metadata; it is complete once [`ListStream::next`] has returned `None`. A continue token that
    /// is available earlier may be used earlier.
    fn meta(&self) -> &ListMeta;
}

/// The events of one watch as they arrive.
pub trait WatchStream: Send + 'static {
    /// Returns the next event, or `None` when the source ended the watch cleanly or the connection closed between two
    /// frames. Dropping the future loses no event. After an error the watch is over.
    fn next(&mut self) -> impl Future<Output = Option<Result<WatchEvent, Error>>> + Send;
}

/// The metadata of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// The version of the collection, from which a watch continues. Equal on all pages of one list.
    pub resource_version: ResourceVersion,
    /// The token for the next page; empty on the last one.
    pub continue_token: String,
}

/// An event of a watch. The variants are the types of the watch protocol; its `ERROR` is an [`Error`].
#[derive(Debug, Clone)]
pub enum WatchEvent {
    /// An object was created, or now matches the selectors.
    Added(Arc<Object>),
    /// An object changed.
    Modified(Arc<Object>),
    /// An object was deleted, or no longer matches: its last state, with the version of the deletion.
    Deleted(Arc<Object>),
    /// There are no further events up to this version.
    Bookmark {
        /// The version up to which the watch has delivered everything.
        resource_version: ResourceVersion,
        /// Whether this ends the requested initial state (`k8s.io/initial-events-end` is "true").
        initial_events_end: bool,
    },
}

/// The interpretation of a requested version. The variants are the values of `resourceVersionMatch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceVersionMatch {
    /// Exactly that state.
    Exact,
    /// That state or any later one.
    NotOlderThan,
}

impl ResourceVersionMatch {
    /// Returns the value of the query parameter.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "Exact",
            Self::NotOlderThan => "NotOlderThan",
        }
    }
}

/// The options of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListOptions {
    /// Unset: the most recent state; "0": any state; otherwise that state or a later one.
    pub resource_version: ResourceVersion,
    /// The interpretation of `resource_version`; `None` is the server's default.
    pub version_match: Option<ResourceVersionMatch>,
    /// Items per page; 0 for no limit.
    pub limit: u32,
    /// The token of the previous page; a request with one carries no version.
    pub continue_token: String,
}

setters!(ListOptions {
    resource_version: ResourceVersion,
    version_match: Option<ResourceVersionMatch>,
    limit: u32,
    continue_token: String,
});

/// The options of a watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchOptions {
    /// Unset: from the most recent state; "0": from any state; otherwise the events after it.
    pub resource_version: ResourceVersion,
    /// Only [`ResourceVersionMatch::NotOlderThan`], and only together with `send_initial_events`.
    pub version_match: Option<ResourceVersionMatch>,
    /// Requests the initial state as `Added` events, followed by a bookmark.
    pub send_initial_events: bool,
    /// Requests bookmarks; the source need not send any.
    pub allow_bookmarks: bool,
    /// The source ends the watch cleanly after this time, in whole seconds.
    pub timeout: Option<Duration>,
}

setters!(WatchOptions {
    resource_version: ResourceVersion,
    version_match: Option<ResourceVersionMatch>,
    send_initial_events: bool,
    allow_bookmarks: bool,
    timeout: Option<Duration>,
});
