//! The trait of the stores that a reflector writes to.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::object::{Object, Origin, ResourceVersion};

/// The events before a list that the reflector did not receive: the list contains their result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedEvents {
    /// The version received last. The events after it, up to the version of the list, were missed.
    pub after: ResourceVersion,
    /// The time since the loss was noticed.
    pub lasted: Duration,
}

/// The subset of a store that the reflector uses (client-go: `ReflectorStore`): a queue, a plain store, or anything
/// that accepts the states of one collection in order.
///
/// The reflector calls it from one task, one call after the other. An error about one object is reported, and the reflector
/// continues; after an error about a whole list the source is listed again, after a wait.
///
/// No method has a default body: a store that wraps another one and forgets to forward a call does not compile. client-go's
/// interface has [`add`](Self::add), [`update`](Self::update), [`delete`](Self::delete), [`replace`](Self::replace) and
/// [`resync`](Self::resync), and looks for further methods at run time, such as that for [bookmarks](Self::bookmark), so that a
/// wrapper loses those it does not know. Here, a store states explicitly that it has no use for a call:
/// [`ready`](Self::ready) returns at once, [`list_item`](Self::list_item) returns its object, and
/// [`list_begin`](Self::list_begin), [`flush`](Self::flush) and [`bookmark`](Self::bookmark) do nothing.
///
/// ```
/// # use std::sync::{Arc, Mutex};
/// # use kdelta::object::{Object, Origin, ResourceVersion};
/// # use kdelta::reflector::{MissedEvents, Reflector, ReflectorOptions, ReflectorStore};
/// # use kdelta::testing::{FakeSource, pod};
/// /// Records every name, and stores nothing.
/// #[derive(Default)]
/// struct Names(Mutex<Vec<String>>);
///
/// impl Names {
///     fn write(&self, object: &Object) -> Result<(), std::convert::Infallible> {
///         self.0.lock().expect("no panic").push(object.name().to_owned());
///         Ok(())
///     }
/// }
///
/// impl ReflectorStore for Names {
///     type Error = std::convert::Infallible;
///
///     async fn ready(&self) {}
///
///     fn add(&self, object: Arc<Object>, _: Origin) -> Result<(), Self::Error> {
///         self.write(&object)
///     }
///     fn update(&self, object: Arc<Object>, _: Origin) -> Result<(), Self::Error> {
///         self.write(&object)
///     }
///     fn delete(&self, object: Arc<Object>, _: Origin) -> Result<(), Self::Error> {
///         self.write(&object)
///     }
///     fn list_begin(&self, _: Origin, _: bool) {}
///     fn list_item(&self, object: Arc<Object>, _: Origin) -> Option<Arc<Object>> {
///         Some(object)
///     }
///     fn flush(&self) {}
///     fn replace(
///         &self,
///         objects: Vec<Arc<Object>>,
///         _: &ResourceVersion,
///         _: Origin,
///         _: Option<MissedEvents>,
///     ) -> Result<(), Self::Error> {
///         objects.iter().try_for_each(|object| self.write(object))
///     }
///     fn bookmark(&self, _: &ResourceVersion) {}
///     fn resync(&self) -> Result<(), Self::Error> {
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), kdelta::listwatch::Error> {
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let names = Arc::new(Names::default());
/// Reflector::new(source, Arc::clone(&names), ReflectorOptions::default()).list_once().await?;
/// assert_eq!(*names.0.lock().expect("no panic"), ["web"]);
/// # Ok(())
/// # }
/// ```
pub trait ReflectorStore: Send + Sync + 'static {
    /// The reason for which the store refused an object.
    type Error: Error + Send + Sync + 'static;

    /// Waits until there is room for one more event. The reflector awaits this before it reads the next frame, so that a slow
    /// consumer stops the reading from the socket.
    fn ready(&self) -> impl Future<Output = ()> + Send;

    /// Adds an object.
    ///
    /// # Errors
    /// The store refused the object.
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), Self::Error>;

    /// Updates an object.
    ///
    /// # Errors
    /// The store refused the object.
    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), Self::Error>;

    /// Deletes an object. `object` is its last state, with the version of the deletion.
    ///
    /// # Errors
    /// The store refused the object.
    fn delete(&self, object: Arc<Object>, origin: Origin) -> Result<(), Self::Error>;

    /// Begins a list. Objects that an earlier list passed to [`ReflectorStore::list_item`] without a final
    /// [`ReflectorStore::replace`] are no longer part of a list, but each of them was a valid state.
    ///
    /// With `may_be_unrelated`, the list may belong to another history than the stored state: the source was disconnected
    /// meanwhile, and a server that was restored from a backup assigns its versions again. In this list, equal versions do
    /// not mean equal states.
    fn list_begin(&self, origin: Origin, may_be_unrelated: bool);

    /// Receives one object of a list that is not complete. A store that delivers a list while it arrives takes the object;
    /// any other returns it, possibly as the equal object that it already holds, and receives it again with
    /// [`ReflectorStore::replace`].
    ///
    /// An initial state that arrives in a watch may change meanwhile: an object is then passed again in its newer state, and an
    /// object that was taken and deleted meanwhile is passed to [`ReflectorStore::delete`].
    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>>;

    /// Processes the objects that [`ReflectorStore::list_item`] took, because the next one is not there yet.
    fn flush(&self);

    /// Completes a list: the state at `version` is exactly `objects` and the objects that [`ReflectorStore::list_item`] took
    /// since [`ReflectorStore::list_begin`]. All other objects are deleted. `missed` is set if the list ends a loss of events.
    ///
    /// # Errors
    /// The store refused an object; nothing changed. The state is fetched again, beginning with
    /// [`ReflectorStore::list_begin`].
    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
        missed: Option<MissedEvents>,
    ) -> Result<(), Self::Error>;

    /// Delivers all stored objects again.
    ///
    /// # Errors
    /// The store failed.
    fn resync(&self) -> Result<(), Self::Error>;

    /// Notes that the source has sent everything up to this version.
    fn bookmark(&self, version: &ResourceVersion);
}
