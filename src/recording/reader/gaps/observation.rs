//! The times at which the watched collections were observed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::lines::{Mark, MarkKind};
use crate::object::ApiResource;
use crate::recording::entry::{Gap, Item, NamespaceLimit};
use crate::recording::journal::gap_start;
use crate::recording::position::{Position, Watch};
use crate::recording::reader::catalog::time_of;
use crate::recording::reader::resources::sorted_resources;
use crate::recording::reader::unfinished_gaps::{UnfinishedGap, UnfinishedGaps};

use super::observed_type::{Lost, ObservedType};

fn gap_of(watch: &Watch, from: i64, to: i64, except: &BTreeSet<Arc<str>>) -> Gap {
    let (resource, namespace) = (Some(Arc::clone(&watch.resource)), Arc::clone(&watch.namespace));
    Gap {
        from: time_of(from),
        to: time_of(to),
        resource,
        namespace,
        except: except.iter().cloned().collect(),
    }
}

/// A gap.
pub(in crate::recording::reader) struct FoundGap {
    pub(in crate::recording::reader) gap: Gap,
    /// Whether it lasts until the end of the recording.
    pub(super) is_open: bool,
    /// The versions between which changes were missed, if a GAP mark names them.
    pub(super) versions: Option<(u64, u64)>,
}

impl FoundGap {
    /// Returns whether it is the time after the end of a watch that no later recorder continued. The watch has all versions up
    /// to the beginning of the gap.
    pub(super) fn is_ended_watch(&self) -> bool {
        self.is_open && self.gap.resource.is_some() && self.versions.is_none()
    }
}

/// A watch that is not running, and the error that ended it, if it did not end with its recorder.
#[derive(Debug)]
pub(in crate::recording) struct LostWatch {
    pub(in crate::recording) watch: Watch,
    pub(in crate::recording) error: Option<Arc<Mark>>,
}

/// The times at which collections were observed or not.
pub(in crate::recording::reader) struct ObservedTimes {
    /// In the order of their ends.
    pub(super) gaps: Vec<FoundGap>,
    /// The watches with the time at which their first list was complete, in Unix milliseconds.
    pub(super) synced: HashMap<Watch, i64>,
    /// The times at which a list may have ended or broken off.
    pub(super) list_ends: Vec<ListEnd>,
}

/// A time at which a list may have ended or broken off.
pub(super) struct ListEnd {
    /// In Unix milliseconds.
    pub(super) time: i64,
    /// The watch of the list; `None` for the start of a recorder, which ends all lists of the one before.
    pub(super) watch: Option<Watch>,
}

impl ObservedTimes {
    /// Returns the gaps of some length, in the order of their ends.
    pub(in crate::recording::reader) fn into_gaps(self) -> Vec<Gap> {
        let gaps = self.gaps.into_iter().map(|found| found.gap);
        gaps.filter(|gap| gap.from < gap.to).collect()
    }

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
        let watched = self.synced.keys().filter(|watch| watch.is_of(resource));
        let namespaces: BTreeSet<_> = watched.map(|watch| Arc::clone(&watch.namespace)).collect();
        let is_all = namespaces.first().is_some_and(|first| first.is_empty());
        namespaces.into_iter().take(if is_all { 1 } else { usize::MAX }).collect()
    }
}

/// Follows the marks of a recording.
#[derive(Default)]
pub(super) struct Observation {
    /// The watches whose list was complete once, by group and resource.
    types: HashMap<(String, String), ObservedType>,
    gaps: Vec<FoundGap>,
    synced: HashMap<Watch, i64>,
    list_ends: Vec<ListEnd>,
    /// The gaps of collections whose differences are not known to be complete.
    unfinished: UnfinishedGaps<MissedTime>,
}

/// The time of a gap and of those that it continues, in Unix milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct MissedTime {
    start: i64,
    /// The time of its mark.
    received: i64,
}

impl Observation {
    /// Adds a watch that ran when the first keyframe was written.
    pub(super) fn begin(&mut self, position: &Position, time: i64) {
        let watch = position.watch();
        self.synced.insert(watch.clone(), time);
        self.of_type(&watch.resource).insert(watch, None);
    }

    /// Adds a resource with objects in the first keyframe. Unless a watch of it ran, it was not observed from then on.
    pub(super) fn begin_type(&mut self, resource: &Arc<ApiResource>, time: i64) {
        let of_type = self.of_type(resource);
        if of_type.all().next().is_none() {
            let watch = Watch::of_collection(resource, &"".into());
            of_type.insert(watch.clone(), Some(Lost::since(time)));
            self.synced.insert(watch, time);
        }
    }

