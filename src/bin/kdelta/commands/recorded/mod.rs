//! The recordings of a session, and the ranges of time that commands read from them.

use std::sync::Arc;

use anyhow::{Context, bail};
use jiff::Timestamp;
use kdelta::lines::Change;
use kdelta::object::ApiResource;
use kdelta::recording::{Author, Gap, Recording};

use crate::exit::Usage;
use crate::session::{Coverage, Part, Session};
use crate::settings::Range;

/// A recording, and the range of it that a command reads.
pub(super) struct RecordedRange {
    pub(super) recording: Recording,
    /// `None` for the beginning of the recording.
    pub(super) since: Option<Timestamp>,
    /// `None` for its end.
    pub(super) until: Option<Timestamp>,
    /// The times in the range during which nothing was observed, in order.
    pub(super) gaps: Vec<Gap>,
}

impl RecordedRange {
    /// Opens the recording of a cluster. Without an end, the range ends at the moment of the session. A range that begins
    /// before the recording begins with it.
    ///
    /// # Errors
    /// The recording can't be read, or the range ends before it begins.
    pub(super) fn open(session: &Session, cluster: usize, range: &Range) -> anyhow::Result<Self> {
        let recording = session.recording(cluster)?.clone();
        let (since, until) = range.times(recording.end().unwrap_or_default()).context(Usage)?;
        let since = since.filter(|since| recording.beginning().is_none_or(|beginning| beginning <= *since));
        let until = until.or(session.requested_time(cluster));
        let mut gaps = recording.gaps()?;
        gaps.retain(|gap| {
            gap.from < gap.to
                && since.is_none_or(|since| since <= gap.to)
                && until.is_none_or(|until| gap.from <= until)
        });
        Ok(Self { recording, since, until, gaps })
    }

    /// Returns the first and the last time of the range. The session has checked that the recording has them.
    ///
    /// # Errors
    /// The recording is empty, or its files can't be read.
    pub(super) fn limits(&self) -> anyhow::Result<(Timestamp, Timestamp)> {
        let Coverage { beginning, end, .. } = Coverage::of(&self.recording)?;
        Ok((self.since.unwrap_or(beginning), self.until.unwrap_or(end)))
    }

    /// Whether a time is in the range.
    pub(super) fn includes(&self, time: Timestamp) -> bool {
        self.since.is_none_or(|since| since <= time) && self.until.is_none_or(|until| time <= until)
    }

    /// Returns the recorded versions of a resource: a type may have been recorded in several.
    ///
    /// # Errors
    /// The recording can't be read.
    pub(super) fn resources(&self, resource: &ApiResource) -> anyhow::Result<Vec<Arc<ApiResource>>> {
        let mut recorded = self.recording.resources()?;
        recorded.retain(|other| other.group == resource.group && other.resource == resource.resource);
        Ok(recorded)
    }

    /// Returns the recorded versions of a resource, at least one.
    ///
    /// # Errors
    /// There is none, or the recording can't be read.
    pub(super) fn required_resources(&self, resource: &ApiResource) -> anyhow::Result<Vec<Arc<ApiResource>>> {
        let recorded = self.resources(resource)?;
        if recorded.is_empty() {
            self.recording.check_tables()?;
            let all = self.recording.resources()?;
            let all: Vec<String> = all.iter().map(|resource| resource.group_resource()).collect();
            bail!("{} was not recorded: the recording has {}", resource.group_resource(), all.join(", "));
        }
        Ok(recorded)
    }

    /// Returns the gaps in which changes of a part may be missing.
    pub(super) fn gaps_of<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = &'a Gap> {
        self.gaps.iter().filter(|gap| {
            let is_of_type = gap.resource.as_ref().is_none_or(|resource| {
                resource.group == part.resource.group && resource.resource == part.resource.resource
            });
            let is_everywhere = gap.namespace.is_empty() || part.namespace.is_empty();
            let is_excepted = gap.except.contains(&part.namespace);
            is_of_type && !is_excepted && (is_everywhere || gap.namespace == part.namespace)
        })
    }
}

/// Returns a change whose object names the recorded author, as a live one does.
pub(super) fn authored(change: Change, author: Option<&Author>) -> Change {
    let Some(Author { manager, subresource }) = author else { return change };
    let object = Arc::new(change.object.with_author(manager, subresource));
    Change { object, ..change }
}
