//! Stored objects: bytes, and the metadata needed without parsing them.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::kind::Kind;
use super::stored_row::StoredRow;

/// An immutable object at one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredObject {
    /// Empty for a cluster-scoped object.
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Box<str>,
    pub(crate) version: u64,
    /// The UID of the controlling owner; empty without one.
    pub(crate) owner: Box<str>,
    /// The compact JSON, with kind and apiVersion first.
    pub(crate) json: Bytes,
    /// The offset in `json` after kind and apiVersion.
    tail: u32,
    /// The row to show in tables; `None` for a row that is computed from the object.
    pub(crate) row: Option<StoredRow>,
}

/// The position of an object in its collection: namespace, name.
pub(crate) type ObjectKey = (Box<str>, Box<str>);

/// Returns the position of an object with these names.
pub(crate) fn object_key(namespace: &str, name: &str) -> ObjectKey {
    (namespace.into(), name.into())
}

impl StoredObject {
    /// Creates the stored form of `value`, which has its names, and writes the version into it; version 0 is for
    /// objects that are not stored.
    pub(crate) fn new(kind: &Kind, mut value: Value, version: u64) -> Self {
        match version {
            0 => drop(value["metadata"].as_object_mut().map(|metadata| metadata.remove("resourceVersion"))),
            _ => value["metadata"]["resourceVersion"] = version.to_string().into(),
        }
        let metadata = &value["metadata"];
        let text = |key: &str| Box::from(metadata[key].as_str().unwrap_or_default());
        let (namespace, name, uid) = (text("namespace"), text("name"), text("uid"));
        let owner = controller(metadata).unwrap_or_default().into();
        let (json, tail) = write(kind, value);
        Self { namespace, name, uid, version, owner, json, tail, row: None }
    }

    /// Creates a stored object like [`StoredObject::new`] from existing text: a [`head`] and the rest.
    pub(crate) fn of_text(
        names: [Box<str>; 3],
        owner: &str,
        version: u64,
        json: Vec<u8>,
        head: usize,
    ) -> Self {
        let [namespace, name, uid] = names;
        let tail = u32::try_from(head).unwrap_or_default();
        Self { namespace, name, uid, version, owner: owner.into(), json: json.into(), tail, row: None }
    }

    pub(crate) fn key(&self) -> ObjectKey {
        (self.namespace.clone(), self.name.clone())
    }

    /// Returns whether this object precedes the other in a list.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        (&self.namespace, &self.name) < (&other.namespace, &other.name)
    }

    /// Returns the object as a JSON tree.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }

    /// Returns the text of a list item after the `{`: built-in lists omit the type of their items.
    pub(crate) fn item(&self, kind: &Kind) -> &[u8] {
        if kind.is_custom() { &self.json[1..] } else { &self.json[self.tail as usize..] }
    }

    /// Returns the same state with another version, as for a deletion.
    pub(crate) fn at(&self, kind: &Kind, version: u64) -> Self {
        Self::new(kind, self.value(), version)
    }
}

/// Returns the UID of the controlling owner.
fn controller(metadata: &Value) -> Option<&str> {
    let owners = metadata.get("ownerReferences")?.as_array()?;
    owners.iter().find(|owner| owner["controller"] == true)?.get("uid")?.as_str()
}

/// Returns the text that every object of a kind begins with.
pub(crate) fn head(kind: &Kind) -> String {
    let name = |text: &str| Value::from(text).to_string();
    format!("{{\"kind\":{},\"apiVersion\":{},", name(&kind.kind), name(&kind.api_version()))
}

fn write(kind: &Kind, value: Value) -> (Bytes, u32) {
    let mut map = match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    map.remove("kind");
    map.remove("apiVersion");
    let mut text = head(kind);
    let tail = u32::try_from(text.len()).unwrap_or_default();
    // There is always metadata after the comma.
    text.push_str(Value::Object(map).to_string().trim_start_matches('{'));
    (Bytes::from(text), tail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn type_fields_come_first_and_lists_omit_them() {
        let pods = crate::server::memory_source::core("pods", "Pod");
        let owners = json!([{"uid": "no"}, {"uid": "u2", "controller": true}]);
        let pod = json!({"metadata": {"name": "a", "namespace": "n", "uid": "u", "ownerReferences": owners}, "x": 1});
        let stored = StoredObject::new(&pods, pod, 7);
        let text = String::from_utf8(stored.json.to_vec()).expect("text");
        assert!(text.starts_with("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"), "{text}");
        assert!(
            stored.item(&pods).starts_with(b"\"metadata\":{") && stored.item(&pods).ends_with(b"\"x\":1}")
        );
        assert_eq!((&*stored.owner, &*stored.uid, stored.version), ("u2", "u", 7));
        assert_eq!(stored.value()["metadata"]["resourceVersion"], "7");
        assert_eq!(stored.at(&pods, 9).value()["metadata"]["resourceVersion"], "9");
    }
}
