//! From settings to what the commands work with: a client, what its server serves, the parts a selection comes to, and
//! the sources and options for their informers.

mod connect;
pub(crate) mod demo;
mod first;
mod indices;
mod interrupt;
mod names;
mod part;
mod source;

pub(crate) use indices::{Filter, function, indexers, needs_body};
pub(crate) use interrupt::{EndsAtOnce, Interrupt, Interrupts};
pub(crate) use names::{configured, namespaces, similar_names};
pub(crate) use part::Part;
pub(crate) use source::Source;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kdelta::api::{
    Client, Config, Discovered, Discovery, DiscoveryOptions, IncludeObject, Notice, Representation,
    ResourceClient,
};
use kdelta::demo::Demo;
use kdelta::object::{FieldSelector, ResourceVersion, SelectorError};
use kdelta::reflector::{BackoffOptions, Observer, ReflectorOptions};

use crate::settings::{Connection, ListMode, Print, Selection, Settings};

/// The longest wait between two tries. A person watches, so it is shorter than a controller's.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The default of `--chunk-size`: the reflector's own rules hold then.
const KUBECTLS_PAGE: u32 = 500;

/// What every command works with.
pub(crate) struct Session {
    client: Client,
    discovery: Discovery,
    context: Arc<str>,
    request_timeout: Option<Duration>,
    mutation_detector: bool,
    /// Whether the server has accepted anything yet; see [`Source`].
    answered: Arc<AtomicBool>,
    /// Hears what a user should know and nothing fails for.
    warn: Arc<dyn Fn(&str) + Send + Sync>,
    /// The cluster in the program, which lives as long as the session.
    _demo: Option<Demo>,
}

impl Session {
    /// Finds the server and who we are to it; where a demo is asked for it is started. Connects to nothing yet. What the
    /// server will warn of is told to the first, what a credential plugin says and does to the second.
    ///
    /// # Errors
    /// The configuration is missing or wrong, in kubectl's words.
    pub(crate) async fn open(
        settings: &Settings,
        warn: impl Fn(&str) + Send + Sync + 'static,
        plugin: impl Fn(Notice<'_>) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let Connection { request_timeout, cache_dir, .. } = &settings.connection;
        let demo = match settings.demo {
            Some(asked) => Some(demo::start(asked).await?),
            None => None,
        };
        let config = match &demo {
            Some(demo) => Config::for_server(&demo.url())?,
            None => Config::load(&connect::options(&settings.connection, settings.terminal.stdin))?,
        };
        let warn: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(warn);
        let client = Client::with_notices(&config, {
            let warn = Arc::clone(&warn);
            move |notice| match notice {
                Notice::Warning(text) => warn(text),
                other => plugin(other),
            }
        })?;
        let defaults = DiscoveryOptions::default();
        let discovery = DiscoveryOptions {
            // What another program serves on this port later is nothing that a demo's discovery should be kept for.
            cache_folder: cache_dir.clone().filter(|_| demo.is_none()),
            timeout: request_timeout.or(defaults.timeout),
            ..defaults
        };
        Ok(Self {
            discovery: Discovery::new(&client, &discovery),
            context: Arc::from(if demo.is_some() { "demo" } else { config.context() }),
            client,
            request_timeout: *request_timeout,
            mutation_detector: settings.mutation_detector,
            answered: Arc::default(),
            warn,
            _demo: demo,
        })
    }

    /// The name of the kubeconfig context; empty where there is none.
    pub(crate) fn context(&self) -> &Arc<str> {
        &self.context
    }

    /// What the server serves.
    pub(crate) fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// The collections that a selection comes to, each once, in the order they were asked for.
    ///
    /// # Errors
    /// A word that is no type, a server that does not answer, names with `-A`.
    pub(crate) async fn parts(&self, selection: &Selection) -> anyhow::Result<Vec<Part>> {
        let mut resources = Vec::new();
        for target in &selection.targets {
            let found = self.discovery.resolve(&target.word).await?;
            for other in self.discovery.catalog().await?.passed_over(&target.word) {
                let word = &target.word;
                (self.warn)(&format!("short name {word:?} could also match lower priority resource {other}"));
            }
            let resource = |found: Discovered| (Arc::new(found.resource), target.names.as_slice());
            resources.extend(found.into_iter().map(resource));
        }
        part::parts(&resources, &selection.namespaces, self.client.config().default_namespace())
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
    ) -> Result<Source, SelectorError> {
        let own_name = part.name.as_ref().map(|name| format!("metadata.name={name}"));
        let client = |fields: Option<&str>, representation| {
            let fields: Vec<&str> = own_name.as_deref().into_iter().chain(fields).collect();
            ResourceClient::new(self.client.clone(), (*part.resource).clone())
                .namespace(Some(part.namespace.to_string()))
                .label_selector(selection.label_selector.clone().unwrap_or_default())
                .field_selector(fields.join(","))
                .representation(representation)
                .keep_managed_fields(print.managed_fields)
                .request_timeout(self.request_timeout)
        };
        let asked = client(selection.field_selector.as_deref(), representation);
        let unselected = match &selection.field_selector {
            None => None,
            Some(text) => Some((client(None, with_body(representation)), FieldSelector::parse(text)?)),
        };
        let source = Source::new(asked, unselected, filter, Arc::clone(&self.answered));
        Ok(source.with_mutation_detector(self.mutation_detector))
    }
}

/// How the reflector of such a source is to behave: a person waits for its answer.
pub(crate) fn reflector_options(
    selection: &Selection,
    source: &Source,
    observer: Option<Observer>,
) -> ReflectorOptions {
    let defaults = ReflectorOptions::default();
    let first_version = if selection.cached { ResourceVersion::ANY } else { ResourceVersion::UNSET };
    ReflectorOptions {
        first_version,
        page_size: (selection.page_size != KUBECTLS_PAGE).then_some(selection.page_size),
        watch_list: selection.list_mode != ListMode::List,
        backoff: BackoffOptions { cap: LONGEST_WAIT, ..defaults.backoff },
        observer,
        give_up: Some(source.gives_up(false)),
        ..defaults
    }
}

/// The same representation with whole objects in it.
fn with_body(representation: Representation) -> Representation {
    match representation {
        Representation::Objects | Representation::Metadata => Representation::Objects,
        Representation::Table(_) => Representation::Table(IncludeObject::Object),
    }
}
