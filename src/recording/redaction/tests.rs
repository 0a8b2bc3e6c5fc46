//! Tests of redaction: no plain value is left, changes stay visible.

use std::path::Path;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::lines::{Change, ChangeKind};
use crate::object::{ApiResource, Column, Ingest, Origin, Row};
use crate::recording::{EntryFilter, Item, Moment, Recording, Writer, WriterOptions};

fn secrets() -> ApiResource {
    ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "secrets".into(),
        kind: "Secret".into(),
        namespaced: true,
    }
}

fn object(resource: &ApiResource, json: &Value) -> Arc<Object> {
    let ingest = Ingest::of(resource.type_meta());
    Arc::new(Object::from_json(json.to_string().as_bytes(), &ingest).expect("an object"))
}

/// A Secret with the value in its data, its string data and the manifest that was applied.
fn secret(name: &str, value: &str) -> Value {
    let manifest = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
        "data": {"key": STANDARD.encode(value)}, "stringData": {"other": value},
    });
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {
            "name": name, "namespace": "shop", "uid": name, "resourceVersion": "7",
            "annotations": {LAST_APPLIED: manifest.to_string(), "note": "stays"},
        },
        "data": {"key": STANDARD.encode(value), "empty": ""}, "stringData": {"other": value}, "type": "Opaque",
    })
}

fn redaction(secrets: SecretValues, paths: &[&str]) -> Redaction {
    Redaction::new(&[3; 32], secrets, paths.iter().map(|path| FieldPath::parse(path).expect(path)).collect())
}

fn text(object: &Object) -> String {
    String::from_utf8(object.json().into_owned()).expect("UTF-8")
}

fn parsed(object: &Object) -> Value {
    object.parse().expect("JSON")
}

#[test]
fn values_become_equal_hashes_that_decode() {
    let redaction = redaction(SecretValues::Hash, &[]);
    let redacted = parsed(&redaction.object(&object(&secrets(), &secret("db", "s3cr3t"))));
    let data = redacted["data"]["key"].as_str().expect("a text");
    let decoded = String::from_utf8(STANDARD.decode(data).expect("base64")).expect("UTF-8");
    assert!(decoded.starts_with(MARKER), "{decoded}");
    assert_eq!(redacted["stringData"]["other"], decoded.as_str(), "one value has one hash");
    let manifest = redacted["metadata"]["annotations"][LAST_APPLIED].as_str().expect("a text");
    let manifest: Value = serde_json::from_str(manifest).expect("JSON");
    assert_eq!(
        (&manifest["data"], &manifest["stringData"]),
        (&json!({"key": data}), &redacted["stringData"])
    );
    assert_eq!(redacted["metadata"]["annotations"]["note"], "stays");
    let other = parsed(&redaction.object(&object(&secrets(), &secret("db", "s3cr3u"))));
    assert_ne!(other["data"]["key"], data, "a change stays visible");
    let key = Redaction::new(&[4; 32], SecretValues::Hash, Vec::new());
    let other = parsed(&key.object(&object(&secrets(), &secret("db", "s3cr3t"))));
    assert_ne!(other["data"]["key"], data, "another key, another hash");
}

#[test]
fn secrets_are_kept_or_dropped_on_request() {
    let given = object(&secrets(), &secret("db", "s3cr3t"));
    assert!(Arc::ptr_eq(&redaction(SecretValues::Keep, &[]).object(&given), &given));
    let dropped = parsed(&redaction(SecretValues::Drop, &[]).object(&given));
    assert_eq!((&dropped["data"], &dropped["stringData"]), (&json!({}), &json!({})));
    assert!(!dropped.to_string().contains("s3cr3t"));
}

#[test]
fn paths_are_redacted_in_any_type_and_in_cells() {
    let pods = ApiResource { resource: "pods".into(), kind: "Pod".into(), ..secrets() };
    let json = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"nodeName": "node-17", "containers": [{"env": [{"name": "A", "value": "plain"}], "tty": true}]},
    });
    let column = |name: &str| Column { name: name.into(), format: String::new(), priority: 0 };
    let row = Row::new(Arc::from([column("NAME"), column("NODE")]), ["web", "node-17"]);
    let ingest = Ingest::of(pods.type_meta());
    let pod = Object::from_json(json.to_string().as_bytes(), &ingest).expect("an object");
    let pod = Arc::new(pod.with_row(row));
    let redacted = redaction(SecretValues::Hash, &["spec.nodeName", "spec.containers.env"]).object(&pod);
    let cells: Vec<_> = redacted.row().expect("a row").cells().map(str::to_owned).collect();
    assert_eq!(cells, ["web", "<redacted>"]);
    let body = text(&redacted);
    assert!(!body.contains("node-17") && !body.contains("plain"), "{body}");
    assert_eq!(parsed(&redacted)["spec"]["containers"][0]["tty"], true);
    let redacted = parsed(&redaction(SecretValues::Hash, &["spec.containers.tty"]).object(&pod));
    let tty = redacted["spec"]["containers"][0]["tty"].as_str().expect("a text");
    assert!(tty.starts_with(MARKER), "the change of a boolean or number stays visible: {tty}");
    let untouched = redaction(SecretValues::Hash, &["spec.volumes"]).object(&pod);
    assert!(Arc::ptr_eq(&untouched, &pod), "nothing was removed");
}

