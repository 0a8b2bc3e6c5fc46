//! The checked content of a recording: no change of an unknown object, none twice, no version that decreases.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use kdelta::lines::{Change, ChangeKind, MarkKind};
use kdelta::object::{ApiResource, Object, Origin, ResourceVersion};
use kdelta::recording::{EntryFilter, Item, Moment, Recording, State};

/// A recorded version: type, namespace, name, version, and whether it is a deletion.
pub(crate) type RecordedVersion = (String, String, String, u64, bool);

/// The entries of a recording.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// The number of recorders.
    pub(crate) starts: usize,
    /// The type and version of each complete initial state.
    pub(crate) synced: Vec<(String, u64)>,
    /// The type of each gap, and the versions before and after it.
    pub(crate) gaps: Vec<(String, u64, u64)>,
    /// The versions that a watch delivered, in order.
    pub(crate) watched: Vec<RecordedVersion>,
    /// The versions that lists had, in order.
    pub(crate) listed: Vec<RecordedVersion>,
    /// The authors, each `manager/subresource`.
    pub(crate) authors: BTreeMap<String, usize>,
}

/// Opens the only recording of a directory.
#[track_caller]
pub(crate) fn open_recording(dir: &Path) -> Recording {
    let contexts = Recording::contexts(dir).expect("a directory of recordings");
    let [(_, path)] = contexts.as_slice() else { panic!("one context: {contexts:?}") };
    Recording::open(path).expect("a recording")
}

/// Returns the recorded resource with this plural.
#[track_caller]
pub(crate) fn recorded_resource(recording: &Recording, plural: &str) -> Arc<ApiResource> {
    let all = recording.resources().expect("resources");
    let found = all.iter().find(|resource| resource.resource == plural);
    Arc::clone(found.unwrap_or_else(|| panic!("{plural} in {all:?}")))
}

/// Returns the uid and the version of each object of a type at a moment, by `namespace/name`.
#[track_caller]
pub(crate) fn recorded_objects(state: &State, resource: &ApiResource) -> BTreeMap<String, (String, u64)> {
    let objects = state.objects(resource, None).expect("objects");
    let entry = |object: &Arc<Object>| {
        let version = number(object.resource_version());
        (object.key().to_string(), (object.uid().to_string(), version))
    };
    objects.iter().map(entry).collect()
}

fn number(version: &ResourceVersion) -> u64 {
    version.to_string().parse().expect("a number")
}

impl Recorded {
    /// Reads all entries, and fails the test if they contradict each other, or the state at the end.
    #[track_caller]
    pub(crate) fn read(recording: &Recording) -> Self {
        let mut read = Self::default();
        let mut states: BTreeMap<(String, String), (String, u64)> = BTreeMap::new();
        let mut previous = None;
        for entry in recording.entries(None, None, EntryFilter::default()).expect("entries") {
            let entry = entry.expect("an entry");
            assert!(previous <= Some(entry.received), "recorded time went backwards");
            previous = Some(entry.received);
            match entry.item {
                Item::Started => read.starts += 1,
                Item::Mark(mark) => {
                    let plural = mark.resource.resource.clone();
                    match &mark.kind {
                        MarkKind::Synced { version } => read.synced.push((plural, number(version))),
                        MarkKind::Gap { from, to, .. } => read.gaps.push((plural, number(from), number(to))),
                        _ => {}
                    }
                }
                Item::Change { change, author } => {
                    if let Some(author) = author {
                        let name = format!("{}/{}", author.manager, author.subresource);
                        *read.authors.entry(name).or_default() += 1;
                    }
                    read.apply(&change, &mut states);
                }
                _ => {}
            }
        }
        let state = recording.state(Moment::End).expect("a state");
        for resource in recording.resources().expect("resources") {
            let of_type = states.iter().filter(|((plural, _), _)| *plural == resource.resource);
            let replayed: BTreeMap<_, _> =
                of_type.map(|((_, key), state)| (key.clone(), state.clone())).collect();
            assert_eq!(recorded_objects(&state, &resource), replayed, "{}", resource.resource);
        }
        read
    }

    #[track_caller]
    fn apply(&mut self, change: &Change, states: &mut BTreeMap<(String, String), (String, u64)>) {
        let Change { kind, object, origin, resource, .. } = change;
        let key = (resource.resource.clone(), object.key().to_string());
        let version = number(object.resource_version());
        let what = format!("{} {key:?} {version} {origin}", kind.as_str());
        let known = states.get(&key);
        match kind {
            ChangeKind::Added => assert!(known.is_none(), "{what} is known at {known:?}"),
            ChangeKind::Modified => {
                let (uid, known) = known.unwrap_or_else(|| panic!("{what} is unknown"));
                assert!(*uid == *object.uid().to_string() && *known < version, "{what} after {known}");
            }
            ChangeKind::Deleted => {
                let (uid, known) = known.unwrap_or_else(|| panic!("{what} is unknown"));
                assert!(*uid == *object.uid().to_string() && *known <= version, "{what} after {known}");
            }
            ChangeKind::Sync => panic!("{what}: a resync is no change"),
        }
        if *kind == ChangeKind::Deleted {
            states.remove(&key);
        } else {
            states.insert(key, (object.uid().to_string(), version));
        }
        let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
        let is_deletion = *kind == ChangeKind::Deleted;
        let recorded = (resource.resource.clone(), namespace, name, version, is_deletion);
        match origin {
            Origin::Watch => self.watched.push(recorded),
            _ => self.listed.push(recorded),
        }
    }
}
