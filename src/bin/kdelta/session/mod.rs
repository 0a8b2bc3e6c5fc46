//! From settings to what the commands work with: the clusters asked for, the parts that a selection comes to, and the
//! sources and options for their informers.

mod cluster;
mod connect;
pub(crate) mod demo;
mod filtered_stream;
mod first_page;
mod indices;
mod interrupt;
mod names;
mod part;
mod plan;
mod received_count;
mod request_permits;
mod source;
mod target_set;
mod target_watcher;
mod tries;

pub(crate) use cluster::Cluster;
pub(crate) use indices::{Filter, index_function, indexers, needs_body};
pub(crate) use interrupt::{ExitOnSignal, Interrupt, Interrupts, StatusSignal};
pub(crate) use names::{kubeconfig_names, namespaces, similar_names};
pub(crate) use part::Part;
#[cfg(test)]
pub(crate) use part::tests as part_fixtures;
pub(crate) use plan::PlannedPart;
pub(crate) use received_count::ReceivedCount;
pub(crate) use source::PartSource;
pub(crate) use target_set::{TargetFailure, TargetSet};
pub(crate) use target_watcher::is_unreachable;

use std::sync::Arc;
use std::time::Duration;

use kdelta::api::{Config, Notice, Representation};
use kdelta::demo::Demo;
use kdelta::object::{ResourceVersion, SelectorError};
use kdelta::reflector::{BackoffOptions, Observer, ReflectorOptions};

use crate::settings::{Connection, ListMode, Print, Selection, Settings};
use cluster::{NoticeHandlers, ServerSelectors};

/// The longest wait between two tries, jitter included. A person watches, so it is shorter than a controller's.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(5);

/// The default of `--chunk-size`: the reflector's own rules hold then.
const KUBECTL_PAGE_SIZE: u32 = 500;

/// What every command works with.
pub(crate) struct Session {
    /// At least one.
    clusters: Vec<Arc<Cluster>>,
    /// The contexts that can't be used, each with the reason.
    unusable: Vec<(String, anyhow::Error)>,
    /// Whether informers are to notice changes of what they hold.
    mutation_detector: bool,
    /// The cluster in the program, which lives as long as the session.
    _demo: Option<Demo>,
}

impl Session {
    /// Finds the servers and who we are to them; where a demo is asked for it is started. Connects to nothing yet. What
    /// a server will warn of is told to the first, what a credential plugin says and does to the second.
    ///
    /// # Errors
    /// The configuration is missing or wrong, in kubectl's words. Of several contexts, only when none can be used.
    pub(crate) async fn open(
        settings: &Settings,
        warn: impl Fn(&str) + Send + Sync + 'static,
        plugin: impl Fn(Notice<'_>) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let handlers = NoticeHandlers { warn: Arc::new(warn), plugin: Arc::new(plugin) };
        let connection = &settings.connection;
        if let Some(demo) = settings.demo {
            let demo = demo::start(demo).await?;
            // What another program serves on this port later is nothing that a demo's discovery should be kept for.
            let connection = Connection { cache_dir: None, ..connection.clone() };
            let config = Config::for_server(&demo.url())?;
            let cluster = Cluster::open(0, "demo", &config, &connection, false, &handlers)?;
            let clusters = vec![Arc::new(cluster)];
            let mutation_detector = settings.mutation_detector;
            return Ok(Self { clusters, unusable: Vec::new(), mutation_detector, _demo: Some(demo) });
        }
        let options = connect::options(connection, settings.terminal.stdin);
        let all = connect::each_context(connection, &options)?;
        let has_several = all.len() > 1;
        let mut opened = Self {
            clusters: Vec::new(),
            unusable: Vec::new(),
            mutation_detector: settings.mutation_detector,
            _demo: None,
        };
        for options in all {
            let index = opened.clusters.len();
            let cluster = Config::load(&options).map_err(anyhow::Error::from).and_then(|config| {
                Cluster::open(index, config.context(), &config, connection, has_several, &handlers)
            });
            match cluster {
                Ok(cluster) => opened.clusters.push(Arc::new(cluster)),
                Err(error) if has_several => {
                    opened.unusable.push((options.context.unwrap_or_default(), error));
                }
                Err(error) => return Err(error),
            }
        }
        if opened.clusters.is_empty() {
            let all = opened.unusable.iter().map(|(context, error)| format!("{context}: {error}"));
            anyhow::bail!("none of the contexts can be used:\n{}", all.collect::<Vec<_>>().join("\n"));
        }
        Ok(opened)
    }

    /// The bytes of all answers so far.
    pub(crate) fn received(&self) -> u64 {
        self.clusters.iter().map(|cluster| cluster.client.received()).sum()
    }

    /// What the server serves; for a command that takes one context.
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.clusters[0]
    }