#[test]
fn annotation_that_is_no_manifest_is_hashed() {
    let mut json = secret("db", "x");
    json["metadata"]["annotations"][LAST_APPLIED] = "password=s3cr3t".into();
    let redacted = text(&redaction(SecretValues::Hash, &[]).object(&object(&secrets(), &json)));
    assert!(!redacted.contains("s3cr3t"), "{redacted}");
}

/// Returns every text that the recording of a directory has: of all entries, of their states before, and of all cells.
fn texts_in(dir: &Path) -> Vec<Vec<u8>> {
    let recording = Recording::open(dir).expect("a recording");
    let mut texts = Vec::new();
    let mut add = |object: &Object| {
        texts.push(object.json().into_owned());
        texts.extend(object.row().into_iter().flat_map(Row::cells).map(|cell| cell.as_bytes().to_vec()));
    };
    for entry in recording.entries(None, None, EntryFilter::default()).expect("entries") {
        if let Item::Change { change, .. } = entry.expect("an entry").item {
            add(&change.object);
            change.old.iter().for_each(|old| add(old));
        }
    }
    let state = recording.state(Moment::End).expect("a state");
    for resource in recording.resources().expect("resources") {
        state.objects(&resource, None).expect("objects").iter().for_each(|object| add(object));
        let rows = state.rows(&resource, None).expect("rows");
        rows.into_iter().flatten().for_each(|row| add(&row));
    }
    texts
}

/// Returns the bytes of all files of a directory.
fn bytes_in(dir: &Path) -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(dir).expect("a directory");
    files.map(|file| std::fs::read(file.expect("a file").path()).expect("bytes")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A value that was passed to a recorder is neither in its files nor, as text or base64, in anything that the
    /// recording returns: bodies, states before a change, and cells.
    #[test]
    fn no_plain_value_is_left(value in "[a-z0-9 \"\\\\é/]{12,40}", bytes in proptest::bool::ANY) {
        let redaction = redaction(SecretValues::Hash, &["spec.note", "spec.count"]);
        let count = value.len() as u64 * 1_000_003 + 100_000_000_000;
        let mut json = secret("db", &value);
        if bytes {
            json["data"]["key"] = value.as_str().into();
        }
        json["spec"] = json!({"note": [value], "count": count});
        let column = |name: &str| Column { name: name.into(), format: String::new(), priority: 0 };
        let row = Row::new(Arc::from([column("NAME"), column("NOTE")]), ["db", &format!("is {value}/{count}")]);
        let given = |version: &str| {
            let object = object(&secrets(), &json).at_version(version.into());
            redaction.object(&Arc::new(object.with_row(row.clone())))
        };
        let folder = tempfile::tempdir().expect("a folder");
        let now = Timestamp::from_second(1_800_000_000).expect("a time");
        let options = WriterOptions::default().sync(false).seal_entries(2);
        let mut writer = Writer::open(folder.path(), "test", options, now).expect("a recording");
        let mut change = Change {
            kind: ChangeKind::Added,
            object: given("7"),
            old: None,
            origin: Origin::List,
            final_state_unknown: false,
            resource: Arc::new(secrets()),
            context: "test".into(),
            received: now,
        };
        writer.change(&change, None).expect("written");
        writer.flush(now).expect("flushed");
        (change.kind, change.object) = (ChangeKind::Modified, given("8"));
        writer.change(&change, None).expect("written");
        writer.finish(now).expect("finished");
        let mut written = bytes_in(folder.path());
        let texts = texts_in(folder.path());
        prop_assert!(texts.len() >= 9, "two states and one before, with two cells each");
        written.extend(texts);
        let quoted = Value::from(value.as_str()).to_string();
        let twice = Value::from(quoted.as_str()).to_string();
        let forms = [
            value.clone(),
            STANDARD.encode(&value),
            quoted[1..quoted.len() - 1].to_owned(),
            twice[3..twice.len() - 3].to_owned(),
            count.to_string(),
        ];
        for form in forms {
            let is_found = written.iter().any(|bytes| bytes.windows(form.len()).any(|part| part == form.as_bytes()));
            prop_assert!(!is_found, "{form}");
        }
    }
}