    /// Adds an entry with its number. `previous` is the time of the entry before; the first entry of a recording has none.
    pub(super) fn add(&mut self, number: u64, item: &Item, received: i64, previous: Option<i64>) {
        match item {
            Item::Started => {
                if let Some(previous) = previous.filter(|previous| *previous < received) {
                    self.push(gap_of_all(previous, received), None);
                }
                self.list_ends.push(ListEnd { time: received, watch: None });
                self.lose_all(previous.unwrap_or(received), received);
            }
            Item::Mark(mark) => {
                let watch = Watch::of_mark(mark);
                match &mark.kind {
                    MarkKind::Synced { .. } => {
                        self.synced.entry(watch.clone()).or_insert(received);
                        self.unfinished.end(&watch);
                        self.observed(&watch, received, None, None);
                    }
                    MarkKind::Gap { from, to, .. } => {
                        let start = gap_start(item, received, previous).unwrap_or(received);
                        let versions = from.number().zip(to.number());
                        self.begin_differences(&watch, number, MissedTime { start, received }, versions);
                    }
                    MarkKind::Error(_) => {
                        self.list_ends.push(ListEnd { time: received, watch: Some(watch.clone()) });
                        self.lose(&watch, received, mark);
                    }
                }
            }
            // The watch has run all the time, although another recorder of a merged recording started.
            Item::Bookmark { resource, namespace, .. } => {
                let watch = Watch::of_collection(resource, namespace);
                self.unfinished.end(&watch);
                if let Some(known) = self.of_type(resource).get_mut(&watch) {
                    known.lost = None;
                }
            }
            _ => {}
        }
    }

    /// Records a gap. If it continues an earlier one, both are one.
    fn begin_differences(
        &mut self,
        watch: &Watch,
        number: u64,
        MissedTime { mut start, received }: MissedTime,
        mut versions: Option<(u64, u64)>,
    ) {
        if let Some(earlier) = self.unfinished.take_continued(watch, versions) {
            self.remove_gap(watch, earlier.extent.received);
            start = start.min(earlier.extent.start);
            let both = earlier.versions.zip(versions);
            versions = both.map(|((before, _), (from, to))| (before.min(from), to));
        }
        if watch.name.is_none() {
            let extent = MissedTime { start, received };
            self.unfinished.insert(watch, UnfinishedGap { versions, number, extent });
        }
        self.observed(watch, received, Some(start), versions);
    }

    /// Removes the gap that the mark of a watch ended.
    fn remove_gap(&mut self, watch: &Watch, received: i64) {
        let (resource, namespace) = (Some(&watch.resource), &watch.namespace);
        let removed = (resource, namespace, time_of(received));
        self.gaps.retain(|FoundGap { gap, .. }| (gap.resource.as_ref(), &gap.namespace, gap.to) != removed);
    }

    /// Returns the gaps whose differences are not known to be complete.
    pub(super) fn unfinished(&mut self) -> &mut UnfinishedGaps<MissedTime> {
        &mut self.unfinished
    }

    /// Forgets which watches run, because the entries after a time can't be read. The known gaps end at that time.
    pub(super) fn skip(&mut self, time: i64) {
        self.unfinished = UnfinishedGaps::default();
        let mut ended = Vec::new();
        for known in self.types.values_mut().flat_map(ObservedType::all_mut) {
            if let Some(lost) = known.lost.take() {
                let gap = gap_of(&known.watch, lost.from, time.max(lost.from), &lost.except);
                ended.push(FoundGap { gap, is_open: false, versions: None });
            }
        }
        sort(&mut ended);
        for FoundGap { gap, .. } in ended {
            self.push(gap, None);
        }
    }

    /// Ends with the time of the last entry. Watches that do not run are gaps until then.
    pub(super) fn end(mut self, time: i64) -> ObservedTimes {
        let unfinished = std::mem::take(&mut self.unfinished);
        for (watch, gap) in unfinished.all() {
            self.remove_gap(watch, gap.extent.received);
        }
        let known = self.types.into_values().flat_map(ObservedType::into_all);
        let open = known.filter_map(|known| {
            let (lost, unfinished) = (known.lost, unfinished.get(&known.watch));
            let from =
                lost.iter().map(|lost| lost.from).chain(unfinished.map(|gap| gap.extent.start)).min()?;
            let except = lost.map(|lost| lost.except).unwrap_or_default();
            let versions = unfinished.and_then(|gap| gap.versions).map(|(from, _)| (from, u64::MAX));
            Some(FoundGap { gap: gap_of(&known.watch, from, time, &except), is_open: true, versions })
        });
        let mut open: Vec<_> = open.collect();
        sort(&mut open);
        let gaps = self.gaps.into_iter().chain(open).collect();
        ObservedTimes { gaps, synced: self.synced, list_ends: self.list_ends }
    }

