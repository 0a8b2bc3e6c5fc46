//! Excerpts: the entries of a range, from which a complete recording can be written.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::observed::ObservedTime;
use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::object::{ApiResource, Origin};
use crate::recording::entry::{EntryFilter, Item, Moment};
use crate::recording::error::RecordingError;
use crate::recording::position::Position;
use crate::recording::reader::{Entries, Recording, State};
use crate::recording::writer::Positions;

/// The entries of a range, complete without earlier ones: if entries precede the range, it begins with the state at
/// its beginning, as documents, added objects and SYNCED marks with the time of the beginning.
///
/// A mark of all namespaces becomes one of each selected namespace. After a damaged part the iterator returns one error
/// and continues at the next keyframe.
pub struct Excerpt {
    filter: EntryFilter,
    beginning: Option<Beginning>,
    entries: Entries,
    /// The items of the last entry, or of one type of the beginning.
    ready: VecDeque<(Timestamp, Item)>,
    observed: ObservedTime,
}

/// The state at the beginning.
struct Beginning {
    state: State,
    time: Timestamp,
    context: Arc<str>,
    resources: std::vec::IntoIter<Arc<ApiResource>>,
    positions: Vec<Position>,
    has_documents: bool,
}

impl Recording {
    /// Returns the entries received after `since` and up to `until`, with the state at `since` before them. Without
    /// `since`, they begin with the recording.
    ///
    /// # Errors
    /// [`RecordingError`] when the recording is empty, when the range begins before it, or when files can't be read.
    pub fn excerpt(
        &self,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        filter: EntryFilter,
    ) -> Result<Excerpt, RecordingError> {
        let observed = ObservedTime::read(self, until)?;
        let beginning = self.beginning();
        let time = match since.or(beginning.filter(|_| self.begins_with_state())) {
            Some(time) if self.begins_with_state() || beginning.is_some_and(|beginning| beginning < time) => {
                time
            }
            Some(time) if beginning.is_some_and(|beginning| time < beginning) => {
                let beginning = beginning.unwrap_or(time);
                return Err(RecordingError::BeforeBeginning { beginning, version: None });
            }
            _ => {
                let entries = self.entries(None, until, filter.clone())?;
                return Ok(Excerpt { filter, beginning: None, entries, ready: VecDeque::new(), observed });
            }
        };
        let after = Timestamp::from_millisecond(time.as_millisecond() + 1).unwrap_or(time);
        let entries = self.entries(Some(after), until, filter.clone())?;
        let beginning = Beginning::read(self, time)?;
        Ok(Excerpt { filter, beginning: Some(beginning), entries, ready: VecDeque::new(), observed })
    }
}

impl Excerpt {
    /// Returns the time of the last entry before a recorder started at this time, whether or not the excerpt has that entry;
    /// `None` for the first recorder.
    #[must_use]
    pub fn observed_before(&self, started: Timestamp) -> Option<Timestamp> {
        self.observed.before_start(started)
    }

    /// Returns the last time of the range at which a recorder was running. The last entry of the excerpt may be older.
    pub(super) fn observed_until(&self) -> Option<Timestamp> {
        self.observed.end()
    }
}

impl Beginning {
    fn read(recording: &Recording, time: Timestamp) -> Result<Self, RecordingError> {
        let state = recording.state(Moment::Time(time))?;
        Ok(Self {
            positions: positions(&state)?,
            time: state.time().unwrap_or(time),
            context: recording.context().into(),
            resources: state.resources()?.into_iter(),
            state,
            has_documents: false,
        })
    }

    /// Appends the next part of the state: the documents, then one type after the other. Returns whether there was one.
    fn next(
        &mut self,
        filter: &EntryFilter,
        ready: &mut VecDeque<(Timestamp, Item)>,
    ) -> Result<bool, RecordingError> {
        if !self.has_documents {
            self.has_documents = true;
            let documents = self.state.documents()?.into_iter();
            ready.extend(documents.map(|(path, body)| (self.time, Item::Document { path, body })));
            return Ok(true);
        }
        let Some(resource) = self.resources.next() else { return Ok(false) };
        if !filter.selects_resource(&resource) {
            return Ok(true);
        }
        let namespaces: Vec<Option<&str>> = match &filter.namespaces {
            Some(names) => names.iter().map(|name| Some(name.as_str())).collect(),
            None => vec![None],
        };
        for namespace in namespaces {
            for object in self.state.objects(&resource, namespace)? {
                let change = Change {
                    kind: ChangeKind::Added,
                    object,
                    old: None,
                    origin: Origin::List,
                    final_state_unknown: false,
                    resource: Arc::clone(&resource),
                    context: Arc::clone(&self.context),
                    received: self.time,
                };
                ready.push_back((self.time, Item::Change { change, author: None }));
            }
        }
        for position in self.positions.iter().filter(|position| position.resource == resource) {
            let Position { resource, namespace, name, version } = position.clone();
            let (kind, context) = (MarkKind::Synced { version }, Arc::clone(&self.context));
            let mark = Mark { kind, resource, context, namespace, name, received: self.time };
            ready.extend(restricted(Item::Mark(mark), filter).map(|item| (self.time, item)));
        }
        Ok(true)
    }
}

/// Returns the positions of the watches in a state.
pub(super) fn positions(state: &State) -> Result<Vec<Position>, RecordingError> {
    let (of_keyframe, steps) = state.steps()?;
    let mut positions = Positions::default();
    for position in of_keyframe {
        positions.insert(position);
    }
    for step in steps {
        positions.step(step);
    }
    Ok(positions.last_known())
}

/// Restricts an item to the selection. A mark or bookmark of all namespaces becomes one of each selected namespace.
fn restricted(item: Item, filter: &EntryFilter) -> impl Iterator<Item = Item> + use<> {
    let place = match &item {
        Item::Mark(Mark { resource, namespace, .. }) | Item::Bookmark { resource, namespace, .. } => {
            Some((resource.namespaced, Arc::clone(namespace)))
        }
        _ => None,
    };
    let names: Vec<Arc<str>> = match (place, &filter.namespaces) {
        (Some((true, namespace)), Some(names)) if namespace.is_empty() => {
            names.iter().filter(|name| !name.is_empty()).map(|name| name.as_str().into()).collect()
        }
        (Some((_, namespace)), _) if filter.selects_namespace(&namespace) => vec![namespace],
        (Some(_), _) => Vec::new(),
        (None, _) => vec!["".into()],
    };
    names.into_iter().map(move |name| match item.clone() {
        Item::Mark(mark) => Item::Mark(Mark { namespace: name, ..mark }),
        Item::Bookmark { resource, version, .. } => Item::Bookmark { resource, namespace: name, version },
        item => item,
    })
}

impl Iterator for Excerpt {
    type Item = Result<(Timestamp, Item), RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(Ok(item));
            }
            if let Some(beginning) = &mut self.beginning {
                match beginning.next(&self.filter, &mut self.ready) {
                    Ok(true) => {}
                    Ok(false) => self.beginning = None,
                    Err(error) => {
                        self.beginning = None;
                        return Some(Err(error));
                    }
                }
                continue;
            }
            match self.entries.next()? {
                Ok(entry) => {
                    let items = restricted(entry.item, &self.filter);
                    self.ready.extend(items.map(|item| (entry.received, item)));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Excerpt").field("entries", &self.entries).finish_non_exhaustive()
    }
}
