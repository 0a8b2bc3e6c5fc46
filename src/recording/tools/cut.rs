//! Copies a part of a recording to a new one.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::new_recording::NewRecording;
use super::selectors::FurtherRedaction;
use crate::lines::Change;
use crate::recording::encryption::Encryption;
use crate::recording::entry::{EntryFilter, Item};
use crate::recording::error::RecordingError;
use crate::recording::reader::Recording;
use crate::recording::redaction::Redaction;

/// The part that [`cut`] copies.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct CutOptions {
    /// The time whose state is the beginning; `None` for that of the recording.
    pub since: Option<Timestamp>,
    /// The time of the last entry; `None` for that of the recording.
    pub until: Option<Timestamp>,
    /// The selected entries.
    pub filter: EntryFilter,
    /// The values that are not copied.
    pub redaction: Option<Arc<Redaction>>,
    /// The paths of the redaction, as the selectors of a recorder name them: a recorder that continues the copy must have them.
    pub redacted_paths: Vec<String>,
    /// The encryption of the copy; `None` for one that is not encrypted.
    pub encryption: Option<Encryption>,
}

setters!(CutOptions {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    filter: EntryFilter,
    redaction: Option<Arc<Redaction>>,
    redacted_paths: Vec<String>,
    encryption: Option<Encryption>,
});

/// Copies a part of a recording to a directory without a recording. The copy begins with the state at its
/// beginning, and its state at each later moment is that of the original. It covers the
/// observed time of the original, although the last entries before a recorder stopped may not be selected.
///
/// # Errors
/// [`RecordingError`] when the directory has a recording, when the range begins before the recording, when a part of the
/// range is damaged, or when files can't be read or written. Nothing of the copy is left then.
pub fn cut(recording: &Recording, dir: &Path, options: &CutOptions) -> Result<(), RecordingError> {
    let CutOptions { since, until, filter, redaction, redacted_paths, encryption } = options;
    let further = redaction.as_ref().map(|redaction| FurtherRedaction {
        secrets: redaction.treatment_of_secrets(),
        paths: redacted_paths.clone(),
    });
    let mut new = NewRecording::create(dir, recording.context(), encryption.as_ref())?;
    new.set_redaction(further);
    let mut excerpt = recording.excerpt(*since, *until, filter.clone())?;
    while let Some(item) = excerpt.next() {
        let (received, item) = item?;
        if let Item::Started = item
            && let Some(last) = excerpt.observed_before(received)
        {
            new.observe(last)?;
        }
        match (item, redaction) {
            (Item::Change { change, author }, Some(redaction)) => {
                let change = Change { object: redaction.object(&change.object), old: None, ..change };
                new.append(received, &Item::Change { change, author })?;
            }
            (item, _) => new.append(received, &item)?,
        }
    }
    if let Some(end) = excerpt.observed_until() {
        new.observe(end)?;
    }
    new.finish()
}
