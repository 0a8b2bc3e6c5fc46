//! The journal: the newest entries in the order in which they were received.

mod chunk;
mod compressed;
mod gap;
mod kept_texts;
mod outline;
mod reader;
mod record;
mod stored_chunk;
mod stream;
#[cfg(any(test, feature = "internals"))]
mod texts;
mod writer;

pub(in crate::recording) use chunk::{DecodedChunk, JournalObject, RawChange, RawItem, Span};
pub(in crate::recording) use compressed::{JournalChunks, JournalTexts};
pub(in crate::recording) use gap::{FirstGap, gap_start};
pub(in crate::recording) use kept_texts::{KeptTexts, WantedObject};
pub(in crate::recording) use outline::Outline;
pub(in crate::recording) use reader::{Journal, JournalReader};
pub(in crate::recording) use record::{
    put_item, put_optional, put_version, take_item, take_optional, take_version,
};
#[cfg(any(test, feature = "internals"))]
pub(in crate::recording) use texts::journal_of;
pub(in crate::recording) use writer::{JournalWriter, NewChange};
