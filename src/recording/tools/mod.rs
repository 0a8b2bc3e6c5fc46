//! Creates recordings from others: cuts a part of one, merges several, and imports JSON lines.

mod beginning;
mod cut;
mod excerpt;
mod import;
mod line_scope;
mod merge;
mod merge_source;
mod merged;
mod merged_documents;
mod new_recording;
mod observed;
mod selectors;

pub use cut::{CutOptions, cut};
pub use excerpt::Excerpt;
pub use import::{Importer, Imports};
pub use merge::merge;
pub use selectors::{RECIPIENTS_SELECTOR, REDACTED_SELECTOR, SECRETS_SELECTOR, SELECTORS_PATH};
