//! What can go wrong before a request is sent, by what the caller can do about it.

use std::path::PathBuf;

use crate::listwatch;

/// Why there is no configuration, no client, or no answer from discovery. No text in it carries a credential.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No file, no flag and no environment says where the server is: the user has to.
    #[error(
        "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable"
    )]
    NotConfigured,
    /// A file that was named explicitly can't be read.
    #[error("stat {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A kubeconfig file is not one: it has to be repaired.
    #[error("error loading config file {:?}: {reason}", path.display().to_string())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong in it, with the line where that is known.
        reason: String,
    },
    /// A context was asked for that no file has.
    #[error("context {0:?} does not exist")]
    NoContext(String),
    /// The current context is one that no file has.
    #[error("context was not found for specified context: {0}")]
    NoCurrentContext(String),
    /// A cluster was asked for, or is named by the context, that no file has.
    #[error("cluster {0:?} does not exist")]
    NoCluster(String),
    /// A user was asked for, or is named by the context, that no file has.
    #[error("auth info {0:?} does not exist")]
    NoUser(String),
    /// The configuration contradicts itself or asks for what can't be done.
    #[error("{0}")]
    Invalid(String),
    /// The credentials named by the configuration can't be had.
    #[error("{0}")]
    Credentials(String),
    /// A server was asked and did not give what was needed.
    #[error(transparent)]
    Server(#[from] listwatch::Error),
}
