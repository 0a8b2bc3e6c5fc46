//! A source of a merge: the entries of one recording in order, and the facts about all of it that are needed in
//! advance.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::excerpt::{Excerpt, positions};
use crate::lines::{Mark, MarkKind};
use crate::object::{ApiResource, Origin, ResourceVersion};
use crate::recording::entry::{EntryFilter, Gap, Item, Moment};
use crate::recording::error::RecordingError;
use crate::recording::position::{Position, Watch};
use crate::recording::reader::Recording;

/// Returns whether a watch has an object, in this version of its resource.
pub(super) fn has(watch: &Watch, resource: &ApiResource, namespace: &str, name: &str) -> bool {
    *watch.resource == *resource && watch.includes_name(namespace, name)
}

/// The longest time by which a recorder may receive a change later than another one.
pub(super) const LAG: SignedDuration = SignedDuration::from_secs(10);

/// The resolution of recorded times.
pub(super) const RESOLUTION: SignedDuration = SignedDuration::from_millis(1);

/// Returns whether a watch has everything that another one has, in the same version of the resource.
pub(super) fn covers(watch: &Watch, other: &Watch) -> bool {
    watch.resource == other.resource && watch.includes_names_of(other)
}

/// The first complete state of a watch.
#[derive(Debug, Clone)]
pub(super) struct FirstState {
    pub(super) watch: Watch,
    pub(super) version: ResourceVersion,
    /// The version after which the recording has all changes. Deletions of the version of the state may follow.
    pub(super) continued: ResourceVersion,
    pub(super) received: Timestamp,
}

/// A recording that is merged.
pub(super) struct MergeSource {
    entries: Excerpt,
    /// The next entry.
    pub(super) head: Option<(Timestamp, Item)>,
    pub(super) beginning: Timestamp,
    pub(super) end: Timestamp,
    pub(super) first: Vec<FirstState>,
    /// The positions at the end.
    last: Vec<Position>,
    gaps: Vec<Gap>,
    /// The watches whose first complete state was taken.
    pub(super) synced: HashSet<Watch>,
    /// The highest version that was taken of each type.
    reached: HashMap<Arc<ApiResource>, u64>,
    /// The number of entries taken.
    pub(super) taken: u64,
}

impl MergeSource {
    /// Opens a recording; `None` if it is empty.
    pub(super) fn open(recording: &Recording) -> Result<Option<Self>, RecordingError> {
        let (Some(beginning), Some(end)) = (recording.beginning(), recording.end()) else { return Ok(None) };
        let mut source = Self {
            entries: recording.excerpt(None, None, EntryFilter::default())?,
            head: None,
            beginning,
            end,
            first: first_states(recording, beginning)?,
            last: positions(&recording.state(Moment::End)?)?,
            gaps: recording.gaps()?,
            synced: HashSet::new(),
            reached: HashMap::new(),
            taken: 0,
        };
        source.head = source.entries.next().transpose()?;
        Ok(Some(source))
    }

    /// Takes the next entry.
    pub(super) fn take(&mut self) -> Result<Option<(Timestamp, Item)>, RecordingError> {
        let taken = self.head.take();
        self.taken += 1;
        self.head = self.entries.next().transpose()?;
        let reached = taken.as_ref().and_then(|(_, item)| version_of(item));
        if let Some((resource, version)) = reached {
            let reached = self.reached.entry(Arc::clone(resource)).or_default();
            *reached = version.max(*reached);
        }
        Ok(taken)
    }

    /// Returns whether entries up to a version of a type were taken.
    pub(super) fn has_reached(&self, resource: &ApiResource, version: &ResourceVersion) -> bool {
        self.reached.get(resource).copied() >= version.number()
    }

    /// Returns whether the recording has a watch.
    pub(super) fn covers(&self, watch: &Watch) -> bool {
        self.first.iter().any(|first| covers(&first.watch, watch))
    }

    /// Returns a watch of an object whose first complete state was not taken yet.
    pub(super) fn unsynced(&self, resource: &ApiResource, namespace: &str, name: &str) -> Option<&Watch> {
        let all = self.first.iter().map(|first| &first.watch);
        let mut own = all.filter(|watch| has(watch, resource, namespace, name));
        if own.clone().any(|watch| self.synced.contains(watch)) {
            return None;
        }
        own.next()
    }

    /// Returns the position of a watch at the end of the recording.
    pub(super) fn last_position(&self, watch: &Watch) -> Option<&Position> {
        let covering = self.last.iter().filter(|own| covers(&own.watch(), watch));
        covering.max_by_key(|position| position.version.number())
    }

