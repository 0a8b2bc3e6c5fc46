//! The beginning of an excerpt: the state at its time, from which its entries go on.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::listwatch::Status;
use crate::object::{ApiResource, Origin, ResourceVersion};
use crate::recording::entry::{EntryFilter, Item, Moment};
use crate::recording::error::RecordingError;
use crate::recording::position::{Position, Watch};
use crate::recording::reader::{LostWatch, Recording, State};
use crate::recording::writer::Positions;

/// The state at the beginning.
pub(super) struct Beginning {
    state: State,
    time: Timestamp,
    context: Arc<str>,
    resources: std::vec::IntoIter<Arc<ApiResource>>,
    positions: Vec<BeginningPosition>,
    has_documents: bool,
}

/// The position of a watch at the beginning.
struct BeginningPosition {
    position: Position,
    end: WatchEnd,
}

/// Whether and how a watch had ended.
enum WatchEnd {
    Running,
    /// It ended with its recorder, and a later one did not continue it. A further one may, from its version.
    LeftOut,
    Error(Status),
}

impl Beginning {
    pub(super) fn read(recording: &Recording, time: Timestamp) -> Result<Self, RecordingError> {
        let state = recording.state(Moment::Time(time))?;
        Ok(Self {
            positions: positions_at(&state, recording.lost_watches(time)?)?,
            time: state.time().unwrap_or(time),
            context: recording.context().into(),
            resources: state.resources()?.into_iter(),
            state,
            has_documents: false,
        })
    }

    /// Returns its time.
    pub(super) fn time(&self) -> Timestamp {
        self.time
    }

    /// Appends the next part of the state: the documents, then one type after the other. Returns whether there was one.
    pub(super) fn next(
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
        let Some(resource) = self.resources.next() else {
            self.restart(filter, ready);
            return Ok(false);
        };
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
        for BeginningPosition { position, end } in
            self.positions.iter().filter(|of| of.position.resource == resource)
        {
            ready.extend(self.synced(position, filter));
            if let WatchEnd::Error(status) = end {
                ready.extend(self.marks(position, MarkKind::Error(status.clone()), filter));
            }
        }
        Ok(true)
    }

    /// Returns the marks of a watch in the selection.
    fn marks(
        &self,
        position: &Position,
        kind: MarkKind,
        filter: &EntryFilter,
    ) -> impl Iterator<Item = (Timestamp, Item)> + use<> {
        let Position { resource, namespace, name, .. } = position.clone();
        let (received, context) = (self.time, Arc::clone(&self.context));
        let is_selected = filter.selects_resource(&resource);
        let mark = Item::Mark(Mark { kind, resource, context, namespace, name, received });
        restricted(mark, filter).filter(move |_| is_selected).map(move |item| (received, item))
    }

    /// Returns the marks that the state of a watch is complete. If it ends with a deletion, bookmarks follow, because others of
    /// that version may not have been received: a recorder continues from the version before.
    fn synced(
        &self,
        position: &Position,
        filter: &EntryFilter,
    ) -> impl Iterator<Item = (Timestamp, Item)> + use<> {
        let (version, is_followed) = (position.version.clone(), position.may_lack_deletions());
        let marks =
            self.marks(position, MarkKind::Synced { version: position.state_version.clone() }, filter);
        marks.flat_map(move |(received, item)| {
            let bookmark = match &item {
                Item::Mark(Mark { resource, namespace, name: None, .. }) if is_followed => {
                    let (resource, namespace) = (Arc::clone(resource), Arc::clone(namespace));
                    Some(Item::Bookmark { resource, namespace, version: version.clone() })
                }
                _ => None,
            };
            [Some(item), bookmark].into_iter().flatten().map(move |item| (received, item))
        })
    }

    /// Returns whether a selected watch did not run, although no error had ended it.
    pub(super) fn has_left_out(&self, filter: &EntryFilter) -> bool {
        let mut left_out = self.positions.iter().filter(|of| matches!(of.end, WatchEnd::LeftOut));
        left_out.any(|of| self.synced(&of.position, filter).next().is_some())
    }

    /// Appends the start of a recorder that continues only the watches that ran.
    fn restart(&self, filter: &EntryFilter, ready: &mut VecDeque<(Timestamp, Item)>) {
        if !self.has_left_out(filter) {
            return;
        }
        ready.push_back((self.time, Item::Started));
        for BeginningPosition { position, end } in &self.positions {
            if matches!(end, WatchEnd::Running) {
                ready.extend(self.synced(position, filter));
            }
        }
    }
}

/// Returns the positions of the watches in a state, and whether they ran. An ended one may have no version to continue from.
fn positions_at(state: &State, lost: Vec<LostWatch>) -> Result<Vec<BeginningPosition>, RecordingError> {
    let mut lost: HashMap<Watch, LostWatch> =
        lost.into_iter().map(|lost| (lost.watch.clone(), lost)).collect();
    let mut all = Vec::new();
    for position in positions(state)? {
        let end = match lost.remove(&position.watch()) {
            None => WatchEnd::Running,
            Some(LostWatch { error, .. }) => status(error).map_or(WatchEnd::LeftOut, WatchEnd::Error),
        };
        all.push(BeginningPosition { position, end });
    }
    let version = ResourceVersion::new(&state.version().to_string());
    all.extend(lost.into_values().map(|LostWatch { watch: Watch { resource, namespace, name }, error }| {
        let position =
            Position { resource, namespace, name, version: version.clone(), state_version: version.clone() };
        // The error prevents that a recorder continues from the version of the state.
        let message = "it was not watched any more".to_owned();
        let status = status(error).unwrap_or_else(|| Status { message, ..Status::default() });
        BeginningPosition { position, end: WatchEnd::Error(status) }
    }));
    let order = |of: &BeginningPosition| {
        let Position { resource, namespace, name, .. } = &of.position;
        (resource.group.clone(), resource.resource.clone(), Arc::clone(namespace), name.clone())
    };
    all.sort_by_cached_key(order);
    Ok(all)
}

fn status(error: Option<Arc<Mark>>) -> Option<Status> {
    match &error?.kind {
        MarkKind::Error(status) => Some(status.clone()),
        _ => None,
    }
}

/// Returns the positions of the watches in a state.
pub(super) fn positions(state: &State) -> Result<Vec<Position>, RecordingError> {
    let (of_keyframe, steps) = state.steps()?;
    let mut positions = Positions::default();
    for position in &of_keyframe {
        positions.insert(position);
    }
    for step in steps {
        positions.step(step);
    }
    Ok(positions.last_known())
}

/// Restricts an item to the selection. A mark or bookmark of all namespaces becomes one of each selected namespace.
pub(super) fn restricted(item: Item, filter: &EntryFilter) -> impl Iterator<Item = Item> + use<> {
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
