//! The early reading of the history of a named object, while its type is still resolved.

use std::sync::Arc;

use kdelta::object::ApiResource;
use kdelta::recording::{Entry, Recording, RecordingError, Versions};

use super::compared_versions::ComparedVersions;
use crate::session::plan::is_word_of;
use crate::settings::{History, Namespaces, Selection, Target, Task, Types};
use crate::view::{Comparison, Details};

/// The namespace of a recording without another one in the kubeconfig.
const DEFAULT_NAMESPACE: &str = "default";

/// The versions of an object in order.
pub(super) enum RecordedVersions {
    /// With their bodies.
    Whole(Box<Versions>),
    /// Compared, without bodies.
    Compared(ComparedVersions),
}

impl Iterator for RecordedVersions {
    type Item = (Result<Entry, RecordingError>, Option<Comparison>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Whole(versions) => versions.next().map(|version| (version, None)),
            Self::Compared(versions) => {
                versions.next().map(|(version, comparison)| (version, Some(comparison)))
            }
        }
    }
}

/// The versions of the object that is most likely requested.
///
/// Resolving its type waits for the newest entries, which take longest to read.
pub(in crate::session) struct EarlyHistory {
    resource: Arc<ApiResource>,
    namespace: String,
    name: String,
    pub(super) versions: RecordedVersions,
}

impl EarlyHistory {
    /// Starts to read the versions of the only named object of a task, if only one recent type has that plural or
    /// kind, and to compare them if they are printed as rows and the range includes all. Errors are left to the commands, which read the same.
    pub(super) fn start(recording: &Recording, task: &Task) -> Option<Self> {
        let Task::History(history) = task else { return None };
        let (word, namespace, name) = only_object(history)?;
        let resources = recording.recent_resources().ok()?;
        let mut named = resources.into_iter().filter(|resource| is_word_of(word, resource));
        let (Some(resource), None) = (named.next(), named.next()) else { return None };
        let namespace = if resource.namespaced { namespace } else { "" };
        let versions = recording.versions(&resource, namespace, name).without_rows().start_reading();
        let is_whole = history.json || history.range.ends().next().is_some();
        let versions = if is_whole {
            RecordedVersions::Whole(Box::new(versions))
        } else {
            let details = Details { noise: history.noise, secrets: history.secrets };
            RecordedVersions::Compared(ComparedVersions::start(versions, details))
        };
        Some(Self { resource, namespace: namespace.to_owned(), name: name.to_owned(), versions })
    }

    /// Returns whether these are the versions of an object.
    pub(super) fn is_of(&self, resource: &ApiResource, namespace: &str, name: &str) -> bool {
        *self.resource == *resource && self.namespace == namespace && self.name == name
    }
}

/// Returns the word for the type, the namespace and the name of the only object of a history.
fn only_object(history: &History) -> Option<(&str, &str, &str)> {
    let Selection { targets, namespaces, .. } = &history.selection;
    let [Target { types: Types::Word(word), names, patterns }] = &targets[..] else { return None };
    let (1, true) = (names.len(), patterns.is_empty()) else { return None };
    let namespace = match namespaces {
        Namespaces::Current => DEFAULT_NAMESPACE,
        Namespaces::Named(named) if named.len() == 1 => &named[0],
        _ => return None,
    };
    Some((word, namespace, &names[0]))
}