    /// Returns the watches that do not run, in any order.
    pub(super) fn into_lost(self) -> Vec<LostWatch> {
        let known = self.types.into_values().flat_map(ObservedType::into_all);
        known.filter_map(|known| Some(LostWatch { error: known.lost?.error, watch: known.watch })).collect()
    }

    fn of_type(&mut self, resource: &ApiResource) -> &mut ObservedType {
        self.types.entry((resource.group.clone(), resource.resource.clone())).or_default()
    }

    /// Records that no watch of an earlier recorder runs.
    fn lose_all(&mut self, from: i64, started: i64) {
        for known in self.types.values_mut().flat_map(ObservedType::all_mut) {
            match &mut known.lost {
                Some(lost) => lost.started = None,
                None => known.lost = Some(Lost { started: Some(started), ..Lost::since(from) }),
            }
        }
    }

    /// Records the error that ended a watch, or prevented that it continued.
    fn lose(&mut self, watch: &Watch, received: i64, mark: &Mark) {
        if let Some(known) = self.of_type(&watch.resource).get_mut(watch) {
            let lost = known.lost.get_or_insert_with(|| Lost::since(received));
            (lost.started, lost.error) = (None, Some(Arc::new(mark.clone())));
        }
    }

    /// Records that a watch runs. Changes since `gap_start`, between two versions, were missed, if that is known.
    fn observed(
        &mut self,
        watch: &Watch,
        received: i64,
        gap_start: Option<i64>,
        versions: Option<(u64, u64)>,
    ) {
        let is_gap = |lost: &Lost| gap_start.is_some() || lost.is_gap_until(received);
        let of_type = self.of_type(&watch.resource);
        let lost = of_type.take_loss(watch).filter(is_gap);
        // From now on, their objects are observed by this watch.
        let included = of_type.take_included(watch);
        if !watch.namespace.is_empty() && watch.name.is_none() {
            of_type.except(&watch.namespace);
        }
        of_type.insert(watch.clone(), None);
        let start = lost.as_ref().map(|lost| lost.from).into_iter().chain(gap_start).min();
        let except = lost.map(|lost| lost.except).unwrap_or_default();
        if let Some(from) = start {
            self.push(gap_of(watch, from, received, &except), versions);
        }
        for other in included {
            let namespace = &other.watch.namespace;
            let is_known =
                |lost: &Lost| start.is_some_and(|start| start <= lost.from) && !except.contains(namespace);
            if let Some(lost) = other.lost.filter(|lost| is_gap(lost) && !is_known(lost)) {
                self.push(gap_of(&other.watch, lost.from, received, &lost.except), None);
            }
        }
    }

    /// Appends a gap. A GAP mark that follows a SYNCED mark of the same time ends the same gap.
    fn push(&mut self, gap: Gap, versions: Option<(u64, u64)>) {
        if let Some(last) = self.gaps.last_mut()
            && (&last.gap.resource, &last.gap.namespace) == (&gap.resource, &gap.namespace)
            && (last.gap.to, &last.gap.except) == (gap.to, &gap.except)
        {
            last.gap.from = last.gap.from.min(gap.from);
            last.versions = versions.or(last.versions);
            return;
        }
        self.gaps.push(FoundGap { gap, is_open: false, versions });
    }
}

/// Sorts gaps that end at the same time.
fn sort(gaps: &mut [FoundGap]) {
    gaps.sort_by(|FoundGap { gap: one, .. }, FoundGap { gap: other, .. }| {
        let key = |gap: &Gap| {
            let resource = gap.resource.as_ref();
            (resource.map(|of| (of.group.clone(), of.resource.clone())), Arc::clone(&gap.namespace), gap.from)
        };
        key(one).cmp(&key(other))
    });
}

/// Returns a gap in which no recorder was running.
fn gap_of_all(from: i64, to: i64) -> Gap {
    Gap { from: time_of(from), to: time_of(to), resource: None, namespace: "".into(), except: Vec::new() }
}
