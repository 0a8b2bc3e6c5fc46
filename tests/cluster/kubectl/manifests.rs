//! The files of the invocations with `-f` and `-k` that are no fixtures of the server.

use std::fs;
use std::path::Path;

const TEXTS: [(&str, &str); 34] = [
    ("one.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
    (
        "two.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {name: worker-1}\n---\n# A comment.\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1\n  namespace: shop\n",
    ),
    (
        "stream.json",
        "{\"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {\"name\": \"web\"}}\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-1\"}} {\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\"}}",
    ),
    ("mixed/0.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
    ("mixed/1.json", "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"db\"}}"),
    ("mixed/2.txt", "no manifest: ["),
    ("mixed/3.yml", "apiVersion: nope.test/v1\nkind: Nope\nmetadata: {name: a, namespace: b}\n"),
    ("mixed/4.yaml", "apiVersion: v1\nkind: [Pod\n"),
    ("mixed/5.yaml/6.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1}\n"),
    (
        "twice.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-1}\n",
    ),
    (
        "nested-list.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Pod, metadata: {name: web-2}}\n- {apiVersion: v1, kind: Pod, metadata: {name: web-1}}\n",
    ),
    ("typed-list.yaml", "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: web-1}\n"),
    ("empty-list.yaml", "apiVersion: v1\nkind: List\nitems: []\n"),
    (
        "list-with-errors.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- {kind: Pod, metadata: {name: web-1}}\n- {}\n- {apiVersion: x/v1, kind: X}\n- {apiVersion: v1, kind: Pod, metadata: {name: nope}}\n- {apiVersion: v1, kind: Pod, metadata: {name: web-1}}\n",
    ),
    (
        "unknown-list.yaml",
        "apiVersion: nope.test/v1\nkind: NopeList\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: web-1}}\n",
    ),
    (
        "generate.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: web-, labels: {app: web}}\nspec: {containers: [{name: a, image: b}], priority: 1.0}\n",
    ),
    ("no-metadata.yaml", "apiVersion: v1\nkind: Node\nspec: {}\n"),
    ("no-version.yaml", "kind: Pod\nmetadata: {name: web-1}\n"),
    ("no-kind.yaml", "apiVersion: v1\nmetadata: {name: <web>}\n"),
    ("no-kind.json", "{\"apiVersion\": \"v1\", \"metadata\": {\"name\": \"web\"}}\n"),
    ("text.yaml", "just text\n---\n- a\n---\n5\n"),
    (
        "wrong-types.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {a: y}}\n---\napiVersion: v1\nkind: Pod\nmetadata: 5\n---\napiVersion: 1\nkind: Pod\n---\napiVersion: a/b/c\nkind: Pod\n---\nkind: List\nitems: a\n",
    ),
    (
        "odd-names.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a/b}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: a/b}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: ..}\n",
    ),
    ("lower-case.yaml", "apiVersion: v1\nkind: pod\nmetadata: {name: web-1}\n"),
    (
        "lost-namespace.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: nowhere}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: nowhere}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-1}\n",
    ),
    ("broken.json", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", }\n"),
    (
        "broken-later.json",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-1\"}}{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-2\"}}{\"apiVersion\" \"v1\"}",
    ),
    (
        "flow.yaml",
        "{apiVersion: v1, kind: Pod, metadata: {name: web-1}}\n---\n{\"apiVersion\": \"v1\", kind: Pod, metadata: {name: web-2}}\n",
    ),
    (
        "merged.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- &pod {apiVersion: v1, kind: Pod, metadata: {name: web-1}}\n- <<: *pod\n  metadata: {name: web-2}\n- *pod\n",
    ),
    ("separator.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1}\n--- next\napiVersion: v1\n"),
    ("secrets.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"),
    (
        "kustomization/kustomization.yaml",
        "namespace: shop\nnamePrefix: w\nresources: [service.yaml, pods.yaml]\n",
    ),
    ("kustomization/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: eb}\n"),
    (
        "kustomization/pods.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: eb-1}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
    ),
];

/// Writes the files to a folder.
pub(super) fn write(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file of the test");
    };
    for (name, text) in TEXTS {
        write(name, text.as_bytes());
    }
    let units = "\u{feff}apiVersion: v1\nkind: Pod\nmetadata: {name: web-1}\n".encode_utf16();
    write("utf-16.yaml", &units.flat_map(u16::to_le_bytes).collect::<Vec<_>>());
}
