//! Recordings: deltas that are written to files while they are received, and can be read at any moment.
//!
//! A directory holds one recording, of one kubeconfig context. [`Writer`] appends to it, and any number of
//! [`Recording`]s read it at the same time. The format is documented in `docs/recording-format.md`.

mod block;
mod bytes;
mod contexts;
mod document;
mod encryption;
mod entry;
mod error;
mod files;
mod flags;
mod frame;
mod journal;
mod keyframe;
mod last_state;
mod names;
mod options;
mod payload;
mod position;
#[cfg(any(test, feature = "internals"))]
#[doc(hidden)]
pub mod properties;
mod reader;
mod redaction;
mod row_template;
mod segment;
#[cfg(feature = "serve")]
mod source;
mod tables;
#[cfg(test)]
mod tests;
mod tools;
mod type_log;
mod usage;
mod writer;

pub use encryption::{Encryption, Identities, Keyring, Recipients};
pub use entry::{Author, Entry, EntryFilter, Gap, IncompleteList, Item, Moment, NamespaceLimit, Unobserved};
pub use error::{Damage, RecordingError};
pub use options::WriterOptions;
pub use position::Position;
pub use reader::{Entries, Folded, Recording, State, Versions};
pub use redaction::{Redaction, SecretValues};
#[cfg(feature = "serve")]
pub use source::{
    Mirror, NetworkEndpoint, NetworkOptions, NetworkServer, RecordedServer, ReplaySpeed, ServedMoment,
};
pub use tools::{
    CutOptions, Excerpt, Importer, Imports, RECIPIENTS_SELECTOR, REDACTED_SELECTOR, SECRETS_SELECTOR,
    SELECTORS_PATH, cut, merge,
};
pub use usage::{Statistics, TypeUsage, Usage};
pub use writer::Writer;
