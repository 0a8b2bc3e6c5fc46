//! Determines whether the resources of JSON lines are namespaced, which the lines do not state.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::object::ApiResource;
use crate::recording::entry::Item;

/// The number of marks of one type that wait for an object. With more, the type counts as namespaced.
const MAX_WAITING: usize = 1000;

/// The resources of the lines of one context.
#[derive(Debug, Default)]
pub(super) struct LineScopes {
    /// By group, version, plural and kind.
    known: HashMap<[String; 4], Scope>,
}

#[derive(Debug)]
enum Scope {
    Known(Arc<ApiResource>),
    /// Only marks of all namespaces were read: the items that wait for an object.
    Unknown(Vec<(Timestamp, Item)>),
}

/// A resource of a line, and the items that waited for its scope.
pub(super) struct Scoped {
    pub(super) resource: Arc<ApiResource>,
    pub(super) waiting: Vec<(Timestamp, Item)>,
}

impl LineScopes {
    /// Returns the resource of an object with this namespace, or of a mark of one namespace.
    pub(super) fn of_namespace(&mut self, names: &[String; 4], namespace: &str) -> Scoped {
        self.resolve(names, !namespace.is_empty())
    }

    /// Keeps a mark of all namespaces until an object is read. Returns the items to append: the mark if the scope is known,
    /// all that wait if they are too many.
    pub(super) fn of_all(
        &mut self,
        names: &[String; 4],
        received: Timestamp,
        item: impl FnOnce(Arc<ApiResource>) -> Item,
    ) -> Vec<(Timestamp, Item)> {
        match self.known.entry(names.clone()).or_insert_with(|| Scope::Unknown(Vec::new())) {
            Scope::Known(resource) => vec![(received, item(Arc::clone(resource)))],
            Scope::Unknown(waiting) => {
                waiting.push((received, item(resource(names, true))));
                if waiting.len() > MAX_WAITING { self.resolve(names, true).waiting } else { Vec::new() }
            }
        }
    }

    /// Returns the items that still wait, of types without any object. These count as namespaced.
    pub(super) fn finish(self) -> Vec<(Timestamp, Item)> {
        let waiting = self.known.into_values().filter_map(|scope| match scope {
            Scope::Known(_) => None,
            Scope::Unknown(waiting) => Some(waiting),
        });
        let mut waiting: Vec<_> = waiting.flatten().collect();
        waiting.sort_by_key(|(received, _)| *received);
        waiting
    }

    fn resolve(&mut self, names: &[String; 4], namespaced: bool) -> Scoped {
        let waiting = match self.known.get_mut(names) {
            Some(Scope::Known(resource)) => {
                return Scoped { resource: Arc::clone(resource), waiting: Vec::new() };
            }
            Some(Scope::Unknown(waiting)) => std::mem::take(waiting),
            None => Vec::new(),
        };
        let resource = resource(names, namespaced);
        self.known.insert(names.clone(), Scope::Known(Arc::clone(&resource)));
        let waiting = waiting.into_iter().map(|(received, item)| (received, with_resource(item, &resource)));
        Scoped { waiting: waiting.collect(), resource }
    }
}

fn resource(names: &[String; 4], namespaced: bool) -> Arc<ApiResource> {
    let [group, version, resource, kind] = names.clone();
    Arc::new(ApiResource { group, version, resource, kind, namespaced })
}

fn with_resource(item: Item, resource: &Arc<ApiResource>) -> Item {
    match item {
        Item::Mark(mark) => Item::Mark(crate::lines::Mark { resource: Arc::clone(resource), ..mark }),
        Item::Bookmark { namespace, version, .. } => {
            Item::Bookmark { resource: Arc::clone(resource), namespace, version }
        }
        item => item,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limited_number_of_marks_waits() {
        let names = ["", "v1", "gizmos", "Gizmo"].map(str::to_owned);
        let mut scopes = LineScopes::default();
        let mark = |resource: Arc<ApiResource>| Item::Document {
            path: resource.resource.as_str().into(),
            body: Vec::new().into(),
        };
        let returned: Vec<usize> =
            (0..=MAX_WAITING + 1).map(|_| scopes.of_all(&names, Timestamp::UNIX_EPOCH, mark).len()).collect();
        assert_eq!(returned[..MAX_WAITING], [0; MAX_WAITING]);
        assert_eq!(returned[MAX_WAITING..], [MAX_WAITING + 1, 1]);
        assert!(scopes.of_namespace(&names, "").resource.namespaced);
    }
}
