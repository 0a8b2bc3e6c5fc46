//! The embedded demo cluster.

use std::io;

use jiff::Timestamp;
use kdelta::demo::{Demo, Error, Options};

use crate::settings;

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
