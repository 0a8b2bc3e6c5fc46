//! The result of a merge: it takes each change once, in the order of the versions of its object.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::merge_source::has;
use super::new_recording::NewRecording;
use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::listwatch::Status;
use crate::object::{ApiResource, Object, Origin, ResourceVersion};
use crate::recording::encryption::Encryption;
use crate::recording::entry::{Author, Item};
use crate::recording::error::RecordingError;
use crate::recording::position::Watch;

/// The versions and the time between the last state of a watch and its next one.
#[derive(Debug, Clone)]
pub(super) struct Interval {
    pub(super) from: ResourceVersion,
    pub(super) to: ResourceVersion,
    /// The version after which all changes follow the next state.
    pub(super) continued: ResourceVersion,
    pub(super) since: Timestamp,
}

/// A watch of one source: its number, and the watch.
pub(super) type SourceWatch = (usize, Watch);

/// A listed state that is compared with the merged one.
struct Comparison {
    interval: Interval,
    /// Whether the gap is recorded.
    is_announced: bool,
    /// The keys of the listed objects.
    listed: HashSet<Arc<str>>,
}

/// The result of a merge.
pub(super) struct Merged {
    context: Arc<str>,
    recording: NewRecording,
    comparisons: HashMap<SourceWatch, Comparison>,
    /// The states that were compared, with their versions: older changes of their objects are outdated.
    compared: Vec<(Watch, u64)>,
    /// The versions of the last deletions: another source may still have older changes of the object.
    deleted: HashMap<(Arc<ApiResource>, Arc<str>), u64>,
}

impl Merged {
    pub(super) fn create(
        dir: &Path,
        context: &str,
        encryption: Option<&Encryption>,
    ) -> Result<Self, RecordingError> {
        Ok(Self {
            context: context.into(),
            recording: NewRecording::create(dir, context, encryption)?,
            comparisons: HashMap::new(),
            compared: Vec::new(),
            deleted: HashMap::new(),
        })
    }

    pub(super) fn finish(self) -> Result<(), RecordingError> {
        self.recording.finish()
    }

    pub(super) fn append(&mut self, received: Timestamp, item: &Item) -> Result<(), RecordingError> {
        self.recording.append(received, item)
    }

    /// Records that a watch ended because its recorder stopped.
    pub(super) fn end_watch(&mut self, watch: Watch, received: Timestamp) -> Result<(), RecordingError> {
        let message = "the recorder of this watch stopped".to_owned();
        self.mark(watch, MarkKind::Error(Status { message, ..Status::default() }), received)
    }

    fn mark(&mut self, watch: Watch, kind: MarkKind, received: Timestamp) -> Result<(), RecordingError> {
        let Watch { resource, namespace, name } = watch;
        let mark = Mark { kind, resource, context: Arc::clone(&self.context), namespace, name, received };
        self.recording.append(received, &Item::Mark(mark))
    }

    /// Begins to compare the state that a watch lists. A gap precedes the first difference, or this point if changes
    /// were not observed in any case.
    pub(super) fn compare(
        &mut self,
        watch: &SourceWatch,
        interval: &Interval,
        is_gap: bool,
        received: Timestamp,
    ) -> Result<(), RecordingError> {
        self.comparisons.entry(watch.clone()).or_insert_with(|| Comparison {
            interval: interval.clone(),
            is_announced: false,
            listed: HashSet::new(),
        });
        if is_gap { self.announce(watch, received) } else { Ok(()) }
    }

    /// Records the gap of a comparison, once.
    fn announce(&mut self, watch: &SourceWatch, received: Timestamp) -> Result<(), RecordingError> {
        let Some(comparison) = self.comparisons.get_mut(watch) else { return Ok(()) };
        if std::mem::replace(&mut comparison.is_announced, true) {
            return Ok(());
        }
        let Interval { from, to, since, .. } = comparison.interval.clone();
        let lasted = Duration::try_from(received.duration_since(since)).unwrap_or_default();
        self.mark(watch.1.clone(), MarkKind::Gap { from, to, lasted }, received)
    }

    /// Records the difference of a listed object from the merged state, if there is one.
    pub(super) fn listed(
        &mut self,
        watch: &SourceWatch,
        change: Change,
        author: Option<Author>,
    ) -> Result<(), RecordingError> {
        if let Some(comparison) = self.comparisons.get_mut(watch) {
            comparison.listed.insert(Arc::clone(change.object.key()));
        }
        self.apply(Change { origin: Origin::Relist, ..change }, author, Some(watch))
    }

