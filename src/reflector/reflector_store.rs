//! The trait of the stores that a reflector writes to.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::object::{Object, Origin, ResourceVersion};

/// The subset of a store that the reflector uses (client-go: `ReflectorStore`): a queue, a plain store, or anything
/// that accepts the states of one collection in order.
///
/// The reflector calls it from one task, one call after the other. An error about one object is reported, and the reflector
/// continues; after an error about a whole list the source is listed again, after a wait.
///
/// ```
/// # use std::sync::{Arc, Mutex};
/// # use kdelta::object::{Object, Origin, ResourceVersion};
/// # use kdelta::reflector::{Reflector, ReflectorOptions, ReflectorStore};
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
///     fn add(&self, object: Arc<Object>, _: Origin) -> Result<(), Self::Error> {
///         self.write(&object)
///     }
///     fn update(&self, object: Arc<Object>, _: Origin) -> Result<(), Self::Error> {
///         self.write(&object)
///     }
///     fn delete(&self, object: Arc<Object>, _: Origin) -> Result<(), Self::Error> {
///         self.write(&object)
///     }
///     fn replace(&self, objects: Vec<Arc<Object>>, _: &ResourceVersion, _: Origin) -> Result<(), Self::Error> {
///         objects.iter().try_for_each(|object| self.write(object))
///     }
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
    fn ready(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

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
    fn list_begin(&self, _origin: Origin) {}

    /// Notes that the list that has just begun may belong to another history than the stored state: the source was
    /// disconnected meanwhile, and a server that was restored from a backup assigns its versions again. In this list, equal
    /// versions do not mean equal states. A store that wraps another one must forward this call.
    fn list_may_be_unrelated(&self) {}

    /// Receives one object of a list that is not complete. A store that delivers a list while it arrives takes the object;
    /// any other returns it, possibly as the equal object that it already holds, and receives it again with
    /// [`ReflectorStore::replace`].
    ///
    /// An initial state that arrives in a watch may change meanwhile: an object is then passed again in its newer state, and an
    /// object that was taken and deleted meanwhile is passed to [`ReflectorStore::delete`].
    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        Some(object)
    }

    /// Processes the objects that [`ReflectorStore::list_item`] took, because the next one is not there yet. A store that wraps
    /// another one must forward this call.
    fn flush(&self) {}

    /// Completes a list: the state at `version` is exactly `objects` and the objects that [`ReflectorStore::list_item`] took
    /// since [`ReflectorStore::list_begin`]. All other objects are deleted.
    ///
    /// # Errors
    /// The store refused an object; nothing changed. The state is fetched again, beginning with
    /// [`ReflectorStore::list_begin`].
    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
    ) -> Result<(), Self::Error>;

    /// Notes that the events between the two versions were missed. Called right before the [`ReflectorStore::replace`] that
    /// contains their result, and again if that one was refused. `lasted` is the time since the loss was noticed.
    fn gap(&self, _from: &ResourceVersion, _to: &ResourceVersion, _lasted: Duration) {}

    /// Delivers all stored objects again.
    ///
    /// # Errors
    /// The store failed.
    fn resync(&self) -> Result<(), Self::Error>;

    /// Notes that the source has sent everything up to this version.
    fn bookmark(&self, _version: &ResourceVersion) {}
}
