//! The network: the only room that speaks to a server, and the only one that knows HTTP, TLS and kubeconfig files.
//!
//! [`ConfigOptions`] and the files it names become a [`Config`]; a [`Config`] becomes a [`Client`]; a [`Client`] sends
//! a [`Request`] and hands back a [`Response`] whose body arrives in chunks. What a server refuses, and what the
//! network breaks, comes out as [`crate::listwatch::Error`]: by meaning, without a number and without a credential.

mod age;
mod bare;
mod client;
mod config;
mod credentials;
mod decode;
mod discovery;
mod error;
mod failure;
mod frames;
mod list_type;
mod local_file;
mod log_ins;
#[cfg(feature = "testing")]
pub mod measured;
mod notice;
mod progress;
#[cfg(any(test, feature = "testing"))]
pub mod properties;
mod protobuf;
mod redaction;
mod register;
mod representation;
mod request;
mod resource;
mod response;
mod secret;
mod session;
mod silence;
mod status;
mod streams;
mod suggest;
mod table;
#[cfg(test)]
mod test_server;
mod tls;
mod transport;
mod warnings;

pub use client::Client;
pub use config::{Config, ConfigOptions, Contexts, EnvironmentProxies, InCluster};
pub use credentials::{a_plugin_runs, end_plugins, kill_plugins};
pub use discovery::{Catalog, Discovered, Discovery, DiscoveryOptions, Missing, ResolveError, ServerVersion};
pub use error::Error;
pub use failure::system_words;
pub use frames::{Limits, ListSplitter, Piece, WatchSplitter};
pub use notice::Notice;
pub use redaction::Redaction;
pub use representation::{IncludeObject, Representation};
pub use request::Request;
pub use resource::ResourceClient;
pub use response::Response;
pub use secret::Secret;
pub use streams::{ResourceList, ResourceWatch};
pub use suggest::nearest;
