//! The output of a `get`: all parts write into one listing.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use kdelta::object::{Key, Object};
use tokio::sync::Notify;

use super::printing_thread::{Printer, PrintingThread};
use crate::commands::list_store::ListReceiver;
use crate::commands::reporter::Reporter;
use crate::output::{ItemFormat, ListedObject, OrderedListing, PrintError};
use crate::session::Part;
use crate::view::Age;

/// The listing, shared between the command and the sink of its reflector.
pub(super) struct ListingPrinter<W> {
    /// A std mutex: held while one object is written, never across an await, and used by one task at a time.
    state: Mutex<State<W>>,
    /// Wakes the command when writing fails.
    failed: Notify,
    /// The format of items that several threads write.
    item_format: Option<ItemFormat>,
}

struct State<W> {
    /// Taken by `finish`.
    listing: Option<OrderedListing>,
    now: Timestamp,
    printed: usize,
    /// Whether an expression failed on an object, which was reported.
    has_failures: bool,
    error: Option<PrintError>,
    reporter: Reporter,
    out: W,
}

impl<W: Write> ListingPrinter<W> {
    pub(super) fn new(listing: OrderedListing, now: Timestamp, reporter: &Reporter, out: W) -> Self {
        let item_format = listing.item_format();
        let state = State {
            listing: Some(listing),
            now,
            printed: 0,
            has_failures: false,
            error: None,
            reporter: reporter.clone(),
            out,
        };
        Self { state: Mutex::new(state), failed: Notify::new(), item_format }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an expression failed on an object.
    pub(super) fn has_failures(&self) -> bool {
        self.lock().has_failures
    }

    /// Writes an object. A failure on that object alone is reported. Any other error is kept and stops all writing.
    pub(super) fn object(&self, part: &Part, object: &Arc<Object>) {
        let mut state = self.lock();
        let State { listing, now, printed, has_failures, error, reporter, out } = &mut *state;
        let (Some(listing), None) = (listing, &error) else { return };
        *printed += 1;
        let age = Age::AsSent { now: *now };
        let item = ListedObject { object, resource: &part.resource, context: &part.context, age };
        match listing.item(item, out) {
            Ok(()) => {}
            Err(PrintError::Jq(failure)) if failure.is_of_object => {
                *has_failures = true;
                reporter.messages().error(&[format!("error: {failure}")], None);
            }
            Err(failure) => {
                *error = Some(failure);
                self.failed.notify_one();
            }
        }
    }

    /// Writes the text of objects in the format of items.
    fn text(&self, text: &[u8], objects: usize) {
        let mut state = self.lock();
        let State { listing, printed, error, out, .. } = &mut *state;
        let (Some(listing), None) = (listing, &error) else { return };
        *printed += objects;
        if let Err(failure) = listing.items(text, out) {
            *error = Some(failure.into());
            self.failed.notify_one();
        }
    }

    /// Records that the objects of a part were received, even if there are none.
    pub(super) fn listed(&self, part: &Part) {
        if let Some(listing) = &mut self.lock().listing {
            listing.listed(&part.resource);
        }
    }

    /// Completes when writing has failed.
    pub(super) async fn failed(&self) {
        self.failed.notified().await;
    }

    /// Records a failure and stops all writing.
    fn fail(&self, failure: io::Error) {
        self.lock().error.get_or_insert(failure.into());
        self.failed.notify_one();
    }

    /// Returns the error that stopped writing.
    pub(super) fn check(&self) -> Result<(), PrintError> {
        self.lock().error.take().map_or(Ok(()), Err)
    }

    /// Writes the rest and returns the number of objects. After a failure an empty list is not written: it would claim
    /// that there are no objects.
    pub(super) fn finish(&self, complete: bool) -> Result<usize, PrintError> {
        let mut state = self.lock();
        let State { listing, printed, out, .. } = &mut *state;
        if let Some(listing) = listing.take().filter(|_| complete || *printed > 0) {
            listing.finish(out)?;
        }
        Ok(*printed)
    }
}

/// Prints the objects of a part.
struct PartPrinter<W> {
    printer: Arc<ListingPrinter<W>>,
    part: Part,
}

impl<W: Write + Send + 'static> Printer for PartPrinter<W> {
    fn print(&self, object: &Arc<Object>) {
        self.printer.object(&self.part, object);
    }

