//! Memory statistics of object bodies.

use std::collections::HashSet;
use std::ops::AddAssign;
use std::sync::Arc;

use super::prefix::Prefix;
use crate::object::Object;

/// The memory that the bodies of any number of objects occupy. Data that several bodies share counts once. Two
/// footprints may be added if their objects share nothing, as those of different stores do.
///
/// ```
/// # use kdelta::object::{Compressor, Footprint};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let objects = source.objects();
/// let footprint: Footprint = objects.iter().map(AsRef::as_ref).collect();
/// assert_eq!((footprint.objects, footprint.text_bytes), (1, objects[0].json_len()));
/// assert_eq!(footprint.stored_bytes(), footprint.text_bytes, "nothing is compressed");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Footprint {
    /// The number of objects.
    pub objects: usize,
    /// The number of objects with a compressed body.
    pub compressed: usize,
    /// The total length of all bodies as JSON text.
    pub text_bytes: usize,
    /// The bytes of the bodies as stored, without shared data.
    pub body_bytes: usize,
    /// The number of bases: texts of current or former objects that other bodies are compressed against.
    pub bases: usize,
    /// The bytes of the bases as stored.
    pub base_bytes: usize,
    /// The bytes of the dictionaries that bases are compressed with.
    pub dictionary_bytes: usize,
    /// The addresses of the shared prefixes that were counted.
    seen: HashSet<usize>,
}

impl Footprint {
    /// Counts an object.
    pub fn add(&mut self, object: &Object) {
        self.objects += 1;
        self.compressed += usize::from(object.is_compressed());
        self.text_bytes += object.json_len();
        self.body_bytes += object.stored_len();
        if let Some(prefix) = object.body.prefix() {
            self.add_prefix(prefix);
        }
    }

    fn add_prefix(&mut self, prefix: &Arc<Prefix>) {
        if !self.seen.insert(Arc::as_ptr(prefix).addr()) {
            return;
        }
        if let Some(dictionary) = prefix.against() {
            self.bases += 1;
            self.base_bytes += prefix.stored_len();
            self.add_prefix(dictionary);
        } else {
            self.dictionary_bytes += prefix.stored_len();
        }
    }

    /// Returns the bytes that all bodies occupy, shared data included.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.body_bytes + self.base_bytes + self.dictionary_bytes
    }
}

impl AddAssign for Footprint {
    fn add_assign(&mut self, other: Self) {
        self.objects += other.objects;
        self.compressed += other.compressed;
        self.text_bytes += other.text_bytes;
        self.body_bytes += other.body_bytes;
        self.bases += other.bases;
        self.base_bytes += other.base_bytes;
        self.dictionary_bytes += other.dictionary_bytes;
        self.seen.extend(other.seen);
    }
}

impl<'a> FromIterator<&'a Object> for Footprint {
    fn from_iter<T: IntoIterator<Item = &'a Object>>(objects: T) -> Self {
        let mut footprint = Self::default();
        objects.into_iter().for_each(|object| footprint.add(object));
        footprint
    }
}
