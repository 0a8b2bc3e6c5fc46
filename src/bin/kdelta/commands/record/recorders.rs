//! The recordings of all contexts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use anyhow::Context;
use bytes::Bytes;
use jiff::Timestamp;
use kdelta::recording::{Encryption, Keyring, RECIPIENTS_SELECTOR, Writer, WriterOptions};
use tokio::sync::Notify;

use super::documents::DocumentSink;
use super::failure;
use super::message::Message;
use super::progress::Figures;
use super::recorder::Recorder;
use super::recorder_thread::RecorderOptions;
use super::selectors;
use super::served_metrics::RecordedContext;
use crate::commands::Reporter;
use crate::commands::watch::KnownStates;
use crate::session::{Cluster, KnownState, Part, Session};
use crate::settings::Record;
use crate::view::counted;

/// The recordings by the position of their cluster in the session.
pub(super) struct Recorders {
    recorders: BTreeMap<usize, Recorder>,
    /// Notified when a recorder ends with an error. It stores one permit, so that a late caller sees it.
    failed: Arc<Notify>,
}

impl Recorders {
    /// Opens the recordings of all usable contexts.
    ///
    /// # Errors
    /// A directory is locked, covers other objects, or can't be read or written.
    pub(super) fn open(
        session: &Session,
        record: &Record,
        encryption: Option<(Encryption, Vec<String>)>,
        reporter: &Reporter,
    ) -> anyhow::Result<Self> {
        let failed = Arc::new(Notify::new());
        let mut all = record.selectors.clone();
        let encryption = encryption.map(|(encryption, recipients)| {
            all.insert(RECIPIENTS_SELECTOR.to_owned(), recipients);
            encryption
        });
        let files = RecordedFiles { record, selectors: all, encryption, keyring: session.keyring() };
        let open = |cluster: &Cluster| Ok((cluster.index(), open(cluster, &files, reporter, &failed)?));
        let recorders = session.clusters().map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self { recorders, failed })
    }

    /// Returns the shared states of the recordings, by the names of their contexts.
    pub(super) fn states(&self, session: &Session) -> Vec<RecordedContext> {
        let of = |cluster: &Cluster| {
            let recorder = self.recorders.get(&cluster.index())?;
            Some((Arc::from(cluster.context()), recorder.state()))
        };
        session.clusters().filter_map(of).collect()
    }

    /// Queues a message to the recording of a cluster.
    pub(super) fn send(&self, cluster: usize, message: Message) {
        if let Some(recorder) = self.recorders.get(&cluster) {
            recorder.send(message);
        }
    }

    /// Waits until there is room for more messages to all recordings. Cancel safe.
    pub(super) async fn ready(&self) {
        for recorder in self.recorders.values() {
            recorder.ready().await;
        }
    }

    /// Waits until a recorder ends with an error.
    pub(super) async fn failed(&self) {
        self.failed.notified().await;
    }

    /// Returns the line that shows the progress.
    pub(super) fn progress(&self) -> String {
        let all = self.recorders.values().map(Recorder::figures);
        all.reduce(Figures::and).unwrap_or_default().line(Timestamp::now())
    }

    /// Ends all recordings, and reports what each has recorded.
    ///
    /// # Errors
    /// A file can't be written. The other recordings are complete.
    pub(super) async fn finish(self, reporter: &Reporter) -> anyhow::Result<()> {
        let mut finished = Ok(());
        for recorder in self.recorders.into_values() {
            // It waits for files, for up to seconds.
            match tokio::task::spawn_blocking(move || recorder.finish()).await? {
                Ok((dir, figures)) => {
                    reporter.messages().notice(&format!("recorded in {}: {figures}", dir.display()));
                }
                Err(error) => finished = finished.and(Err(failure::of_recording(error))),
            }
        }
        finished
    }
}

/// The flags of the files of all recordings.
struct RecordedFiles<'a> {
    record: &'a Record,
    /// The selectors, with the recipients.
    selectors: BTreeMap<String, Vec<String>>,
    encryption: Option<Encryption>,
    keyring: &'a Keyring,
}

/// Opens the recording of a cluster.
fn open(
    cluster: &Cluster,
    files: &RecordedFiles<'_>,
    reporter: &Reporter,
    failed: &Arc<Notify>,
) -> anyhow::Result<Recorder> {
    let context = cluster.context();
    let RecordedFiles { record, selectors, encryption, keyring } = files;
    let dir = Writer::directory(&record.to, context);
    // A scoped std thread, because it reads files. Their tables are freed with it, apart from the memory of this thread.
    let check = || selectors::check(&dir, selectors, keyring);
    let checked = thread::scope(|scope| scope.spawn(check).join());
    let since = checked.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let options = WriterOptions::default().keep(record.keep).max_size(record.max_size);
    let writer = Writer::open_with(&dir, context, options, encryption.as_ref(), Timestamp::now());
    let mut writer = writer.map_err(failure::of_recording)?;
    report_cut(&dir, writer.torn_bytes(), reporter);
    if since.is_none() {
        selectors::write(&mut writer, selectors).map_err(failure::of_recording)?;
    }
    let options = RecorderOptions { continues: !record.until.synced, since };
    let started = Recorder::start(writer, dir, options, reporter, failed);
    started.context("the thread of the recording can't be started")
}

fn report_cut(dir: &Path, bytes: u64, reporter: &Reporter) {
    if bytes > 0 {
        reporter.messages().notice(&format!(
            "{}: the last recorder did not end: {} of an incomplete write are cut",
            dir.display(),
            counted(bytes, "byte")
        ));
    }
}

impl DocumentSink for Recorders {
    fn document(&self, cluster: usize, path: &str, body: &Bytes) {
        self.send(cluster, Message::Document(path.into(), body.clone(), Timestamp::now()));
    }
}

/// The recorded state, from which a part continues.
impl KnownStates for Recorders {
    fn known_state(&self, part: &Part) -> Option<KnownState> {
        let recorder = self.recorders.get(&part.cluster)?;
        let (response, known) = mpsc::sync_channel(1);
        recorder.send(Message::Known(part.clone(), response));
        // Blocks until the thread has handled the messages before this one, which takes at most as long as a flush. Fails
        // if the thread has ended.
        known.recv().ok()?
    }
}
