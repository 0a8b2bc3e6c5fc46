//! The metrics that clients use to estimate the size of collections.

use std::fmt::Write;

use super::source::{CollectionRange, ObjectData, Snapshot, Source};

/// Returns the document.
pub(super) fn text(source: &dyn Source) -> String {
    let mut text = String::from(
        "# HELP apiserver_resource_objects [STABLE] Number of stored objects at the time of last check split by kind.\n\
         # TYPE apiserver_resource_objects gauge\n",
    );
    for kind in source.kinds().iter().filter(|kind| kind.conversion.is_none()) {
        let Some((id, _)) = source.find(&kind.group, &kind.version, &kind.plural) else { continue };
        let range = CollectionRange { limit: 0, data: ObjectData::Rows, ..CollectionRange::all(id, None) };
        let Ok(Snapshot { more: count, .. }) = source.now(&range) else { continue };
        // Writing into a String does not fail.
        let _written = writeln!(
            text,
            "apiserver_resource_objects{{group=\"{}\",resource=\"{}\"}} {count}",
            kind.group, kind.plural
        );
    }
    text
}
