//! Makes recordings of others: a part of one, several as one, and one of JSON lines.

mod cut;
mod excerpt;
mod import;
mod line_scope;
mod merge;
mod merge_source;
mod merged;
mod new_recording;

pub use cut::{CutOptions, cut};
pub use excerpt::Excerpt;
pub use import::{Importer, Imports};
pub use merge::merge;
