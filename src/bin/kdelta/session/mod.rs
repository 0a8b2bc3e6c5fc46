//! Sessions: the selected clusters, the parts that a selection resolves to, and the sources and options of their
//! informers.

mod cluster;
mod contexts;
mod credential_plugins;
pub(crate) mod demo;
mod file_objects;
mod filter;
mod first_page;
mod indices;
mod interrupt;
mod keyring;
mod missing_namespace;
mod names;
mod part;
mod plan;
mod raw;
mod recordings;
mod server_conditions;
mod server_warnings;
mod source;
mod target_set;
mod target_watcher;

pub(crate) use cluster::{Cluster, namespaces};
pub(crate) use credential_plugins::credential_plugins;
pub(crate) use file_objects::{FileObject, ResolvedDocument, UnmappedKind};
pub(crate) use filter::{ChangeFilter, Filter};
pub(crate) use indices::{ExpressionErrors, index_function, indexers, needs_body, path_needs_body};
pub(crate) use interrupt::{EndSignals, ExitOnSignal, Interrupt, Interrupts, StatusSignal};
pub(crate) use keyring::{keyring, recipients};
pub(crate) use names::{kubeconfig_names, nearest_names, similar_names};
pub(crate) use part::Part;
#[cfg(test)]
pub(crate) use part::tests as part_fixtures;
pub(crate) use plan::{MatchedPatterns, NamePatterns, PlannedPart};
pub(crate) use recordings::{
    Coverage, SelectedRecording, recorded_contexts, select_recordings, selected_recordings,
};
pub(crate) use server_conditions::ServerConditions;
pub(crate) use server_warnings::ServerWarnings;
#[cfg(test)]
pub(crate) use source::ContinuedSource;
pub(crate) use source::{
    ContinuedTime, KnownState, PartSource, ReceivedCount, RequestMode, reflector_options,
};
pub(crate) use target_set::{TargetFailure, TargetSet};
pub(crate) use target_watcher::is_unreachable;

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use kdelta::client::{Notice, Redaction};
use kdelta::demo::Demo;
use kdelta::kubeconfig::Config;
use kdelta::recording::{Keyring, RecordedServer, Recording};
use kdelta::wire::Representation;

use crate::settings::{Connection, ListMode, Print, Selection, Settings};
use cluster::{NoticeHandlers, ServerSelectors};
use recordings::{EarlyHistory, GapNotice};

/// The clusters and options that a command works with.
pub(crate) struct Session {
    /// The usable clusters, at least one.
    clusters: Vec<Arc<Cluster>>,
    /// The contexts that can't be used, each with its error.
    unusable: Vec<(String, anyhow::Error)>,
    /// Whether informers check their cached objects for mutations.
    mutation_detector: bool,
    server_warnings: ServerWarnings,
    matched_patterns: Arc<MatchedPatterns>,
    /// The objects for which an expression had no result.
    expression_errors: Arc<ExpressionErrors>,
    /// The embedded demo cluster, which runs until the session is dropped.
    demo: Option<Demo>,
    /// The served recordings, which run until the session is dropped.
    recordings: Vec<ServedRecording>,
    /// The moment of the recordings; the latest, if they have different ones.
    moment: Option<Timestamp>,
    /// The keys of encrypted recordings.
    keyring: Keyring,
}

/// A recording that is served in place of a cluster.
struct ServedRecording {
    server: RecordedServer,
    recording: Recording,
    /// Whether an earlier moment than the end is served.
    is_earlier: bool,
    /// The versions that are read early, until they are requested. A std mutex, held while they are taken.
    history: Mutex<Option<EarlyHistory>>,
    _gap_notice: GapNotice,
}

/// The traffic with the server of a context.
pub(crate) struct Traffic {
    pub(crate) context: String,
    /// The bytes of all responses.
    pub(crate) received: u64,
    /// The number of requests.
    pub(crate) sent: u64,
}

