//! The printing of a long list on a thread of its own, while the following objects are received and parsed. A caller that
//! is faster shares its work.

use std::io;
use std::mem;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle, available_parallelism};

use kdelta::object::Object;

/// The objects and the bytes that are passed on at once: a thread that is woken for each object would sleep and wake more
/// than it prints.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 128 * 1024;

/// The number of batches that may wait: enough for the thread while the caller writes the text of one.
const BATCHES: usize = 3;

/// Prints objects in their order.
pub(super) trait Printer: Send + Sync + 'static {
    /// Prints an object.
    fn print(&self, object: &Arc<Object>);

    /// Returns the text of objects, on any thread. `None` if it depends on other objects.
    fn text_of(&self, objects: &[Arc<Object>]) -> Option<Vec<u8>>;

    /// Prints the text of so many objects.
    fn print_text(&self, text: &[u8], objects: usize);
}

/// Objects that are passed on, in their order.
enum Batch {
    Objects(Vec<Arc<Object>>),
    /// The text of so many objects.
    Text(Vec<u8>, usize),
}

/// Prints objects in their order. A short list is printed by the caller, when it flushes.
pub(super) struct PrintingThread {
    printer: Arc<dyn Printer>,
    batch: Vec<Arc<Object>>,
    bytes: usize,
    /// Started for the first batch of [`BATCH_BYTES`] between two flushes: what arrives more slowly is printed at once.
    thread: Option<RunningThread>,
    /// Whether a thread may be started: there is another processor, and the system has not refused one.
    may_start: bool,
}

/// The thread has ended, by a panic.
struct ThreadEnded;

struct RunningThread {
    /// Bounded: the caller waits while the output is slower than the list. The thread ends when this is dropped.
    batches: SyncSender<Batch>,
    /// A std thread: it writes to the output, which blocks.
    thread: JoinHandle<()>,
}

impl PrintingThread {
    pub(super) fn new(printer: impl Printer) -> Self {
        Self {
            printer: Arc::new(printer),
            batch: Vec::new(),
            bytes: 0,
            thread: None,
            may_start: has_processors(),
        }
    }

    /// Adds an object, which is printed at the latest with the next flush.
    pub(super) fn push(&mut self, object: Arc<Object>) {
        self.bytes += object.weight();
        self.batch.push(object);
        let is_large = self.bytes >= BATCH_BYTES;
        if is_large && self.thread.is_none() && self.may_start {
            self.thread = RunningThread::start(Arc::clone(&self.printer)).ok();
            self.may_start = self.thread.is_some();
        }
        if is_large || self.batch.len() >= BATCH {
            self.flush();
        }
    }

    /// Prints the objects so far, or makes the thread print them soon.
    ///
    /// # Panics
    /// If the thread panicked.
    pub(super) fn flush(&mut self) {
        let batch = mem::take(&mut self.batch);
        self.bytes = 0;
        match &self.thread {
            _ if batch.is_empty() => {}
            None => batch.iter().for_each(|object| self.printer.print(object)),
            // Without a receiver, the thread has panicked.
            Some(running) if running.pass_on(batch, &*self.printer).is_err() => self.finish(),
            Some(_) => {}
        }
    }

    /// Waits until all objects are printed.
    ///
    /// # Panics
    /// If the thread panicked.
    pub(super) fn finish(&mut self) {
        self.flush();
        if let Some(Err(panic)) = self.thread.take().map(RunningThread::join) {
            resume_unwind(panic);
        }
    }
}

impl RunningThread {
    fn start(printer: Arc<dyn Printer>) -> io::Result<Self> {
        let (batches, received) = sync_channel::<Batch>(BATCHES);
        let print_all = move || {
            for batch in received {
                match batch {
                    Batch::Objects(objects) => objects.iter().for_each(|object| printer.print(object)),
                    Batch::Text(text, objects) => printer.print_text(&text, objects),
                }
            }
        };
        Ok(Self { batches, thread: thread::Builder::new().spawn(print_all)? })
    }

    /// Passes objects on; if the queue is full, as text that this thread writes.
    fn pass_on(&self, objects: Vec<Arc<Object>>, printer: &dyn Printer) -> Result<(), ThreadEnded> {
        let batch = match self.batches.try_send(Batch::Objects(objects)) {
            Err(TrySendError::Full(Batch::Objects(objects))) => match printer.text_of(&objects) {
                Some(text) => Batch::Text(text, objects.len()),
                None => Batch::Objects(objects),
            },
            Err(TrySendError::Full(batch)) => batch,
            Err(TrySendError::Disconnected(_)) => return Err(ThreadEnded),
            Ok(()) => return Ok(()),
        };
        self.batches.send(batch).map_err(|_| ThreadEnded)
    }

