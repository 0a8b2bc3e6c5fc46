//! One cluster of a session: its client, its discovery and the sources of its parts.

mod resolution;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kdelta::api::{Client, ClientOptions, Discovery, DiscoveryOptions, ResourceClient};
use kdelta::client::{Connector, Notice};
use kdelta::kubeconfig::Config;
use kdelta::listwatch::DirectLists;
use kdelta::object::{ApiResource, FieldSelector};
use kdelta::wire::{IncludeObject, Representation};

use super::credential_plugins::credential_plugins;
use super::plan::Plan;
use super::server_conditions::KnownFields;
use super::server_warnings::ServerWarnings;
use super::source::Shared;
use super::{Filter, Part, PartSource};
use crate::settings::{Connection, Print, Selection};

/// Receives warnings: text for the user that does not fail the command.
pub(super) type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// The callbacks for what a server or a credential plugin reports.
pub(super) struct NoticeHandlers {
    /// Counts the server's warnings.
    pub(super) server_warnings: ServerWarnings,
    /// Receives the server's warnings.
    pub(super) warn: Warn,
    /// Receives the output and the prompts of a credential plugin.
    pub(super) plugin: Arc<dyn Fn(Notice<'_>) + Send + Sync>,
}

/// A server of the library inside the process.
pub(super) struct InProcess {
    /// Opens connections to it.
    pub(super) connector: Connector,
    /// The lists that need not be requested.
    pub(super) lists: Option<Arc<dyn DirectLists>>,
}

/// Returns the resource of namespaces, which is the same on every server.
pub(crate) fn namespaces() -> ApiResource {
    ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "namespaces".into(),
        kind: "Namespace".into(),
        namespaced: false,
    }
}

/// A server with the user's credentials. Creating it sends no request.
pub(crate) struct Cluster {
    /// The template that the cluster's parts are copied from.
    template: Part,
    /// The URL of the server.
    pub(super) server: String,
    pub(super) client: Client,
    discovery: Discovery,
    request_timeout: Option<Duration>,
    shared: Shared,
    /// The selectable fields of the types with conditions. A std mutex: held for a look-up or an insertion.
    pub(super) known_fields: Mutex<HashMap<ApiResource, Arc<KnownFields>>>,
    warn: Warn,
}

