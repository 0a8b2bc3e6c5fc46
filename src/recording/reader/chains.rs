//! Chains: for each object of a state, the stored texts and differences from which it is decoded.

use std::collections::HashMap;
use std::sync::Arc;

use super::parallel::{self, MIN_PARALLEL};
use super::segment_file::Segment;
use super::state_files::{EntryRef, Limit, StateFiles};
use crate::lines::ChangeKind;
use crate::object::ApiResource;
use crate::recording::entry::Author;
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::keyframe::{KeyframeObjects, KeyframeRow};
use crate::recording::payload::Identity;
use crate::recording::type_log::{LogEntry, Place, Times, TypeLog};

/// The place of a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowPlace {
    Keyframe(KeyframeRow),
    /// The number of the segment, and the place in its rows.
    Segment(u32, Place),
}

/// Returns the names and the version of the object of a chain.
pub(super) fn identity<'a>(chain: &'a Chain, own_version: Option<&'a str>) -> Identity<'a> {
    Identity { key: &chain.key, namespace_len: chain.namespace_len, version: chain.version, own_version }
}

/// The steps from which the text of one object is decoded.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) key: Arc<str>,
    pub(super) namespace_len: u16,
    /// The version in the columns of the last step.
    pub(super) version: u64,
    /// The number of the object in the keyframe, if the first text is there.
    pub(super) base: Option<u32>,
    /// Changes: the number of the segment, and that of the entry in the log of the type.
    pub(super) steps: Vec<(u32, u32)>,
    pub(super) row: Option<RowPlace>,
    /// Whether the object's own version precedes its text.
    pub(super) has_own_version: bool,
    /// Whether the keyframe has an object of this name.
    pub(super) is_of_keyframe: bool,
}

/// The changes of a type in one segment, with the times and versions.
#[derive(Debug)]
pub(super) struct SegmentLog {
    pub(super) log: TypeLog,
    pub(super) times: Times,
}

/// The chains of the objects of one type that exist at a moment.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub(super) keyframe: KeyframeObjects,
    /// For each segment of the state.
    pub(super) logs: Vec<Option<SegmentLog>>,
    /// The chains of the objects.
    pub(super) objects: Vec<Chain>,
}

/// For each key, the length of its namespace, and its changes: the number of the segment, and that of the entry.
type ChangesOfObjects = HashMap<Arc<str>, (u16, Vec<(u32, u32)>)>;

/// The chains by key, while they are collected.
#[derive(Default)]
struct CollectedChains {
    numbers: HashMap<Arc<str>, usize>,
    chains: Vec<Option<Chain>>,
    /// The number of the chains of the keyframe, which come first.
    of_keyframe: usize,
    with_steps: bool,
}

/// Returns the number of the thread that collects the chain of a key: its last bytes differ most.
fn share_of(key: &str, threads: usize) -> usize {
    key.bytes().rev().take(4).map(usize::from).sum::<usize>() % threads
}

/// The changes of a type in each segment, or the error of the segment.
type Logs = Vec<Result<Option<SegmentLog>, FileError>>;

/// Reads the tables of a type in the keyframe and in the segments of a state.
fn read_tables(
    files: &StateFiles,
    resource: &ApiResource,
    read: &(dyn Fn(&Segment) -> Result<Option<SegmentLog>, FileError> + Sync),
) -> (Result<Option<KeyframeObjects>, FileError>, Logs) {
    enum Read {
        Keyframe(Result<Option<KeyframeObjects>, FileError>),
        Log(Result<Option<SegmentLog>, FileError>),
    }
    // The keyframe is the first task, because it takes as long as several segments.
    let tasks = std::iter::once(None).chain(files.segments.iter().map(Some));
    let results = parallel::map_on(files.threads, tasks, |segment| match (segment, &files.keyframe) {
        (Some(segment), _) => Read::Log(read(segment)),
        (None, keyframe) => {
            Read::Keyframe(keyframe.as_ref().map(|keyframe| keyframe.objects(resource)).transpose())
        }
    });
    let (mut of_keyframe, mut logs) = (Ok(None), Vec::with_capacity(files.segments.len()));
    for result in results {
        match result {
            Read::Keyframe(objects) => of_keyframe = objects,
            Read::Log(log) => logs.push(log),
        }
    }
    (of_keyframe, logs)
}

