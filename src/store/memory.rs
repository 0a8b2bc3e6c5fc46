//! What a store costs.

use std::fmt;
use std::ops::AddAssign;

use crate::object::Footprint;

/// What an allocation takes besides what it is asked for, about: the allocator's own note, and for what is shared the
/// two counts.
pub(super) const ALLOCATION: usize = 24;

/// What a store takes: the bodies to the byte, the rest as far as it can be told without asking the allocator.
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
pub struct Memory {
    /// The bodies.
    pub bodies: Footprint,
    /// Keys and what else is held of each object, about.
    pub object_bytes: usize,
    /// The places of the objects.
    pub slot_bytes: usize,
    /// The indices, about.
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
    /// All of it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bodies.stored_bytes() + self.object_bytes + self.slot_bytes + self.index_bytes
    }
}

/// One line for people.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bodies = &self.bodies;
        write!(
            f,
            "{} objects, {} compressed; bodies {} bytes as text, {} held ({} bases of {}, dictionaries {}); objects {}, places {}, indices {}",
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
