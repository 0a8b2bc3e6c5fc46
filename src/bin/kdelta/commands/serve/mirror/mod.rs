//! `kdelta serve --follow`: the current objects of a watch as a read-only cluster, until interrupted.

mod sink;

use std::cell::RefCell;
use std::io::Write;
use std::pin::pin;
use std::sync::Arc;

use anyhow::bail;
use kdelta::recording::{NetworkEndpoint, Redaction, SecretValues};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::Notify;
use tokio::time::Instant;

use sink::{MirrorSink, Mirrors};

use super::kubeconfig_file::{KubeconfigFile, ServedContext};
use super::{SHARED_PORT, written};
use crate::commands::Reporter;
use crate::commands::record::documents::{self, Documents};
use crate::commands::record::{DOCUMENTS_LIMIT, check_filter};
use crate::commands::watch::{self, PartSink, PartSupervisor, Parts, WatchLoop, deadline};
use crate::exit::ExitCode;
use crate::output::ReaderWatch;
use crate::session::{Cluster, ExitOnSignal, Interrupt, Interrupts, Session, TargetSet};
use crate::settings::{Mirror, Namespaces, Redacted, Serve, Settings, UsageError, Watch};
use crate::view::counted;

/// The name of the context of a server that has none.
const UNNAMED: &str = "mirror";

/// Prints the path of the kubeconfig once the initial state is complete, and serves until it is interrupted, the reader of
/// its output closes, or every part has failed.
pub(crate) async fn mirror(
    session: &Session,
    mirror: &Mirror,
    settings: &Settings,
    reporter: &Reporter,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let Some(serve) = &settings.serve else { bail!("there are no settings of a server") };
    let watch = &Watch::of_mirror(mirror);
    check_filter(session, watch, UsageError::MirroredAges)?;
    if session.has_several_contexts() && serve.address.port() != 0 {
        bail!(SHARED_PORT);
    }
    let redaction = redaction(&mirror.redacted)?;
    let last = reporter.clone();
    let early = ExitOnSignal::after(move |end| last.messages().without_counts(end))?;
    let mut targets = TargetSet::start(session, &watch.selection, watch.ignore_not_found);
    let mut is_partial = reporter.report_unusable(session);
    if !watch::first_parts(session, watch, &mut targets, reporter, &mut is_partial).await? {
        return Ok(ExitCode::Error);
    }
    let interrupts = Interrupts::listen_with_hang_up()?;
    drop(early);
    let (mirrors, documents) = (Mirrors::new(session), RefCell::new(Documents::default()));
    let synced = Notify::new();
    let sink = MirrorSink::new(&mirrors, &documents, &synced, reporter);
    let parts = Parts::new(session, watch, reporter.clone(), targets)
        .with_bookmarks()
        .with_stored_objects()
        .with_redaction(redaction);
    let supervisor = PartSupervisor::new(watch, reporter, parts, sink, is_partial);
    let mut watch_loop = WatchLoop::new(watch, reporter, supervisor);
    let mut running = RunningMirror {
        session,
        settings,
        serve,
        namespaces: &mirror.selection.namespaces,
        reporter,
        mirrors: &mirrors,
        documents: &documents,
        servers: Vec::new(),
        file: None,
    };
    let code = match running.until_end(&mut watch_loop, &synced, &interrupts, out).await {
        Ok(End::Watch(ended)) => ended,
        Ok(End::OutputClosed) => Ok(ExitCode::BrokenPipe),
        Ok(End::Interrupted(interrupt)) => Ok(watch_loop.interrupted(interrupt)),
        Err(error) => Err(error),
    };
    watch_loop.stop().await;
    for (_, server) in running.servers {
        server.stop().await;
    }
    code
}

/// Returns the redaction of confidential values with a random key; `None` if nothing is redacted.
fn redaction(redacted: &Redacted) -> anyhow::Result<Option<Arc<Redaction>>> {
    if redacted.secrets == SecretValues::Keep && redacted.paths.is_empty() {
        return Ok(None);
    }
    let mut key = [0; 32];
    if SystemRandom::new().fill(&mut key).is_err() {
        bail!("the system has no random numbers");
    }
    Ok(Some(Arc::new(Redaction::new(&key, redacted.secrets, redacted.paths.clone()))))
}

