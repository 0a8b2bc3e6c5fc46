//! What bodies cost.

use std::collections::HashSet;
use std::ops::AddAssign;
use std::sync::Arc;

use super::prefix::Prefix;
use crate::object::Object;

/// The space that bodies take, added up over any number of objects. What several of them share counts once. To be added
/// to another, of objects that share nothing with these: those of another store.
///
/// ```
/// # use kdelta::object::{Footprint, Packer};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let objects = source.objects();
/// let footprint: Footprint = objects.iter().map(AsRef::as_ref).collect();
/// assert_eq!((footprint.objects, footprint.text_bytes), (1, objects[0].json_len()));
/// assert_eq!(footprint.held_bytes(), footprint.text_bytes, "nothing is packed");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Footprint {
    /// How many objects there are.
    pub objects: usize,
    /// How many of them have a packed body.
    pub packed: usize,
    /// The bytes of all bodies as text.
    pub text_bytes: usize,
    /// The bytes of the bodies as they are held, without what they share.
    pub body_bytes: usize,
    /// How many texts others are written against; each is that of an object, now or before.
    pub bases: usize,
    /// The bytes of those as they are held.
    pub base_bytes: usize,
    /// The bytes that bases are written against.
    pub dictionary_bytes: usize,
    /// The shared ones that were counted, by their places in memory.
    seen: HashSet<usize>,
}

impl Footprint {
    /// Counts an object.
    pub fn add(&mut self, object: &Object) {
        self.objects += 1;
        self.packed += usize::from(object.is_packed());
        self.text_bytes += object.json_len();
        self.body_bytes += object.held_len();
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
            self.base_bytes += prefix.held_len();
            self.add_prefix(dictionary);
        } else {
            self.dictionary_bytes += prefix.held_len();
        }
    }

    /// The bytes that all bodies take, with what they share.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.body_bytes + self.base_bytes + self.dictionary_bytes
    }
}

impl AddAssign for Footprint {
    fn add_assign(&mut self, other: Self) {
        self.objects += other.objects;
        self.packed += other.packed;
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