    /// Waits until the passed objects are printed.
    fn join(self) -> thread::Result<()> {
        drop(self.batches);
        self.thread.join()
    }
}

/// Returns whether two threads can run at once.
fn has_processors() -> bool {
    available_parallelism().map_or(1, NonZero::get) > 1
}

/// Waits for the thread. Objects that were not flushed are not printed.
impl Drop for PrintingThread {
    fn drop(&mut self) {
        // A panic was reported by the thread.
        let _ended = self.thread.take().map(RunningThread::join);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use kdelta::object::{Ingest, TypeMeta};

    use super::*;

    fn object(name: usize, length: usize) -> Arc<Object> {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let json = format!(r#"{{"metadata":{{"name":"{name}"}},"x":"{}"}}"#, "x".repeat(length));
        Arc::new(Object::from_json(json.as_bytes(), &Ingest::of(type_meta)).expect("an object"))
    }

    /// Keeps the names of printed objects.
    #[derive(Clone, Default)]
    struct Names {
        printed: Arc<Mutex<Vec<String>>>,
        /// The objects whose text the caller wrote.
        written_by_caller: Arc<AtomicUsize>,
    }

    impl Printer for Names {
        fn print(&self, object: &Arc<Object>) {
            self.printed.lock().expect("a lock").push(object.name().to_owned());
        }

        fn text_of(&self, objects: &[Arc<Object>]) -> Option<Vec<u8>> {
            self.written_by_caller.fetch_add(objects.len(), Ordering::Relaxed);
            let names: Vec<&str> = objects.iter().map(|object| object.name()).collect();
            Some(names.join("\n").into_bytes())
        }

        fn print_text(&self, text: &[u8], objects: usize) {
            let text = str::from_utf8(text).expect("text");
            assert_eq!(text.lines().count(), objects);
            self.printed.lock().expect("a lock").extend(text.lines().map(str::to_owned));
        }
    }

    /// Panics.
    struct Failing;

    impl Printer for Failing {
        fn print(&self, _: &Arc<Object>) {
            panic!("no printer");
        }

        fn text_of(&self, _: &[Arc<Object>]) -> Option<Vec<u8>> {
            None
        }

        fn print_text(&self, _: &[u8], _: usize) {}
    }

    fn printing() -> (PrintingThread, Names) {
        let names = Names::default();
        (PrintingThread::new(names.clone()), names)
    }

    #[test]
    fn objects_are_printed_in_order() {
        for (count, length) in [(0, 10), (1, 10), (BATCH - 1, 10), (10 * BATCH + 1, 10), (2 * BATCH, 10_000)]
        {
            let (mut printing, printed) = printing();
            (0..count).for_each(|name| printing.push(object(name, length)));
            assert!(length < 10_000 || printing.thread.is_some() || !has_processors());
            printing.finish();
            let expected: Vec<String> = (0..count).map(|name| name.to_string()).collect();
            assert_eq!(*printed.printed.lock().expect("a lock"), expected);
        }
    }

    #[test]
    fn caller_writes_texts_while_the_thread_is_behind() {
        let (mut printing, printed) = printing();
        // The thread waits for this lock.
        let lock = printed.printed.lock().expect("a lock");
        let count = 40 * (BATCHES + 3);
        let passed = thread::scope(|scope| {
            let pushing = scope.spawn(|| {
                (0..count).for_each(|name| printing.push(object(name, 10_000)));
                printing.finish();
            });
            while has_processors() && printed.written_by_caller.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
            drop(lock);
            pushing.join().is_ok()
        });
        let expected: Vec<String> = (0..count).map(|name| name.to_string()).collect();
        assert!(passed);
        assert_eq!(*printed.printed.lock().expect("a lock"), expected);
    }

    #[test]
    fn short_list_is_printed_by_the_flush() {
        let (mut printing, printed) = printing();
        printing.push(object(1, 10));
        assert_eq!(printed.printed.lock().expect("a lock").len(), 0);
        printing.flush();
        assert_eq!(*printed.printed.lock().expect("a lock"), ["1"]);
        assert!(printing.thread.is_none());
    }

    #[test]
    fn panic_of_the_printer_reaches_the_caller() {
        let mut printing = PrintingThread::new(Failing);
        let pushed = AssertUnwindSafe(|| {
            (0..4 * BATCH).for_each(|name| printing.push(object(name, 10_000)));
            printing.finish();
        });
        assert!(catch_unwind(pushed).is_err());
    }
}
