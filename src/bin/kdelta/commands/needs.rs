//! The least representation that a command needs from the server.

use kdelta::query::{SortBy, SortedItems};
use kdelta::wire::{IncludeObject, Representation};

use crate::session::{needs_body, path_needs_body};
use crate::settings::{By, FilterNeeds, Format, Index, IndexName, Lines, ObjectContent, ObjectFilter, Print};

/// Returns the representation needed to print objects and to find them by these indices.
pub(super) fn representation<'a>(
    print: &Print,
    indices: impl IntoIterator<Item = &'a IndexName>,
) -> Representation {
    let mut indices = indices.into_iter().peekable();
    let shows_labels = print.show_labels || !print.label_columns.is_empty();
    match print.format {
        // Objects that no index selects are printed as received.
        Format::Name if indices.peek().is_none() => Representation::Names,
        Format::Table { .. } if print.name_age => keys_and(indices.any(needs_body)),
        Format::Table { .. } if indices.peek().is_none() && !shows_labels => Representation::Rows,
        format => printed(format, indices.any(needs_body)),
    }
}

/// Returns the representation needed to print these watch lines and to find objects by these indices.
pub(super) fn of_lines<'a>(
    print: &Print,
    indices: impl IntoIterator<Item = &'a IndexName>,
    lines: &Lines,
) -> Representation {
    let selects_updates = !(lines.only.is_empty() && lines.ignore.is_empty() && lines.changed_by.is_empty());
    let compared = lines.changes.is_some() || lines.old || selects_updates;
    let body = compared || indices.into_iter().any(needs_body);
    let shows_object = |fields: &Vec<String>| fields.iter().any(|field| field == "object");
    match (print.format, &lines.fields) {
        (Format::Json, Some(fields)) if !shows_object(fields) => keys_and(body),
        (Format::Table { .. }, _) if print.name_age => keys_and(body),
        (format, _) => printed(format, body),
    }
}

/// Returns the representation needed to print objects in the order of an expression and to find them by these indices.
pub(super) fn sorted<'a>(
    print: &Print,
    sort_by: &str,
    indices: impl IntoIterator<Item = &'a IndexName>,
) -> Representation {
    let body = sort_needs_body(sort_by) || indices.into_iter().any(needs_body);
    if print.name_age { keys_and(body) } else { printed(print.format, body) }
}

/// Whether a sort expression reads more than metadata. One that can't be parsed is reported elsewhere.
fn sort_needs_body(sort_by: &str) -> bool {
    !SortBy::parse(sort_by, SortedItems::Rows).is_ok_and(|by| by.reads_only_metadata())
}

/// Returns the representation with everything that a filter reads. Rows alone have a cell that is most likely the name, and
/// names alone no cells.
pub(super) fn with_filter(representation: Representation, needs: FilterNeeds) -> Representation {
    let representation = match (needs.content, representation) {
        (ObjectContent::Nothing, representation) => representation,
        (ObjectContent::Body, Representation::Table(_) | Representation::Rows) => {
            Representation::Table(IncludeObject::Object)
        }
        (ObjectContent::Body, _) => Representation::Objects,
        (_, Representation::Rows | Representation::Table(IncludeObject::None)) => {
            Representation::Table(IncludeObject::Metadata)
        }
        (_, Representation::Names) => Representation::Metadata,
        (_, representation) => representation,
    };
    match representation {
        Representation::Objects if needs.cells => Representation::Table(IncludeObject::Object),
        Representation::Metadata | Representation::Names if needs.cells => {
            Representation::Table(IncludeObject::Metadata)
        }
        representation => representation,
    }
}

fn printed(format: Format, body: bool) -> Representation {
    match format {
        Format::Json | Format::Yaml | Format::Kyaml | Format::Template(_) => Representation::Objects,
        Format::Table { .. } if body => Representation::Table(IncludeObject::Object),
        Format::Table { .. } => Representation::Table(IncludeObject::Metadata),
        Format::Name => keys_and(body),
    }
}

/// Returns the representation from which the indices and the aggregates of `kdelta index` can be read.
pub(super) fn index(index: &Index) -> Representation {
    let paths = index.aggregates.iter().any(|column| path_needs_body(&column.path));
    keys_and(paths || index.by.iter().any(|by| needs_body(&by.index)))
}

/// Returns the representation with the keys of objects, and with their bodies if needed.
pub(super) fn keys_and(body: bool) -> Representation {
    if body { Representation::Objects } else { Representation::Metadata }
}

