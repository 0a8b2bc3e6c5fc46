//! `kdelta api-versions`: the group versions that the server serves.

use std::io::Write;

use kdelta::kubeconfig;

use super::refusal::with_kubectls_text;
use crate::exit::ExitCode;
use crate::session::Session;
use crate::view::escape_line;

/// Requests the group versions from the server and prints one per line.
pub(crate) async fn run(session: &Session, mut out: impl Write) -> anyhow::Result<ExitCode> {
    let versions = session.cluster().discovery().group_versions().await;
    for version in versions.map_err(with_kubectls_text).map_err(NoVersions)? {
        writeln!(out, "{}", escape_line(&version))?;
    }
    out.flush()?;
    Ok(ExitCode::Ok)
}

/// The group versions are unknown. The reason is no source of the error: kubectl prints it after its own text.
#[derive(Debug, thiserror::Error)]
#[error("couldn't get available api versions from server: {0}")]
struct NoVersions(kubeconfig::Error);
