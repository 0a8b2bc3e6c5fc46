//! Where the objects of a `get` go: into one listing, whichever part they are of.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use kdelta::object::{Key, Object, Origin, ResourceVersion};
use kdelta::reflector::ReflectorStore;
use kdelta::store::StoreError;
use tokio::sync::Notify;

use crate::output::Listing;
use crate::session::Part;
use crate::view::Age;

/// The listing, shared between the command and the sink of its reflector.
pub(super) struct Printer<W> {
    /// A std mutex: held for the writing of one object, never across an await, and used by one task at a time.
    state: Mutex<State<W>>,
    /// Wakes who waits for a list that nobody reads any more.
    failed: Notify,
}

struct State<W> {
    /// Taken when it is finished.
    listing: Option<Listing>,
    now: Timestamp,
    printed: usize,
    error: Option<io::Error>,
    out: W,
}

impl<W: Write> Printer<W> {
    pub(super) fn new(listing: Listing, out: W) -> Self {
        let state = State { listing: Some(listing), now: Timestamp::now(), printed: 0, error: None, out };
        Self { state: Mutex::new(state), failed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an object; the first error is kept and nothing is written after it.
    pub(super) fn object(&self, part: &Part, object: &Object) {
        let mut state = self.lock();
        let State { listing, now, printed, error, out } = &mut *state;
        let (Some(listing), None) = (listing, &error) else { return };
        *printed += 1;
        if let Err(failure) =
            listing.item(object, &part.resource, &part.context, Age::AsSent { now: *now }, out)
        {
            *error = Some(failure);
            self.failed.notify_one();
        }
    }

    /// Is done when nothing is written any more.
    pub(super) async fn failed(&self) {
        self.failed.notified().await;
    }

    /// Writes nothing any more.
    fn fail(&self, failure: io::Error) {
        self.lock().error.get_or_insert(failure);
        self.failed.notify_one();
    }

    /// The error that ended the writing.
    pub(super) fn check(&self) -> io::Result<()> {
        self.lock().error.take().map_or(Ok(()), Err)
    }

    /// Writes what is left and answers how many objects there were. After a failure an empty list is not written: it
    /// would say that there is nothing.
    pub(super) fn finish(&self, complete: bool) -> io::Result<usize> {
        let mut state = self.lock();
        let State { listing, printed, out, .. } = &mut *state;
        if let Some(listing) = listing.take().filter(|_| complete || *printed > 0) {
            listing.finish(out)?;
        }
        Ok(*printed)
    }
}

/// A store that keeps nothing: each object of the list is printed as it arrives.
pub(super) struct Sink<W> {
    printer: Arc<Printer<W>>,
    part: Part,
    /// A std mutex: held for a look, by one task.
    progress: Mutex<Progress>,
}

impl<W> Sink<W> {
    pub(super) fn new(printer: Arc<Printer<W>>, part: Part) -> Self {
        Self { printer, part, progress: Mutex::default() }
    }
}

/// How far a list is printed. One whose continue token expired begins anew, and what has been printed must not be
/// printed again. Servers list by key; so the last key is all there is to remember, and what is printed is one state up
/// to that key and a later one behind it, as of a list that a server continues in spite of the token.
#[derive(Default)]
struct Progress {
    /// The key that was printed last.
    last: Option<Key>,
    /// A key came out of order.
    is_unordered: bool,
    /// Up to this key all was printed before the list began anew.
    printed: Option<Key>,
}

impl Progress {
    /// The list begins, or begins anew.
    ///
    /// # Errors
    /// What was printed can't be told from the rest.
    fn begin(&mut self) -> io::Result<()> {
        if self.is_unordered {
            let problem = "the list expired on its way, and comes in no order to go on in: ask for all of it at once with --chunk-size 0";
            return Err(io::Error::other(problem));
        }
        self.printed.clone_from(&self.last);
        Ok(())
    }

    /// Whether this one is to be printed.
    fn is_new(&mut self, key: &Key) -> bool {
        if self.printed.as_ref().is_some_and(|printed| key <= printed) {
            return false;
        }
        self.is_unordered |= self.last.as_ref().is_some_and(|last| key <= last);
        self.last = Some(Arc::clone(key));
        true
    }
}

impl<W: Write + Send + 'static> ReflectorStore for Sink<W> {
    type Error = StoreError;

    fn list_begin(&self, _origin: Origin) {
        let begun = self.progress.lock().unwrap_or_else(PoisonError::into_inner).begin();
        if let Err(failure) = begun {
            self.printer.fail(failure);
        }
    }

    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        if self.progress.lock().unwrap_or_else(PoisonError::into_inner).is_new(object.key()) {
            self.printer.object(&self.part, &object);
        }
        None
    }

    fn add(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        self.printer.object(&self.part, &object);
        Ok(())
    }

    fn update(&self, _object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Ok(())
    }

    fn delete(&self, _object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Ok(())
    }

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        _version: &ResourceVersion,
        _origin: Origin,
    ) -> Result<(), StoreError> {
        for object in &objects {
            self.printer.object(&self.part, object);
        }
        Ok(())
    }

    fn resync(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed of lists that begin one after the other, each anew.
    fn printed(lists: &[&[&str]]) -> io::Result<String> {
        let mut progress = Progress::default();
        let mut printed: Vec<&str> = Vec::new();
        for list in lists {
            progress.begin()?;
            printed.extend(list.iter().copied().filter(|key| progress.is_new(&Arc::from(*key))));
        }
        Ok(printed.join(" "))
    }

    #[test]
    fn a_list_that_begins_anew_goes_on_behind_what_was_printed() {
        let lists: [&[&str]; 3] = [&["a/x", "a/y"], &["a/x", "a/xx", "a/z"], &["a/z", "b/a"]];
        assert_eq!(printed(&lists).expect("in order"), "a/x a/y a/z b/a");
        assert_eq!(printed(&[&[], &["b", "a"]]).expect("it came to an end"), "b a");
        let error = printed(&[&["b", "a"], &["a", "b", "c"]]).expect_err("who knows which");
        assert!(error.to_string().contains("--chunk-size 0"), "{error}");
    }
}
