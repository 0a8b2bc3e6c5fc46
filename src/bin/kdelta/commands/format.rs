//! The forms of output that several commands share.

use crate::output::{LineOptions, Listing, RowOptions, Stream};
use crate::session::Part;
use crate::settings::{Format, Lines, Namespaces, Print, Selection};
use crate::view::{Details, Layout, NamespaceColumn};

/// The columns of a table of these parts.
fn layout(print: &Print, selection: &Selection, parts: &[Part], event: bool) -> Layout {
    Layout {
        wide: print.format == Format::Table { wide: true },
        event,
        namespace: namespace_column(selection, parts),
        kind: print.show_kind || parts.iter().any(|part| part.resource != parts[0].resource),
        labels: print.label_columns.clone(),
        show_labels: print.show_labels,
    }
}

fn namespace_column(selection: &Selection, parts: &[Part]) -> NamespaceColumn {
    match selection.namespaces {
        Namespaces::All => NamespaceColumn::Namespaced,
        _ if several_namespaces(parts) => NamespaceColumn::Namespaced,
        _ => NamespaceColumn::Never,
    }
}

fn several_namespaces(parts: &[Part]) -> bool {
    let mut namespaces = parts.iter().filter(|part| part.resource.namespaced).map(|part| &part.namespace);
    let first = namespaces.next();
    namespaces.any(|namespace| Some(namespace) != first)
}

/// What `get` prints of these parts; one object asked for by its name is printed bare.
pub(super) fn listing(print: &Print, selection: &Selection, parts: &[Part]) -> Listing {
    let single = matches!(parts, [Part { name: Some(_), .. }]);
    match print.format {
        Format::Table { .. } => Listing::table(layout(print, selection, parts, false), print.headers),
        Format::Json => Listing::json(single),
        Format::Yaml => Listing::yaml(single),
        Format::Name => Listing::Name,
    }
}

/// What `watch` prints of these parts.
pub(super) fn stream(
    print: &Print,
    lines: &Lines,
    selection: &Selection,
    parts: &[Part],
    colour: bool,
) -> Stream {
    match print.format {
        Format::Table { .. } => {
            let details = Details { noise: lines.show_all, secrets: lines.show_secrets };
            let options = RowOptions { all: lines.show_all, details: lines.changes.then_some(details) };
            Stream::table(layout(print, selection, parts, true), print.headers, colour, options)
        }
        Format::Json => {
            let Lines { fields, old, changes, .. } = lines.clone();
            Stream::json_lines(LineOptions { fields, old, changes })
        }
        Format::Yaml => Stream::yaml(),
        Format::Name => Stream::Name,
    }
}

/// kubectl's words for an empty answer.
pub(super) fn nothing_found(parts: &[Part]) -> String {
    match parts {
        [first, rest @ ..]
            if !first.namespace.is_empty() && rest.iter().all(|part| part.namespace == first.namespace) =>
        {
            format!("No resources found in {} namespace.", first.namespace)
        }
        _ => "No resources found".to_owned(),
    }
}
