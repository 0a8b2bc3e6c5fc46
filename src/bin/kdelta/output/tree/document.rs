//! The document of a tree, for JSON, YAML and KYAML.

use std::borrow::Cow;

use kdelta::object::JsonValue;

use crate::view::{EventNote, Link, OwnerIndex, Presence, Tree, TreeObject, TreeRow};

type Member<'a> = (Cow<'a, str>, JsonValue<'a>);

fn text<'a>(name: &'a str, value: impl Into<Cow<'a, str>>) -> Member<'a> {
    (Cow::Borrowed(name), JsonValue::Text(value.into()))
}

/// Returns the document of a tree. Its rows are nested by their parents, with those of related objects apart.
pub(super) fn document<'a>(tree: &'a Tree, index: &'a OwnerIndex) -> JsonValue<'a> {
    let mut children: Vec<ChildNodes<'a>> = tree.rows.iter().map(|_| ChildNodes::default()).collect();
    let mut items = Vec::new();
    // Each row follows its parent.
    for (at, row) in tree.rows.iter().enumerate().rev() {
        let own = std::mem::take(&mut children[at]);
        let Some(object) = index.get(&row.uid) else { continue };
        let node = node(row, object, own);
        match (row.parent, row.link) {
            (Some(parent), None) => children[parent].owned.push(node),
            (Some(parent), Some(_)) => children[parent].related.push(node),
            (None, _) => items.push(node),
        }
    }
    items.reverse();
    JsonValue::Object(vec![(Cow::Borrowed("items"), JsonValue::Array(items))])
}

/// The children of a node, the last first.
#[derive(Default)]
struct ChildNodes<'a> {
    owned: Vec<JsonValue<'a>>,
    related: Vec<JsonValue<'a>>,
}

fn node<'a>(row: &'a TreeRow, object: &'a TreeObject, mut children: ChildNodes<'a>) -> JsonValue<'a> {
    let resource = &object.resource;
    let api_version = match &*resource.group {
        "" => Cow::Borrowed(&*resource.version),
        group => Cow::Owned(format!("{group}/{}", resource.version)),
    };
    let mut members = row.link.map(link_members).unwrap_or_default();
    members.extend([text("apiVersion", api_version), text("kind", &*resource.kind)]);
    if !object.namespace.is_empty() {
        members.push(text("namespace", &*object.namespace));
    }
    members.extend([text("name", &*object.name), text("uid", &*object.uid)]);
    if let Some(created) = object.created {
        members.push(text("creationTimestamp", created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
    }
    if let Some(note) = object.event() {
        members.extend(event_members(note));
    } else if let Some(status) = object.status {
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
    children.owned.reverse();
    children.related.reverse();
    if row.link.is_none() {
        members.push((Cow::Borrowed("children"), JsonValue::Array(children.owned)));
    }
    if !children.related.is_empty() {
        members.push((Cow::Borrowed("related"), JsonValue::Array(children.related)));
    }
    JsonValue::Object(members)
}

/// Returns the members about the relation to the object above.
fn link_members<'a>(link: Link) -> Vec<Member<'a>> {
    let mut members = vec![text("edge", link.kind.name())];
    let flags = [("reverse", link.is_reverse), ("repeated", link.repeats.is_some())];
    for (name, _) in flags.into_iter().filter(|(_, is_set)| *is_set) {
        members.push((Cow::Borrowed(name), JsonValue::Bool(true)));
    }
    if link.further_events > 0 {
        let further = i64::try_from(link.further_events).unwrap_or(i64::MAX);
        members.push((Cow::Borrowed("furtherEvents"), JsonValue::Int(further)));
    }
    members
}

fn event_members(note: &EventNote) -> Vec<Member<'_>> {
    let mut members = vec![
        text("type", &*note.event_type),
        text("reason", &*note.reason),
        text("message", &*note.message),
        (Cow::Borrowed("count"), JsonValue::Int(note.count)),
    ];
    if let Some(time) = note.last_seen {
        members.push(text("lastTimestamp", time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
    }
    members
}