/// Returns why that much of each object is requested for a listing.
pub(super) fn reasons(
    print: &Print,
    by: &[By],
    filter: &ObjectFilter,
    sort_by: Option<&str>,
    representation: Representation,
) -> Vec<String> {
    let bodies = by.iter().filter(|by| needs_body(&by.index)).map(|by| format!("--by {by} reads the body"));
    let metadata =
        by.iter().filter(|by| !needs_body(&by.index)).map(|by| format!("--by {by} reads the metadata"));
    let filtered = reasons_of_filter(filter);
    let sorted = sort_by.map(|path| {
        let content = if sort_needs_body(path) { "any field" } else { "the metadata" };
        format!("--sort-by {path} reads {content}")
    });
    let labels =
        (print.show_labels || !print.label_columns.is_empty()).then(|| "labels are printed".to_owned());
    let format = match print.format {
        Format::Json | Format::Yaml | Format::Kyaml | Format::Template(_) => {
            Some("the output format prints whole objects".to_owned())
        }
        Format::Table { .. } if print.name_age => Some("only names and ages are printed".to_owned()),
        Format::Name => Some("only names are printed".to_owned()),
        Format::Table { .. } => None,
    };
    let all: Vec<String> = format
        .into_iter()
        .chain(labels)
        .chain(sorted)
        .chain(bodies)
        .chain(metadata)
        .chain(filtered)
        .collect();
    match representation {
        _ if !all.is_empty() => all,
        Representation::Rows => vec!["the table needs its cells only".to_owned()],
        _ => Vec::new(),
    }
}

/// Returns what each condition of a filter reads.
fn reasons_of_filter(filter: &ObjectFilter) -> impl Iterator<Item = String> {
    let conditions = filter.conditions().iter().map(|condition| {
        let content = match condition.needs().content {
            ObjectContent::Body => "the body",
            ObjectContent::Metadata => "the metadata",
            ObjectContent::Name => "the name",
            ObjectContent::Nothing => "the cells",
        };
        format!("{condition} reads {content}")
    });
    let of_changes = filter.of_changes().iter();
    conditions.chain(of_changes.map(|expression| format!("--where {} reads states", expression.text())))
}

/// Returns why that much of each object is requested for the lines of a watch.
pub(super) fn reasons_of_lines(
    print: &Print,
    by: &[By],
    filter: &ObjectFilter,
    lines: &Lines,
    representation: Representation,
) -> Vec<String> {
    let compared = lines.changes.is_some() || lines.old || !lines.only.is_empty() || !lines.ignore.is_empty();
    let compared = compared.then(|| "states of objects are compared".to_owned());
    compared.into_iter().chain(reasons(print, by, filter, None, representation)).collect()
}

