//! A recording that is open for reading.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::audit::verify;
use super::catalog::Catalog;
use super::entries::Entries;
use super::gaps::LostWatch;
use super::history::Versions;
use super::state::State;
use crate::object::ApiResource;
use crate::recording::encryption::{KEY_FILE, Keyring, RecordingId};
use crate::recording::entry::{Entry, EntryFilter, Gap, Item, Moment, Unobserved};
use crate::recording::error::{Damage, RecordingError};
use crate::recording::journal::Outline;
use crate::recording::usage::Usage;

/// A recording that is open for reading. Any number of readers may read while a writer writes.
///
/// It shows the entries that existed when it was opened or [refreshed](Self::refresh). Opening reads the headers of few
/// files, and the bytes of the newest entries, which are decoded when they are needed or [ahead](Self::read_ahead). Clones share
/// what was decoded.
#[derive(Debug, Clone)]
pub struct Recording {
    catalog: Arc<Catalog>,
}

impl Recording {
    /// Opens the recording of one context, in its own directory.
    ///
    /// # Errors
    /// [`RecordingError`] when the directory has no recording that can be read, or an encrypted one.
    pub fn open(dir: &Path) -> Result<Self, RecordingError> {
        Self::open_with(dir, &Keyring::default())
    }

    /// Opens the recording of one context, which may be encrypted.
    ///
    /// # Errors
    /// [`RecordingError::Encrypted`] and [`RecordingError::Key`] when the keyring can't open it, and others when the
    /// directory has no recording that can be read.
    pub fn open_with(dir: &Path, keyring: &Keyring) -> Result<Self, RecordingError> {
        let cipher = keyring.cipher_of(dir)?;
        Ok(Self { catalog: Arc::new(Catalog::list(dir, cipher.as_ref(), None)?) })
    }

    /// Begins to decode the newest entries on another thread, while the caller reads others.
    ///
    /// Their texts are not kept in memory if a state at this moment does not need them: the first use of them decompresses them
    /// again.
    pub fn read_ahead(&self, moment: Moment) {
        let time = if let Moment::Time(time) = moment { Some(time) } else { None };
        self.catalog.decode_journals(time);
    }

