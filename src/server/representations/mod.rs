//! Representations of objects: complete, as metadata, and as Table rows.

pub(crate) mod columns;
pub(crate) mod writer;
