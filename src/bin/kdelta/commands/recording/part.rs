//! The parts of recordings that the arguments select.

use anyhow::bail;
use jiff::Timestamp;
use kdelta::recording::{EntryFilter, Moment, Recording};

use super::types::named_types;
use crate::session::selected_recordings;
use crate::settings::{Contexts, RecordingPart, RequestedMoment};

/// A recording and its selected part.
pub(super) struct SelectedPart {
    pub(super) recording: Recording,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    pub(super) filter: EntryFilter,
}

/// Returns the selected part of each context.
///
/// # Errors
/// A recording can't be read, or has no such context, type or moment.
pub(super) fn selected_parts(part: &RecordingPart, contexts: &Contexts) -> anyhow::Result<Vec<SelectedPart>> {
    let mut recordings = Vec::new();
    for (_, path) in selected_recordings(&part.dir, contexts)? {
        recordings.push(Recording::open(&path)?);
    }
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
    let (Some(beginning), Some(end)) = (recording.beginning(), recording.end()) else {
        bail!("the recording of the context {:?} is empty", recording.context());
    };
    let time = |flag: &str, moment: Option<RequestedMoment>| {
        let Some(moment) = moment else { return Ok(None) };
        let time = match moment {
            RequestedMoment::Version(version) => recording.state(Moment::Version(version))?.time(),
            moment => moment.time(end),
        };
        let time = time.unwrap_or(beginning);
        if time < beginning || end < time {
            let context = recording.context();
            bail!(
                "--{flag} is {time}, and the recording of the context {context:?} is from {beginning} to {end}"
            );
        }
        Ok(Some(time))
    };
    let (since, until) = (time("since", part.since)?, time("until", part.until)?);
    if let (Some(since), Some(until)) = (since, until)
        && until < since
    {
        bail!("--until is {until}, which is before --since, {since}");
    }
    Ok((since, until))
}
