//! What a command has to ask the server for: no more than its question needs.

use kdelta::api::{IncludeObject, Representation};

use crate::session::needs_body;
use crate::settings::{Format, IndexName};

/// What objects must carry so that they can be printed in this format and found by these indices.
pub(super) fn representation<'a>(
    format: Format,
    indices: impl IntoIterator<Item = &'a IndexName>,
) -> Representation {
    let body = indices.into_iter().any(needs_body);
    match format {
        Format::Json | Format::Yaml => Representation::Objects,
        Format::Table { .. } if body => Representation::Table(IncludeObject::Object),
        Format::Table { .. } => Representation::Table(IncludeObject::Metadata),
        Format::Name => keys_and(body),
    }
}

/// What objects must carry so that these indices can count them.
pub(super) fn keys_and(body: bool) -> Representation {
    if body { Representation::Objects } else { Representation::Metadata }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_objects_are_asked_for_only_where_something_looks_into_them() {
        let node = [IndexName::Node];
        let label = [IndexName::Label("app".into())];
        let table = Format::Table { wide: true };
        for (format, indices, wanted) in [
            (Format::Json, &[][..], Representation::Objects),
            (Format::Name, &[], Representation::Metadata),
            (Format::Name, &label, Representation::Metadata),
            (Format::Name, &node, Representation::Objects),
            (table, &[], Representation::Table(IncludeObject::Metadata)),
            (table, &label, Representation::Table(IncludeObject::Metadata)),
            (table, &node, Representation::Table(IncludeObject::Object)),
        ] {
            assert_eq!(representation(format, indices), wanted, "{format:?} {indices:?}");
        }
    }
}
