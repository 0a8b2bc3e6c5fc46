//! Objects and changes.

use std::sync::Arc;

use jiff::Timestamp;

use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::object::{ApiResource, Column, Ingest, Object, Origin, ResourceVersion, Row};
use crate::recording::{Encryption, Entry, Identities, Item, Keyring, WriterOptions};

/// 2026-11-24T00:00:00Z in Unix milliseconds.
pub(super) const MIDNIGHT: i64 = 1_795_478_400_000;

pub(super) fn at(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(MIDNIGHT + milliseconds).expect("a time")
}

pub(super) fn at_second(second: i64) -> Timestamp {
    at(1000 * second)
}

pub(super) fn pods() -> Arc<ApiResource> {
    resource("pods", "Pod", true)
}

pub(super) fn nodes() -> Arc<ApiResource> {
    resource("nodes", "Node", false)
}

fn resource(plural: &str, kind: &str, namespaced: bool) -> Arc<ApiResource> {
    let (resource, kind) = (plural.to_owned(), kind.to_owned());
    Arc::new(ApiResource { group: String::new(), version: "v1".to_owned(), resource, kind, namespaced })
}

/// Options without waits for the disk.
pub(super) fn options() -> WriterOptions {
    WriterOptions::default().sync(false)
}

pub(super) fn object(resource: &ApiResource, key: &str, version: u64, text: &str) -> Object {
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let namespace =
        if namespace.is_empty() { String::new() } else { format!(r#""namespace":"{namespace}","#) };
    let json = format!(
        r#"{{"kind":"{}","apiVersion":"v1","metadata":{{"name":"{name}",{namespace}"uid":"u-{name}","resourceVersion":"{version}","creationTimestamp":"2026-11-23T23:00:00Z","labels":{{"app":"{}"}}}},"status":{{"text":"{text}"}}}}"#,
        resource.kind,
        name.split('-').next().unwrap_or_default(),
    );
    Object::from_json(json.as_bytes(), &Ingest::of(resource.type_meta())).expect("an object")
}

pub(super) fn row(cells: &[&str]) -> Row {
    let column = |name: &str| Column { name: name.to_owned(), format: String::new(), priority: 0 };
    Row::new(cells.iter().map(|_| column("A")).collect(), cells)
}

pub(super) fn change(resource: &Arc<ApiResource>, kind: ChangeKind, object: Object, received: i64) -> Change {
    Change {
        kind,
        object: Arc::new(object),
        old: None,
        origin: Origin::Watch,
        final_state_unknown: false,
        resource: Arc::clone(resource),
        context: "test".into(),
        received: at(received),
    }
}

pub(super) fn synced(resource: &Arc<ApiResource>, version: u64, received: i64) -> Mark {
    mark(resource, MarkKind::Synced { version: ResourceVersion::new(&version.to_string()) }, received)
}

pub(super) fn mark(resource: &Arc<ApiResource>, kind: MarkKind, received: i64) -> Mark {
    let (context, namespace) = ("test".into(), "".into());
    Mark { kind, resource: Arc::clone(resource), context, namespace, name: None, received: at(received) }
}

/// Everything of an object that a recording must return.
pub(super) fn text(object: &Object) -> String {
    let row = object.row().map(|row| row.cells().collect::<Vec<_>>().join("|"));
    let json = String::from_utf8_lossy(&object.json()).into_owned();
    format!("{} {} {} {row:?} {json}", object.namespace(), object.name(), object.resource_version())
}

/// Everything of an entry that a recording must return.
pub(super) fn entry_text(entry: &Entry) -> String {
    let Entry { number, received, item } = entry;
    match item {
        Item::Change { change, author } => {
            let Change { kind, origin, final_state_unknown, resource, context, .. } = change;
            let (object, old) = (text(&change.object), change.old.as_deref().map(text));
            let what = format!("{kind:?} {origin} {final_state_unknown} {} {context}", resource.resource);
            format!("{number} {received} {what} {object} <- {old:?} by {author:?}")
        }
        Item::Mark(Mark { kind, resource, namespace, name, received: at, .. }) => {
            format!("{number} {received} {at} {kind:?} {} {namespace:?} {name:?}", resource.resource)
        }
        item => format!("{number} {received} {item:?}"),
    }
}

/// The keys of a user in a directory of its own.
pub(super) struct Keys(tempfile::TempDir);

impl Keys {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(super) fn directory(&self) -> std::path::PathBuf {
        self.0.path().join("keys")
    }

    pub(super) fn keyring(&self) -> Keyring {
        Keyring::new(Some(self.directory()), Identities::default())
    }

    /// Returns the encryption for a new recipient.
    pub(super) fn encryption(&self) -> Encryption {
        let mut recipients = crate::recording::Recipients::default();
        let recipient = age::x25519::Identity::generate().to_public().to_string();
        recipients.add(&recipient).expect("a recipient");
        Encryption::new(recipients, self.keyring())
    }
}
