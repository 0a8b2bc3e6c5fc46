//! `kdelta serve`: recordings, or a mirror, as a read-only cluster, until interrupted.

mod kubeconfig_file;
mod mirror;
mod served_moment;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use kdelta::recording::{Keyring, NetworkOptions, NetworkServer};
use tokio::sync::Notify;

use crate::exit::ExitCode;
use crate::output::{Messages, ReaderWatch};
use crate::session::{Coverage, Interrupts, SelectedRecording, keyring, select_recordings};
use crate::settings::{Connection, Keys, Recording, RequestedMoment, Serve};
use kubeconfig_file::{KubeconfigFile, ServedContext};

pub(crate) use mirror::mirror;
pub(crate) use served_moment::move_to;

const SHARED_PORT: &str = "several contexts can't share a port: omit --port, or select one with --context";

/// Prints the path of the kubeconfig once the servers respond, and serves until it is interrupted or the reader of its
/// output closes.
pub(crate) async fn run(
    serve: &Serve,
    recording: &Recording,
    keys: &Keys,
    connection: &Connection,
    messages: &Messages,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let interrupts = Interrupts::listen_with_hang_up()?;
    let keyring = keyring(keys)?;
    let (selected, current) = select_recordings(&recording.dir, connection, &keyring)?;
    if selected.len() > 1 && serve.address.port() != 0 {
        bail!(SHARED_PORT);
    }
    // Declared before the servers, and so removed after them: while a server responds, its kubeconfig exists.
    let file;
    let mut servers = Vec::new();
    let mut failures = Vec::new();
    for SelectedRecording { context, dir } in selected {
        match start(serve, recording.at, &dir, &keyring, messages).await {
            Ok(server) => servers.push((context, server)),
            Err(error) => failures.push((context, error)),
        }
    }
    if servers.is_empty() {
        return match failures.pop() {
            Some((_, error)) if failures.is_empty() => Err(error),
            Some((context, error)) => Err(error.context(context)),
            None => bail!("no context is selected"),
        };
    }
    for (context, error) in &failures {
        messages.warning(&format!("{context}: {error:#}"));
    }
    let contexts: Vec<_> = servers
        .iter()
        .map(|(name, server)| ServedContext { name, namespace: None, endpoint: server.endpoint() })
        .collect();
    file = written(serve, connection, &contexts, current.as_deref())?;
    announce(messages, &servers, file.path())?;
    writeln!(out, "{}", file.path().display())?;
    out.flush()?;
    // One permit: the reader closes only once.
    let gone = Arc::new(Notify::new());
    let notify = Arc::clone(&gone);
    let _reader = ReaderWatch::start(move || notify.notify_one())?;
    let code = tokio::select! {
        () = gone.notified() => ExitCode::BrokenPipe,
        interrupt = interrupts.first() => interrupt.into(),
    };
    for (_, server) in servers {
        server.stop().await;
    }
    Ok(code)
}

/// Starts the server of one context.
async fn start(
    serve: &Serve,
    at: RequestedMoment,
    dir: &Path,
    keyring: &Keyring,
    messages: &Messages,
) -> anyhow::Result<NetworkServer> {
    let opened = kdelta::recording::Recording::open_with(dir, keyring)?;
    let coverage = Coverage::of(&opened)?;
    let (moment, notice) = match serve.replay {
        Some((since, _)) => coverage.since(&opened, since)?,
        None => (coverage.moment(&opened, "at", at)?, None),
    };
    if let Some(notice) = notice {
        messages.warning(&notice);
    }
    let options = NetworkOptions::default()
        .keyring(keyring.clone())
        .address(serve.address)
        .moment(moment)
        .replay(serve.replay.map(|(_, speed)| speed));
    Ok(NetworkServer::start(dir, options).await?)
}

/// Writes the kubeconfig.
fn written(
    serve: &Serve,
    connection: &Connection,
    contexts: &[ServedContext<'_>],
    current: Option<&str>,
) -> anyhow::Result<KubeconfigFile> {
    let text = kubeconfig_file::text(contexts, current);
    if let Some(path) = &serve.kubeconfig {
        return KubeconfigFile::create(path, &text).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => anyhow!(
                "{}: the file exists: remove it, or select another one with --write-kubeconfig",
                path.display()
            ),
            _ => anyhow::Error::new(error).context(path.display().to_string()),
        });
    }
    let dir = connection.cache_dir.as_ref().context(
        "there is no cache directory for the kubeconfig, as there is no home directory: select a file with --write-kubeconfig",
    )?;
    let address: SocketAddr = contexts.first().context("no context is served")?.endpoint.address();
    let path = dir.join("serve").join(format!("{}-{}", address.ip(), address.port()).replace(':', "_"));
    KubeconfigFile::replace(&path, &text).with_context(|| path.display().to_string())
}

/// Prints what is served, and how to use it.
fn announce(messages: &Messages, servers: &[(String, NetworkServer)], path: &Path) -> anyhow::Result<()> {
    for (context, server) in servers {
        let moment = server.moment()?;
        let time = moment.time.map(|time| time.to_string()).unwrap_or_default();
        // A recording of a server without a context has an empty name.
        let name = if context.is_empty() { "the recording" } else { context };
        messages.notice(&format!("{name} at {time}: {}", server.endpoint().url()));
        if let Some(gap) = &moment.gap {
            messages.warning(&format!("{gap}: this is the state before"));
        }
    }
    let path = path.display();
    messages.notice(&format!("KUBECONFIG={path} kubectl get pods"));
    messages.notice(&format!("kdelta serve --move-to TIME --kubeconfig {path}"));
    Ok(())
}
