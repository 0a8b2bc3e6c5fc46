//! `kdelta serve --move-to`: moves the moment of a running server.

use std::io::Write;

use anyhow::{Context, bail};
use jiff::Timestamp;
use kdelta::listwatch::Error;
use serde_json::Value;

use crate::commands::Reporter;
use crate::exit::ExitCode;
use crate::session::{Cluster, Coverage, Session};
use crate::settings::{RawPath, RequestedMoment};

/// The path of the moment on a server of `kdelta serve`.
const PATH: &str = "/kdelta/moment";

/// The flag with the moment.
const FLAG: &str = "move-to";

/// The largest response that is read.
const LIMIT: usize = 64 * 1024;

/// The moment that a server reports.
#[derive(Debug, PartialEq, Eq)]
struct ServedMoment {
    context: String,
    time: Option<Timestamp>,
    /// The times of the first complete state and of the last entry.
    range: Option<(Timestamp, Timestamp)>,
    /// The gap that the time lies in.
    gap: Option<(Timestamp, Timestamp)>,
}

impl ServedMoment {
    fn read(body: &[u8]) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let time = |value: &Value| value.as_str()?.parse::<Timestamp>().ok();
        Some(Self {
            context: body["context"].as_str()?.to_owned(),
            time: time(&body["time"]),
            range: time(&body["beginning"]).zip(time(&body["end"])),
            gap: time(&body["gap"]["from"]).zip(time(&body["gap"]["to"])),
        })
    }
}

/// Moves the moment of each selected context, and prints it.
///
/// # Errors
/// A server is not one of `kdelta serve`, or its recording does not have the moment.
pub(crate) async fn move_to(
    session: &Session,
    to: RequestedMoment,
    reporter: &Reporter,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    for cluster in session.clusters() {
        let moved = moved(cluster, to).await?;
        let time = moved.time.map(|time| time.to_string()).unwrap_or_default();
        writeln!(out, "{} moved to {time}", moved.context)?;
        if let Some((from, to)) = moved.gap {
            let text = format!("changes were not observed from {from} to {to}: this is the state before");
            reporter.messages().warning(&format!("{}{text}", cluster.prefix()));
        }
    }
    out.flush()?;
    Ok(ExitCode::Ok)
}

/// Moves the moment of one server.
async fn moved(cluster: &Cluster, to: RequestedMoment) -> anyhow::Result<ServedMoment> {
    let served = request(cluster, None).await?;
    let coverage = Coverage::new(&served.context, served.range)?;
    let target = match (to, coverage.time(FLAG, to)?) {
        (RequestedMoment::Version(version), _) => format!("rv:{version}"),
        (RequestedMoment::End, _) | (_, None) => "end".to_owned(),
        (_, Some(time)) => time.to_string(),
    };
    let moved = request(cluster, Some(target)).await;
    // Only the server knows the versions, and its message names the first one.
    moved.map_err(|error| {
        let status = error.downcast_ref::<Error>().and_then(Error::status);
        match status.filter(|status| status.code == Some(400)) {
            Some(status) if matches!(to, RequestedMoment::Version(_)) => {
                coverage.outside_with(FLAG, to, &status.message)
            }
            Some(_) => coverage.outside(FLAG, to),
            None => error,
        }
    })
}

async fn request(cluster: &Cluster, to: Option<String>) -> anyhow::Result<ServedMoment> {
    let other = || {
        format!(
            "{} is not a server of `kdelta serve`: select its kubeconfig with --kubeconfig",
            cluster.server()
        )
    };
    let query = to.map(|to| ("to".to_owned(), to)).into_iter().collect();
    let response = match cluster.raw(&RawPath { path: PATH.to_owned(), query }).await {
        Err(Error::NotFound(_) | Error::Forbidden(_)) => bail!(other()),
        response => response?,
    };
    let body = response.body(LIMIT).await?;
    ServedMoment::read(&body).with_context(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: &str = r#"{"context": "prod", "time": "2026-11-24T03:35:00Z", "beginning": "2026-11-24T03:00:00Z",
        "end": "2026-11-24T04:00:00Z", "gap": {"from": "2026-11-24T03:30:00Z", "to": "2026-11-24T03:40:00Z"}}"#;

    #[test]
    fn only_servers_of_recordings_report_a_moment() {
        let served = ServedMoment::read(MOMENT.as_bytes()).expect("a moment");
        let time = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert_eq!(served.range, Some((time("2026-11-24T03:00:00Z"), time("2026-11-24T04:00:00Z"))));
        assert_eq!(served.gap, Some((time("2026-11-24T03:30:00Z"), time("2026-11-24T03:40:00Z"))));
        assert!(ServedMoment::read(b"{}").is_none() && ServedMoment::read(b"404 page not found").is_none());
    }
}
