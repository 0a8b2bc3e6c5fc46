//! Connections to a server and the credentials that requests carry.
//!
//! - `login` obtains and renews credentials: files, credential plugins, `OpenID` Connect.
//! - `connection` dials, directly or through a proxy, and checks that connections are alive.
//! - `request_log` logs requests and responses through `tracing`, under the target `kdelta::http`.
//! - `failure` maps errors of the network to [`crate::listwatch::Error`] by their meaning.

pub(crate) mod connection;
pub(crate) mod connection_pool;
pub(crate) mod connector;
pub(crate) mod failure;
pub(crate) mod login;
pub(crate) mod notice;
pub(crate) mod redaction;
pub(crate) mod request_log;
pub(crate) mod silence;
#[cfg(test)]
pub(crate) mod test_server;
pub(crate) mod warnings;

pub use connector::Connector;
pub use login::CredentialPlugins;
pub use notice::{Notice, NoticeListener};
pub use redaction::Redaction;
