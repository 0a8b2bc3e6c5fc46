//! Documents that kubectl prints from Go types: the fields of JSON and KYAML have the order of the type.

mod documents;
mod event_fields;
mod events;

pub(crate) use documents::{TypedDocuments, TypedFormat, narrow_json};
pub(crate) use events::{EventFormat, EventOptions, EventStream, event_list};
