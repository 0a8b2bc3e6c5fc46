//! Representations of objects: complete, as metadata, and as Table rows.

pub(super) mod columns;
pub(super) mod writer;
