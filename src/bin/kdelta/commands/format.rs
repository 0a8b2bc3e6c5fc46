//! The forms of output that several commands share.

use std::sync::Arc;

use kdelta::object::ApiResource;

use crate::output::{LineOptions, Listing, RowOptions, Stream};
use crate::session::PlannedPart;
use crate::settings::{self, Format, Lines, Namespaces, Print, Selection};
use crate::view::{Details, Layout, NamespaceColumn};

/// What decides the form of the output: what it is of, and whether that is of several contexts.
pub(super) struct Extent<'a> {
    pub(super) selection: &'a Selection,
    pub(super) resources: &'a [Arc<ApiResource>],
    pub(super) parts: &'a [PlannedPart],
    pub(super) several_contexts: bool,
    /// Whether the contexts are of several namespaces, where that is what decides: some of them may have no part yet.
    pub(super) several_namespaces: bool,
}

impl Extent<'_> {
    /// The columns of a table.
    fn layout(&self, print: &Print, event: bool) -> Layout {
        Layout {
            wide: print.format == Format::Table { wide: true },
            context: self.several_contexts,
            event,
            namespace: if self.has_several_namespaces() {
                NamespaceColumn::Namespaced
            } else {
                NamespaceColumn::Never
            },
            kind: print.show_kind || self.has_several_kinds(),
            labels: print.label_columns.clone(),
            show_labels: print.show_labels,
        }
    }

    fn has_several_kinds(&self) -> bool {
        let mut kinds = self.resources.iter().map(|resource| resource.group_resource());
        let first = kinds.next();
        self.selection.targets.iter().any(|target| target.types.is_open())
            || kinds.any(|kind| Some(kind) != first)
    }

    fn has_several_namespaces(&self) -> bool {
        let parts = self.parts.iter().map(|planned| &planned.part);
        let mut namespaces = parts.filter(|part| part.resource.namespaced).map(|part| &part.namespace);
        let first = namespaces.next();
        matches!(self.selection.namespaces, Namespaces::All | Namespaces::Matching { .. })
            || (self.several_namespaces && self.selection.namespaces == Namespaces::Current)
            || namespaces.any(|namespace| Some(namespace) != first)
    }

    /// What `get` prints; one object asked for by its name is printed bare.
    pub(super) fn listing(&self, print: &Print, stdout: settings::Stream) -> Listing {
        let single = matches!(self.parts, [only] if only.part.name.is_some());
        match print.format {
            Format::Table { .. } => Listing::table(self.layout(print, false), print.headers),
            Format::Json => Listing::json(single, stdout.is_terminal),
            Format::Yaml => Listing::yaml(single, stdout.is_terminal),
            Format::Name => Listing::names(),
        }
    }

    /// What `watch` prints.
    pub(super) fn stream(&self, print: &Print, lines: &Lines, stdout: settings::Stream) -> Stream {
        match print.format {
            Format::Table { .. } => {
                let details = Details { noise: lines.show_all, secrets: lines.show_secrets };
                let options = RowOptions { all: lines.show_all, details: lines.changes.then_some(details) };
                Stream::table(self.layout(print, true), print.headers, stdout.colour, options)
            }
            Format::Json => {
                let Lines { fields, old, changes, .. } = lines.clone();
                Stream::json_lines(LineOptions { fields, old, changes, for_terminal: stdout.is_terminal })
            }
            Format::Yaml => Stream::yaml(stdout.is_terminal),
            Format::Name => Stream::names(),
        }
    }
}

/// kubectl's words for an empty answer.
pub(super) fn nothing_found(parts: &[PlannedPart]) -> String {
    match parts {
        [PlannedPart { part: first, .. }, rest @ ..]
            if !first.namespace.is_empty()
                && rest.iter().all(|other| other.part.namespace == first.namespace) =>
        {
            format!("No resources found in {} namespace.", first.namespace)
        }
        _ => "No resources found".to_owned(),
    }
}
