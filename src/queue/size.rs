//! The size of a queue.

/// A number of deltas and the bytes of their objects: the capacity of a queue, or the part of it in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueSize {
    /// The number of deltas.
    pub deltas: usize,
    /// The bytes of their objects. A separate limit, because a few large objects take as much memory as many small
    /// ones.
    pub bytes: usize,
}
