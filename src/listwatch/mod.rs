//! The seam between the machine and whatever it watches: list, then watch from the version the list returned.
//!
//! Nothing here knows who stands behind it: `api` plugs a real server in, `testing` a source with faults, a library
//! user whatever has states and versions. Errors carry their meaning, never a protocol's number.

mod closures;
mod error;

pub use closures::{ListWatch, PageStream};
pub use error::{Error, Status};

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::object::{Object, ResourceVersion, TypeMeta};

/// Lists and watches one collection of objects (client-go: `ListerWatcher`).
///
/// Which collection, with which selectors and in which representation, is the implementor's; the options say only
/// from when and how.
pub trait ListerWatcher: Send + Sync + 'static {
    /// A list as it comes in.
    type List: ListStream;
    /// A watch as it comes in.
    type Watch: WatchStream;

    /// Starts a list; answers once the source has accepted it, before its items are there.
    fn list(&self, options: &ListOptions) -> impl Future<Output = Result<Self::List, Error>> + Send;

    /// Starts a watch; answers once the source has accepted it.
    fn watch(&self, options: &WatchOptions) -> impl Future<Output = Result<Self::Watch, Error>> + Send;

    /// How far the source has come: asked before a watch goes on, to find out whether it is still the source that it was.
    ///
    /// Who received `seen` from it a moment ago may be answered with any version that it has come to, as long as that is not
    /// before `seen`. Everybody else, and who passes an unset or "0" one, is answered with that of the most recent state. By
    /// default it is always that, of a list of one item; to be implemented by who can say it for less, and to be handed on by
    /// who wraps another.
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

    /// Whether a watch may be asked to send the initial state (KEP-3157). A source that can't says no here and is
    /// never asked; one that refuses when asked is listed instead.
    fn supports_watch_list(&self) -> bool {
        true
    }

    /// Returns the type of the objects that this source delivers. A reflector drops objects of another group or kind, and
    /// reports the first one. `None`, the default, accepts every type. A wrapper must forward it.
    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        None
    }

    /// For how long, in all, it has been held up by something else than what it lists and watches, as by a person who has
    /// to log in first. Whoever bounds how long an answer may take leaves that time out.
    fn held_up(&self) -> Duration {
        Duration::ZERO
    }

    /// How many objects, in all, its lists and watches have read, handed on or not; asked of one that selects for itself,
    /// which may read for long and hand on nothing. Whoever bounds how long a stream may be silent begins anew where this
    /// has grown.
    fn objects_read(&self) -> u64 {
        0
    }

    /// Is told that a watch which was asked for the initial state did not bring it, and will not bring it the next
    /// time: a source that many share answers no to [`ListerWatcher::supports_watch_list`] from then on, so that not
    /// each of them has to find out.
    fn gives_up_watch_list(&self) {}
}

/// The items of one page as they arrive.
pub trait ListStream: Send + 'static {
    /// The next item, or `None` at the end of the page. Dropping the future loses no item. After an error the page
    /// is void.
    fn next(&mut self) -> impl Future<Output = Result<Option<Arc<Object>>, Error>> + Send;

    /// What the source said of the list; complete once [`ListStream::next`] has answered `None`. A continue token that is
    /// there before may be used before.
    fn meta(&self) -> &ListMeta;
}

/// The events of one watch as they arrive.
pub trait WatchStream: Send + 'static {
    /// The next event; `None` when the source ended the watch cleanly, or the connection ended between two frames.
    /// Dropping the future loses no event. After an error the watch is over.
    fn next(&mut self) -> impl Future<Output = Option<Result<WatchEvent, Error>>> + Send;
}

/// What a list says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// The version of the collection: where a watch goes on. Equal on all pages of one list.
    pub resource_version: ResourceVersion,
    /// The token for the next page; empty on the last one.
    pub continue_token: String,
}

/// One event of a watch.
#[derive(Debug, Clone)]
pub enum WatchEvent {
    /// An object is there, or now matches the selectors.
    Added(Arc<Object>),
    /// An object changed.
    Modified(Arc<Object>),
    /// An object is gone, or no longer matches: its state just before, with the version of the deletion.
    Deleted(Arc<Object>),
    /// Nothing happened up to this version.
    Bookmark {
        /// Up to where the watch has told everything.
        resource_version: ResourceVersion,
        /// Whether this ends the initial state that was asked for (`k8s.io/initial-events-end` is "true").
        initial_events_end: bool,
    },
}

/// How a requested version is to be understood (`resourceVersionMatch`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceVersionMatch {
    /// That state and no other.
    Exact,
    /// That state or any later one.
    NotOlderThan,
}

impl ResourceVersionMatch {
    /// The value of the query parameter.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "Exact",
            Self::NotOlderThan => "NotOlderThan",
        }
    }
}

/// How to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Unset: the most recent state; "0": any; otherwise at least that one.
    pub resource_version: ResourceVersion,
    /// How `resource_version` is meant; unset is the default of the server.
    pub version_match: Option<ResourceVersionMatch>,
    /// Items of a page; 0 is no limit.
    pub limit: u32,
    /// The token of the previous page; such a request carries no version.
    pub continue_token: String,
}

/// How to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchOptions {
    /// Unset: from the most recent state; "0": from any; otherwise what happened after it.
    pub resource_version: ResourceVersion,
    /// Only [`ResourceVersionMatch::NotOlderThan`], and only together with `send_initial_events`.
    pub version_match: Option<ResourceVersionMatch>,
    /// Ask for the initial state as `Added` events, closed by a bookmark.
    pub send_initial_events: bool,
    /// Ask for bookmarks; the source may send none all the same.
    pub allow_bookmarks: bool,
    /// After this the source is to end the watch cleanly. Sources count in whole seconds.
    pub timeout: Option<Duration>,
}
