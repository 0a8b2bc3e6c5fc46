//! The errors of configuration, credentials and discovery, by what the caller can do about them.

use std::path::PathBuf;

use crate::listwatch;

/// An error of the configuration, of a login, or of discovery. No text in it contains a credential.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No file, flag or environment variable names a server: the user must.
    #[error(
        "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable"
    )]
    NotConfigured,
    /// A file that was named explicitly can't be read.
    #[error("stat {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: String,
    },
    /// The file is not a valid kubeconfig and must be repaired.
    #[error("error loading config file {:?}: {reason}", path.display().to_string())]
    File {
        /// The file.
        path: PathBuf,
        /// The problem, with its line where that is known.
        reason: String,
    },
    /// The requested context is in none of the files.
    #[error("context {0:?} does not exist")]
    NoContext(String),
    /// The current context is in none of the files.
    #[error("context was not found for specified context: {0}")]
    NoCurrentContext(String),
    /// The cluster that was requested, or that the context names, is in none of the files.
    #[error("cluster {0:?} does not exist")]
    NoCluster(String),
    /// The user that was requested, or that the context names, is in none of the files.
    #[error("auth info {0:?} does not exist")]
    NoUser(String),
    /// The configuration contradicts itself or lacks something. Not empty; each problem is a sentence.
    #[error("invalid configuration: {}", joined(.0))]
    Contradictory(Vec<String>),
    /// The configuration requests something unsupported.
    #[error("{0}")]
    Invalid(String),
    /// The credentials that the configuration names can't be obtained.
    #[error("{0}")]
    Credentials(String),
    /// A request to the server failed.
    #[error(transparent)]
    Server(#[from] listwatch::Error),
}

/// Joins the problems as client-go does.
fn joined(problems: &[String]) -> String {
    match problems {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}
