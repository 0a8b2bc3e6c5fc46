//! Merges several recordings of one context into one.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::merge_source::{FirstState, LAG, MergeSource, RESOLUTION, covers};
use super::merged::{Interval, Merged};
use super::merged_documents::MergedDocuments;
use crate::lines::{Change, Mark, MarkKind};
use crate::object::ResourceVersion;
use crate::recording::encryption::Encryption;
use crate::recording::entry::{Author, Item};
use crate::recording::error::RecordingError;
use crate::recording::position::Watch;
use crate::recording::reader::Recording;

/// Merges recordings of one context into a new one, in a directory without a recording. With an encryption, the new one is
/// encrypted.
///
/// Where recordings overlap, each change is taken once, from the recording that received it first. Where a recording
/// follows another one and changes between them were not observed, a GAP precedes the differences between both states.
///
/// # Errors
/// [`RecordingError`] when the contexts differ, when the directory has a recording, when a recording is damaged, or when
/// files can't be read or written. Nothing of the new recording is left then.
pub fn merge(
    recordings: &[Recording],
    dir: &Path,
    encryption: Option<&Encryption>,
) -> Result<(), RecordingError> {
    let Some(first) = recordings.first() else { return Ok(()) };
    if let Some(other) = recordings.iter().find(|other| other.context() != first.context()) {
        let (path, context) = (other.path().to_owned(), other.context().to_owned());
        return Err(RecordingError::OtherContext { path, context });
    }
    let mut sources = Vec::new();
    for recording in recordings {
        sources.extend(MergeSource::open(recording)?);
    }
    // The first states of a recording are compared with the recordings that began earlier.
    sources.sort_by_key(|source| source.beginning);
    let initial: Vec<HashMap<Watch, InitialState>> =
        (0..sources.len()).map(|number| initial_states(&sources, number)).collect();
    let awaited = sources.iter().zip(&initial).map(|(source, initial)| awaited(source, initial)).collect();
    let mut merge = Merge {
        sources,
        initial,
        awaited,
        started: None,
        ended: HashSet::new(),
        documents: MergedDocuments::default(),
        merged: Merged::create(dir, first.context(), encryption)?,
    };
    while merge.next()? {}
    merge.merged.finish()
}

/// The relation of a watch's first state to the entries of earlier recordings.
#[derive(Debug, Clone)]
enum InitialState {
    /// None of them has the watch.
    New,
    /// One of them has everything up to this state.
    Known,
    /// One of them has an earlier state. There is a gap if its recording ended before; otherwise only if a
    /// difference shows that it missed a change.
    Compared { interval: Interval, is_gap: bool },
}

fn initial_states(sources: &[MergeSource], number: usize) -> HashMap<Watch, InitialState> {
    let state = |first: &FirstState| {
        let FirstState { watch, version, continued, received } = first;
        let covering: Vec<&MergeSource> =
            sources[..number].iter().filter(|source| source.covers(watch)).collect();
        let has_all = |source: &&MergeSource| {
            let last = source.last_position(watch);
            let has_version = last.is_some_and(|last| order(&last.version, continued) != Ordering::Less);
            let until = received.checked_add(LAG).unwrap_or(Timestamp::MAX);
            has_version || source.observed(watch, *received, until)
        };
        let last = covering.iter().max_by_key(|source| source.last_position(watch)?.version.number());
        let state = match last {
            None => InitialState::New,
            Some(_) if covering.iter().any(has_all) => InitialState::Known,
            Some(last) => {
                let position = last.last_position(watch);
                let from = position.map(|position| position.state_version.clone()).unwrap_or_default();
                let (to, continued) = (version.clone(), continued.clone());
                let interval = Interval { from, to, continued, since: last.end };
                InitialState::Compared {
                    interval,
                    is_gap: covering.iter().all(|source| source.end < *received),
                }
            }
        };
        (watch.clone(), state)
    };
    sources[number].first.iter().map(state).collect()
}

/// Compares two versions. One that is not a number precedes all others.
fn order(one: &ResourceVersion, other: &ResourceVersion) -> Ordering {
    one.number().cmp(&other.number())
}