    /// Returns whether the recording is encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.catalog.cipher.is_some()
    }

    /// Reads the entries that were appended since the recording was opened or refreshed, and returns whether there
    /// are any.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read.
    pub fn refresh(&mut self) -> Result<bool, RecordingError> {
        let catalog = self.catalog.list_again()?;
        let end = |catalog: &Catalog| catalog.end().map_err(|error| catalog.error(error));
        let is_longer = end(&catalog)? > end(&self.catalog)?;
        self.catalog = Arc::new(catalog);
        Ok(is_longer)
    }

    /// Returns the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.catalog.dir
    }

    /// Returns the kubeconfig context.
    #[must_use]
    pub fn context(&self) -> &str {
        &self.catalog.context
    }

    /// Returns the time of the first complete state: that of the first entry, or of the oldest keyframe if older
    /// entries were dropped.
    #[must_use]
    pub fn beginning(&self) -> Option<Timestamp> {
        self.catalog.beginning()
    }

    /// Returns the time of the last entry.
    #[must_use]
    pub fn end(&self) -> Option<Timestamp> {
        self.catalog.end_time()
    }

    /// Returns whether a time is in the recording, both ends included. Faster than a comparison with
    /// [`Recording::end`] if the time is before the newest entries.
    #[must_use]
    pub fn includes(&self, time: Timestamp) -> bool {
        self.catalog.includes(time)
    }

    /// Returns every recorded resource, sorted by group and name. Those of damaged files may be missing:
    /// [`Recording::check_tables`] reports damage.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read.
    pub fn resources(&self) -> Result<Vec<Arc<ApiResource>>, RecordingError> {
        self.read(|catalog| catalog.resources().map_err(|error| catalog.error(error)))
    }

    /// Returns the resources that the last sealed segment and the last keyframe name, sorted by group and name, without
    /// waiting for the journal. Those of damaged files are missing.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read.
    pub fn recent_resources(&self) -> Result<Vec<Arc<ApiResource>>, RecordingError> {
        self.read(|catalog| catalog.recent_resources().map_err(|error| catalog.error(error)))
    }

    /// Reads the tables of all files, to explain why a resource or a time is missing.
    ///
    /// # Errors
    /// [`RecordingError`] when a file can't be read or is damaged.
    pub fn check_tables(&self) -> Result<(), RecordingError> {
        self.read(|catalog| catalog.check_tables().map_err(|error| catalog.error(error)))
    }

    /// Returns the state at a moment. Its objects are read when they are requested. A time after the last entry
    /// selects the end.
    ///
    /// # Errors
    /// [`RecordingError::BeforeBeginning`], and others when the files can't be read or are damaged.
    pub fn state(&self, moment: Moment) -> Result<State, RecordingError> {
        self.read(|catalog| State::at(catalog, moment))
    }

    /// Returns the first of the gaps that a time lies in.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn gap_at(&self, time: Timestamp) -> Result<Option<Gap>, RecordingError> {
        let gaps = self.read(|catalog| catalog.gaps_at(time).map_err(|error| catalog.error(error)))?;
        Ok(gaps.into_iter().next())
    }

    /// Returns the reasons why the state at a time may not be that of the server. The end of the recording lies in the gaps
    /// that last until then.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn unobserved_at(&self, time: Timestamp) -> Result<Unobserved, RecordingError> {
        self.read(|catalog| catalog.unobserved_at(time).map_err(|error| catalog.error(error)))
    }

    /// Returns the reasons why the state at a version may not be that of the server: the gaps in which the changes at the
    /// version were missed.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn unobserved_at_version(&self, version: u64) -> Result<Unobserved, RecordingError> {
        self.read(|catalog| catalog.unobserved_at_version(version).map_err(|error| catalog.error(error)))
    }

    /// Returns the gaps of some length, in the order of their ends.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn gaps(&self) -> Result<Vec<Gap>, RecordingError> {
        self.read(|catalog| catalog.gaps().map_err(|error| catalog.error(error)))
    }

    /// Returns the gaps that the parts without damage show, in the order of their ends.
    pub(in crate::recording) fn readable_gaps(&self) -> Result<Vec<Gap>, RecordingError> {
        self.read(|catalog| catalog.readable_gaps().map_err(|error| catalog.error(error)))
    }

    /// Returns the watches that had run once and did not run at a time, as far as the parts without damage show.
    pub(in crate::recording) fn lost_watches(
        &self,
        time: Timestamp,
    ) -> Result<Vec<LostWatch>, RecordingError> {
        self.read(|catalog| {
            let number = catalog.number_after(time)?;
            catalog.lost_watches(number).map_err(|error| catalog.error(error))
        })
    }

    /// Returns all marks and bookmarks, in order.
    pub(in crate::recording) fn marks(&self) -> Result<Vec<Item>, RecordingError> {
        self.catalog.marks().map_err(|error| self.catalog.error(error))
    }

    /// Returns whether the recording begins with a state, because older entries were dropped.
    pub(in crate::recording) fn begins_with_state(&self) -> bool {
        self.catalog.start() > 0
    }

    /// Returns the entries received in a range of time, both ends included, in recorded order.
    ///
    /// After a damaged part the iterator returns one error and continues at the next keyframe.
    ///
    /// # Errors
    /// [`RecordingError`] when the files of the range can't be found.
    pub fn entries(
        &self,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        filter: EntryFilter,
    ) -> Result<Entries, RecordingError> {
        let (catalog, range) =
            self.read(|catalog| Ok((Arc::clone(catalog), catalog.entries_between(since, until)?)))?;
        Ok(Entries::new(catalog, filter, range.start, range.end))
    }

    /// Returns the changes of one object in order, including deletions and re-creations.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read, or a part that may have changes of the object is damaged.
    pub fn history(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> Result<Vec<Entry>, RecordingError> {
        self.versions(resource, namespace, name).collect()
    }

    /// Returns the changes of one object as [`Recording::history`] does, while they are read. A damaged part yields
    /// one error, after which the versions continue at the next keyframe.
    #[must_use]
    pub fn versions(&self, resource: &ApiResource, namespace: &str, name: &str) -> Versions {
        Versions::of(&self.catalog, resource, namespace, name)
    }

    /// Reads from the listed files. If a writer has dropped one meanwhile, lists the files again and retries once.
    pub(super) fn read<T>(
        &self,
        read: impl Fn(&Arc<Catalog>) -> Result<T, RecordingError>,
    ) -> Result<T, RecordingError> {
        match read(&self.catalog) {
            Err(RecordingError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let listed = self.catalog.list_again()?;
                read(&Arc::new(listed))
            }
            result => result,
        }
    }

    /// Returns sizes and counts.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn usage(&self) -> Result<Usage, RecordingError> {
        self.read(|catalog| catalog.usage().map_err(|error| catalog.error(error)))
    }

    /// Verifies every checksum and decodes every version, and returns the damaged parts.
    ///
    /// # Errors
    /// [`RecordingError::Io`] when the files can't be read.
    pub fn verify(&self) -> Result<Vec<Damage>, RecordingError> {
        let mut damages = Vec::new();
        for journal in self.catalog.journals() {
            let Outline { torn: (from, to), has_damaged_header, .. } = *journal.outline();
            if from < to {
                let what = format!("{} bytes after the last complete part", to - from);
                damages.push(self.catalog.damage(journal.path().to_owned(), from, what));
            }
            if has_damaged_header {
                let what = "one of the two copies of the header differs".to_owned();
                damages.push(self.catalog.damage(journal.path().to_owned(), 0, what));
            }
        }
        damages.extend(self.damaged_key_file()?);
        verify(&self.catalog, &mut damages)?;
        Ok(damages)
    }

    /// Compares the key file of an encrypted recording with the id of the recording, which is its hash.
    fn damaged_key_file(&self) -> Result<Option<Damage>, RecordingError> {
        let Some(cipher) = &self.catalog.cipher else { return Ok(None) };
        let file = self.catalog.dir.join(KEY_FILE);
        let what = match fs::read(&file) {
            Ok(bytes) if RecordingId::of_key_file(&bytes) == cipher.id() => return Ok(None),
            Ok(_) => "it was changed, so that identities can't open the recording",
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                "it is missing, so that identities can't open the recording"
            }
            Err(source) => return Err(RecordingError::Io { path: file, source }),
        };
        Ok(Some(Damage { file, offset: 0, what: what.to_owned(), from: None, until: None }))
    }
}
