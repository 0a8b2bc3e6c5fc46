//! What the reflector writes to.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::object::{Object, Origin, ResourceVersion};

/// The subset of a store that the reflector uses (client-go: `ReflectorStore`): a queue, a plain store, or anything
/// that takes the states of one collection in order.
///
/// Calls come from one task, one after the other. An error about one object is reported and the reflector goes on: the
/// source is right, whatever the store thinks of it. One of a whole list has the source listed again, after a wait.
///
/// ```
/// # use std::sync::{Arc, Mutex};
/// # use kdelta::object::{Object, Origin, ResourceVersion};
/// # use kdelta::reflector::{Reflector, ReflectorOptions, ReflectorStore};
/// # use kdelta::testing::{FakeSource, pod};
/// /// Writes down every name that comes by, and keeps nothing.
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
    /// Why the store refused.
    type Error: Error + Send + Sync + 'static;

    /// Waits until there is room for one more event. The reflector awaits this before it reads the next frame, so a
    /// slow reader presses back to the socket.
    fn ready(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// An object is there.
    ///
    /// # Errors
    /// The store refused the object.
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), Self::Error>;

    /// An object changed.
    ///
    /// # Errors
    /// The store refused the object.
    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), Self::Error>;

    /// An object is gone; this is its last state, with the version of the deletion.
    ///
    /// # Errors
    /// The store refused the object.
    fn delete(&self, object: Arc<Object>, origin: Origin) -> Result<(), Self::Error>;

    /// A list begins; what an earlier list handed to [`ReflectorStore::list_item`] without a
    /// [`ReflectorStore::replace`] at its end is void as a list, though each of its items was true.
    fn list_begin(&self, _origin: Origin) {}

    /// The list that has just begun may be of another history than what is stored: since then the source was out of
    /// sight, and one that was restored from a backup gives its versions a second time. Of this list equal versions do
    /// not say that two states are equal. Whoever wraps a store hands this on.
    fn list_in_doubt(&self) {}

    /// One object of a list that is still coming in. A store that shows a list as it arrives takes the object; any
    /// other hands it back, possibly as the equal one it already holds, and gets it again with
    /// [`ReflectorStore::replace`].
    ///
    /// A state that comes through a watch may change on its way: the same object then comes again in its newer state,
    /// and one that was taken and left meanwhile comes as [`ReflectorStore::delete`].
    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        Some(object)
    }

    /// The source lets us wait for the next object of a list. A store that gathers what [`ReflectorStore::list_item`] took
    /// does something with it. Whoever wraps a store hands this on.
    fn flush(&self) {}

    /// The list is complete: what the store holds is exactly `objects` and what [`ReflectorStore::list_item`] took
    /// since [`ReflectorStore::list_begin`], at `version`. What it holds beyond is gone.
    ///
    /// # Errors
    /// The store refused an object; nothing changed. The whole state is fetched again, which begins with
    /// [`ReflectorStore::list_begin`].
    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
    ) -> Result<(), Self::Error>;

    /// What happened between these two versions was not seen; called right before the [`ReflectorStore::replace`] that
    /// makes up for it, and so again where that one was refused. `lasted` is the time since the loss was noticed.
    fn gap(&self, _from: &ResourceVersion, _to: &ResourceVersion, _lasted: Duration) {}

    /// Repeat to everybody what is stored.
    ///
    /// # Errors
    /// The store failed.
    fn resync(&self) -> Result<(), Self::Error>;

    /// The source told everything up to this version.
    fn bookmark(&self, _version: &ResourceVersion) {}
}
