//! `/metrics`: the number of objects, in Prometheus's text format.

use std::fmt::Write;

use crate::demo::store::{CollectionRange, Store};

/// Returns the document.
pub(super) fn text(store: &Store) -> String {
    let mut text = String::from(
        "# HELP apiserver_resource_objects [STABLE] Number of stored objects at the time of last check split by kind.\n\
         # TYPE apiserver_resource_objects gauge\n",
    );
    for (id, kind) in store.kinds() {
        let count = store.now(&CollectionRange { limit: 0, ..CollectionRange::all(id, None) }).more;
        // Writing into a String does not fail.
        let _written = writeln!(
            text,
            "apiserver_resource_objects{{group=\"{}\",resource=\"{}\"}} {count}",
            kind.group, kind.plural
        );
    }
    text
}