    /// Returns whether the recording observed a watch during a time, without a gap.
    pub(super) fn observed(&self, watch: &Watch, from: Timestamp, to: Timestamp) -> bool {
        let is_interrupted = |gap: &Gap| gap.from < to && from < gap.to && concerns(gap, watch);
        self.beginning <= from
            && to <= self.end
            && self.covers(watch)
            && !self.gaps.iter().any(is_interrupted)
    }

    /// Returns whether the recording has all changes of a watch immediately after a time.
    pub(super) fn observes_after(&self, watch: &Watch, time: Timestamp) -> bool {
        self.complete_at(time).any(|own| covers(own, watch)) && self.observed(watch, time, after(time))
    }

    /// Returns whether a recorder was running at some time of a range.
    pub(super) fn runs_during(&self, from: Timestamp, to: Timestamp) -> bool {
        let (from, to) = (from.max(self.beginning), to.min(self.end));
        let has_stopped = |gap: &Gap| gap.resource.is_none() && gap.from <= from && to <= gap.to;
        from < to && !self.gaps.iter().any(has_stopped)
    }

    /// Returns the watches whose first state was complete at a time. Some may have ended since.
    pub(super) fn complete_at(&self, time: Timestamp) -> impl Iterator<Item = &Watch> {
        self.first.iter().filter(move |first| first.received <= time).map(|first| &first.watch)
    }

    /// If the recorder stopped after the last entry taken, at this time, returns the time of its next start; at the end, that
    /// of the first moment after the recording.
    pub(super) fn unobserved_until(&self, last: Timestamp) -> Option<Timestamp> {
        match &self.head {
            Some((started, Item::Started)) => Some(after(last).max(*started)),
            Some(_) => None,
            None => Some(after(last)),
        }
    }
}

/// Returns whether changes of a watch may be missing in a gap.
fn concerns(gap: &Gap, watch: &Watch) -> bool {
    let is_everywhere = gap.namespace.is_empty() || watch.namespace.is_empty();
    gap.resource.as_ref().is_none_or(|of| *of == watch.resource)
        && (is_everywhere || gap.namespace == watch.namespace)
        && !gap.except.contains(&watch.namespace)
}

/// Returns the next time that a recording distinguishes from this one.
fn after(time: Timestamp) -> Timestamp {
    time.checked_add(RESOLUTION).unwrap_or(Timestamp::MAX)
}

/// Returns the first complete state of each watch.
fn first_states(recording: &Recording, beginning: Timestamp) -> Result<Vec<FirstState>, RecordingError> {
    let mut first: Vec<FirstState> = Vec::new();
    if recording.begins_with_state() {
        let positions = positions(&recording.state(Moment::Time(beginning))?)?.into_iter();
        first.extend(positions.map(|position| FirstState {
            watch: position.watch(),
            version: position.state_version,
            continued: position.version,
            received: beginning,
        }));
    }
    // Whether the last mark is that of the last state.
    let mut is_last = false;
    for item in recording.marks()? {
        match (item, first.last_mut()) {
            (Item::Bookmark { resource, namespace, version }, Some(last))
                if is_last && last.watch == Watch::of_collection(&resource, &namespace) =>
            {
                // Such a bookmark follows a state that ends with a deletion.
                if last.version.before().as_ref() == Some(&version) {
                    last.continued = version;
                }
                is_last = false;
            }
            (Item::Mark(mark), _) => {
                let watch = Watch::of_mark(&mark);
                let is_first = first.iter().all(|known| known.watch != watch);
                is_last = false;
                if let MarkKind::Synced { version } = mark.kind
                    && is_first
                {
                    let (continued, received) = (version.clone(), mark.received);
                    first.push(FirstState { watch, version, continued, received });
                    is_last = true;
                }
            }
            _ => is_last = false,
        }
    }
    Ok(first)
}

/// Returns the type of an entry, and the version that is reached with it. Changes of a list have any order of
/// versions.
fn version_of(item: &Item) -> Option<(&Arc<ApiResource>, u64)> {
    let (resource, version) = match item {
        Item::Change { change, .. } if change.origin == Origin::Watch => {
            (&change.resource, change.object.resource_version())
        }
        Item::Bookmark { resource, version, .. }
        | Item::Mark(Mark {
            resource,
            kind: MarkKind::Synced { version } | MarkKind::Gap { to: version, .. },
            ..
        }) => (resource, version),
        _ => return None,
    };
    Some((resource, version.number()?))
}
