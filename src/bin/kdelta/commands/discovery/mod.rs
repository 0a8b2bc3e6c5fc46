//! `kdelta api-resources`, `api-versions` and `version`: what the server serves, as kubectl prints it.

mod api_resources;
mod api_versions;
mod refusal;
mod version;

pub(crate) use api_resources::run as api_resources;
pub(crate) use api_versions::run as api_versions;
pub(crate) use version::{client_version, versions};