/// Returns the states that earlier recordings must reach before a recording is taken: until then, they may have
/// changes that its list included.
fn awaited(source: &MergeSource, initial: &HashMap<Watch, InitialState>) -> Vec<FirstState> {
    let is_new = |first: &&FirstState| matches!(initial.get(&first.watch), Some(InitialState::New) | None);
    source.first.iter().filter(|first| !is_new(first)).cloned().collect()
}

struct Merge {
    /// In the order of their beginnings.
    sources: Vec<MergeSource>,
    /// The initial states of the watches of each source.
    initial: Vec<HashMap<Watch, InitialState>>,
    /// The states that earlier sources have not reached yet, for each source.
    awaited: Vec<Vec<FirstState>>,
    /// The source and the time of the last start that was taken.
    started: Option<(usize, Timestamp)>,
    /// The watches that an ERROR has ended in the merged recording.
    ended: HashSet<Watch>,
    documents: MergedDocuments,
    merged: Merged,
}

impl Merge {
    /// Merges the next entry in the order of time. Returns whether there was one.
    fn next(&mut self) -> Result<bool, RecordingError> {
        let heads = self.sources.iter().enumerate();
        let mut heads: Vec<(Timestamp, usize)> =
            heads.filter_map(|(number, source)| Some((source.head.as_ref()?.0, number))).collect();
        heads.sort_unstable();
        // The first source that is not at its end never waits.
        let Some((_, number)) = heads.into_iter().find(|(time, number)| !self.waits(*number, *time)) else {
            return Ok(false);
        };
        let is_first = self.sources[number].taken == 0;
        let Some((received, item)) = self.sources[number].take()? else { return Ok(false) };
        match item {
            Item::Change { change, author } => self.change(number, change, author)?,
            Item::Mark(mark) => self.mark(number, mark)?,
            Item::Bookmark { ref resource, ref namespace, .. } => {
                let watch = Watch::of_collection(resource, namespace);
                if !self.is_observed_earlier(number, &watch, received) {
                    self.merged.append(received, &item)?;
                }
            }
            Item::Started if is_first && self.continues(number) => {}
            // The watches of the other recorder run on. Those that only this one had ended where it stopped.
            Item::Started if self.runs_elsewhere(number, received) => {}
            // Both sources are copies of one recording.
            Item::Started if self.started.is_some_and(|(of, at)| of != number && at == received) => {}
            Item::Started => {
                self.started = Some((number, received));
                self.merged.append(received, &item)?;
            }
            Item::Document { ref path, ref body } => {
                if self.documents.insert(number, path, body, received) {
                    self.merged.append(received, &item)?;
                }
            }
        }
        self.end_watches(number, received)?;
        Ok(true)
    }

    /// If the recorder of a source stopped after this entry while another one was running, ends the watches that no other
    /// source observes.
    fn end_watches(&mut self, number: usize, last: Timestamp) -> Result<(), RecordingError> {
        let source = &self.sources[number];
        let Some(until) = source.unobserved_until(last) else { return Ok(()) };
        if !self.others(number).any(|other| other.runs_during(last, until)) {
            return Ok(());
        }
        let is_observed = |watch: &Watch| self.others(number).any(|other| other.observes_after(watch, last));
        let ended: Vec<Watch> =
            source.complete_at(last).filter(|watch| !is_observed(watch)).cloned().collect();
        for watch in ended {
            if self.ended.insert(watch.clone()) {
                self.merged.end_watch(watch, last)?;
            }
        }
        Ok(())
    }

    /// Returns the other sources.
    fn others(&self, number: usize) -> impl Iterator<Item = &MergeSource> {
        self.sources.iter().enumerate().filter(move |(other, _)| *other != number).map(|(_, source)| source)
    }

    /// Returns whether a source waits for earlier ones, whose changes may precede its first state.
    fn waits(&mut self, number: usize, time: Timestamp) -> bool {
        let mut awaited = std::mem::take(&mut self.awaited[number]);
        let until = time.checked_add(LAG).unwrap_or(Timestamp::MAX);
        let is_behind = |first: &FirstState, source: &MergeSource| {
            source.head.as_ref().is_some_and(|(head, _)| *head < until)
                && source.covers(&first.watch)
                && !source.has_reached(&first.watch.resource, &first.version)
        };
        awaited.retain(|first| self.sources[..number].iter().any(|source| is_behind(first, source)));
        let waits = !awaited.is_empty();
        self.awaited[number] = awaited;
        waits
    }

