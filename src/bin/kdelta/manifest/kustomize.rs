//! Kustomizations, built by `kubectl kustomize` or `kustomize build`.

use std::env::split_paths;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::fs::{Access, access};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::limits::TEXT_LIMIT;
use super::text::{ReadError, decoded};
use crate::system_words::system_words;

/// The programs that can build a kustomization, with their arguments before the folder.
const BUILDERS: [(&str, &str); 2] = [("kubectl", "kustomize"), ("kustomize", "build")];

/// The limit for the messages of a builder, in bytes.
const MESSAGES_LIMIT: usize = 64 << 10;

/// Why a kustomization has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum KustomizeError {
    #[error("-k needs kubectl or kustomize to build the kustomization, and neither of them is on the PATH")]
    NoBuilder,
    /// The builder's own message.
    #[error("{0}")]
    Build(String),
    #[error("{program} can't be run: {reason}")]
    Run { program: &'static str, reason: String },
    #[error(transparent)]
    TooLarge(#[from] ReadError),
}

/// A built kustomization.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Built {
    pub(super) text: String,
    /// The lines that the builder wrote to stderr.
    pub(super) messages: Vec<String>,
}

/// Builds the kustomization in a folder with the first program that is in the folders of `PATH`. It gets neither standard input nor
/// credentials.
pub(super) async fn build(folder: &str, search_path: &OsStr) -> Result<Built, KustomizeError> {
    let installed =
        BUILDERS.iter().find_map(|(name, subcommand)| Some((*name, *subcommand, find(name, search_path)?)));
    let (program, subcommand, path) = installed.ok_or(KustomizeError::NoBuilder)?;
    let child = Command::new(path)
        .args([subcommand, "--", folder])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    match child {
        Ok(child) => output(program, child).await,
        Err(error) => Err(KustomizeError::Run { program, reason: system_words(&error) }),
    }
}

/// Returns the path of an installed program. As in Go, relative entries of `PATH` do not count: the working directory
/// may be anyone's.
fn find(program: &str, search_path: &OsStr) -> Option<PathBuf> {
    split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| path.is_file() && access(path, Access::EXEC_OK).is_ok())
}

/// Waits for a builder. One that writes too much is killed.
async fn output(program: &'static str, mut child: Child) -> Result<Built, KustomizeError> {
    let failed = |error: io::Error| KustomizeError::Run { program, reason: system_words(&error) };
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let messages = async {
        let (bytes, _) = bounded(stderr, MESSAGES_LIMIT).await?;
        Ok::<_, io::Error>(decoded(bytes))
    };
    let (text, messages) = tokio::join!(bounded(stdout, TEXT_LIMIT), messages);
    let ((text, is_whole), messages) = (text.map_err(failed)?, messages.map_err(failed)?);
    if !is_whole {
        return Err(ReadError::TooLarge.into());
    }
    let status = child.wait().await.map_err(failed)?;
    let mut messages: Vec<String> = messages.lines().map(str::to_owned).collect();
    if status.success() {
        return Ok(Built { text: decoded(text), messages });
    }
    let error = messages.iter().enumerate().find_map(|(at, line)| Some((at, error_of(line)?)));
    Err(KustomizeError::Build(match error {
        Some((at, error)) => {
            let rest = messages.split_off(at + 1);
            [error].into_iter().chain(rest).collect::<Vec<_>>().join("\n")
        }
        None if messages.is_empty() => format!("{program} failed: {status}"),
        None => messages.join("\n"),
    }))
}

/// Returns the error in a line of a builder: after its prefix, or in the log line of a kubectl whose errors are logged.
fn error_of(line: &str) -> Option<String> {
    let own = line.strip_prefix("error: ").or(line.strip_prefix("Error: "));
    let logged = || {
        let (_, quoted) = line.split_once("] \"command failed\" err=")?;
        serde_json::from_str(quoted).ok()
    };
    own.map(str::to_owned).or_else(logged)
}

/// Reads at most `limit` bytes, and whether they are all. The rest of the stream is dropped, so that a writer ends.
async fn bounded(from: Option<impl AsyncRead + Unpin>, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let Some(from) = from else { return Ok((bytes, true)) };
    let most = u64::try_from(limit + 1).unwrap_or(u64::MAX);
    from.take(most).read_to_end(&mut bytes).await?;
    let is_whole = bytes.len() <= limit;
    bytes.truncate(limit);
    Ok((bytes, is_whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_builders_are_recognized() {
        for (line, error) in [
            ("error: must build at directory: x", Some("must build at directory: x")),
            ("Error: x: no such file", Some("x: no such file")),
            (r#"E1125 01:55:39.778642    5188 run.go:72] "command failed" err="no \"x\"""#, Some("no \"x\"")),
            ("# Warning: 'commonLabels' is deprecated.", None),
        ] {
            assert_eq!(error_of(line).as_deref(), error, "{line}");
        }
    }
}
