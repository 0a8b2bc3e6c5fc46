//! The plan of one cluster: what the selection requests, and the types and namespaces known so far. No I/O.

mod awaited_types;
mod matched_types;
mod name_patterns;
mod namespaces;
mod parts;
mod requested_names;
#[cfg(test)]
mod tests;
mod type_match;
mod type_words;

pub(super) use awaited_types::{AwaitedType, RecordedType};
pub(crate) use name_patterns::{MatchedPatterns, NamePatterns};
pub(super) use namespaces::RemainingParts;
pub(crate) use parts::PlannedPart;
pub(super) use requested_names::RequestedNames;
pub(super) use type_words::{is_word_of, names};

use std::collections::BTreeSet;
use std::sync::Arc;

use kdelta::object::ApiResource;

use super::Part;
use crate::settings::{Namespaces, Pattern, Selection, Types};
use type_match::is_same_resource;

/// The error of names without a namespace, as kubectl reports it.
const NAMES_IN_ALL_NAMESPACES: &str = "a resource cannot be retrieved by name across all namespaces";

/// The requested types and namespaces of one cluster. The caller updates it with the types and namespaces that exist, and
/// reads the resulting parts.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The template that the parts are copied from.
    template: Part,
    /// The types given by name, each with the object names.
    named_types: Vec<(Arc<ApiResource>, RequestedNames)>,
    /// The types given by name that the server does not serve at first.
    awaited_types: Vec<AwaitedType>,
    /// The objects that files name.
    file_objects: Vec<Part>,
    /// The type patterns, including `--all-kinds`, whose matches change over time.
    type_patterns: Vec<Types>,
    /// The categories, whose members change over time.
    categories: Vec<String>,
    /// Whether an object that is named twice has two parts.
    keeps_repeated_names: bool,
    /// Whether `--all-kinds` covers only namespaced types.
    namespaced_only: bool,
    /// The types that the patterns and categories match now.
    matched_types: Vec<Arc<ApiResource>>,
    scope: Scope,
    /// The only namespace of namespaced types, of all namespaces.
    required_namespace: Option<Arc<str>>,
    /// The existing namespaces with matching labels; `None` until they are listed.
    existing_namespaces: Option<BTreeSet<Arc<str>>>,
    /// Whether listing namespaces has failed. Namespaces known before remain.
    namespaces_unlistable: bool,
    /// The types that are listed per namespace, because listing them in all namespaces is forbidden.
    split_types: Vec<Arc<ApiResource>>,
}

#[derive(Debug)]
enum Scope {
    All,
    Named(Vec<Arc<str>>),
    Matching { always: Vec<Arc<str>>, patterns: Vec<Pattern> },
}

impl Plan {
    /// Creates a plan from the resolved names only. `template` gives the cluster and the default namespace.
    ///
    /// # Errors
    /// Names are combined with all namespaces.
    pub(super) fn new(
        template: Part,
        selection: &Selection,
        named: Vec<(Arc<ApiResource>, RequestedNames)>,
    ) -> anyhow::Result<Self> {
        let all = |names: &[String]| names.iter().map(|name| Arc::from(name.as_str())).collect();
        let scope = match &selection.namespaces {
            Namespaces::All => Scope::All,
            Namespaces::Current => Scope::Named(vec![Arc::clone(&template.namespace)]),
            Namespaces::Named(list) => Scope::Named(all(list)),
            Namespaces::Matching { always, patterns, .. } => {
                Scope::Matching { always: all(always), patterns: patterns.clone() }
            }
        };
        if matches!(scope, Scope::All)
            && named.iter().any(|(resource, requested)| resource.namespaced && !requested.names.is_empty())
        {
            anyhow::bail!(NAMES_IN_ALL_NAMESPACES);
        }
        let types = selection.targets.iter().map(|target| &target.types);
        Ok(Self {
            template,
            named_types: named,
            awaited_types: Vec::new(),
            file_objects: Vec::new(),
            type_patterns: types.filter(|types| types.is_open()).cloned().collect(),
            categories: Vec::new(),
            keeps_repeated_names: selection.keeps_repeated_names,
            namespaced_only: !matches!(selection.namespaces, Namespaces::All | Namespaces::Current),
            matched_types: Vec::new(),
            scope,
            required_namespace: selection.required_namespace.as_deref().map(Arc::from),
            existing_namespaces: None,
            namespaces_unlistable: false,
            split_types: Vec::new(),
        })
    }

    /// Adds objects that files name.
    pub(super) fn with_objects(self, objects: Vec<Part>) -> Self {
        Self { file_objects: objects, ..self }
    }

    /// Copies the known namespaces and split types of an earlier plan for the same selection, whose types are outdated.
    pub(super) fn carry_over(&mut self, earlier: &Self) {
        self.existing_namespaces.clone_from(&earlier.existing_namespaces);
        self.namespaces_unlistable = earlier.namespaces_unlistable;
        let is_split =
            |kind: &&Arc<ApiResource>| earlier.split_types.iter().any(|other| is_same_resource(other, kind));
        self.split_types = self.resources().filter(is_split).cloned().collect();
    }

    /// Adds types that belong to the plan while the server serves them.
    ///
    /// # Errors
    /// Names are combined with all namespaces.
    pub(super) fn await_types(&mut self, types: Vec<AwaitedType>) -> anyhow::Result<()> {
        if matches!(self.scope, Scope::All) && types.iter().any(AwaitedType::names_namespaced) {
            anyhow::bail!(NAMES_IN_ALL_NAMESPACES);
        }
        self.awaited_types = types;
        Ok(())
    }

    /// Returns the message about each awaited type that the server does not serve.
    pub(super) fn missing_types(&self) -> impl Iterator<Item = &str> {
        let missing = self.awaited_types.iter().filter(|awaited| awaited.served.is_none());
        missing.map(|awaited| awaited.message.as_str())
    }

    /// Adds a category: its current and future members belong to the plan.
    pub(super) fn follow_category(&mut self, word: &str) {
        self.categories.push(word.to_owned());
    }

    /// Whether the plan depends on the list of types.
    pub(super) fn needs_kinds(&self) -> bool {
        !(self.type_patterns.is_empty() && self.categories.is_empty() && self.awaited_types.is_empty())
    }

    /// Whether the plan depends on the list of namespaces.
    pub(super) fn needs_namespaces(&self) -> bool {
        matches!(self.scope, Scope::Matching { .. }) || !self.split_types.is_empty()
    }

    /// Whether parts may be added later, for new types or new namespaces.
    pub(super) fn is_open(&self) -> bool {
        self.needs_kinds() || (self.needs_namespaces() && !self.namespaces_unlistable)
    }

    /// Whether the parts are complete for now.
    pub(super) fn is_settled(&self) -> bool {
        self.existing_namespaces.is_some() || !self.needs_namespaces()
    }

    /// Returns the requested types known so far.
    pub(super) fn resources(&self) -> impl Iterator<Item = &Arc<ApiResource>> {
        let of_objects = self.file_objects.iter().map(|part| &part.resource);
        self.served_by_name().map(|(resource, ..)| resource).chain(&self.matched_types).chain(of_objects)
    }

    /// Returns the types given by name that the server serves, each with the object names, and whether it was awaited.
    fn served_by_name(&self) -> impl Iterator<Item = (&Arc<ApiResource>, &RequestedNames, bool)> {
        let named = self.named_types.iter().map(|(resource, requested)| (resource, requested, false));
        let awaited = self.awaited_types.iter();
        named.chain(awaited.filter_map(|awaited| Some((awaited.served.as_ref()?, &awaited.requested, true))))
    }
}
