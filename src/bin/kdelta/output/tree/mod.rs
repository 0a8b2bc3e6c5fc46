//! Trees of objects: a table with branches, documents, names and graphs.

mod live;

use std::borrow::Cow;
use std::io::{self, Write};

use jiff::Timestamp;
use kdelta::object::{JsonValue, human_duration};

pub(crate) use self::live::LiveTree;

use super::columns::{Column, columns};
use super::typed::{TypedDocuments, TypedFormat};
use crate::view::{OwnerIndex, Presence, Tree, TreeObject, TreeRow, dot, escape_line, mermaid, prefixes};

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
    let age = object.created.map(|created| human_duration(now.duration_since(created).as_secs()));
    [
        object.namespace.clone(),
        format!("{prefix}{}", object.title()),
        object.status.map_or("", |status| status.as_str()).to_owned(),
        age.unwrap_or_else(|| "<unknown>".to_owned()),
        notes(row, object),
    ]
}

/// Returns the explanation of an abnormal status, the other owners and the number of objects that are left out.
fn notes(row: &TreeRow, object: &TreeObject) -> String {
    let message = Some(&object.message).filter(|message| !object.is_current() && !message.is_empty());
    let joined = |owners: &[String]| Some(owners.join(", ")).filter(|owners| !owners.is_empty());
    let owners = joined(&row.other_owners).map(|owners| format!("also owned by {owners}"));
    let missing = joined(&row.missing_owners).map(|owners| format!("its owner {owners} does not exist"));
    let hidden = (row.hidden > 0).then(|| format!("{} more below", row.hidden));
    let notes = [message.cloned(), owners, missing, hidden];
    notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

type Member<'a> = (Cow<'a, str>, JsonValue<'a>);

fn text<'a>(name: &'a str, value: impl Into<Cow<'a, str>>) -> Member<'a> {
    (Cow::Borrowed(name), JsonValue::Text(value.into()))
}

/// Returns the document of a tree. Its rows are nested by their parents.
fn document<'a>(tree: &'a Tree, index: &'a OwnerIndex) -> JsonValue<'a> {
    let mut children: Vec<Vec<JsonValue<'a>>> = tree.rows.iter().map(|_| Vec::new()).collect();
    let mut items = Vec::new();
    // Each row follows its parent.
    for (at, row) in tree.rows.iter().enumerate().rev() {
        let mut below = std::mem::take(&mut children[at]);
        below.reverse();
        let Some(object) = index.get(&row.uid) else { continue };
        let node = node(row, object, below);
        match row.parent {
            Some(parent) => children[parent].push(node),
            None => items.push(node),
        }
    }
    items.reverse();
    JsonValue::Object(vec![(Cow::Borrowed("items"), JsonValue::Array(items))])
}

fn node<'a>(row: &'a TreeRow, object: &'a TreeObject, children: Vec<JsonValue<'a>>) -> JsonValue<'a> {
    let resource = &object.resource;
    let api_version = match &*resource.group {
        "" => Cow::Borrowed(&*resource.version),
        group => Cow::Owned(format!("{group}/{}", resource.version)),
    };
    let mut members = vec![text("apiVersion", api_version), text("kind", &*resource.kind)];
    if !object.namespace.is_empty() {
        members.push(text("namespace", &*object.namespace));
    }
    members.extend([text("name", &*object.name), text("uid", &*object.uid)]);
    if let Some(created) = object.created {
        members.push(text("creationTimestamp", created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
    }
    if let Some(status) = object.status {
        members.extend([text("status", status.as_str()), text("message", &*object.message)]);
    }
    let flags = [("requested", row.is_requested), ("missing", object.presence == Presence::Missing)];
    for (name, _) in flags.into_iter().filter(|(_, is_set)| *is_set) {
        members.push((Cow::Borrowed(name), JsonValue::Bool(true)));
    }
    let owners = [("otherOwners", &row.other_owners), ("missingOwners", &row.missing_owners)];
    for (name, owners) in owners.into_iter().filter(|(_, owners)| !owners.is_empty()) {
        let owners = owners.iter().map(|owner| JsonValue::Text(Cow::Borrowed(&**owner)));
        members.push((Cow::Borrowed(name), JsonValue::Array(owners.collect())));
    }
    if row.hidden > 0 {
        let hidden = i64::try_from(row.hidden).unwrap_or(i64::MAX);
        members.push((Cow::Borrowed("hidden"), JsonValue::Int(hidden)));
    }
    members.push((Cow::Borrowed("children"), JsonValue::Array(children)));
    JsonValue::Object(members)
}
