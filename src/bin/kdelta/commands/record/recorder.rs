//! The recording of one context: the thread that writes it, and its queue.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use kdelta::recording::{RecordingError, Writer};
use tokio::sync::Notify;

use super::message::Message;
use super::progress::Figures;
use super::recorder_thread::{RecorderOptions, RecorderThread};
use super::shared_state::SharedState;
use crate::commands::Reporter;

/// The thread of a recording and its queue.
pub(super) struct Recorder {
    pub(super) dir: PathBuf,
    /// The queue of the thread: a std channel, because the thread blocks on it. Unbounded, because a sink can't wait;
    /// [`Recorder::ready`] bounds it. Closed by [`Recorder::finish`], which ends the thread.
    sender: Sender<Message>,
    shared: Arc<SharedState>,
    /// A std thread, because it compresses and writes files. Ends with its queue, or with the first error.
    thread: JoinHandle<Result<(), RecordingError>>,
}

impl Recorder {
    /// Starts the thread of a writer. `failed` is notified when it ends with an error.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub(super) fn start(
        writer: Writer,
        dir: PathBuf,
        options: RecorderOptions,
        reporter: &Reporter,
        failed: &Arc<Notify>,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::new(SharedState::default());
        shared.set_figures(Figures::of(writer.statistics()));
        let running = RecorderThread::new(writer, receiver, Arc::clone(&shared), options, reporter.clone());
        let failed = Arc::clone(failed);
        let thread = thread::Builder::new().name("recorder".to_owned()).spawn(move || {
            let ended = running.run();
            if ended.is_err() {
                failed.notify_one();
            }
            ended
        })?;
        Ok(Self { dir, sender, shared, thread })
    }

    /// Queues a message. After an error of the thread it is dropped.
    pub(super) fn send(&self, message: Message) {
        self.shared.queued(message.weight());
        // Only fails if the thread has ended with an error, which ends the command.
        let _ = self.sender.send(message);
    }

    /// Waits until there is room for more messages. Cancel safe.
    pub(super) async fn ready(&self) {
        self.shared.ready().await;
    }

    /// Returns the state that the thread shares.
    pub(super) fn state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }

    /// Returns the figures of the last flush.
    pub(super) fn figures(&self) -> Figures {
        self.shared.figures()
    }

    /// Writes all queued messages, ends the recording, and returns its directory and its last figures.
    ///
    /// # Errors
    /// A file can't be written.
    pub(super) fn finish(self) -> Result<(PathBuf, Figures), RecordingError> {
        let Self { dir, sender, shared, thread } = self;
        drop(sender);
        match thread.join() {
            Ok(ended) => ended?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
        Ok((dir, shared.figures()))
    }
}
