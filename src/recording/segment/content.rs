//! The content of a journal that is sealed, without the payloads of its changes.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use crate::recording::encryption::Cipher;
use crate::recording::entry::Item;
use crate::recording::files::{FileError, Header};
use crate::recording::flags::Flags;
use crate::recording::frame::FrameContext;
use crate::recording::journal::{DecodedChunk, FirstGap, Journal, JournalChunks, JournalTexts, RawItem};
use crate::recording::names::Names;
use crate::recording::type_log::Timeline;

/// A journal that is sealed, read but for its texts.
pub(in crate::recording) struct UnsealedJournal {
    /// The journal, without its chunks.
    pub(in crate::recording) journal: Journal,
    /// Whether unreadable entries follow.
    pub(in crate::recording) is_broken: bool,
    pub(super) content: Content,
    pub(super) texts: JournalTexts,
}

impl UnsealedJournal {
    /// Reads a journal with that many entries.
    pub(in crate::recording) fn read(
        path: PathBuf,
        entries: u64,
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<Self, FileError> {
        let mut chunks = JournalChunks::open(path, cipher)?;
        let mut content = Content::new(chunks.header());
        content.reserve(usize::try_from(entries).unwrap_or_default());
        while let Some(chunk) = chunks.next()? {
            content.add(chunk);
        }
        let (journal, is_broken, texts) = chunks.finish();
        content.sort(journal.tables.resources.len());
        Ok(Self { journal, is_broken, content, texts })
    }

    /// Returns the header of the segment.
    pub(super) fn header(&self) -> Header {
        let Content { timeline, changes, first_gap, .. } = &self.content;
        let of_changes = || changes.iter().map(|change| timeline.versions[change.index as usize]);
        Header {
            context: self.journal.header.context.clone(),
            first: self.journal.header.first,
            count: self.journal.entries,
            first_time: timeline.received.first().copied().unwrap_or_default(),
            last_time: timeline.received.last().copied().unwrap_or_default(),
            time_before: self.journal.header.time_before,
            first_gap: first_gap.time(),
            min_version: of_changes().min().unwrap_or(u64::MAX),
            max_version: timeline.versions.iter().copied().max().unwrap_or_default(),
            base: None,
        }
    }
}

/// A change of a journal: there are many, so that each is small.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    /// The number of the entry.
    pub(super) index: u32,
    /// The number of the object in the journal. Once the changes are sorted, its number in that order.
    object: u32,
    pub(super) author: u32,
    pub(super) flags: Flags,
    /// The positions and lengths of the body and the row in the text of the chunk.
    pub(super) body: (u32, u32),
    pub(super) row: (u32, u32),
}

/// An object of a journal.
struct Object {
    resource: u32,
    workload: u32,
    /// The number of changes.
    changes: u32,
    /// The number of the entry with the first whole text, or `u32::MAX`.
    first_whole: u32,
}

/// The entries of a journal without their payloads.
pub(super) struct Content {
    pub(super) timeline: Timeline,
    /// The number of entries up to the end of each chunk.
    pub(super) chunk_ends: Vec<u32>,
    /// The changes in the order of the segment.
    pub(super) changes: Vec<Change>,
    /// The other items, with their numbers.
    pub(super) items: Vec<(u32, Item)>,
    objects: Vec<Object>,
    /// The keys of the objects.
    keys: Names,
    /// The numbers of the objects of each type that have changes, in the order of the segment.
    sorted: Vec<Vec<u32>>,
    first_gap: FirstGap,
}

impl Content {
    fn new(header: &Header) -> Self {
        Self {
            timeline: Timeline::default(),
            chunk_ends: Vec::new(),
            changes: Vec::new(),
            items: Vec::new(),
            objects: Vec::new(),
            keys: Names::default(),
            sorted: Vec::new(),
            first_gap: FirstGap::new(header),
        }
    }

