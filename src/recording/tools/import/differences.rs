//! The differences after gaps: JSON lines do not show where they end.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::object::ResourceVersion;
use crate::recording::entry::Item;
use crate::recording::tools::line_scope::LineScopes;

/// The names of a type in a line, and the watched namespace; empty for all.
type LineWatch = ([String; 4], Arc<str>);

/// The watches after whose last gap there was no event yet, with the version of the list.
#[derive(Debug, Default)]
pub(super) struct Differences(BTreeMap<LineWatch, ResourceVersion>);

impl Differences {
    /// Records the gap of a watch.
    pub(super) fn begin(&mut self, names: &[String; 4], namespace: &Arc<str>, to: &ResourceVersion) {
        self.0.insert((names.clone(), Arc::clone(namespace)), to.clone());
    }

    /// Records an event in a namespace, or in all: the differences before it are complete.
    pub(super) fn end(&mut self, names: &[String; 4], namespace: &str) {
        if !self.0.is_empty() {
            let includes = |watched: &str| watched.is_empty() || namespace.is_empty() || watched == namespace;
            self.0.retain(|(own, watched), _| own != names || !includes(watched));
        }
    }

    /// Returns bookmarks that end the others: a watch prints all differences of a list at once.
    pub(super) fn finish(self, latest: Timestamp, scopes: &mut LineScopes) -> Vec<(Timestamp, Item)> {
        let mut bookmarks = Vec::new();
        for ((names, namespace), version) in self.0 {
            let bookmark = |resource, namespace| Item::Bookmark { resource, namespace, version };
            if namespace.is_empty() {
                bookmarks.extend(scopes.of_all(&names, latest, |resource| bookmark(resource, namespace)));
            } else {
                let of_type = scopes.of_namespace(&names, &namespace);
                bookmarks.extend(of_type.waiting);
                bookmarks.push((latest, bookmark(of_type.resource, namespace)));
            }
        }
        bookmarks
    }
}
