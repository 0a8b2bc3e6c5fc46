//! One cluster of a session: its client, what its server serves, and the sources of its parts.

use std::sync::Arc;
use std::time::Duration;

use kdelta::api::{
    Client, Config, Discovery, DiscoveryOptions, IncludeObject, Notice, Representation, ResourceClient,
};
use kdelta::object::{ApiResource, FieldSelector, SelectorError};

use super::names::namespaces;
use super::plan::Plan;
use super::source::Shared;
use super::{Filter, Part, PartSource};
use crate::settings::{Connection, Print, Selection, Types};

/// Hears what a user should know and nothing fails for.
pub(super) type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// Who hears what of a server.
pub(super) struct NoticeHandlers {
    /// What it warns of.
    pub(super) warn: Warn,
    /// What a credential plugin says and does.
    pub(super) plugin: Arc<dyn Fn(Notice<'_>) + Send + Sync>,
}

/// A server, and who we are to it. Connects to nothing by itself.
pub(crate) struct Cluster {
    /// What its parts are made from.
    template: Part,
    pub(super) client: Client,
    discovery: Discovery,
    request_timeout: Option<Duration>,
    shared: Shared,
    warn: Warn,
}

impl Cluster {
    /// `index` is its index in the session; `has_several` has its messages begin with its context.
    ///
    /// # Errors
    /// The configuration is wrong, in kubectl's words.
    pub(super) fn open(
        index: usize,
        context: &str,
        config: &Config,
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
        let client = Client::with_notices(config, move |notice| match notice {
            Notice::Warning(text) => warn_of(text),
            Notice::UnusableNames { count, example } => warn_of(&format!(
                "the server offers API groups, versions or resources with names that can't be used, {count} in all, such as {example:?}; they are left out"
            )),
            other => plugin(other),
        })?;
        let defaults = DiscoveryOptions::default();
        let discovery = DiscoveryOptions {
            cache_folder: connection.cache_dir.clone(),
            timeout: connection.request_timeout.or(defaults.timeout),
            ..defaults
        };
        let template = Part {
            cluster: index,
            context: Arc::from(context),
            prefix: Arc::from(prefix),
            resource: Arc::new(namespaces()),
            namespace: Arc::from(config.default_namespace()),
            name: None,
        };
        Ok(Self {
            template,
            discovery: Discovery::new(&client, &discovery),
            client,
            request_timeout: connection.request_timeout,
            shared: Shared::new(),
            warn,
        })
    }

    /// Its index in the session.
    pub(crate) fn index(&self) -> usize {
        self.template.cluster
    }

    /// What a message about it begins with: empty, or its context where there are several.
    pub(crate) fn prefix(&self) -> &str {
        &self.template.prefix
    }

    /// The namespace of its context, which is asked where none is named.
    pub(super) fn namespace(&self) -> &str {
        &self.template.namespace
    }

    /// Who hears what a user should know and nothing fails for.
    pub(super) fn warn(&self) -> Warn {
        Arc::clone(&self.warn)
    }

    /// Whether somebody has said how long an answer may take.
    pub(super) fn has_request_timeout(&self) -> bool {
        self.request_timeout.is_some()
    }

    /// What the server serves.
    pub(crate) fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// What is asked for of this cluster. A pattern that matches no type is an error unless it may be waited for. What
    /// comes to a category later belongs to it where the plan is `is_watch`; one that is not is made again where a type
    /// turns out not to be there, so it may be made of what was known some hours ago.
    ///
    /// # Errors
    /// A word that is no type, a server that does not answer, names in all namespaces.
    pub(super) async fn plan(
        &self,
        selection: &Selection,
        allow_unmatched: bool,
        is_watch: bool,
    ) -> anyhow::Result<Plan> {
        let catalog = if is_watch { Some(self.discovery.catalog().await?) } else { None };
        let mut named: Vec<(Arc<ApiResource>, Vec<String>)> = Vec::new();
        let mut categories = Vec::new();
        for target in &selection.targets {
            let Types::Word(word) = &target.types else { continue };
            let found = self.discovery.resolve(word).await?;
            let is_category = catalog.as_ref().is_some_and(|catalog| catalog.is_category(word));
            if is_category && target.names.is_empty() {
                categories.push(word);
                continue;
            }
            for other in self.discovery.passed_over(word).await {
                (self.warn)(&format!("short name {word:?} could also match lower priority resource {other}"));
            }
            named.extend(found.into_iter().map(|found| (Arc::new(found.resource), target.names.clone())));
        }
        let mut plan = Plan::new(self.template.clone(), selection, named)?;
        for word in categories {
            plan.follow_category(word);
        }
        if plan.needs_kinds() {
            // Not from a file: what was defined a minute ago belongs to it.
            let catalog = self.discovery.refresh().await?;
            plan.update_kinds(catalog.resources(), catalog.missing());
            for missing in catalog.missing() {
                (self.warn)(&missing.reason);
            }
            if let Some(text) = plan.unmatched().filter(|_| !allow_unmatched) {
                anyhow::bail!("the server doesn't have a resource type that matches {text:?}");
            }
        }
        Ok(plan)
    }

    /// The part that is all objects of a resource, wherever they are.
    pub(super) fn all_objects_of(&self, resource: Arc<ApiResource>) -> Part {
        Part { resource, namespace: "".into(), ..self.template.clone() }
    }

    /// The source of a part, of which only what passes the filter is let through.
    ///
    /// # Errors
    /// The field selector can't be read.
    pub(super) fn source(
        &self,
        part: &Part,
        selectors: ServerSelectors<'_>,
        print: &Print,
        representation: Representation,
        filter: Filter,
    ) -> Result<PartSource, SelectorError> {
        let client = |fields: Option<&str>, representation| {
            ResourceClient::new(self.client.clone(), (*part.resource).clone())
                .namespace(Some(part.namespace.to_string()))
                .named(part.name.as_ref().map(ToString::to_string))
                .label_selector(selectors.labels.unwrap_or_default())
                .field_selector(fields.unwrap_or_default())
                .representation(representation)
                .keep_managed_fields(print.managed_fields)
                .request_timeout(self.request_timeout)
        };
        let selected_client = client(selectors.fields, representation);
        let unselected = match selectors.fields {
            None => None,
            Some(text) => Some((client(None, with_body(representation)), FieldSelector::parse(text)?)),
        };
        Ok(PartSource::new(selected_client, unselected, filter, self.shared.clone(), self.request_timeout))
    }
}

/// What the server is asked to select by.
#[derive(Clone, Copy, Default)]
pub(super) struct ServerSelectors<'a> {
    pub(super) labels: Option<&'a str>,
    pub(super) fields: Option<&'a str>,
}

/// The same representation with all_objects_of objects in it.
fn with_body(representation: Representation) -> Representation {
    match representation {
        Representation::Objects | Representation::Metadata | Representation::Names => Representation::Objects,
        Representation::Table(_) | Representation::Rows => Representation::Table(IncludeObject::Object),
    }
}
