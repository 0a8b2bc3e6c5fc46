//! Body compression: each body is stored as its difference from a sibling, an earlier object of the same workload.
//!
//! Objects of one workload (the pods of a Deployment, for example) differ only in names, times and addresses, so a body
//! stored as its difference from a sibling takes a thirtieth of its size. The sibling itself is compressed by zstd with
//! some objects of the kind as the dictionary; the dictionary is stored uncompressed. A body holds an [`Arc`] of the
//! [`Prefix`] that it was compressed against. Removing other objects from a store therefore never makes a body
//! unreadable, and a prefix is freed with the last body that needs it.

mod bases;
mod blocks;
mod checksum;
mod digits;
mod footprint;
mod frame;
mod prefix;
mod reader;
mod sibling;
mod writer;
#[cfg_attr(not(feature = "compression"), path = "without_zstd.rs")]
mod zstd;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Object;
use super::body::Body;
use bases::Bases;
pub(super) use checksum::checksum;
pub use footprint::Footprint;
pub(super) use prefix::Prefix;
pub(super) use reader::{decompress, length};
use writer::Writer;

/// Bodies shorter than this stay uncompressed: the overhead would exceed the gain.
const MIN_LEN: usize = 256;

/// Bodies longer than this are neither used as bases nor compressed against one: every base occupies the shared cache.
const MAX_BASE_LEN: usize = 128 << 10;

/// The dictionary of a kind consists of this many objects, or of this many bytes of them.
const DICTIONARY_OBJECTS: usize = 16;
const DICTIONARY_BYTES: usize = 48 << 10;

/// Compresses the bodies of objects of one kind. A compressed object returns the same JSON as before (see
/// [`Object::json`]) and does not need the compressor to do so. Without the feature `compression`, bodies stay as they
/// are.
///
/// One compressor serves one store and the queue in front of it, which compresses the objects of a list until the list
/// is complete.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::Compressor;
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # let env: String = (0..200).map(|n| format!("{} ", n * 7919)).collect();
/// # for name in ["web-1", "web-2", "web-3"] {
/// #     source.add(serde_json::json!({"apiVersion": "v1", "kind": "Pod",
/// #         "metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"env": env}}));
/// # }
/// let compressor = Compressor::new();
/// for object in source.objects() {
///     let text = object.json().into_owned();
///     let compressed = compressor.compress(object);
///     assert!(compressed.stored_len() < text.len());
///     assert_eq!(compressed.json(), text);
/// }
/// ```
pub struct Compressor {
    /// A std mutex, held for some microseconds while one body is compressed. It has at most two users: the task that
    /// applies deltas to the store and the task that lists.
    state: Mutex<State>,
}

struct State {
    bases: Bases,
    dictionary: Dictionary,
}

/// The prefix for the first body of each workload.
enum Dictionary {
    /// The first texts are being collected; until there are enough, bodies are compressed without a dictionary.
    Collecting { texts: Vec<u8>, count: usize, empty: Arc<Prefix> },
    /// The complete dictionary.
    Ready(Arc<Prefix>),
}

impl Compressor {
    /// Creates a compressor with an empty dictionary and no bases.
    #[must_use]
    pub fn new() -> Self {
        let empty = Arc::new(Prefix::text(Box::default()));
        let dictionary = Dictionary::Collecting { texts: Vec::new(), count: 0, empty };
        Self { state: Mutex::new(State { bases: Bases::default(), dictionary }) }
    }

    /// Returns the object with its body compressed, or unchanged where it is compressed already or compression gains
    /// nothing.
    ///
    /// An object without other owners is changed in place; any other is copied without its body.
    #[must_use]
    pub fn compress(&self, mut object: Arc<Object>) -> Arc<Object> {
        let Some(text) = object.body.plain().filter(|text| text.len() >= MIN_LEN) else { return object };
        let compressed = Writer::with(|writer| self.state().compress(writer, text, object.workload));
        let Some(body) = compressed else { return object };
        match Arc::get_mut(&mut object) {
            Some(own) => {
                own.body = body;
                object
            }
            None => Arc::new(object.with_body(body)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Compressor {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compressor")
    }
}

impl State {
    /// Returns the compressed form of a text, or `None` where it would be no smaller.
    fn compress(&mut self, writer: &mut Writer, text: &[u8], workload: u32) -> Option<Body> {
        if workload == 0 || text.len() > MAX_BASE_LEN {
            // No other object is expected to resemble this one.
            let (frame, against) = self.dictionary.compress(writer, text)?;
            return Some(Body::compressed(frame, against));
        }
        let bases = self.bases.for_workload(workload);
        let mut nearest = None;
        let as_sibling = bases.candidates(text).find_map(|base| {
            if let Some(frame) = writer.write_sibling(text, &base) {
                return Some(Body::compressed(frame.into(), base));
            }
            nearest.get_or_insert(base);
            None
        });
        if as_sibling.is_some() {
            bases.record_match();
            return as_sibling;
        }
        if let Some(base) = nearest.filter(|_| !bases.has_room()) {
            let frame = writer.write(text, &base)?;
            if !bases.record_miss(frame, text) {
                return is_worthwhile(frame, text).then(|| Body::compressed(frame.into(), base));
            }
        }
        let (frame, against) = self.dictionary.compress(writer, text)?;
        let base = Arc::new(Prefix::compressed(frame, against));
        bases.add(&base, text);
        writer.add_recent(&base, text.to_vec());
        Some(Body::compressed(Box::default(), base))
    }
}

impl Dictionary {
    /// Compresses the text with the kind's dictionary, or without one while it is being collected.
    fn compress(&mut self, writer: &mut Writer, text: &[u8]) -> Option<(Box<[u8]>, Arc<Prefix>)> {
        let (Self::Ready(prefix) | Self::Collecting { empty: prefix, .. }) = &*self;
        let frame = writer.write(text, prefix)?;
        let compressed = is_worthwhile(frame, text).then(|| (frame.into(), Arc::clone(prefix)));
        self.collect(text);
        compressed
    }

    fn collect(&mut self, text: &[u8]) {
        let Self::Collecting { texts, count, .. } = self else { return };
        // One huge text must not fill the whole dictionary.
        texts.extend_from_slice(&text[..text.len().min(DICTIONARY_BYTES / 2)]);
        *count += 1;
        if *count >= DICTIONARY_OBJECTS || texts.len() >= DICTIONARY_BYTES {
            texts.truncate(DICTIONARY_BYTES);
            *self = Self::Ready(Arc::new(Prefix::text(std::mem::take(texts).into())));
        }
    }
}

/// Returns whether a frame saves enough to justify decompressing it at each read.
fn is_worthwhile(frame: &[u8], text: &[u8]) -> bool {
    frame.len() < text.len() - text.len() / 8
}

#[cfg(test)]
mod tests;
