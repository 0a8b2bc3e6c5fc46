//! Replays: the entries of recordings in a range of time, as the events of the parts of a watch.

mod entries;
mod pace;
mod replayed_part;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::lines::{Mark, MarkKind};
use kdelta::listwatch::Error;
use kdelta::object::{Origin, ResourceVersion};
use kdelta::queue;
use kdelta::recording::{Entry, Gap, Item, Moment, State};

use self::entries::MergedEntries;
use self::pace::Pace;
use self::replayed_part::ReplayedPart;
use super::recorded::{RecordedRange, authored};
use super::reporter::Reporter;
use super::watch::{PartSink, deadline};
use crate::output::PrintError;
use crate::session::{PlannedPart, Session};
use crate::settings::{Replay, Watch};

/// The entries of the recordings of a session, for the parts of a watch.
pub(super) struct RecordedWatch<'a> {
    reporter: &'a Reporter,
    /// The range of each recording, in the order of the clusters.
    ranges: Vec<RecordedRange>,
    parts: Vec<ReplayedPart>,
    entries: MergedEntries,
    pace: Pace,
    /// Whether something could not be read, which was reported.
    is_partial: bool,
}

impl<'a> RecordedWatch<'a> {
    /// The number of entries between two flushes.
    pub(super) const BATCH: usize = 256;

    /// Opens the recordings.
    ///
    /// # Errors
    /// A recording can't be read or has nothing of the range, or a selector can't be parsed.
    pub(super) fn open(
        session: &Session,
        watch: &Watch,
        replay: &Replay,
        reporter: &'a Reporter,
        planned: Vec<PlannedPart>,
    ) -> anyhow::Result<Self> {
        let clusters = session.clusters();
        let ranges: Vec<RecordedRange> = clusters
            .map(|cluster| RecordedRange::open(session, cluster.index(), &replay.range))
            .collect::<anyhow::Result<_>>()?;
        let mut parts = Vec::new();
        for PlannedPart { part, open_type, .. } in planned {
            let Some(range) = ranges.get(part.cluster) else { continue };
            // The server has types that were not recorded.
            if open_type && range.resources(&part.resource)?.is_empty() {
                continue;
            }
            parts.push(ReplayedPart::new(session, watch, part, range)?);
        }
        let entries = MergedEntries::open(&ranges, &parts)?;
        let pace = Pace::new(replay.speed);
        Ok(Self { reporter, ranges, parts, entries, pace, is_partial: false })
    }

    /// Returns the time of the next entry; `None` at the end of the range.
    pub(super) fn next_time(&self) -> Option<Timestamp> {
        self.entries.next_time()
    }

    /// Returns the first time of the range that a recording has.
    pub(super) fn beginning(&self) -> Option<Timestamp> {
        self.ranges.iter().filter_map(|range| range.limits().ok()).map(|(since, _)| since).min()
    }

    /// Returns the last time of the range that a recording has.
    pub(super) fn end(&self) -> Option<Timestamp> {
        self.ranges.iter().filter_map(|range| range.limits().ok()).map(|(_, until)| until).max()
    }

    /// Whether something could not be read.
    pub(super) fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Passes the state at the beginning of the range to the receiver. A range from the beginning of a recording has none: the
    /// recorded lists follow as entries. `prints` is whether the initial state is printed.
    ///
    /// # Errors
    /// A recording can't be read, or the output can't be written.
    pub(super) fn begin(&mut self, sink: &mut impl PartSink, prints: bool) -> anyhow::Result<()> {
        for (number, replayed) in self.parts.iter().enumerate() {
            sink.add_part(number, &replayed.part, prints);
        }
        for (number, replayed) in self.parts.iter_mut().enumerate() {
            let Some(range) = self.ranges.get(replayed.part.cluster) else { continue };
            let Some((since, state)) = state_before(range)? else { continue };
            for object in replayed.objects(&state, since)? {
                let listed = Notification::Added { object, is_in_initial_list: true, origin: Origin::List };
                sink.notification(number, since, listed)?;
            }
            let resource_version = ResourceVersion::new(&state.version().to_string());
            sink.notification(number, since, Notification::Mark(queue::Mark::Synced { resource_version }))?;
        }
        sink.end_initial()?;
        sink.mark_initial_state(false);
        sink.flush()?;
        Ok(())
    }

