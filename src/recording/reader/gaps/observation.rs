//! The times at which the watched collections were observed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::lines::MarkKind;
use crate::object::ApiResource;
use crate::recording::entry::{Gap, Item, NamespaceLimit};
use crate::recording::journal::gap_start;
use crate::recording::position::{Position, Watch};
use crate::recording::reader::catalog::time_of;
use crate::recording::reader::resources::sorted_resources;

/// Returns whether a watch is of a resource, possibly in another version.
pub(super) fn is_of(watch: &Watch, resource: &ApiResource) -> bool {
    watch.resource.group == resource.group && watch.resource.resource == resource.resource
}

/// Returns whether a watch includes all objects of another one.
fn covers(watch: &Watch, other: &Watch) -> bool {
    is_of(watch, &other.resource) && watch.includes_names_of(other)
}

fn gap_of(watch: &Watch, from: i64, to: i64, except: Vec<Arc<str>>) -> Gap {
    let (resource, namespace) = (Some(Arc::clone(&watch.resource)), Arc::clone(&watch.namespace));
    Gap { from: time_of(from), to: time_of(to), resource, namespace, except }
}

/// A watch that is not running.
#[derive(Debug, Clone)]
struct Lost {
    /// The time of the last observation, in Unix milliseconds.
    from: i64,
    /// Whether only the current recorder has not continued it yet.
    is_starting: bool,
    /// The namespaces that are observed by watches of their own.
    except: Vec<Arc<str>>,
}

/// A gap, and whether it lasts until the end of the recording.
pub(in crate::recording::reader) struct FoundGap {
    pub(in crate::recording::reader) gap: Gap,
    pub(super) is_open: bool,
}

/// The times at which collections were observed or not.
pub(in crate::recording::reader) struct ObservedTimes {
    /// In the order of their ends.
    pub(in crate::recording::reader) gaps: Vec<FoundGap>,
    /// The watches with the time at which their first list was complete, in Unix milliseconds.
    pub(super) synced: HashMap<Watch, i64>,
}

impl ObservedTimes {
    /// Returns the resources of which not all namespaces were watched, sorted.
    pub(super) fn limits(&self) -> Vec<NamespaceLimit> {
        let limit =
            |resource: Arc<ApiResource>| NamespaceLimit { namespaces: self.namespaces(&resource), resource };
        let resources = sorted_resources(self.synced.keys().map(|watch| &watch.resource));
        let limits = resources.into_iter().map(limit);
        limits.filter(|limit| limit.namespaces.iter().all(|namespace| !namespace.is_empty())).collect()
    }

    /// Returns the watched namespaces of a resource, sorted: only an empty name for all of them.
    pub(in crate::recording::reader) fn namespaces(&self, resource: &ApiResource) -> Vec<Arc<str>> {
        let watched = self.synced.keys().filter(|watch| is_of(watch, resource));
        let namespaces: BTreeSet<_> = watched.map(|watch| Arc::clone(&watch.namespace)).collect();
        let is_all = namespaces.first().is_some_and(|first| first.is_empty());
        namespaces.into_iter().take(if is_all { 1 } else { usize::MAX }).collect()
    }
}

/// Follows the marks of a recording.
#[derive(Default)]
pub(super) struct Observation {
    /// The watches whose list was complete once; `None` for those that run.
    watches: HashMap<Watch, Option<Lost>>,
    /// The watches that the current recorder continued from their last version, with the time of the last observation before.
    /// Their marks do not show that the server allows them.
    continued: HashMap<Watch, i64>,
    gaps: Vec<Gap>,
    synced: HashMap<Watch, i64>,
}

impl Observation {
    /// Adds a watch that ran when the first keyframe was written.
    pub(super) fn begin(&mut self, position: Position, time: i64) {
        let Position { resource, namespace, name, .. } = position;
        let watch = Watch { resource, namespace, name };
        self.synced.insert(watch.clone(), time);
        self.watches.insert(watch, None);
    }

    /// Adds an entry. `previous` is the time of the entry before; the first entry of a recording has none.
    pub(super) fn add(&mut self, item: &Item, received: i64, previous: Option<i64>) {
        match item {
            Item::Started => {
                self.gaps.extend(previous.map(|previous| gap_of_all(previous, received)));
                self.lose_all(previous.unwrap_or(received));
            }
            Item::Mark(mark) => {
                let watch = Watch::of_mark(mark);
                match &mark.kind {
                    MarkKind::Synced { .. } => {
                        self.synced.entry(watch.clone()).or_insert(received);
                        self.observed(watch, received, None);
                    }
                    MarkKind::Gap { .. } => {
                        self.observed(watch, received, gap_start(item, received, previous));
                    }
                    MarkKind::Error(_) => self.lose(&watch, received),
                }
            }
            // The watch has run all the time, although another recorder of a merged recording started.
            Item::Bookmark { resource, namespace, .. } => {
                let watch = Watch::of_collection(resource, namespace);
                self.continued.remove(&watch);
                if let Some(lost) = self.watches.get_mut(&watch) {
                    *lost = None;
                }
            }
            _ => {}
        }
    }