impl Chains {
    /// Collects the chain of one object.
    pub(super) fn of_object(
        files: &StateFiles,
        resource: &ApiResource,
        key: &str,
    ) -> Result<Self, FileError> {
        Self::read(files, resource, true, |of, _| of == key, |segment| segment.log_of(resource, key, true))
    }

    /// Collects the chains of the objects whose key and length of namespace `wanted` accepts.
    pub(super) fn collect(
        files: &StateFiles,
        resource: &ApiResource,
        wanted: impl Fn(&str, u16) -> bool + Sync,
    ) -> Result<Self, FileError> {
        Self::read(files, resource, true, wanted, |segment| segment.log(resource))
    }

    /// Collects only the names, the versions and the places of the rows of these objects: the chains have no steps.
    pub(super) fn collect_latest(
        files: &StateFiles,
        resource: &ApiResource,
        wanted: impl Fn(&str, u16) -> bool + Sync,
    ) -> Result<Self, FileError> {
        Self::read(files, resource, false, wanted, |segment| segment.log(resource))
    }

    fn read(
        files: &StateFiles,
        resource: &ApiResource,
        with_steps: bool,
        wanted: impl Fn(&str, u16) -> bool + Sync,
        log_of: impl Fn(&Segment) -> Result<Option<TypeLog>, FileError> + Sync,
    ) -> Result<Self, FileError> {
        let read = |segment: &Segment| -> Result<Option<SegmentLog>, FileError> {
            let Some(log) = log_of(segment)? else { return Ok(None) };
            Ok(Some(SegmentLog { log, times: Times::All(segment.timeline()?) }))
        };
        let (keyframe, logs) = read_tables(files, resource, &read);
        let keyframe = keyframe?.unwrap_or_default();
        let logs = logs.into_iter().collect::<Result<_, _>>()?;
        let mut all = Self { keyframe, logs, objects: Vec::new() };
        // Chains with steps are decoded in the order of the keyframe, which several threads would not keep.
        let is_divided = !with_steps && all.keyframe.objects.len() >= MIN_PARALLEL;
        let threads = if is_divided { files.threads } else { 1 };
        let parts = parallel::map_on(threads, 0..threads, |thread| {
            let is_own = |key: &str| threads == 1 || share_of(key, threads) == thread;
            let mut collected = CollectedChains { with_steps, ..CollectedChains::default() };
            let count = all.keyframe.objects.len() / threads;
            collected.numbers.reserve(count);
            collected.chains.reserve(count);
            all.collect_chains(
                files,
                resource,
                &|key, length| is_own(key) && wanted(key, length),
                &mut collected,
            );
            collected.chains
        });
        // Reserved exactly: a buffer that grows would take up to twice the memory.
        all.objects.reserve_exact(parts.iter().flatten().flatten().count());
        all.objects.extend(parts.into_iter().flatten().flatten());
        Ok(all)
    }

    /// Collects the chains of the objects whose key and length of namespace `wanted` accepts.
    fn collect_chains(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        wanted: &dyn Fn(&str, u16) -> bool,
        collected: &mut CollectedChains,
    ) {
        for (number, object) in (0u32..).zip(&self.keyframe.objects) {
            let (key, namespace_len) = self.keyframe.names.get(number as usize);
            if wanted(key, namespace_len) {
                let chain = Chain {
                    key: key.into(),
                    namespace_len,
                    version: object.version,
                    base: Some(number),
                    steps: Vec::new(),
                    row: object.row.map(RowPlace::Keyframe),
                    has_own_version: object.has_own_version,
                    is_of_keyframe: true,
                };
                collected.insert(chain);
            }
        }
        collected.of_keyframe = collected.chains.len();
        // For a state at a version, all changes of each object are collected first: only the last segment shows which
        // of them are too late.
        let mut of_version: ChangesOfObjects = HashMap::new();
        for ((number, segment), log) in (0u32..).zip(&files.segments).zip(&self.logs) {
            let Some(SegmentLog { log, times }) = log else { continue };
            let first = segment.header().first;
            for object in 0..log.names.len() {
                let (key, namespace_len) = log.names.get(object);
                if !wanted(key, namespace_len) {
                    continue;
                }
                let entries = log.numbered(object);
                match files.limit {
                    Limit::Entries(limit) => {
                        let mut entries =
                            entries.take_while(|(_, entry)| first + u64::from(entry.index) < limit);
                        collected.apply(key, namespace_len, &mut |next| {
                            entries.next().map(|(at, entry)| next.step(number, at, entry, times))
                        });
                    }
                    Limit::Version(_) => {
                        let steps = entries.map(|(at, _)| (number, at));
                        of_version.entry(key.into()).or_insert((namespace_len, Vec::new())).1.extend(steps);
                    }
                }
            }
        }
        self.apply_included(files, resource, of_version, collected);
    }

