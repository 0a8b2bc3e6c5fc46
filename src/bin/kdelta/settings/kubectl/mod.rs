//! The arguments of commands that are kubectl's as a whole, with nothing of kdelta's own, and the forms of a watch.

mod discovery;
mod events;
mod explain;
mod files;
mod raw_path;
mod watch_form;

pub(crate) use discovery::{ApiResources, RESOURCE_FORMATS, ResourceColumn, Version, VersionFormat};
pub(super) use discovery::{no_arguments, read_api_resources};
pub(crate) use events::{EVENT_FORMATS, EventOutput, Events};
pub(crate) use explain::{Explain, ExplainFormat};
pub(crate) use files::Files;
pub(crate) use raw_path::RawPath;
pub(crate) use watch_form::{GetWatch, WatchForm};
