//! One stored object: bytes, and beside them what is asked of it without reading them.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::kinds::Kind;

/// An object in one version. Never changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    /// Empty for a cluster-scoped object.
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    pub(super) uid: Box<str>,
    pub(super) version: u64,
    /// The uid of the controller that owns it; empty where there is none.
    pub(super) owner: Box<str>,
    /// The whole object, compact, kind and apiVersion first.
    pub(super) json: Bytes,
    /// Where in `json` that which follows kind and apiVersion begins.
    tail: u32,
}

/// Where an object stands in its collection: namespace, name.
pub(super) type Place = (Box<str>, Box<str>);

impl Stored {
    /// The stored form of `value`, which has its names, and its version written into it; version 0 is none, of what is
    /// not stored.
    pub(super) fn new(kind: &Kind, mut value: Value, version: u64) -> Self {
        match version {
            0 => drop(value["metadata"].as_object_mut().map(|metadata| metadata.remove("resourceVersion"))),
            _ => value["metadata"]["resourceVersion"] = version.to_string().into(),
        }
        let metadata = &value["metadata"];
        let text = |key: &str| Box::from(metadata[key].as_str().unwrap_or_default());
        let (namespace, name, uid) = (text("namespace"), text("name"), text("uid"));
        let owner = controller(metadata).unwrap_or_default().into();
        let (json, tail) = write(kind, value);
        Self { namespace, name, uid, version, owner, json, tail }
    }

    /// As [`Stored::new`] of a text that was written before: one of [`head`], and what follows it.
    pub(super) fn of_text(names: [&str; 3], owner: &str, version: u64, json: Vec<u8>, head: usize) -> Self {
        let [namespace, name, uid] = names.map(Box::from);
        let tail = u32::try_from(head).unwrap_or_default();
        Self { namespace, name, uid, version, owner: owner.into(), json: json.into(), tail }
    }

    pub(super) fn place(&self) -> Place {
        (self.namespace.clone(), self.name.clone())
    }

    /// Whether this stands before the other in a list.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        (&self.namespace, &self.name) < (&other.namespace, &other.name)
    }

    /// The object as a tree.
    pub(super) fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }

    /// What stands in a list after the `{`: a list of a built-in resource leaves out what its own kind says.
    pub(super) fn item(&self, kind: &Kind) -> &[u8] {
        if kind.is_custom() { &self.json[1..] } else { &self.json[self.tail as usize..] }
    }

    /// The same state under another version, as the deletion of an object has it.
    pub(super) fn at(&self, kind: &Kind, version: u64) -> Self {
        Self::new(kind, self.value(), version)
    }
}

/// The uid of the owner that is marked as the controller.
fn controller(metadata: &Value) -> Option<&str> {
    let owners = metadata.get("ownerReferences")?.as_array()?;
    owners.iter().find(|owner| owner["controller"] == true)?.get("uid")?.as_str()
}

/// How every object of a kind begins.
pub(super) fn head(kind: &Kind) -> String {
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
    // There is always metadata, so that something follows the comma.
    text.push_str(Value::Object(map).to_string().trim_start_matches('{'));
    (Bytes::from(text), tail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kind_and_version_come_first_and_a_list_leaves_them_out() {
        let pods = crate::demo::kinds::built_in().find(|kind| kind.plural == "pods").expect("pods");
        let owners = json!([{"uid": "no"}, {"uid": "u2", "controller": true}]);
        let pod = json!({"metadata": {"name": "a", "namespace": "n", "uid": "u", "ownerReferences": owners}, "x": 1});
        let stored = Stored::new(&pods, pod, 7);
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