    /// The contexts that can't be used, each with the reason: to be said once.
    pub(crate) fn unusable(&self) -> &[(String, anyhow::Error)] {
        &self.unusable
    }

    /// Whether lines have to say which context they are of.
    pub(crate) fn has_several_contexts(&self) -> bool {
        self.clusters.len() + self.unusable.len() > 1
    }

    /// Whether the contexts that can be used are not all of one namespace.
    pub(crate) fn has_several_namespaces(&self) -> bool {
        self.clusters.iter().any(|cluster| cluster.namespace() != self.cluster().namespace())
    }

    /// Whether a question that is asked once may begin with a list, two pages at a time: nobody has said otherwise, or how
    /// long an answer may take, and the server has them in its memory. Tables are put together in ways of their own.
    pub(crate) async fn may_list_in_pages(
        &self,
        part: &Part,
        selection: &Selection,
        source: &PartSource,
    ) -> bool {
        if selection.list_mode != ListMode::Auto || !self.may_read_ahead(part) || source.is_table() {
            return false;
        }
        let version = self.clusters[part.cluster].discovery().server_version().await;
        version.is_some_and(|version| version.has_pages_in_memory(&part.resource))
    }

    /// Whether a page may be asked for before it is read: nobody has said how long an answer may take with all of its body.
    pub(crate) fn may_read_ahead(&self, part: &Part) -> bool {
        !self.clusters[part.cluster].has_request_timeout()
    }

    /// The source of a part, in that representation, of which only what passes the filter is let through.
    ///
    /// # Errors
    /// The field selector can't be read.
    pub(crate) fn source(
        &self,
        part: &Part,
        selection: &Selection,
        print: &Print,
        representation: Representation,
        filter: Filter,
    ) -> Result<PartSource, SelectorError> {
        let selectors = ServerSelectors {
            labels: selection.label_selector.as_deref(),
            fields: selection.field_selector.as_deref(),
        };
        let source = self.clusters[part.cluster].source(part, selectors, print, representation, filter)?;
        Ok(source.with_mutation_detector(self.mutation_detector))
    }
}

/// How the reflector of such a source is to behave: a person waits for its answer.
pub(crate) fn reflector_options(
    selection: &Selection,
    source: &PartSource,
    observer: Option<Observer>,
) -> ReflectorOptions {
    let defaults = ReflectorOptions::default();
    let first_version = if selection.cached { ResourceVersion::ANY } else { ResourceVersion::UNSET };
    let page_size = match selection.page_size {
        KUBECTL_PAGE_SIZE => source.needs_single_page().then_some(0),
        page_size => Some(page_size),
    };
    ReflectorOptions {
        first_version,
        page_size,
        watch_list: selection.list_mode != ListMode::List,
        backoff: backoff(),
        observer,
        give_up: Some(source.gives_up(false)),
        ..defaults
    }
}

/// client-go's back-off with a cap that holds with its jitter: there, waits are uniform in 2.5 to 5 s.
fn backoff() -> BackoffOptions {
    let defaults = BackoffOptions::default();
    BackoffOptions { cap: MAX_RETRY_WAIT.div_f64(1.0 + defaults.jitter), ..defaults }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_wait_includes_jitter() {
        let BackoffOptions { start, cap, jitter, .. } = backoff();
        assert_eq!(cap, Duration::from_millis(2500));
        assert_eq!(cap.mul_f64(1.0 + jitter), MAX_RETRY_WAIT);
        assert!(start < cap);
    }
}
