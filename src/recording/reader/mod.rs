//! Reads recordings.

mod audit;
mod bases;
mod catalog;
mod chains;
mod continuation;
mod entries;
mod gaps;
mod history;
mod order;
pub(in crate::recording) mod parallel;
mod recording;
mod resources;
mod rows;
mod segment_file;
#[cfg(feature = "serve")]
mod serving;
mod state;
mod state_files;
mod texts;
mod unfinished_gaps;
mod watch_events;

pub(in crate::recording) use catalog::Catalog;
pub(in crate::recording) use continuation::{Continued, ContinuedEnd, Step};
pub use entries::{Entries, Folded};
pub(in crate::recording) use gaps::LostWatch;
pub use history::Versions;
pub use recording::Recording;
#[cfg(feature = "serve")]
pub(in crate::recording) use serving::TemplateRow;
pub use state::State;
