//! Trees of objects: a table with branches, documents, names and graphs.

mod document;
mod live;

use std::io::{self, Write};

use jiff::Timestamp;
use kdelta::object::human_duration;

pub(crate) use self::live::LiveTree;

use self::document::document;
use super::columns::{Column, columns};
use super::typed::{TypedDocuments, TypedFormat};
use crate::view::{
    EventNote, Link, OwnerIndex, Repetition, Tree, TreeObject, TreeRow, dot, escape_line, mermaid, prefixes,
};

/// The format of trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeForm {
    /// A table.
    Table {
        headers: bool,
        /// Whether abnormal states are coloured.
        colour: bool,
        /// Whether the namespace of each object is shown.
        namespaces: bool,
        now: Timestamp,
    },
    /// One document: `{"items": […]}`, each item with its `children`.
    Documents {
        format: TypedFormat,
        for_terminal: bool,
    },
    /// The titles alone, one on each line.
    Names,
    Dot,
    Mermaid,
}

/// Writes a tree. A document or graph is written even if it is empty.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_tree(
    tree: &Tree,
    index: &OwnerIndex,
    form: TreeForm,
    out: &mut impl Write,
) -> io::Result<()> {
    match form {
        TreeForm::Table { headers, colour, namespaces, now } => {
            let status = if colour {
                Column::Coloured { heading: "STATUS", meaning: "STATUS" }
            } else {
                Column::Text("STATUS")
            };
            let heads = [
                Column::Text("NAMESPACE"),
                Column::Text("NAME"),
                status,
                Column::Text("AGE"),
                Column::Text("MESSAGE"),
            ];
            let skipped = usize::from(!namespaces);
            let rows = tree.rows.iter().zip(prefixes(tree)).filter_map(|(row, prefix)| {
                let object = index.get(&row.uid)?;
                let cells = cells(row, &prefix, object, now);
                Some(cells.into_iter().skip(skipped).collect())
            });
            columns(&heads[skipped..], rows.collect::<Vec<_>>(), headers, out)?;
        }
        TreeForm::Documents { format, for_terminal } => {
            TypedDocuments::new(format, for_terminal).document(&document(tree, index), out)?;
        }
        TreeForm::Names => {
            for object in tree.uids().filter_map(|uid| index.get(uid)) {
                writeln!(out, "{}", escape_line(&object.title()))?;
            }
        }
        TreeForm::Dot => out.write_all(dot(tree, index).as_bytes())?,
        TreeForm::Mermaid => out.write_all(mermaid(tree, index).as_bytes())?,
    }
    out.flush()
}

fn cells(row: &TreeRow, prefix: &str, object: &TreeObject, now: Timestamp) -> [String; 5] {
    let age = |time: Option<Timestamp>| {
        let age = time.map(|time| human_duration(now.duration_since(time).as_secs()));
        age.unwrap_or_else(|| "<unknown>".to_owned())
    };
    match (row.link, object.event()) {
        (Some(link), Some(note)) => [
            object.namespace.clone(),
            format!("{prefix}{} {}", link.words(), note.title()),
            note.event_type.clone(),
            age(note.last_seen),
            event_message(note, link),
        ],
        (link, _) => {
            let words = link.map_or_else(String::new, |link| format!("{} ", link.words()));
            [
                object.namespace.clone(),
                format!("{prefix}{words}{}", object.title()),
                object.status.map_or("", |status| status.as_str()).to_owned(),
                age(object.created),
                notes(row, object),
            ]
        }
    }
}

fn event_message(note: &EventNote, link: Link) -> String {
    match link.further_events {
        0 => note.message.clone(),
        1 => format!("{}; 1 more event", note.message),
        further => format!("{}; {further} more events", note.message),
    }
}

/// Returns the explanation of an abnormal status, the other owners and the number of objects that are left out.
fn notes(row: &TreeRow, object: &TreeObject) -> String {
    let message = Some(&object.message).filter(|message| !object.is_current() && !message.is_empty());
    let joined = |owners: &[String]| Some(owners.join(", ")).filter(|owners| !owners.is_empty());
    let owners = joined(&row.other_owners).map(|owners| format!("also owned by {owners}"));
    let missing = joined(&row.missing_owners).map(|owners| format!("its owner {owners} does not exist"));
    let hidden = (row.hidden > 0).then(|| format!("{} more below", row.hidden));
    let place = match row.link.and_then(|link| link.repeats) {
        Some(Repetition::Above) => Some("see above".to_owned()),
        Some(Repetition::Below) => Some("see below".to_owned()),
        Some(Repetition::OfLeaf) | None => None,
    };
    let notes = [message.cloned(), owners, missing, hidden, place];
    notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
