//! The changes that the watches see: objects that are created, changed with and without a visible effect, and deleted.

use serde_json::{Value, json};

use crate::support::Api;

const SHOP: &str = "/api/v1/namespaces/shop";
const EMPTY: &str = "/api/v1/namespaces/empty";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/shop/deployments";
const WIDGETS: &str = "/apis/kdelta.test/v1/namespaces/shop/widgets";
const REALMS: &str = "/apis/kdelta.test/v2/realms";
const NODES: &str = "/api/v1/nodes";

/// Makes all changes, those of each type in a fixed order. The last object of each type is called `zz-last`, or
/// `zz-other` in the namespace `empty`.
pub(super) fn run(api: &Api) {
    pods(api);
    config_maps(api);
    deployments(api);
    nodes(api);
    custom_objects(api);
    events(api);
}

fn pod(api: &Api, namespace: &str, name: &str, labels: &Value) {
    let spec = json!({"containers": [{"name": "main", "image": "registry.example.com/main:1"}]});
    api.create(
        &format!("{namespace}/pods"),
        &json!({"metadata": {"name": name, "labels": labels}, "spec": spec}),
    );
}

fn pods(api: &Api) {
    let at = |name: &str| format!("{SHOP}/pods/{name}");
    pod(api, SHOP, "a-new-pod-with-a-long-name", &json!({"app": "web", "tier": "front"}));
    api.patch(&at("web-1"), &json!({"metadata": {"labels": {"extra": "yes"}}}));
    api.patch(&at("web-1/status"), &json!({"status": {"reason": "ALongReasonInTheStatus"}}));
    // No column shows an annotation.
    api.patch(&at("web-1"), &json!({"metadata": {"annotations": {"note": "<changed> & \"quoted\""}}}));
    api.patch(&at("web-1/status"), &json!({"status": {"reason": null}}));
    api.patch(&at("web-1"), &json!({"metadata": {"labels": {"extra": null}}}));
    // It leaves the selectors of label and phase, and returns.
    api.patch(&at("web-1"), &json!({"metadata": {"labels": {"app": "other"}}}));
    api.patch(&at("web-1"), &json!({"metadata": {"labels": {"app": "web"}}}));
    api.patch(&at("web-1/status"), &json!({"status": {"phase": "Pending"}}));
    api.patch(&at("web-1/status"), &json!({"status": {"phase": "Running"}}));
    api.delete(&at("a-new-pod-with-a-long-name"));
    pod(api, EMPTY, "zz-other", &json!({"app": "web"}));
    api.delete(&format!("{EMPTY}/pods/zz-other"));
    pod(api, SHOP, "zz-last", &json!({"app": "web"}));
    api.patch(&at("zz-last/status"), &json!({"status": {"phase": "Running"}}));
    api.delete(&at("zz-last"));
}

fn config_maps(api: &Api) {
    let all = format!("{SHOP}/configmaps");
    let at = |name: &str| format!("{all}/{name}");
    let tabs = json!({"Makefile": "all:\n\tone\ttwo\n\tlonger words\tthree\n", "line": "x\ty", "n": "1"});
    api.create(&all, &json!({"metadata": {"name": "tabs"}, "data": tabs}));
    api.patch(&at("tabs"), &json!({"data": {"more": "a\tb\nlonger\tc\n"}}));
    api.delete(&at("tabs"));
    api.delete(&at("settings"));
    api.create(
        &all,
        &json!({"metadata": {"name": "settings", "labels": {"new": "yes"}}, "data": {"x": "y"}}),
    );
    api.patch(&at("settings"), &json!({"data": {"x": "z"}}));
    last(api, &all, &json!({"metadata": {"name": "zz-last"}, "data": {"n": "1"}}));
}

fn deployments(api: &Api) {
    api.patch(&format!("{DEPLOYMENTS}/web"), &json!({"metadata": {"labels": {"extra": "yes"}}}));
    api.patch(&format!("{DEPLOYMENTS}/web"), &json!({"spec": {"replicas": 12}}));
    let container = json!({"name": "main", "image": "registry.example.com/a-longer-name/main:1"});
    let labels = json!({"app": "zz"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
    let spec = json!({"selector": {"matchLabels": labels}, "template": template});
    last(api, DEPLOYMENTS, &json!({"metadata": {"name": "zz-last"}, "spec": spec}));
}

fn nodes(api: &Api) {
    let worker = format!("{NODES}/worker-1");
    api.patch(&worker, &json!({"spec": {"unschedulable": true}}));
    api.patch(&worker, &json!({"metadata": {"labels": {"node-role.kubernetes.io/storage": ""}}}));
    api.patch(&worker, &json!({"spec": {"unschedulable": null}}));
    last(api, NODES, &json!({"metadata": {"name": "zz-last"}}));
}

fn custom_objects(api: &Api) {
    let widget = |name: &str, extra: &Value| {
        let parts = json!([{"name": "left"}, {"name": "right"}]);
        let spec = json!({"note": "a \"note\"", "size": 1_234_567.5, "replicas": 1_000_000, "extra": extra, "parts": parts});
        let metadata = json!({"name": name, "labels": {"size": "big"}});
        json!({"apiVersion": "kdelta.test/v1", "kind": "Widget", "metadata": metadata, "spec": spec})
    };
    let at = |name: &str| format!("{WIDGETS}/{name}");
    api.create(WIDGETS, &widget("numbers", &json!({"large": 12_345_678_901_i64, "small": 0.000_001})));
    api.patch(&at("numbers"), &json!({"spec": {"note": "first line\nsecond line"}}));
    api.patch(&at("numbers"), &json!({"metadata": {"labels": {"size": null}}}));
    api.patch(&at("numbers"), &json!({"metadata": {"labels": {"size": "big"}}}));
    api.delete(&at("numbers"));
    last(api, WIDGETS, &widget("zz-last", &json!({})));
    let realm = json!({"apiVersion": "kdelta.test/v2", "kind": "Realm", "metadata": {"name": "zz-last"}});
    last(api, REALMS, &realm);
}

fn events(api: &Api) {
    let event = |namespace: &str, name: &str, kind: &str, message: &str| {
        let about = json!({"kind": "Pod", "apiVersion": "v1", "namespace": namespace, "name": "web-1"});
        json!({
            "metadata": {"name": name}, "involvedObject": about, "type": kind, "reason": "Tested", "message": message,
            "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:04:05Z", "count": 1,
        })
    };
    let all = format!("{SHOP}/events");
    api.create(&all, &event("shop", "one", "Normal", "one <b>"));
    api.create(&all, &event("shop", "two", "Warning", "a\ttab \u{1b}[31m red\r\nsecond line\tx"));
    api.patch(&format!("{all}/one"), &json!({"count": 5, "lastTimestamp": "2026-02-02T03:04:05Z"}));
    api.delete(&format!("{all}/one"));
    api.delete(&format!("{all}/two"));
    last(api, &all, &event("shop", "zz-last", "Warning", "the last: zz-last"));
    last(api, &format!("{EMPTY}/events"), &event("empty", "zz-other", "Normal", "the last: zz-other"));
}

/// Creates and deletes an object.
fn last(api: &Api, all: &str, object: &Value) {
    api.create(all, object);
    let name = object["metadata"]["name"].as_str().expect("a name");
    api.delete(&format!("{all}/{name}"));
}
