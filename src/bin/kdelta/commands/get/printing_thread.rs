//! The printing of a long list on a thread of its own, while the following objects are received and parsed.

use std::io;
use std::mem;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle, available_parallelism};

use kdelta::object::Object;

/// The objects and the bytes that are passed on at once: a thread that is woken for each object would sleep and wake more
/// than it prints.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 256 * 1024;

/// The number of batches that may wait.
const BATCHES: usize = 1;

/// Prints an object.
type Print = Arc<dyn Fn(&Arc<Object>) + Send + Sync>;

/// Prints objects in their order. A short list is printed by the caller, when it flushes.
pub(super) struct PrintingThread {
    print: Print,
    batch: Vec<Arc<Object>>,
    bytes: usize,
    /// Started for the first batch of [`BATCH_BYTES`]. Smaller objects, such as rows, are printed faster than they could be
    /// passed on.
    thread: Option<RunningThread>,
    /// Whether a thread may be started: there is another processor, and the system has not refused one.
    may_start: bool,
}

struct RunningThread {
    /// Bounded: the caller waits while the output is slower than the list. The thread ends when this is dropped.
    batches: SyncSender<Vec<Arc<Object>>>,
    /// A std thread: it writes to the output, which blocks.
    thread: JoinHandle<()>,
}

impl PrintingThread {
    pub(super) fn new(print: impl Fn(&Arc<Object>) + Send + Sync + 'static) -> Self {
        Self {
            print: Arc::new(print),
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
            self.thread = RunningThread::start(Arc::clone(&self.print)).ok();
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
            None => batch.iter().for_each(|object| (self.print)(object)),
            // Without a receiver, the thread has panicked.
            Some(running) if running.batches.send(batch).is_err() => self.finish(),
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
    fn start(print: Print) -> io::Result<Self> {
        let (batches, received) = sync_channel::<Vec<Arc<Object>>>(BATCHES);
        let print_all = move || received.iter().flatten().for_each(|object| print(&object));
        Ok(Self { batches, thread: thread::Builder::new().spawn(print_all)? })
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

    use kdelta::object::{Ingest, TypeMeta};

    use super::*;

    fn object(name: usize, length: usize) -> Arc<Object> {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let json = format!(r#"{{"metadata":{{"name":"{name}"}},"x":"{}"}}"#, "x".repeat(length));
        Arc::new(Object::from_json(json.as_bytes(), &Ingest::of(type_meta)).expect("an object"))
    }

    fn printing() -> (PrintingThread, Arc<Mutex<Vec<String>>>) {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let out = Arc::clone(&printed);
        let print = move |object: &Arc<Object>| out.lock().expect("a lock").push(object.name().to_owned());
        (PrintingThread::new(print), printed)
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
            assert_eq!(*printed.lock().expect("a lock"), expected);
        }
    }

    #[test]
    fn short_list_is_printed_by_the_flush() {
        let (mut printing, printed) = printing();
        printing.push(object(1, 10));
        assert_eq!(printed.lock().expect("a lock").len(), 0);
        printing.flush();
        assert_eq!(printed.lock().expect("a lock").len(), 1);
        assert!(printing.thread.is_none());
    }

    #[test]
    fn panic_of_the_printer_reaches_the_caller() {
        let mut printing = PrintingThread::new(|_| panic!("no printer"));
        let pushed = AssertUnwindSafe(|| {
            (0..4 * BATCH).for_each(|name| printing.push(object(name, 10_000)));
            printing.finish();
        });
        assert!(catch_unwind(pushed).is_err());
    }
}
