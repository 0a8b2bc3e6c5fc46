//! Bodies in little space: each is written against a sibling, an earlier object of its own workload.
//!
//! Objects of one workload (the pods of a Deployment, say) differ in names, times and addresses only, so a body that is
//! written as what differs from a sibling takes a thirtieth of its size. The sibling is itself compressed by zstd with
//! some objects of the kind as its dictionary, and those are held as they are. What a body was written against is held
//! by the body, as an [`Arc`] of a [`Prefix`]: nothing becomes unreadable because something else left a store, and a
//! prefix goes with the last body that needs it.

mod bases;
mod blocks;
mod digits;
mod footprint;
mod frame;
mod prefix;
mod reader;
mod sibling;
mod sum;
mod writer;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Object;
use super::body::Body;
use bases::Bases;
pub use footprint::Footprint;
pub(super) use prefix::Prefix;
pub(super) use reader::{length, unpack};
pub(super) use sum::sum;
use writer::Writer;

/// A body below this stays as it is: what is around it costs more.
const WORTHWHILE: usize = 256;

/// A body beyond this is no base, and has none: what a base keeps at hand is paid for by all.
const LARGE: usize = 128 << 10;

/// The dictionary of a kind is made of so many objects, or of so many bytes of them.
const DICTIONARY_OBJECTS: usize = 16;
const DICTIONARY_BYTES: usize = 48 << 10;

/// Packs the bodies of one kind of objects. Whatever it packed reads as it did before (see [`Object::json`]) and needs
/// the packer no more.
///
/// One packer serves one store, which packs what it stores, and the queue before it, which packs what waits for the
/// end of a list.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::Packer;
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # let env: String = (0..200).map(|n| format!("{} ", n * 7919)).collect();
/// # for name in ["web-1", "web-2", "web-3"] {
/// #     source.add(serde_json::json!({"apiVersion": "v1", "kind": "Pod",
/// #         "metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"env": env}}));
/// # }
/// let packer = Packer::new();
/// for object in source.objects() {
///     let text = object.json().into_owned();
///     let packed = packer.pack(object);
///     assert!(packed.held_len() < text.len());
///     assert_eq!(packed.json(), text);
/// }
/// ```
pub struct Packer {
    /// A std mutex: held while one body is written, some microseconds. Besides the one task that stores there is at
    /// most the one that lists.
    state: Mutex<State>,
}

struct State {
    bases: Bases,
    dictionary: Dictionary,
}

/// What the first body of each workload is written against.
enum Dictionary {
    /// The first texts are still being gathered; until then a body stands by itself.
    Gathering { texts: Vec<u8>, count: usize, nothing: Arc<Prefix> },
    /// These texts.
    Ready(Arc<Prefix>),
}

impl Packer {
    /// A packer that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        let nothing = Arc::new(Prefix::text(Box::default()));
        let dictionary = Dictionary::Gathering { texts: Vec::new(), count: 0, nothing };
        Self { state: Mutex::new(State { bases: Bases::default(), dictionary }) }
    }

    /// The same object with its body packed; as it is where it is packed already, or where that gains nothing.
    ///
    /// An object that nobody else holds is changed in its place, any other is copied but for its body.
    #[must_use]
    pub fn pack(&self, mut object: Arc<Object>) -> Arc<Object> {
        let Some(text) = object.body.plain().filter(|text| text.len() >= WORTHWHILE) else { return object };
        let packed = Writer::with(|writer| self.state().pack(writer, text, object.workload));
        let Some(body) = packed else { return object };
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

impl Default for Packer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packer")
    }
}

impl State {
    /// The packed form of a text, unless it is no smaller.
    fn pack(&mut self, writer: &mut Writer, text: &[u8], workload: u32) -> Option<Body> {
        if workload == 0 || text.len() > LARGE {
            // No other is expected to be like it.
            let (frame, against) = self.dictionary.alone(writer, text)?;
            return Some(Body::packed(frame, against));
        }
        let choice = self.bases.of(workload);
        let mut nearest = None;
        let as_sibling = choice.for_text(text).find_map(|base| {
            if let Some(frame) = writer.write_sibling(text, &base) {
                return Some(Body::packed(frame.into(), base));
            }
            nearest.get_or_insert(base);
            None
        });
        if as_sibling.is_some() {
            choice.met_sibling();
            return as_sibling;
        }
        if let Some(base) = nearest.filter(|_| !choice.has_room()) {
            let frame = writer.write(text, &base)?;
            if !choice.met_stranger(frame, text) {
                return gains(frame, text).then(|| Body::packed(frame.into(), base));
            }
        }
        let (frame, against) = self.dictionary.alone(writer, text)?;
        let base = Arc::new(Prefix::packed(frame, against));
        choice.add(&base, text);
        writer.put_at_hand(&base, text.to_vec());
        Some(Body::packed(Box::default(), base))
    }
}

impl Dictionary {
    /// The text written against the dictionary of the kind, or by itself as long as there is none.
    fn alone(&mut self, writer: &mut Writer, text: &[u8]) -> Option<(Box<[u8]>, Arc<Prefix>)> {
        let (Self::Ready(prefix) | Self::Gathering { nothing: prefix, .. }) = &*self;
        let frame = writer.write(text, prefix)?;
        let alone = gains(frame, text).then(|| (frame.into(), Arc::clone(prefix)));
        self.gather(text);
        alone
    }

    fn gather(&mut self, text: &[u8]) {
        let Self::Gathering { texts, count, .. } = self else { return };
        // A giant would leave no room for others.
        texts.extend_from_slice(&text[..text.len().min(DICTIONARY_BYTES / 2)]);
        *count += 1;
        if *count >= DICTIONARY_OBJECTS || texts.len() >= DICTIONARY_BYTES {
            texts.truncate(DICTIONARY_BYTES);
            *self = Self::Ready(Arc::new(Prefix::text(std::mem::take(texts).into())));
        }
    }
}

/// Whether a frame is worth to be unpacked at each reading.
fn gains(frame: &[u8], text: &[u8]) -> bool {
    frame.len() < text.len() - text.len() / 8
}

#[cfg(test)]
mod tests;
