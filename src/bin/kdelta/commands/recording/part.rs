//! The parts of recordings that the arguments select.

use anyhow::{Context, bail};
use jiff::Timestamp;
use kdelta::recording::{EntryFilter, Item, Moment, Recording, RecordingError};

use super::selected::Selected;
use super::types::named_types;
use crate::exit::Usage;
use crate::session::Coverage;
use crate::settings::{RecordingPart, RequestedMoment, UsageError};

/// A recording and its selected part.
pub(super) struct SelectedPart {
    pub(super) recording: Recording,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    pub(super) filter: EntryFilter,
}

impl SelectedPart {
    /// Whether the part has an object. A damaged part counts as one: it is an error when it is copied.
    ///
    /// # Errors
    /// The recording can't be read.
    pub(super) fn has_objects(&self) -> Result<bool, RecordingError> {
        let Self { recording, since, until, filter } = self;
        let mut items = recording.excerpt(*since, *until, filter.clone())?;
        Ok(items.any(|item| matches!(item, Err(_) | Ok((_, Item::Change { .. })))))
    }
}

/// Returns the selected part of each context.
///
/// # Errors
/// A recording can't be read, or has no such context, type or moment.
pub(super) fn selected_parts(
    part: &RecordingPart,
    contexts: &Selected<'_>,
) -> anyhow::Result<Vec<SelectedPart>> {
    let mut recordings = Vec::new();
    for (_, path) in contexts.paths(&part.dir)? {
        recordings.push(contexts.open(&path)?);
    }
    check_contexts(&recordings)?;
    let types = match part.types.as_slice() {
        [] => recordings.iter().map(|_| None).collect(),
        words => named_types(&recordings, words)?.into_iter().map(Some).collect::<Vec<_>>(),
    };
    let of_recording = |(recording, resources): (Recording, _)| {
        let (since, until) = range(&recording, part)?;
        let filter = EntryFilter { namespaces: namespaces(part), resources };
        Ok(SelectedPart { recording, since, until, filter })
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
fn namespaces(part: &RecordingPart) -> Option<Vec<String>> {
    let mut names = part.namespaces.clone()?;
    if !part.types.is_empty() {
        names.push(String::new());
    }
    Some(names)
}

/// The times at which a part begins and ends.
type Range = (Option<Timestamp>, Option<Timestamp>);

fn range(recording: &Recording, part: &RecordingPart) -> anyhow::Result<Range> {
    let coverage = Coverage::of(recording)?;
    let time = |flag: &str, requested: Option<RequestedMoment>| {
        let Some(requested) = requested else { return Ok(None) };
        anyhow::Ok(match coverage.moment(recording, flag, requested)? {
            Moment::Time(time) => Some(time),
            moment => Some(recording.state(moment)?.time().unwrap_or(coverage.beginning)),
        })
    };
    let (since, until) = (time("since", part.since)?, time("until", part.until)?);
    if let (Some(since), Some(until)) = (since, until)
        && until < since
    {
        return Err(UsageError::EmptyRange).context(Usage);
    }
    Ok((since, until))
}
