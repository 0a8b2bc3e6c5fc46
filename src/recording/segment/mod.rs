//! Sealed segments: entries sorted by type and object, in compressed blocks.

mod bits;
mod columns;
mod content;
mod elias_fano;
mod file_tables;
mod file_writer;
mod footer;
mod grouped_differences;
mod number_sequence;
mod payloads;
mod seal;
mod sealed;
mod timeline;
mod whole_texts;

pub(in crate::recording) use content::{UnsealedJournal, stem_hash};
pub(in crate::recording) use file_tables::{FileTables, read_footer, read_header};
pub(in crate::recording) use file_writer::{Compressed, FileWriter};
pub(in crate::recording) use footer::{
    BODIES, BlockRef, DOCUMENT, FILTERS, Footer, ITEMS, KEYFRAME_FOOTER, NAMES, ROWS, TypeFooter,
};
pub(in crate::recording) use seal::seal;
pub(in crate::recording) use sealed::Sealed;
pub(in crate::recording) use whole_texts::{WholeTextReader, WholeTextWriter};
