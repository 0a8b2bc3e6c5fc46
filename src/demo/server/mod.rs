//! The API server: connections, routing, and the response to each request.

mod access_reviews;
mod connections;
mod discovery;
mod list;
mod metrics;
mod openapi;
mod resources;
mod router;
mod selectable_fields;
mod selection;
mod watch;

pub(super) use connections::serve;