    fn text_of(&self, objects: &[Arc<Object>]) -> Option<Vec<u8>> {
        Some(self.printer.item_format?.text_of(objects))
    }

    fn print_text(&self, text: &[u8], objects: usize) {
        self.printer.text(text, objects);
    }
}

/// Prints the listed objects of a part as they arrive.
pub(super) struct ListingSink<W> {
    printer: Arc<ListingPrinter<W>>,
    /// A std mutex: held for a check, by one task.
    progress: Mutex<Progress>,
    /// A std mutex: held while an object is passed on, by one task, which waits for the output.
    printing: Mutex<PrintingThread>,
}

impl<W: Write + Send + 'static> ListingSink<W> {
    pub(super) fn new(printer: Arc<ListingPrinter<W>>, part: Part) -> Self {
        let printing = PrintingThread::new(PartPrinter { printer: Arc::clone(&printer), part });
        Self { printer, progress: Mutex::default(), printing: Mutex::new(printing) }
    }

    /// Waits until all objects are printed.
    pub(super) fn finish(&self) {
        self.printing().finish();
    }

    fn printing(&self) -> MutexGuard<'_, PrintingThread> {
        self.printing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The progress of a list. A list whose continue token expired restarts, and printed objects must not be printed again.
/// Servers list by key, so the last key is enough to remember. The result is one state up to that key and a later state
/// after it, as with a list that a server continues despite the expired token.
#[derive(Default)]
struct Progress {
    /// The last printed key.
    last: Option<Key>,
    /// Whether a key arrived out of order.
    is_unordered: bool,
    /// The last key printed before the restart.
    printed: Option<Key>,
}

impl Progress {
    /// Starts or restarts the list.
    ///
    /// # Errors
    /// The printed objects can't be recognized, because the list is unordered.
    fn begin(&mut self) -> io::Result<()> {
        if self.is_unordered {
            let problem = "the list expired before its end and is unordered, so it can't continue: list everything at once with --chunk-size 0";
            return Err(io::Error::other(problem));
        }
        self.printed.clone_from(&self.last);
        Ok(())
    }

    /// Whether this object is not printed yet.
    fn is_new(&mut self, key: &Key) -> bool {
        if self.printed.as_ref().is_some_and(|printed| key <= printed) {
            return false;
        }
        self.is_unordered |= self.last.as_ref().is_some_and(|last| key <= last);
        self.last = Some(Arc::clone(key));
        true
    }
}

impl<W: Write + Send + 'static> ListReceiver for ListingSink<W> {
    fn begin(&self) {
        let result = self.progress.lock().unwrap_or_else(PoisonError::into_inner).begin();
        if let Err(failure) = result {
            self.finish();
            self.printer.fail(failure);
        }
    }

    fn listed(&self, object: Arc<Object>) {
        if self.progress.lock().unwrap_or_else(PoisonError::into_inner).is_new(object.key()) {
            self.printing().push(object);
        }
    }

    fn object(&self, object: Arc<Object>) {
        self.printing().push(object);
    }

    fn flush(&self) {
        self.printing().flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the keys printed for a list and its restarts.
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
    fn restarted_list_continues_after_printed_objects() {
        let lists: [&[&str]; 3] = [&["a/x", "a/y"], &["a/x", "a/xx", "a/z"], &["a/z", "b/a"]];
        assert_eq!(printed(&lists).expect("in order"), "a/x a/y a/z b/a");
        assert_eq!(printed(&[&[], &["b", "a"]]).expect("complete"), "b a");
        let error = printed(&[&["b", "a"], &["a", "b", "c"]]).expect_err("unordered");
        assert!(error.to_string().contains("--chunk-size 0"), "{error}");
    }
}
