//! The types that a task requests, as far as its words show before they are resolved.

use kdelta::object::ApiResource;
use kdelta::recording::Gap;

use crate::session::plan::names;
use crate::settings::{Namespaces, Selection, Task, Types};

/// The types and namespaces that a task requests.
pub(super) struct RequestedTypes {
    /// The words for types; `None` for any type.
    words: Option<Vec<String>>,
    /// `None` for any namespace.
    namespaces: Option<Vec<String>>,
    /// Whether all namespaces are requested.
    all_namespaces: bool,
}

impl RequestedTypes {
    /// Returns the types of a task. `recorded` are those of the recording: a word for none of them may mean any. `namespace` is
    /// that of the context.
    pub(super) fn of(task: &Task, recorded: &[impl AsRef<ApiResource>], namespace: &str) -> Self {
        let selection = match task {
            Task::Get(get) => &get.selection,
            Task::Watch(watch) => &watch.selection,
            Task::Index(index) => &index.selection,
            Task::Events(events) => &events.selection,
            // Others read several types, or serve all of them.
            _ => return Self { words: None, namespaces: None, all_namespaces: false },
        };
        let Selection { targets, namespaces, .. } = selection;
        let word = |types: &Types| match types {
            Types::Word(word) if recorded.iter().any(|resource| names(word, resource.as_ref())) => {
                Some(word.clone())
            }
            Types::Matching { text, .. } if matches!(task, Task::Events(_)) => Some(text.clone()),
            _ => None,
        };
        let all_namespaces = *namespaces == Namespaces::All;
        let namespaces = match namespaces {
            Namespaces::Named(named) => Some(named.clone()),
            Namespaces::Current => Some(vec![namespace.to_owned()]),
            _ => None,
        };
        let words: Option<Vec<_>> = targets.iter().map(|target| word(&target.types)).collect();
        Self { words: words.filter(|words| !words.is_empty()), namespaces, all_namespaces }
    }

    /// Returns whether a resource is requested.
    pub(super) fn includes(&self, resource: &ApiResource) -> bool {
        self.words.as_ref().is_none_or(|words| words.iter().any(|word| names(word, resource)))
    }

    /// Returns the requested namespaces, if both the types and the namespaces are named.
    pub(super) fn named_namespaces(&self) -> &[String] {
        self.words.as_ref().and(self.namespaces.as_deref()).unwrap_or_default()
    }

    /// Returns whether named types are requested in all namespaces.
    pub(super) fn has_all_namespaces(&self) -> bool {
        self.words.is_some() && self.all_namespaces
    }

    /// Returns whether a gap concerns requested objects.
    pub(super) fn includes_gap(&self, gap: &Gap) -> bool {
        let Some(resource) = &gap.resource else { return true };
        let namespaces = self.namespaces.as_ref().filter(|_| resource.namespaced);
        self.includes(resource)
            && namespaces
                .is_none_or(|namespaces| namespaces.iter().any(|namespace| gap.includes_namespace(namespace)))
    }
}