    /// Forgets which watches run, because entries can't be read.
    pub(super) fn skip(&mut self) {
        self.watches.values_mut().for_each(|lost| *lost = None);
    }

    /// Ends with the time of the last entry. Watches that do not run are gaps until then.
    pub(super) fn end(self, time: i64) -> ObservedTimes {
        let mut open: Vec<_> =
            self.watches.into_iter().filter_map(|(watch, lost)| Some((watch, lost?))).collect();
        open.sort_by(|(one, _), (other, _)| {
            let key = |watch: &Watch| (watch.resource.group.clone(), watch.resource.resource.clone());
            (key(one), &one.namespace, &one.name).cmp(&(key(other), &other.namespace, &other.name))
        });
        let open =
            open.into_iter().map(|(watch, Lost { from, except, .. })| gap_of(&watch, from, time, except));
        let closed = self.gaps.into_iter().map(|gap| FoundGap { gap, is_open: false });
        let gaps = closed.chain(open.map(|gap| FoundGap { gap, is_open: true })).collect();
        ObservedTimes { gaps, synced: self.synced }
    }

    /// Records that no watch of an earlier recorder runs.
    fn lose_all(&mut self, from: i64) {
        self.continued.clear();
        for lost in self.watches.values_mut() {
            match lost {
                Some(lost) => lost.is_starting = false,
                None => *lost = Some(Lost { from, is_starting: true, except: Vec::new() }),
            }
        }
    }

    /// Records the error that ended a watch, or prevented that it continued.
    fn lose(&mut self, watch: &Watch, received: i64) {
        let from = self.continued.remove(watch).unwrap_or(received);
        if let Some(lost) = self.watches.get_mut(watch) {
            let lost = lost.get_or_insert(Lost { from, is_starting: false, except: Vec::new() });
            lost.is_starting = false;
        }
    }

    /// Records that a watch runs. Changes since `gap_start` were missed, if that is known.
    fn observed(&mut self, watch: Watch, received: i64, gap_start: Option<i64>) {
        let lost = match self.watches.get(&watch) {
            Some(lost) => lost.clone(),
            None => self.lost_in_all(&watch),
        };
        match lost.as_ref().filter(|lost| gap_start.is_none() && lost.is_starting) {
            Some(lost) => self.continued.insert(watch.clone(), lost.from),
            None => self.continued.remove(&watch),
        };
        let mut missed: Vec<Gap> = Vec::new();
        // A watch that the next recorder continues at once has missed nothing but the time between both.
        let lost = lost.filter(|lost| gap_start.is_some() || !lost.is_starting);
        let start = lost.as_ref().map(|lost| lost.from);
        if let Some(from) = start.into_iter().chain(gap_start).min() {
            missed.push(gap_of(&watch, from, received, lost.map(|lost| lost.except).unwrap_or_default()));
        }
        self.watches.retain(|other, lost| {
            if covers(&watch, other) {
                // From now on, its objects are observed by this watch.
                let lost = lost.take().filter(|lost| gap_start.is_some() || !lost.is_starting);
                if let Some(lost) = lost.filter(|_| *other != watch) {
                    let gap = gap_of(other, lost.from, received, lost.except);
                    let is_known = missed
                        .iter()
                        .any(|known| known.from <= gap.from && !known.except.contains(&gap.namespace));
                    missed.extend(Some(gap).filter(|_| !is_known));
                }
                return false;
            }
            if let Some(lost) = lost.as_mut().filter(|_| covers(other, &watch) && watch.name.is_none())
                && !lost.except.contains(&watch.namespace)
            {
                lost.except.push(Arc::clone(&watch.namespace));
            }
            true
        });
        self.gaps.extend(missed);
        self.watches.insert(watch, None);
    }

    /// Returns the loss of a watch that includes this one.
    fn lost_in_all(&self, watch: &Watch) -> Option<Lost> {
        let covering = self.watches.iter().filter(|(other, _)| covers(other, watch));
        let lost = covering.map(|(_, lost)| lost.clone()).min_by_key(Option::is_some)??;
        Some(Lost { except: Vec::new(), ..lost })
    }
}

/// Returns a gap in which no recorder was running.
fn gap_of_all(from: i64, to: i64) -> Gap {
    Gap { from: time_of(from), to: time_of(to), resource: None, namespace: "".into(), except: Vec::new() }
}