impl Session {
    /// Resolves the configuration of all selected contexts, starts the demo, or serves the recordings. Sends no request
    /// to a cluster. `warn` receives the warnings of servers; `plugin` receives the notices of credential plugins.
    ///
    /// # Errors
    /// The configuration is missing or invalid; the error has kubectl's text. With several contexts, only if none is
    /// usable.
    pub(crate) async fn open(
        settings: &Settings,
        warn: impl Fn(&str) + Send + Sync + 'static,
        plugin: impl Fn(Notice<'_>) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let server_warnings = ServerWarnings::default();
        let handlers = NoticeHandlers {
            server_warnings: server_warnings.clone(),
            warn: Arc::new(warn),
            plugin: Arc::new(plugin),
        };
        let connection = &settings.connection;
        let session = Self {
            clusters: Vec::new(),
            unusable: Vec::new(),
            mutation_detector: settings.mutation_detector,
            server_warnings,
            matched_patterns: Arc::default(),
            expression_errors: Arc::default(),
            demo: None,
            recordings: Vec::new(),
            moment: None,
            keyring: keyring(&settings.recording_keys)?,
        };
        if let Some(requested) = &settings.recording {
            return session.open_recordings(requested, settings, &handlers);
        }
        if let Some(demo) = settings.demo {
            return session.open_demo(demo, connection, &handlers).await;
        }
        session.open_contexts(connection, &handlers)
    }

    /// Opens the selected contexts of the configuration.
    fn open_contexts(mut self, connection: &Connection, handlers: &NoticeHandlers) -> anyhow::Result<Self> {
        let all = contexts::each_context(connection)?;
        let has_several = all.len() > 1;
        for options in all {
            let index = self.clusters.len();
            let cluster = Config::load(&options).map_err(anyhow::Error::from).and_then(|config| {
                Cluster::open(index, config.context(), &config, None, connection, has_several, handlers)
            });
            match cluster {
                Ok(cluster) => self.clusters.push(Arc::new(cluster)),
                Err(error) if has_several => {
                    self.unusable.push((options.context.unwrap_or_default(), error));
                }
                Err(error) => return Err(error),
            }
        }
        self.with_usable_clusters()
    }

    /// Checks that at least one cluster is usable.
    fn with_usable_clusters(self) -> anyhow::Result<Self> {
        if self.clusters.is_empty() {
            let all = self.unusable.iter().map(|(context, error)| format!("{context}: {error}"));
            anyhow::bail!("no usable context:\n{}", all.collect::<Vec<_>>().join("\n"));
        }
        Ok(self)
    }

    /// Returns the time that ages and conditions are relative to: the present, or the moment of the recordings.
    pub(crate) fn now(&self) -> Timestamp {
        self.moment.unwrap_or_else(Timestamp::now)
    }

    /// Returns the keys of encrypted recordings.
    pub(crate) fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// Returns the context, the server and the default namespace of each usable cluster.
    pub(crate) fn servers(&self) -> Vec<[String; 3]> {
        self.clusters()
            .map(|cluster| [cluster.context(), &cluster.server, cluster.namespace()].map(str::to_owned))
            .collect()
    }

    /// Returns the credentials of its clients, to be masked in messages.
    pub(crate) fn redactions(&self) -> Vec<Redaction> {
        self.clusters.iter().map(|cluster| cluster.client.redaction().clone()).collect()
    }

    /// Returns the patterns of names that have matched an object so far.
    pub(crate) fn matched_patterns(&self) -> &MatchedPatterns {
        &self.matched_patterns
    }

    /// Returns the record of the objects for which an expression had no result.
    pub(crate) fn expression_errors(&self) -> &Arc<ExpressionErrors> {
        &self.expression_errors
    }

    /// Returns the bytes of all responses so far.
    pub(crate) fn received(&self) -> u64 {
        self.clusters.iter().map(|cluster| cluster.client.received()).sum()
    }

    /// Returns the number of requests so far, those of discovery included.
    pub(crate) fn sent(&self) -> u64 {
        self.clusters.iter().map(|cluster| cluster.client.sent()).sum()
    }

    /// Returns a function that returns the bytes received and the requests sent so far, by context.
    pub(crate) fn traffic(&self) -> impl Fn() -> Vec<Traffic> + Send + Sync + use<> {
        let clusters = self.clusters.clone();
        move || {
            let traffic = |cluster: &Arc<Cluster>| Traffic {
                context: cluster.context().to_owned(),
                received: cluster.client.received(),
                sent: cluster.client.sent(),
            };
            clusters.iter().map(traffic).collect()
        }
    }

    /// Returns the cluster of a command that takes one context.
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.clusters[0]
    }

    /// Returns the usable clusters.
    pub(crate) fn clusters(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.iter().map(|cluster| &**cluster)
    }

    /// Returns the number of warnings of the servers.
    pub(crate) fn server_warnings(&self) -> ServerWarnings {
        self.server_warnings.clone()
    }

    /// Returns the contexts that can't be used, each with its error.
    pub(crate) fn unusable(&self) -> &[(String, anyhow::Error)] {
        &self.unusable
    }

    /// Whether output must name the context of each object.
    pub(crate) fn has_several_contexts(&self) -> bool {
        self.clusters.len() + self.unusable.len() > 1
    }

    /// Returns the names of the usable contexts in their order.
    pub(crate) fn context_names(&self) -> Vec<String> {
        self.clusters.iter().map(|cluster| cluster.context().to_owned()).collect()
    }

    /// Whether the usable contexts have different default namespaces.
    pub(crate) fn has_several_namespaces(&self) -> bool {
        self.clusters.iter().any(|cluster| cluster.namespace() != self.cluster().namespace())
    }

    /// Whether a one-shot command may start with a list that reads ahead by one page. This requires the default list
    /// mode, no request timeout, and a server that serves pages from memory. Tables are excluded: they have their own
    /// way of listing.
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

    /// Whether the next page may be requested before it is needed. A request timeout forbids this, because it covers
    /// the time until the body has been read.
    pub(crate) fn may_read_ahead(&self, part: &Part) -> bool {
        !self.clusters[part.cluster].has_request_timeout()
    }

    /// Creates the source of a part in the given representation, limited to objects that pass the filter and the
    /// selection's own, and whose names match.
    pub(crate) fn source(
        &self,
        part: &Part,
        selection: &Selection,
        print: &Print,
        representation: Representation,
        filter: Filter,
    ) -> PartSource {
        let selectors = ServerSelectors {
            labels: selection.label_selector.as_deref(),
            fields: selection.field_selector.as_deref(),
        };
        let filter = filter
            .with_expression_errors(Arc::clone(&self.expression_errors))
            .and_conditions(&selection.filter);
        let filter = match self.moment {
            Some(moment) => filter.with_clock(move || moment),
            None => filter,
        };
        let filter = match &part.patterns {
            Some(patterns) => filter.and_names(Arc::clone(patterns), Arc::clone(&self.matched_patterns)),
            None => filter,
        };
        let source = self.clusters[part.cluster].source(part, selectors, print, representation, filter);
        source.with_mutation_detector(self.mutation_detector)
    }
}