impl Cluster {
    /// Creates a cluster. `index` is its position in the session; with `has_several`, its messages start with its
    /// context. A server inside the process has connections of its own.
    ///
    /// # Errors
    /// The configuration is invalid; the error has kubectl's text.
    pub(super) fn open(
        index: usize,
        context: &str,
        config: &Config,
        in_process: Option<InProcess>,
        connection: &Connection,
        has_several: bool,
        handlers: &NoticeHandlers,
    ) -> anyhow::Result<Self> {
        let prefix = if has_several { format!("{context}: ") } else { String::new() };
        let warn: Warn = {
            let (warn, prefix) = (Arc::clone(&handlers.warn), prefix.clone());
            Arc::new(move |text| warn(&format!("{prefix}{text}")))
        };
        let (warn_of, plugin) = (Arc::clone(&warn), Arc::clone(&handlers.plugin));
        let server_warnings = handlers.server_warnings.clone();
        let listener = move |notice: Notice<'_>| match notice {
            Notice::Warning(text) => {
                server_warnings.add();
                warn_of(text);
            }
            Notice::UnusableNames { count, example } => warn_of(&format!(
                "the server offers API groups, versions or resources with names that can't be used, {count} in all, such as {example:?}; they are skipped"
            )),
            other => plugin(other),
        };
        let options = ClientOptions::default()
            .notices(Some(Arc::new(listener)))
            .credential_plugins(credential_plugins().clone())
            .identifies_rows(in_process.is_some());
        let options = match in_process {
            Some(InProcess { connector, lists }) => options.connector(Some(connector)).direct_lists(lists),
            None => options,
        };
        let client = Client::with_options(config, options)?;
        let defaults = DiscoveryOptions::default();
        let timeout = connection.request_timeout.or(defaults.timeout);
        let discovery = defaults.cache_folder(connection.cache_dir.clone()).timeout(timeout);
        let template = Part {
            cluster: index,
            context: Arc::from(context),
            prefix: Arc::from(prefix),
            resource: Arc::new(namespaces()),
            namespace: Arc::from(config.default_namespace()),
            name: None,
            repetition: 0,
            patterns: None,
        };
        Ok(Self {
            template,
            server: config.server().to_owned(),
            discovery: Discovery::new(&client, &discovery),
            client,
            request_timeout: connection.request_timeout,
            shared: Shared::new(),
            known_fields: Mutex::default(),
            warn,
        })
    }

    /// Returns the cluster's position in the session.
    pub(crate) fn index(&self) -> usize {
        self.template.cluster
    }

    /// Returns the name of its context; empty if there is none.
    pub(crate) fn context(&self) -> &str {
        &self.template.context
    }

    /// Returns the URL of its server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Returns the prefix of messages about the cluster: its context if there are several, otherwise empty.
    pub(crate) fn prefix(&self) -> &str {
        &self.template.prefix
    }

    /// Returns the namespace of the context, the default for requests without one.
    pub(crate) fn namespace(&self) -> &str {
        &self.template.namespace
    }

    /// Returns the callback for warnings.
    pub(super) fn warn(&self) -> Warn {
        Arc::clone(&self.warn)
    }

    /// Returns the user's time limit of a request.
    pub(super) fn request_timeout(&self) -> Option<Duration> {
        self.request_timeout
    }

    /// Whether the user limited the time of a request.
    pub(super) fn has_request_timeout(&self) -> bool {
        self.request_timeout.is_some()
    }

    /// Returns the discovery of the types that the server serves.
    pub(crate) fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// Returns the plan of objects that files name.
    ///
    /// # Errors
    /// Returns no error, because the selection has no names.
    pub(super) fn plan_of_objects(&self, selection: &Selection, objects: Vec<Part>) -> anyhow::Result<Plan> {
        Ok(Plan::new(self.template.clone(), selection, Vec::new())?.with_objects(objects))
    }

    /// Returns the part of an object.
    pub(super) fn object_of(&self, resource: Arc<ApiResource>, namespace: &str, name: &str) -> Part {
        Part { resource, namespace: namespace.into(), name: Some(name.into()), ..self.template.clone() }
    }

    /// Returns the part with all objects of a resource, in all namespaces.
    pub(crate) fn all_objects_of(&self, resource: Arc<ApiResource>) -> Part {
        Part { resource, namespace: "".into(), ..self.template.clone() }
    }

    /// Creates the source of a part, limited to objects that pass the filter. The server rejects a malformed field
    /// selector.
    pub(super) fn source(
        &self,
        part: &Part,
        selectors: ServerSelectors<'_>,
        print: &Print,
        representation: Representation,
        filter: Filter,
    ) -> PartSource {
        let client = |fields: Option<&str>, representation| {
            ResourceClient::new(self.client.clone(), (*part.resource).clone())
                .namespace(Some(part.namespace.to_string()))
                .named(part.name.as_ref().map(ToString::to_string))
                .label_selector(selectors.labels.unwrap_or_default())
                .field_selector(fields.unwrap_or_default())
                .representation(representation)
                .keep_managed_fields(print.managed_fields)
                .record_managers(print.record_managers)
                .request_timeout(self.request_timeout)
        };
        let selected_client = client(selectors.fields, representation);
        let parsed = selectors.fields.and_then(|text| FieldSelector::parse(text).ok());
        let unselected = parsed.map(|fields| (client(None, with_body(representation)), fields));
        PartSource::new(selected_client, unselected, filter, self.shared.clone(), self.request_timeout)
    }
}

/// The selectors that the server applies.
#[derive(Clone, Copy, Default)]
pub(super) struct ServerSelectors<'a> {
    pub(super) labels: Option<&'a str>,
    pub(super) fields: Option<&'a str>,
}

/// Returns the representation with whole objects in it.
fn with_body(representation: Representation) -> Representation {
    match representation {
        Representation::Table(_) | Representation::Rows => Representation::Table(IncludeObject::Object),
        Representation::RowsAndObjects => representation,
        _ => Representation::Objects,
    }
}