    fn reserve(&mut self, entries: usize) {
        self.timeline.reserve(entries);
        self.changes.reserve_exact(entries);
    }

    fn add(&mut self, chunk: DecodedChunk) {
        for object in &chunk.objects {
            let (resource, workload) = (object.resource, object.workload);
            self.objects.push(Object { resource, workload, changes: 0, first_whole: u32::MAX });
            self.keys.push(&object.key, object.namespace_len);
        }
        for entry in chunk.entries {
            self.first_gap.add(&entry);
            let index = number(self.timeline.received.len());
            self.timeline.received.push(entry.received);
            self.timeline.versions.push(entry.version);
            let change = match entry.item {
                RawItem::Change(change) => change,
                RawItem::Other(item) => {
                    self.items.push((index, *item));
                    continue;
                }
            };
            let object = &mut self.objects[change.object as usize];
            object.changes += 1;
            if change.flags.has(Flags::WHOLE) {
                object.first_whole = object.first_whole.min(index);
            }
            self.changes.push(Change {
                index,
                object: change.object,
                author: change.author,
                flags: change.flags,
                body: (change.body.at, change.body.len),
                row: (change.row.at, change.row.len),
            });
        }
        self.chunk_ends.push(number(self.timeline.received.len()));
    }

    /// Sorts the objects of each type, similar ones next to each other, and the changes by object, those of an object in the
    /// order of time.
    fn sort(&mut self, resources: usize) {
        self.sorted.resize_with(resources, Vec::new);
        for (at, object) in (0..).zip(&self.objects) {
            if object.changes > 0 {
                self.sorted[object.resource as usize].push(at);
            }
        }
        for of_type in &mut self.sorted {
            of_type.sort_by_cached_key(|at| {
                let (object, key) = (&self.objects[*at as usize], self.keys.get(*at as usize).0);
                let likeness = if object.workload == 0 { stem_hash(key) } else { object.workload };
                let first_whole = Some(object.first_whole).filter(|index| *index != u32::MAX);
                (likeness, Reverse(first_whole.is_none()), first_whole, key)
            });
        }
        let mut ranks = vec![0; self.objects.len()];
        for (rank, object) in (0..).zip(self.sorted.iter().flatten()) {
            ranks[*object as usize] = rank;
        }
        for change in &mut self.changes {
            change.object = ranks[change.object as usize];
        }
        self.changes.sort_unstable_by_key(|change| (change.object, change.index));
    }

    /// Returns the objects of each type that have changes, in the order of the segment: the key, the length of the
    /// namespace, and the number of changes.
    pub(super) fn types(
        &self,
    ) -> impl Iterator<Item = (usize, impl ExactSizeIterator<Item = (&str, u16, usize)> + Clone)> {
        let object = |at: &u32| {
            let (key, namespace_len) = self.keys.get(*at as usize);
            (key, namespace_len, self.objects[*at as usize].changes as usize)
        };
        let sorted = self.sorted.iter().enumerate().filter(|(_, objects)| !objects.is_empty());
        sorted.map(move |(resource, objects)| (resource, objects.iter().map(object)))
    }

    /// Returns the number of the chunk of a change.
    pub(super) fn chunk(&self, change: &Change) -> usize {
        self.chunk_ends.partition_point(|end| *end <= change.index)
    }

    pub(super) fn context(&self, change: &Change) -> FrameContext<'static> {
        let at = change.index as usize;
        FrameContext::new(self.timeline.versions[at], self.timeline.received[at])
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns a hash that names with the same generated prefix share.
pub(in crate::recording) fn stem_hash(key: &str) -> u32 {
    let name = key.rsplit('/').next().unwrap_or_default();
    let mut stem = name.split('.').next().unwrap_or_default();
    for _ in 0..2 {
        match stem.rsplit_once('-') {
            Some((front, suffix)) if suffix.len() >= 5 => stem = front,
            _ => break,
        }
    }
    crc32fast::hash(stem.as_bytes())
}