    /// Returns whether nothing was missed between earlier sources and the beginning of a source.
    fn continues(&self, number: usize) -> bool {
        let is_gap = |state: &InitialState| matches!(state, InitialState::Compared { is_gap: true, .. });
        let is_known = |state: &InitialState| !matches!(state, InitialState::New) && !is_gap(state);
        let initial = &self.initial[number];
        let begins = self.sources[number].beginning;
        let overlaps = self.sources[..number].iter().any(|source| begins <= source.end);
        number > 0 && !initial.values().any(is_gap) && (overlaps || initial.values().any(is_known))
    }

    /// Returns whether the recorder of another source was running before and after a time.
    fn runs_elsewhere(&self, number: usize, time: Timestamp) -> bool {
        let before = time.checked_sub(RESOLUTION).unwrap_or(Timestamp::MIN);
        self.others(number).any(|other| other.runs_during(before, time) && time < other.end)
    }

    /// Returns whether an ERROR has ended a watch, or one that it includes.
    fn has_ended(&self, watch: &Watch) -> bool {
        self.ended.iter().any(|ended| covers(watch, ended))
    }

    /// Returns whether a source that began earlier observed a watch at a time.
    fn is_observed_earlier(&self, number: usize, watch: &Watch, time: Timestamp) -> bool {
        self.sources[..number].iter().any(|source| source.observed(watch, time, time))
    }

    /// Returns whether a mark is redundant in the merged recording: another source observed the time of the gap, or
    /// an earlier source reports the same.
    fn is_repeated(&self, number: usize, watch: &Watch, mark: &Mark) -> bool {
        let MarkKind::Gap { lasted, .. } = mark.kind else {
            return self.is_observed_earlier(number, watch, mark.received);
        };
        let lasted = SignedDuration::try_from(lasted).unwrap_or(SignedDuration::MAX);
        let from = mark.received.checked_sub(lasted).unwrap_or(Timestamp::MIN);
        self.others(number).any(|other| other.observed(watch, from, mark.received))
    }

    fn change(
        &mut self,
        number: usize,
        change: Change,
        author: Option<Author>,
    ) -> Result<(), RecordingError> {
        let object = &change.object;
        let unsynced = self.sources[number].unsynced(&change.resource, object.namespace(), object.name());
        let watch = unsynced.cloned();
        match watch.as_ref().and_then(|watch| self.initial[number].get(watch)) {
            Some(InitialState::Known) => return Ok(()),
            Some(InitialState::Compared { interval, is_gap }) => {
                if let Some(watch) = watch.map(|watch| (number, watch)) {
                    self.merged.compare(&watch, interval, *is_gap, change.received)?;
                    self.merged.listed(&watch, change, author)?;
                }
                return Ok(());
            }
            Some(InitialState::New) | None => {}
        }
        let time = change.received;
        let is_followed = self.others(number).any(|other| other.beginning <= time && other.head.is_some());
        self.merged.change(change, author, is_followed)
    }

    fn mark(&mut self, number: usize, mark: Mark) -> Result<(), RecordingError> {
        let (watch, received) = (Watch::of_mark(&mark), mark.received);
        let is_synced = matches!(mark.kind, MarkKind::Synced { .. });
        let is_first = is_synced && self.sources[number].synced.insert(watch.clone());
        match self.initial[number].get(&watch).filter(|_| is_first) {
            Some(InitialState::Known) if !self.has_ended(&watch) => return Ok(()),
            Some(InitialState::Compared { interval, is_gap }) => {
                let watch = (number, watch.clone());
                self.merged.compare(&watch, interval, *is_gap, received)?;
                self.merged.end_comparison(&watch, received)?;
            }
            None if !self.has_ended(&watch) && self.is_repeated(number, &watch, &mark) => return Ok(()),
            _ => {}
        }
        if matches!(mark.kind, MarkKind::Error(_)) {
            self.ended.insert(watch);
        } else {
            self.ended.retain(|ended| !covers(&watch, ended));
        }
        self.merged.append(received, &Item::Mark(mark))
    }
}
