//! The embedded demo cluster.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::client::Connector;
use kdelta::demo::{Demo, Error, Options};
use kdelta::kubeconfig::Config;

use super::Session;
use super::cluster::{Cluster, InProcess, NoticeHandlers};
use crate::settings::{self, Connection};

impl Session {
    /// Starts a demo and opens it in place of a cluster.
    ///
    /// # Errors
    /// The port can't be opened.
    pub(super) async fn open_demo(
        mut self,
        options: settings::Demo,
        connection: &Connection,
        handlers: &NoticeHandlers,
    ) -> anyhow::Result<Self> {
        let demo = start(options).await?;
        // Discovery of a demo is not cached: all demos have the same URL, and the next one may serve other types.
        let connection = Connection { cache_dir: None, ..connection.clone() };
        let config = Config::for_server(&demo.url())?;
        let opener = demo.opener();
        let connector = Connector::new(move || {
            let opener = opener.clone();
            async move { opener.open().await }
        });
        let in_process = InProcess { connector, lists: None };
        let cluster = Cluster::open(0, "demo", &config, Some(in_process), &connection, false, handlers)?;
        self.clusters.push(Arc::new(cluster));
        self.demo = Some(demo);
        Ok(self)
    }
}

/// Starts a demo with the given settings.
///
/// # Errors
/// The port can't be opened.
pub(crate) async fn start(options: settings::Demo) -> anyhow::Result<Demo> {
    let settings::Demo { port, objects, speed, seed } = options;
    let objects = usize::try_from(objects).unwrap_or(usize::MAX);
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    let started = Demo::start(
        Options::default().port(port).objects(objects).speed(speed).seed(seed).start(Timestamp::now()),
    )
    .await;
    started.map_err(|error| match &error {
        Error::Listen { port, source } if source.kind() == io::ErrorKind::AddrInUse => {
            anyhow::anyhow!(
                "can't listen on 127.0.0.1:{port}: another program uses it; choose another --port, or omit it for a free one"
            )
        }
        // The text includes the system's.
        _ => anyhow::anyhow!("{error}"),
    })
}