    /// Returns the author of the last change of a chain with steps, if it is recorded.
    pub(super) fn author<'a>(&self, files: &'a StateFiles, chain: usize) -> Option<&'a Author> {
        let (segment, at) = *self.objects[chain].steps.last()?;
        let number = self.entry(segment, at)?.0.author.checked_sub(1)?;
        files.segments.get(segment as usize)?.tables().authors.get(number as usize)
    }

    fn entry(&self, segment: u32, at: u32) -> Option<(&LogEntry, &Times)> {
        let log = self.logs.get(segment as usize)?.as_ref()?;
        Some((log.log.entries.get(at as usize)?, &log.times))
    }

    /// Applies the changes of each object up to its last one in the state.
    fn apply_included(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        of_version: ChangesOfObjects,
        collected: &mut CollectedChains,
    ) {
        for (key, (namespace_len, mut steps)) in of_version {
            let is_in = |(segment, at): &(u32, u32)| {
                let Some((entry, times)) = self.entry(*segment, *at) else { return false };
                let Some((_, version)) = times.of(entry.index) else { return false };
                let number = files.segments[*segment as usize].header().first + u64::from(entry.index);
                let origin = entry.flags.origin();
                files.includes(&EntryRef { resource, key: &key, namespace_len, number, version, origin })
            };
            steps.truncate(steps.iter().rposition(is_in).map_or(0, |last| last + 1));
            let mut steps = steps.into_iter();
            collected.apply(&key, namespace_len, &mut |next| {
                let (segment, at) = steps.next()?;
                let (entry, times) = self.entry(segment, at)?;
                next.step(segment, at, entry, times);
                Some(())
            });
        }
    }
}

/// A chain to which the next step is added; `None` if the object does not exist.
struct NextStep<'a> {
    chain: &'a mut Option<Chain>,
    key: &'a Arc<str>,
    namespace_len: u16,
    is_of_keyframe: bool,
    with_steps: bool,
}

impl NextStep<'_> {
    fn step(&mut self, segment: u32, at: u32, entry: &LogEntry, times: &Times) {
        if entry.flags.kind() == ChangeKind::Deleted {
            *self.chain = None;
            return;
        }
        let chain = self.chain.get_or_insert_with(|| Chain {
            key: Arc::clone(self.key),
            namespace_len: self.namespace_len,
            version: 0,
            base: None,
            steps: Vec::new(),
            row: None,
            has_own_version: false,
            is_of_keyframe: self.is_of_keyframe,
        });
        if entry.flags.has(Flags::WHOLE) {
            chain.base = None;
            chain.steps.clear();
        }
        if self.with_steps {
            chain.steps.push((segment, at));
        }
        chain.version = times.of(entry.index).unwrap_or_default().1;
        chain.has_own_version = entry.flags.has(Flags::OWN_VERSION);
        if entry.flags.has(Flags::NEW_ROW) {
            chain.row = Some(RowPlace::Segment(segment, entry.row));
        } else if entry.flags.has(Flags::NO_ROW) {
            chain.row = None;
        }
    }
}

impl CollectedChains {
    fn insert(&mut self, chain: Chain) {
        self.numbers.insert(Arc::clone(&chain.key), self.chains.len());
        self.chains.push(Some(chain));
    }

    /// Passes the chain of a key to `take` until it returns `None`.
    fn apply(
        &mut self,
        key: &str,
        namespace_len: u16,
        take: &mut dyn FnMut(&mut NextStep<'_>) -> Option<()>,
    ) {
        let known = self.numbers.get_key_value(key).map(|(key, number)| (Arc::clone(key), *number));
        let (key, number) = known.unwrap_or_else(|| (key.into(), self.chains.len()));
        let is_new = number == self.chains.len();
        let mut chain = if is_new { None } else { self.chains[number].take() };
        let is_of_keyframe = number < self.of_keyframe;
        let mut next = NextStep {
            chain: &mut chain,
            key: &key,
            namespace_len,
            is_of_keyframe,
            with_steps: self.with_steps,
        };
        while take(&mut next).is_some() {}
        match chain {
            Some(chain) if is_new => self.insert(chain),
            chain if !is_new => self.chains[number] = chain,
            _ => {}
        }
    }
}
