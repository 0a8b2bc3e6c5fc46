//! `--match-server-version`: the check that the server has the release that kdelta follows.

use std::fmt;

use kdelta::api::VersionInfo;
use kdelta::kubeconfig;
use kdelta::object::go_quote;

use super::refusal::with_kubectls_text;
use super::version::{client_info, is_of_followed_release};
use crate::exit::Hint;
use crate::session::Session;

/// The server's version can't be read. kubectl prints the reason as a text, without its own prefix.
#[derive(Debug, thiserror::Error)]
#[error("couldn't read version from server: {0}")]
struct UnknownServerVersion(String);

/// The server has another release.
#[derive(Debug, thiserror::Error)]
#[error("server version (&{server}) differs from client version ({client})")]
struct DifferentVersion {
    server: GoVersion,
    client: GoVersion,
}

/// A version in Go's syntax, as kubectl prints it.
#[derive(Debug)]
struct GoVersion(Box<VersionInfo>);

impl fmt::Display for GoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = &*self.0;
        let fields = [
            ("Major", &info.major),
            ("Minor", &info.minor),
            ("EmulationMajor", &info.emulation_major),
            ("EmulationMinor", &info.emulation_minor),
            ("MinCompatibilityMajor", &info.min_compatibility_major),
            ("MinCompatibilityMinor", &info.min_compatibility_minor),
            ("GitVersion", &info.git_version),
            ("GitCommit", &info.git_commit),
            ("GitTreeState", &info.git_tree_state),
            ("BuildDate", &info.build_date),
            ("GoVersion", &info.go_version),
            ("Compiler", &info.compiler),
            ("Platform", &info.platform),
        ];
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}:{}", go_quote(value))).collect();
        write!(f, "version.Info{{{}}}", fields.join(", "))
    }
}

/// Checks the server of each context.
///
/// # Errors
/// A server has another release than the one that kdelta follows, or its version can't be read.
pub(crate) async fn require_matching_servers(session: &Session) -> anyhow::Result<()> {
    for cluster in session.clusters() {
        let server = cluster.discovery().version_info().await.map_err(unknown)?;
        check(server)?;
    }
    Ok(())
}

/// Returns the error of a request for the server's version.
fn unknown(error: kubeconfig::Error) -> UnknownServerVersion {
    UnknownServerVersion(with_kubectls_text(error).to_string())
}

fn check(server: VersionInfo) -> anyhow::Result<()> {
    if is_of_followed_release(&server.git_version) {
        return Ok(());
    }
    let (server, client) = (GoVersion(Box::new(server)), GoVersion(Box::new(client_info())));
    let hint = "kdelta follows kubectl 1.36, and matches servers of that release".to_owned();
    Err(anyhow::Error::new(DifferentVersion { server, client }).context(Hint(hint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(git_version: &str) -> VersionInfo {
        let mut info = VersionInfo::default();
        (info.major, info.minor) = ("1".into(), "35+".into());
        info.git_version = git_version.into();
        info.platform = "a\"b".into();
        info
    }

    #[test]
    fn servers_of_the_followed_release_match() {
        for version in ["v1.36.0", "v1.36.3", "v1.36.1-gke.100+abc"] {
            assert!(check(server(version)).is_ok(), "{version}");
        }
        for version in ["v1.35.9", "v1.37.0", "v2.36.0", "", "x"] {
            assert!(check(server(version)).is_err(), "{version}");
        }
    }

    #[test]
    fn difference_is_printed_in_gos_syntax() {
        let error = check(server("v1.35.2-eks-1")).expect_err("another release");
        let text = error.chain().map(ToString::to_string).find(|text| text.starts_with("server version"));
        let text = text.expect("the error below its hint");
        let start = r#"server version (&version.Info{Major:"1", Minor:"35+", EmulationMajor:"", EmulationMinor:"", MinCompatibilityMajor:"", MinCompatibilityMinor:"", GitVersion:"v1.35.2-eks-1", GitCommit:"", GitTreeState:"", BuildDate:"", GoVersion:"", Compiler:"", Platform:"a\"b"}) differs from client version (version.Info{Major:""#;
        assert!(text.starts_with(start) && text.ends_with("\"})"), "{text}");
    }
}
