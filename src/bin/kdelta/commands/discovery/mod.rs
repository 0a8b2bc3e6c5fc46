//! `kdelta api-resources`, `api-versions` and `version`: what the server serves, as kubectl prints it.

mod api_resources;
mod api_versions;
mod refusal;
mod server_match;
mod version;

pub(crate) use api_resources::run as api_resources;
pub(crate) use api_versions::run as api_versions;
pub(crate) use server_match::require_matching_servers;
pub(crate) use version::{client_version, versions};