/// The reason why a mirror ended.
enum End {
    Watch(anyhow::Result<ExitCode>),
    OutputClosed,
    Interrupted(Interrupt),
}

/// The work that runs next to the watch: the requests for documents, and the servers.
struct RunningMirror<'a> {
    session: &'a Session,
    settings: &'a Settings,
    serve: &'a Serve,
    namespaces: &'a Namespaces,
    reporter: &'a Reporter,
    mirrors: &'a Mirrors,
    documents: &'a RefCell<Documents>,
    /// The servers with the names of their contexts; none before the initial state is complete.
    servers: Vec<(String, NetworkEndpoint)>,
    /// Dropped after the servers: while one responds, its kubeconfig exists.
    file: Option<KubeconfigFile>,
}

impl RunningMirror<'_> {
    /// Runs the watch, and the servers once the initial state is complete, until there is a reason to end.
    async fn until_end<P: PartSink>(
        &mut self,
        watch_loop: &mut WatchLoop<'_, P>,
        synced: &Notify,
        interrupts: &Interrupts,
        mut out: impl Write,
    ) -> anyhow::Result<End> {
        // One permit: the reader closes only once.
        let gone = Arc::new(Notify::new());
        let notify = Arc::clone(&gone);
        let _reader = ReaderWatch::start(move || notify.notify_one())?;
        let mut watching = pin!(watch_loop.run());
        let mut following =
            pin!(documents::follow(self.session, self.mirrors, self.documents, self.reporter));
        let mut complete = pin!(async {
            synced.notified().await;
            tokio::select! {
                () = documents::complete(self.documents) => {}
                // Without the documents, the mirror lacks discovery and schemas only.
                () = deadline::reached(Some(Instant::now() + DOCUMENTS_LIMIT)) => {}
            }
        });
        loop {
            tokio::select! {
                biased;
                () = gone.notified() => return Ok(End::OutputClosed),
                interrupt = interrupts.first() => return Ok(End::Interrupted(interrupt)),
                ended = &mut watching => return Ok(End::Watch(ended)),
                () = &mut following => {}
                () = &mut complete, if self.file.is_none() => self.start(&mut out).await?,
            }
        }
    }

    /// Starts the servers, and prints the path of the kubeconfig.
    async fn start(&mut self, out: &mut impl Write) -> anyhow::Result<()> {
        let messages = self.reporter.messages();
        for cluster in self.session.clusters() {
            let Some(mirror) = self.mirrors.0.get(&cluster.index()) else { continue };
            let types = mirror.served_types();
            let server = mirror.serve(self.serve.address).await?;
            let name = name(cluster);
            let types = counted(types as u64, "type");
            messages.notice(&format!("{name}, a live mirror of {types}: {}", server.url()));
            self.servers.push((name, server));
        }
        let contexts: Vec<_> = self
            .servers
            .iter()
            .map(|(name, endpoint)| ServedContext { name, namespace: self.namespace_of(name), endpoint })
            .collect();
        let file = written(self.serve, &self.settings.connection, &contexts, None)?;
        messages.notice(&format!("KUBECONFIG={} kubectl get pods", file.path().display()));
        writeln!(out, "{}", file.path().display())?;
        out.flush()?;
        self.file = Some(file);
        Ok(())
    }

    /// Returns the namespace of requests without one: the only one that is mirrored, or else that of the context.
    fn namespace_of(&self, context: &str) -> Option<String> {
        if let Namespaces::Named(names) = self.namespaces
            && let [only] = names.as_slice()
        {
            return Some(only.clone());
        }
        let cluster = self.session.clusters().find(|cluster| name(cluster) == context)?;
        Some(cluster.namespace().to_owned())
    }
}

/// Returns the name of the context in the kubeconfig.
fn name(cluster: &Cluster) -> String {
    let context = cluster.context();
    if context.is_empty() { UNNAMED } else { context }.to_owned()
}
