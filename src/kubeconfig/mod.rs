//! The resolved configuration of a client: server, credentials, trust and connection options, from kubeconfig files,
//! flags and the environment. Reads files; connects to nothing.

mod config;
mod connection_options;
mod error;
mod exec_cluster;
pub(crate) mod file_format;
mod load;
pub(crate) mod local_file;
mod options;
mod plugin_policy;
mod proxy;
mod secret;
#[cfg(test)]
mod tests;
mod token_store;
mod trust;
mod yaml_booleans;

pub use config::Config;
pub(crate) use connection_options::ConnectionOptions;
pub use error::Error;
pub(crate) use exec_cluster::ExecCluster;
pub use load::Contexts;
pub(crate) use options::search_path;
pub use options::{ConfigOptions, InCluster};
pub(crate) use plugin_policy::cleaned;
pub use plugin_policy::{PluginPolicy, PluginPolicyError};
pub use proxy::EnvironmentProxies;
pub(crate) use proxy::{Protocol, Proxy};
pub use secret::Secret;
pub(crate) use token_store::{TokenStore, finish_writes};
pub(crate) use trust::{Trust, certificates};