    /// Passes at most `limit` entries to the receiver, at the requested speed. Returns the time of the last one; `None` at the
    /// end of the range. Cancel safe: an entry is taken when it is due.
    ///
    /// # Errors
    /// The output can't be written.
    pub(super) async fn next(
        &mut self,
        sink: &mut impl PartSink,
        limit: usize,
    ) -> anyhow::Result<Option<Timestamp>> {
        let mut last = None;
        for _ in 0..limit {
            let Some(received) = self.entries.next_time() else { break };
            if let Some(due) = self.pace.due(received) {
                if last.is_some() {
                    break;
                }
                deadline::reached(Some(due)).await;
            }
            let Some((cluster, entry)) = self.entries.pop() else { break };
            last = Some(received);
            match entry {
                Ok(entry) => self.entry(cluster, entry, sink)?,
                Err(error) => {
                    self.is_partial = true;
                    self.reporter.report_error("", &error.into());
                }
            }
        }
        sink.flush()?;
        // Without pauses nothing else yields: signals and time limits are handled in between.
        tokio::task::yield_now().await;
        Ok(last)
    }

    fn entry(&mut self, cluster: usize, entry: Entry, sink: &mut impl PartSink) -> Result<(), PrintError> {
        let received = entry.received;
        match entry.item {
            Item::Change { change, author } => {
                let change = authored(change, author.as_ref());
                for (number, replayed) in self.parts.iter_mut().enumerate() {
                    if replayed.has(cluster, &change)
                        && let Some(notification) = replayed.notification(&change)
                    {
                        sink.notification(number, received, notification)?;
                    }
                }
            }
            Item::Mark(mark) => self.mark(cluster, &mark, sink)?,
            Item::Started => self.report_gap(cluster, received, None),
            _ => {}
        }
        Ok(())
    }

    fn mark(&mut self, cluster: usize, mark: &Mark, sink: &mut impl PartSink) -> Result<(), PrintError> {
        if matches!(mark.kind, MarkKind::Gap { .. }) {
            self.report_gap(cluster, mark.received, Some(mark));
        }
        for (number, replayed) in self.parts.iter().enumerate() {
            if !replayed.is_about(cluster, mark) {
                continue;
            }
            let of_stream = match mark.kind.clone() {
                MarkKind::Synced { version } => queue::Mark::Synced { resource_version: version },
                MarkKind::Gap { from, to, lasted } => queue::Mark::Gap { from, to, lasted },
                MarkKind::Error(status) => {
                    sink.ended(number, mark.received, &Error::Invalid(status))?;
                    continue;
                }
                _ => continue,
            };
            sink.notification(number, mark.received, Notification::Mark(of_stream))?;
        }
        Ok(())
    }

    /// Reports the gap that ends here, as a watch does.
    fn report_gap(&self, cluster: usize, end: Timestamp, mark: Option<&Mark>) {
        let Some(range) = self.ranges.get(cluster) else { return };
        let is_here = |gap: &&Gap| {
            let of_mark = mark.map(|mark| (&mark.resource, &mark.namespace));
            gap.to == end && gap.resource.as_ref().map(|resource| (resource, &gap.namespace)) == of_mark
        };
        if let Some(gap) = range.gaps.iter().find(is_here) {
            self.reporter.messages().notice(&gap.to_string());
        }
    }

    /// Returns the errors for names without any selected object in the range.
    pub(super) fn missing_names(&self) -> impl Iterator<Item = Error> {
        self.parts
            .iter()
            .filter(|replayed| !replayed.has_object)
            .filter_map(|replayed| replayed.part.not_found())
    }
}

/// Returns the beginning of a range and the state just before it; `None` if the recording begins there or later.
fn state_before(range: &RecordedRange) -> anyhow::Result<Option<(Timestamp, State)>> {
    let (Some(since), Some(beginning)) = (range.since, range.recording.beginning()) else { return Ok(None) };
    if since <= beginning {
        return Ok(None);
    }
    // Times are recorded in milliseconds.
    let millisecond = since.as_millisecond() + i64::from(since.subsec_nanosecond() % 1_000_000 != 0);
    let before = Timestamp::from_millisecond(millisecond - 1).unwrap_or(beginning).max(beginning);
    Ok(Some((since, range.recording.state(Moment::Time(before))?)))
}