/// Returns why that much of each object is requested for the groups of an index.
pub(super) fn reasons_of_index(index: &Index, filter: &ObjectFilter) -> Vec<String> {
    let content = |reads_body: bool| if reads_body { "the body" } else { "the metadata" };
    let indices = index.by.iter().map(|by| format!("--by {by} reads {}", content(needs_body(&by.index))));
    let aggregates = index.aggregates.iter().map(|column| {
        format!(
            "--{} {} reads {}",
            column.aggregate.name(),
            column.path,
            content(path_needs_body(&column.path))
        )
    });
    indices.chain(aggregates).chain(reasons_of_filter(filter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ChangesArg, TableStyle};

    #[test]
    fn whole_objects_are_requested_only_when_read() {
        let node = [IndexName::Node];
        let label = [IndexName::Label("app".into())];
        let table = Format::Table { wide: true, style: TableStyle::Aligned };
        for (format, indices, expected) in [
            (Format::Json, &[][..], Representation::Objects),
            (Format::Name, &[], Representation::Names),
            (Format::Name, &label, Representation::Metadata),
            (Format::Name, &node, Representation::Objects),
            (table, &[], Representation::Rows),
            (table, &label, Representation::Table(IncludeObject::Metadata)),
            (table, &node, Representation::Table(IncludeObject::Object)),
        ] {
            let print = Print { format, ..Print::default() };
            assert_eq!(representation(&print, indices), expected, "{format:?} {indices:?}");
        }
        let name_age = Print { format: table, name_age: true, show_labels: true, ..Print::default() };
        assert_eq!(representation(&name_age, []), Representation::Metadata);
        assert_eq!(representation(&name_age, &node), Representation::Objects);
        assert_eq!(sorted(&name_age, ".spec.nodeName", []), Representation::Objects);
        for print in [
            Print { format: table, show_labels: true, ..Print::default() },
            Print { format: table, label_columns: vec!["app".into()], ..Print::default() },
        ] {
            assert_eq!(representation(&print, []), Representation::Table(IncludeObject::Metadata));
        }
    }

    #[test]
    fn order_by_metadata_needs_no_body() {
        let rows = |include| Representation::Table(include);
        let (node, label) = ([IndexName::Node], [IndexName::Label("app".into())]);
        for (sort_by, indices, expected) in [
            (".metadata.name", &[][..], rows(IncludeObject::Metadata)),
            ("metadata.creationTimestamp", &label, rows(IncludeObject::Metadata)),
            ("{.metadata.ownerReferences[0].name}", &[], rows(IncludeObject::Metadata)),
            ("{.metadata.labels['a.b/c']}", &[], rows(IncludeObject::Metadata)),
            (".metadata.name", &node, rows(IncludeObject::Object)),
            (".status.startTime", &[], rows(IncludeObject::Object)),
            (".kind", &[], rows(IncludeObject::Object)),
            ("{..name}", &[], rows(IncludeObject::Object)),
            ("{.metadata.ownerReferences[?(@.controller==true)].name}", &[], rows(IncludeObject::Object)),
            ("{.metadata.name}{.spec.x}", &[], rows(IncludeObject::Object)),
            (".metadata[", &[], rows(IncludeObject::Object)),
        ] {
            assert_eq!(sorted(&Print::default(), sort_by, indices), expected, "{sort_by}");
        }
        let names = Print { format: Format::Name, ..Print::default() };
        assert_eq!(sorted(&names, ".metadata.name", []), Representation::Metadata);
        let json = Print { format: Format::Json, ..Print::default() };
        assert_eq!(sorted(&json, ".metadata.name", []), Representation::Objects);
    }

    #[test]
    fn filter_requests_what_it_reads() {
        let needs = |content, cells| FilterNeeds { cells, content };
        let (metadata, whole) =
            (Representation::Table(IncludeObject::Metadata), Representation::Table(IncludeObject::Object));
        for (before, needs, expected) in [
            (Representation::Rows, needs(ObjectContent::Nothing, false), Representation::Rows),
            (Representation::Rows, needs(ObjectContent::Nothing, true), Representation::Rows),
            (Representation::Rows, needs(ObjectContent::Name, false), metadata),
            (Representation::Rows, needs(ObjectContent::Metadata, true), metadata),
            (Representation::Rows, needs(ObjectContent::Body, false), whole),
            (metadata, needs(ObjectContent::Body, false), whole),
            (whole, needs(ObjectContent::Metadata, true), whole),
            (Representation::Names, needs(ObjectContent::Metadata, false), Representation::Metadata),
            (Representation::Names, needs(ObjectContent::Nothing, true), metadata),
            (Representation::Metadata, needs(ObjectContent::Body, false), Representation::Objects),
            (Representation::Metadata, needs(ObjectContent::Metadata, true), metadata),
            (Representation::Objects, needs(ObjectContent::Body, false), Representation::Objects),
            (Representation::Objects, needs(ObjectContent::Nothing, true), whole),
        ] {
            assert_eq!(with_filter(before, needs), expected, "{before:?} {needs:?}");
        }
    }

    #[test]
    fn lines_without_object_need_only_metadata() {
        let fields = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let named = Lines { fields: fields(&["type", "name", "uid"]), ..Lines::default() };
        let none: [IndexName; 0] = [];
        let json = Print { format: Format::Json, ..Print::default() };
        assert_eq!(of_lines(&json, &none, &named), Representation::Metadata);
        assert_eq!(of_lines(&json, &[IndexName::Node], &named), Representation::Objects);
        let compared = Lines { ignore: vec!["status".into()], ..named };
        assert_eq!(of_lines(&json, &none, &compared), Representation::Objects);
        let whole = Lines { fields: fields(&["name", "object"]), ..Lines::default() };
        assert_eq!(of_lines(&json, &none, &whole), Representation::Objects);
        let table = Print::default();
        let changes = Lines { changes: Some(ChangesArg::Inline), ..Lines::default() };
        assert_eq!(of_lines(&table, &none, &changes), Representation::Table(IncludeObject::Object));
        let name_age = Print { name_age: true, ..Print::default() };
        assert_eq!(of_lines(&name_age, &none, &Lines::default()), Representation::Metadata);
        assert_eq!(of_lines(&name_age, &none, &changes), Representation::Objects);
    }
}
