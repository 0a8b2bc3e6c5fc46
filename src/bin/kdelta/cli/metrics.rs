//! The metrics of a command, served while it runs.

use std::sync::Arc;

use kdelta::clock::TokioClock;
use tokio::task::JoinSet;

use crate::exit::Hint;
use crate::metrics::{Metrics, MetricsServer};
use crate::output::Messages;
use crate::session::{Session, Traffic};
use crate::settings::{ListenAddress, Settings};

/// Creates the metrics if the settings request them.
pub(super) fn create(settings: &Settings) -> Option<Metrics> {
    settings.metrics.as_ref().map(|_| Metrics::new(Arc::new(TokioClock)))
}

/// Serves the metrics until the returned set is dropped. Prints the address if its port was chosen by the system.
///
/// # Errors
/// The address can't be used.
pub(super) async fn serve(
    address: &ListenAddress,
    metrics: Metrics,
    messages: &Messages,
) -> anyhow::Result<JoinSet<()>> {
    const ADVICE: &str = "select another address with --metrics; port 0 selects a free one";
    let server = MetricsServer::bind(&address.host, address.port).await;
    let server = server.map_err(|error| anyhow::Error::new(error).context(Hint(ADVICE.to_owned())))?;
    if address.port == 0 {
        messages.notice(&format!("metrics: http://{}/metrics", server.address()));
    }
    let mut serving = JoinSet::new();
    serving.spawn(server.serve(metrics));
    Ok(serving)
}

/// Measures the traffic of a session.
#[expect(clippy::cast_precision_loss, reason = "2^53 bytes take years")]
pub(super) fn measure(metrics: &Metrics, session: &Session) {
    let readings = [
        (
            "kdelta_received_bytes",
            "Bytes of the bodies of all responses, after decompression",
            (|traffic: &Traffic| traffic.received) as fn(&Traffic) -> u64,
        ),
        ("kdelta_requests", "Requests to the server, discovery included", |traffic| traffic.sent),
    ];
    for (name, help, value) in readings {
        let traffic = session.traffic();
        metrics.register_counter(name, help, move || {
            let of_context = |one: &Traffic| ([("context", one.context.clone())], value(one) as f64);
            traffic().iter().map(of_context).collect()
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;
    use std::time::Duration;

    use kdelta::listwatch::Error;
    use kdelta::queue::QueueSize;
    use kdelta::reflector::{Phase, ReflectorEvent};

    use super::*;
    use crate::cli::parse;
    use crate::commands::{self, Reporter};
    use crate::metrics::PartReadings;
    use crate::session::namespaces;
    use crate::settings::Environment;

    /// The heading of the generated table.
    const HEADING: &str = "| Metric | Type | Labels | Meaning |";

    struct Readings;

    impl PartReadings for Readings {
        fn queued(&self) -> QueueSize {
            QueueSize::default()
        }

        fn last_message(&self) -> Option<Duration> {
            Some(Duration::from_secs(1))
        }

        fn is_resumed(&self) -> bool {
            false
        }
    }

    /// Returns the metrics of a watch, of a run and of a recording, each with a sample.
    async fn all_metrics() -> String {
        let words: Vec<_> = ["kdelta", "watch", "pods", "--demo", "--metrics", "0"].map(Into::into).into();
        let parsed = parse(words.clone(), "kdelta", true).expect("a watch");
        let resolved = parsed.typed(&words).resolve(&Environment::default());
        let settings = resolved.unwrap_or_else(|_| panic!("valid")).settings;
        let metrics = create(&settings).expect("requested");
        let _reporter = Reporter::new(Arc::new(Messages::stderr(false, false)), false)
            .with_metrics(Some(metrics.clone()));
        let session = Session::open(&settings, |_| {}, |_| {}).await.expect("the demo");
        measure(&metrics, &session);
        commands::run::register(&Arc::default(), &metrics);
        commands::record::register(&[("demo".into(), Arc::default())], &metrics);
        let part = metrics.add_part("demo", &namespaces());
        part.set_readings(Readings);
        let error = Error::Transport("x".into());
        part.status().observe(&ReflectorEvent::Lost { phase: Phase::Watch, error });
        metrics.text()
    }

    /// Returns the labels of a sample, `name{a="x",b="y"} 1`.
    fn labels(sample: &str) -> String {
        let inner =
            sample.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}')).map_or("", |(inner, _)| inner);
        let names =
            inner.split(',').filter_map(|pair| pair.split_once('=')).map(|(name, _)| format!("`{name}`"));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Returns the table of metrics in the order of their names.
    fn table(text: &str) -> String {
        let mut rows = Vec::new();
        for line in text.lines() {
            let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' '))
            else {
                continue;
            };
            let kind = text.lines().find_map(|line| line.strip_prefix(&format!("# TYPE {name} ")));
            let is_sample =
                |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
            let sample = text.lines().find(is_sample).unwrap_or_else(|| panic!("{name} has no sample"));
            rows.push(format!("| `{name}` | {} | {} | {help} |\n", kind.expect("a type"), labels(sample)));
        }
        rows.sort();
        rows.iter().fold(format!("{HEADING}\n|---|---|---|---|\n"), |mut table, row| {
            let _ = table.write_str(row);
            table
        })
    }

    /// Returns the names of metrics in the sources of the program.
    fn names_in_sources(folder: &Path, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                names_in_sources(&path, names);
            } else {
                let source = std::fs::read_to_string(&path).expect("a source");
                let source = source.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
                let literals = source.split('"').skip(1);
                let is_name = |text: &&str| {
                    text.strip_prefix("kdelta_").is_some_and(|rest| {
                        !rest.is_empty() && rest.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
                    })
                };
                names.extend(literals.filter(is_name).map(str::to_owned));
            }
        }
    }

    #[tokio::test]
    async fn documentation_lists_every_metric() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = all_metrics().await;
        let table = table(&text);
        let mut names = Vec::new();
        names_in_sources(&root.join("src/bin/kdelta"), &mut names);
        assert!(names.len() > 15, "{names:?}");
        for name in names {
            let is_listed =
                table.contains(&format!("`{name}`")) || table.contains(&format!("`{name}_total`"));
            assert!(is_listed, "{name} has no row: this test must produce a sample of it");
        }
        let path = root.join("docs/metrics.md");
        let page = std::fs::read_to_string(&path).expect("docs/metrics.md");
        let (before, rest) = page.split_once(HEADING).expect("the table");
        let (_, after) = rest.split_once("\n\n").expect("text after the table");
        let expected = format!("{before}{table}\n{after}");
        if std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1") {
            std::fs::write(&path, &expected).expect("docs/metrics.md");
        }
        let page = std::fs::read_to_string(&path).expect("docs/metrics.md");
        assert!(page == expected, "KDELTA_UPDATE_SNAPSHOTS=1 regenerates docs/metrics.md:\n{table}");
    }
}
