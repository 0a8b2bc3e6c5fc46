//! The options that `DeltaFifo` and `OrderedFifo` share.

use std::sync::Arc;

use super::{DEFAULT_BYTES, DEFAULT_CAPACITY, Transformer};
use crate::object::{Compressor, KeyFunc, meta_namespace_key};

/// Options of a [`DeltaFifo`](super::DeltaFifo) or an [`OrderedFifo`](super::OrderedFifo).
#[derive(Clone)]
#[non_exhaustive]
pub struct QueueOptions {
    /// The function that returns the key of an object; by default namespace and name.
    pub key_func: KeyFunc,
    /// Whether a list after the initial one is popped as one [`Item::ReplacedAll`](super::Item::ReplacedAll) (client-go:
    /// `AtomicEvents`), so that it can be applied in one step. In a [`DeltaFifo`](super::DeltaFifo) it includes the deltas
    /// queued before the list. If false, objects are popped one by one.
    pub atomic_replace: bool,
    /// The function that changes objects before they are queued; none by default.
    pub transformer: Option<Transformer>,
    /// Compresses objects that wait for the end of a list, to save memory. Pass the compressor of the store.
    pub compressor: Option<Arc<Compressor>>,
    /// The number of deltas at which the queue is full; at least one.
    pub capacity: usize,
    /// The bytes of objects at which the queue is full. An empty queue accepts a delta of any size.
    pub bytes: usize,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            key_func: meta_namespace_key,
            atomic_replace: false,
            transformer: None,
            compressor: None,
            capacity: DEFAULT_CAPACITY,
            bytes: DEFAULT_BYTES,
        }
    }
}

setters!(QueueOptions {
    key_func: KeyFunc,
    atomic_replace: bool,
    transformer: Option<Transformer>,
    compressor: Option<Arc<Compressor>>,
    capacity: usize,
    bytes: usize,
});
