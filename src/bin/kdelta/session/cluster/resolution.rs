//! The resolution of a selection to a plan, by the types that the server serves.

use std::sync::Arc;

use kdelta::api::{ResolveError, is_built_in};
use kdelta::object::ApiResource;
use kdelta::wire::DiscoveredResource;

use super::Cluster;
use crate::session::plan::{AwaitedType, Plan, RequestedNames};
use crate::session::recordings::RecordedTypes;
use crate::settings::{Selection, Types};

impl Cluster {
    /// Resolves a selection against the types of this cluster.
    ///
    /// A pattern that matches no type is an error unless `allow_unmatched` is set. With `is_watch`, a type that joins a
    /// category later belongs to the plan. A one-shot plan may use cached discovery, because the caller replans when a
    /// type turns out to be missing. Types that `recorded` has need not be served: the plan awaits them.
    ///
    /// # Errors
    /// A word names no type, the server can't be reached, or names are combined with all namespaces.
    pub(in crate::session) async fn plan(
        &self,
        selection: &Selection,
        recorded: Option<&RecordedTypes>,
        allow_unmatched: bool,
        is_watch: bool,
    ) -> anyhow::Result<Plan> {
        let catalog = if is_watch { Some(self.discovery.catalog().await?) } else { None };
        let mut named: Vec<(Arc<ApiResource>, RequestedNames)> = Vec::new();
        let (mut awaited, mut categories) = (Vec::new(), Vec::new());
        for target in &selection.targets {
            let Types::Word(word) = &target.types else { continue };
            let is_category = catalog.as_ref().is_some_and(|catalog| catalog.is_category(word));
            let requested = RequestedNames::new(target.names.clone(), target.patterns.clone());
            let found = match self.resolve(word, recorded.filter(|_| !is_category)).await {
                Ok(found) => found,
                Err(error) => {
                    awaited.push(self.await_type(word, requested, recorded, error).await?);
                    continue;
                }
            };
            if is_category && target.is_whole() {
                categories.push(word);
                continue;
            }
            for other in self.discovery.alternatives(word).await {
                (self.warn)(&format!("short name {word:?} could also match lower priority resource {other}"));
            }
            named.extend(found.into_iter().map(|found| (Arc::new(found.resource), requested.clone())));
        }
        let mut plan = Plan::new(self.template.clone(), selection, named)?;
        plan.await_types(awaited)?;
        for word in categories {
            plan.follow_category(word);
        }
        if plan.needs_kinds() {
            // Bypasses the cache file: patterns must match types that were defined a minute ago.
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

    /// Resolves a word. If its context was recorded, custom types are checked, because a cache file may have one that the
    /// server does not serve any more.
    async fn resolve(
        &self,
        word: &str,
        recorded: Option<&RecordedTypes>,
    ) -> Result<Vec<DiscoveredResource>, ResolveError> {
        let found = self.discovery.resolve(word).await?;
        let custom = found.iter().find(|found| !is_built_in(&found.resource.group));
        if let Some(custom) = custom
            && recorded.is_some_and(|recorded| recorded.may_have(self.context()))
            // If the server does not respond, the type is requested as before.
            && self.discovery.revalidate(&custom.resource).await.unwrap_or(false)
        {
            return self.discovery.resolve(word).await;
        }
        Ok(found)
    }

    /// Returns the type to await for a word that names none that the server serves.
    ///
    /// # Errors
    /// Returns the error of the word if it names no recorded type either.
    async fn await_type(
        &self,
        word: &str,
        requested: RequestedNames,
        recorded: Option<&RecordedTypes>,
        error: ResolveError,
    ) -> Result<AwaitedType, ResolveError> {
        let recorded = match (recorded, &error) {
            (Some(recorded), ResolveError::Unknown { .. }) => recorded.of_context(self.context()).await,
            _ => Vec::new(),
        };
        AwaitedType::new(word, &recorded, requested, error.to_string()).ok_or(error)
    }
}
