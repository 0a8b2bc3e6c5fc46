//! The excerpts of recordings that the arguments of a tool select.

use anyhow::{Context, bail};
use jiff::Timestamp;
use kdelta::recording::{EntryFilter, Item, Moment, Recording, RecordingError};

use super::selected::Selected;
use super::types::named_types;
use crate::exit::Usage;
use crate::output::Messages;
use crate::session::Coverage;
use crate::settings::{RecordingExcerpt, UsageError};

/// A recording and the excerpt that is selected of it.
pub(super) struct SelectedExcerpt {
    pub(super) recording: Recording,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    pub(super) filter: EntryFilter,
}

impl SelectedExcerpt {
    /// Whether the excerpt has an object. A damaged part of the recording counts as one: it is an error when it is copied.
    ///
    /// # Errors
    /// The recording can't be read.
    pub(super) fn has_objects(&self) -> Result<bool, RecordingError> {
        let Self { recording, since, until, filter } = self;
        let mut items = recording.excerpt(*since, *until, filter.clone())?;
        Ok(items.any(|item| matches!(item, Err(_) | Ok((_, Item::Change { .. })))))
    }
}

/// Returns the excerpt of each context. One that begins before its recording is reported, and begins with it.
///
/// # Errors
/// A recording can't be read, or has no such context, type or moment.
pub(super) fn selected_excerpts(
    requested: &RecordingExcerpt,
    contexts: &Selected<'_>,
    messages: &Messages,
) -> anyhow::Result<Vec<SelectedExcerpt>> {
    let mut recordings = Vec::new();
    for (_, path) in contexts.paths(&requested.dir)? {
        recordings.push(contexts.open(&path)?);
    }
    check_contexts(&recordings)?;
    let types = match requested.types.as_slice() {
        [] => recordings.iter().map(|_| None).collect(),
        words => named_types(&recordings, words)?.into_iter().map(Some).collect::<Vec<_>>(),
    };
    let of_recording = |(recording, resources): (Recording, _)| {
        let (since, until) = range(&recording, requested, messages)?;
        let filter = EntryFilter { namespaces: namespaces(requested), resources };
        Ok(SelectedExcerpt { recording, since, until, filter })
    };
    recordings.into_iter().zip(types).map(of_recording).collect()
}

/// Rejects several recordings of a context: they would be mixed.
fn check_contexts(recordings: &[Recording]) -> anyhow::Result<()> {
    for (number, recording) in recordings.iter().enumerate() {
        let context = recording.context();
        if let Some(earlier) = recordings[..number].iter().find(|earlier| earlier.context() == context) {
            bail!(
                "{} and {} are recordings of the same context {context:?}: merge them first, or select one with --context",
                earlier.path().display(),
                recording.path().display()
            );
        }
    }
    Ok(())
}

/// Returns the selected namespaces. Cluster-scoped objects, in the namespace "", are selected with them only if their
/// types are.
fn namespaces(requested: &RecordingExcerpt) -> Option<Vec<String>> {
    let mut names = requested.namespaces.clone()?;
    if !requested.types.is_empty() {
        names.push(String::new());
    }
    Some(names)
}

/// The times at which an excerpt begins and ends.
type Range = (Option<Timestamp>, Option<Timestamp>);

fn range(recording: &Recording, requested: &RecordingExcerpt, messages: &Messages) -> anyhow::Result<Range> {
    let coverage = Coverage::of(recording)?;
    let time = |moment| {
        anyhow::Ok(match moment {
            Moment::Time(time) => time,
            moment => recording.state(moment)?.time().unwrap_or(coverage.beginning),
        })
    };
    let since = match requested.since.map(|since| coverage.since(recording, since)).transpose()? {
        Some((_, Some(notice))) => {
            messages.warning(&notice);
            None
        }
        since => since.map(|(moment, _)| time(moment)).transpose()?,
    };
    let until = requested.until.map(|until| time(coverage.moment(recording, "until", until)?)).transpose()?;
    if let (Some(since), Some(until)) = (since, until)
        && until < since
    {
        return Err(UsageError::EmptyRange).context(Usage);
    }
    Ok((since, until))
}
