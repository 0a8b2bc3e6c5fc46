//! The memory usage of a store.

use std::fmt;
use std::ops::AddAssign;

use crate::object::Footprint;

/// The approximate overhead of an allocation: the allocator's header, and the two reference counts of an `Arc`.
pub(super) const ALLOCATION: usize = 24;

/// The memory usage of a store. Exact for object bodies, estimated for the rest.
///
/// ```
/// # use kdelta::store::{Cache, Indexer, Store};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let store = Cache::new();
/// store.replace(source.objects(), &source.version())?;
/// let memory = store.memory();
/// assert_eq!((memory.bodies.objects, memory.index_bytes), (1, 0));
/// assert!(memory.bytes() > memory.bodies.stored_bytes());
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Memory {
    /// The bodies of the objects.
    pub bodies: Footprint,
    /// The estimated bytes of keys and object metadata.
    pub object_bytes: usize,
    /// The bytes of the tables of objects.
    pub slot_bytes: usize,
    /// The estimated bytes of the indices.
    pub index_bytes: usize,
}

impl AddAssign for Memory {
    fn add_assign(&mut self, other: Self) {
        self.bodies += other.bodies;
        self.object_bytes += other.object_bytes;
        self.slot_bytes += other.slot_bytes;
        self.index_bytes += other.index_bytes;
    }
}

impl Memory {
    /// Returns the total in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bodies.stored_bytes() + self.object_bytes + self.slot_bytes + self.index_bytes
    }
}

/// Formats the usage as one line.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bodies = &self.bodies;
        write!(
            f,
            "{} objects, {} compressed; bodies {} bytes as text, {} held ({} bases of {}, dictionaries {}); objects {}, slots {}, indices {}",
            bodies.objects,
            bodies.compressed,
            bodies.text_bytes,
            bodies.stored_bytes(),
            bodies.bases,
            bodies.base_bytes,
            bodies.dictionary_bytes,
            self.object_bytes,
            self.slot_bytes,
            self.index_bytes,
        )
    }
}