    /// Ends a comparison: records the deletions of the objects that are not listed.
    pub(super) fn end_comparison(
        &mut self,
        of: &SourceWatch,
        received: Timestamp,
    ) -> Result<(), RecordingError> {
        let (_, watch) = of;
        let namespace = Some(&*watch.namespace).filter(|namespace| !namespace.is_empty());
        let interval = self.comparisons.get(of).map(|comparison| comparison.interval.clone());
        let number =
            |of: fn(&Interval) -> &ResourceVersion| interval.as_ref().and_then(|all| of(all).number());
        let (to, continued) = (number(|all| &all.to), number(|all| &all.continued));
        for object in self.recording.objects(&watch.resource, namespace) {
            let is_own = watch.includes_name(object.namespace(), object.name());
            // A source that continues may have received its creation after the listed state.
            let is_older = object.resource_version().number() <= to;
            let is_listed =
                self.comparisons.get(of).is_some_and(|comparison| comparison.listed.contains(object.key()));
            if is_own && is_older && !is_listed {
                self.announce(of, received)?;
                self.delete(&watch.resource, object, received)?;
            }
        }
        self.comparisons.remove(of);
        self.compared.extend(continued.map(|continued| (watch.clone(), continued)));
        Ok(())
    }

    /// Records a change, unless another source had it or a later one of its object before.
    pub(super) fn change(
        &mut self,
        change: Change,
        author: Option<Author>,
        keeps_deletions: bool,
    ) -> Result<(), RecordingError> {
        let (object, version) = (&change.object, change.object.resource_version().number());
        let is_outdated = self.compared.iter().any(|(watch, to)| {
            version.is_some_and(|version| version <= *to)
                && change.origin == Origin::Watch
                && has(watch, &change.resource, object.namespace(), object.name())
        });
        if is_outdated {
            return Ok(());
        }
        if keeps_deletions
            && change.kind == ChangeKind::Deleted
            && let Some(version) = version
        {
            let place = (Arc::clone(&change.resource), Arc::clone(object.key()));
            let last = self.deleted.entry(place).or_insert(version);
            *last = version.max(*last);
        }
        self.apply(change, author, None)
    }

    fn apply(
        &mut self,
        change: Change,
        author: Option<Author>,
        comparison: Option<&SourceWatch>,
    ) -> Result<(), RecordingError> {
        let key = change.object.key();
        let version = change.object.resource_version().number();
        let current = self.recording.current(&change.resource, key);
        let kind = match (change.kind, &current) {
            (ChangeKind::Deleted, None) => return Ok(()),
            (ChangeKind::Deleted, Some(current)) => {
                // An inferred deletion may have only the name of its object.
                let is_same = change.object.uid().is_empty() || current.uid() == change.object.uid();
                let is_older = version.is_none() || current.resource_version().number() <= version;
                if !is_same || !is_older {
                    return Ok(());
                }
                ChangeKind::Deleted
            }
            (_, None) => {
                let deleted = self.deleted.get(&(Arc::clone(&change.resource), Arc::clone(key))).copied();
                if deleted.is_some() && deleted >= version {
                    return Ok(());
                }
                ChangeKind::Added
            }
            (_, Some(current)) => {
                let known = current.resource_version();
                if known == change.object.resource_version() || known.number() > version {
                    return Ok(());
                }
                if current.uid() == change.object.uid() { ChangeKind::Modified } else { ChangeKind::Added }
            }
        };
        if let Some(watch) = comparison {
            self.announce(watch, change.received)?;
        }
        if let (ChangeKind::Added, Some(replaced)) = (kind, current) {
            self.delete(&change.resource, replaced, change.received)?;
        }
        self.recording.append(change.received, &Item::Change { change: Change { kind, ..change }, author })
    }

    /// Records the deletion of an object at an unknown time.
    fn delete(
        &mut self,
        resource: &Arc<ApiResource>,
        object: Arc<Object>,
        received: Timestamp,
    ) -> Result<(), RecordingError> {
        let change = Change {
            kind: ChangeKind::Deleted,
            object,
            old: None,
            origin: Origin::Relist,
            final_state_unknown: true,
            resource: Arc::clone(resource),
            context: Arc::clone(&self.context),
            received,
        };
        self.recording.append(received, &Item::Change { change, author: None })
    }
}
