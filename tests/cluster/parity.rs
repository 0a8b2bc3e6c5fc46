//! Equal arguments to kdelta and kubectl: equal output and equal errors.

use serde_json::json;

use super::kubectl;
use crate::support::{Api, OnServer, TestEnv, eventually};

/// Creates two kinds of the test's own: one with printer columns, one cluster-scoped without columns.
fn define_kinds(api: &Api) {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let columns = json!([
        {"name": "Note", "type": "string", "jsonPath": ".spec.note"},
        {"name": "Size", "type": "number", "jsonPath": ".spec.size"},
        {"name": "Deep", "type": "string", "jsonPath": ".spec.deep", "priority": 1},
        {"name": "Due", "type": "date", "jsonPath": ".spec.due"},
    ]);
    for (plural, kind, scope, columns) in
        [("widgets", "Widget", "Namespaced", columns), ("realms", "Realm", "Cluster", json!([]))]
    {
        let names = json!({
            "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "categories": ["parity"],
        });
        let version = json!({
            "name": "v1", "served": true, "storage": true, "deprecated": scope == "Cluster",
            "schema": {"openAPIV3Schema": open}, "additionalPrinterColumns": columns,
        });
        api.create(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &json!({
                "metadata": {"name": format!("{plural}.parity.kdelta.test")},
                "spec": {
                    "group": "parity.kdelta.test", "scope": scope, "names": names, "versions": [version],
                },
            }),
        );
        eventually("the server serves the kind in its discovery", || {
            let served = api.find(&format!("/apis/parity.kdelta.test/v1/{plural}"));
            served.filter(|_| api.discovers("parity.kdelta.test", plural))
        });
    }
}

/// Creates objects that are hard to print: escapes, numbers that Go and Rust format differently, text that YAML must
/// quote.
fn fill(api: &Api, namespace: &str) {
    let own = "parity.kdelta.test/v1";
    let widgets = format!("/apis/{own}/namespaces/{namespace}/widgets");
    let plain = json!({"note": "plain", "size": 1.5, "deep": "x", "due": "2020-01-01T00:00:00Z"});
    let labels = json!({"app": "web", "x.y/tier": "front"});
    let metadata = json!({"name": "plain", "labels": labels});
    api.create(&widgets, &json!({"apiVersion": own, "kind": "Widget", "metadata": metadata, "spec": plain}));
    let hard = json!({
        "note": "evil \u{1b}[31m red\nsecond", "size": 2, "deep": "tab\there", "big": 123_456_789_012_345_678_i64,
        "float": 1e30, "yes": "yes", "none": null, "empty": "", "text": "a\nb\n", "trailing": "a ", "html": "<&>",
        "hex": "0x10", "day": "2026-01-01", "wide": "日本",
    });
    let metadata = json!({"name": "hard", "annotations": {"evil": "\u{1b}]0;title\u{7}"}});
    api.create(&widgets, &json!({"apiVersion": own, "kind": "Widget", "metadata": metadata, "spec": hard}));
    let realm = json!({"apiVersion": own, "kind": "Realm", "metadata": {"name": format!("of-{namespace}")}});
    api.create(&format!("/apis/{own}/realms"), &realm);
    api.create_config_map(namespace, "settings", &json!({"app": "web"}));
    let service = json!({
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"ports": [{"port": 80}], "selector": {"app": "web"}},
    });
    api.create(&format!("/api/v1/namespaces/{namespace}/services"), &service);
}

/// Returns the text with every age replaced by the same number of characters: two programs never run in the same
/// second.
fn ageless(text: &str) -> String {
    let is_age = |word: &str| {
        let (number, unit) = word.split_at(word.len() - usize::from(word.ends_with(['s', 'm', 'h'])));
        !unit.is_empty() && number.starts_with(|c: char| c.is_ascii_digit()) && number.len() <= 5
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find([' ', '\n']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let gap = after.len() - after.trim_start_matches(' ').len();
        if is_age(word) {
            let width = if gap == 0 { 0 } else { word.len() + gap };
            out.push_str("AGE");
            out.extend(std::iter::repeat_n(' ', width.saturating_sub(3)));
        } else {
            out.push_str(word);
            out.push_str(&after[..gap]);
        }
        rest = &after[gap..];
        if let Some(next) = rest.strip_prefix('\n') {
            out.push('\n');
            rest = next;
        }
    }
    out
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn output_and_errors_equal_kubectls() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    define_kinds(&api);
    fill(&api, &namespace);
    for line in [
        "get cm,svc,widgets,realms",
        "get cm,svc,widgets,realms -o wide",
        "get widgets -A --show-labels -L app,x.y/tier",
        "get widgets --no-headers",
        "get widgets --show-kind",
        "get parity",
        "get svc/web widget/hard cm/settings",
        "get svc,cm web settings",
        "get widgets plain nope",
        "get Widget.v1.parity.kdelta.test plain",
        "get configmaps -l app=web",
        "get configmaps -l app!=web --no-headers",
        "get widgets --field-selector metadata.name=hard",
        // A short name of two types.
        "get ev,cm -o name",
        "get events",
        // No objects.
        "get pods",
        "get pods,svc -n no-such",
        "get pods -o name",
        "get pods -o json",
        "get cm nope",
        "get cm nope --ignore-not-found",
        "get pods -l app=none --ignore-not-found",
        // JSON, YAML, names.
        "get widgets -o json",
        "get widgets -o yaml",
        "get widget hard -o json",
        "get widget hard -o yaml --show-managed-fields",
        "get cm,svc,widgets -o json",
        "get cm,svc,widgets -o yaml",
        "get svc/web widget/plain -o yaml",
        "get svc/web widget/plain widget/nope -o name",
        // Discovery. (Parallel tests define kinds too, so no listing includes custom types.)
        "api-resources --api-group=apps",
        "api-resources --api-group= --sort-by=kind --no-headers",
        "api-resources --api-group=apps --sort-by=name --categories=all",
        "api-resources --api-group=rbac.authorization.k8s.io --namespaced=false -o name",
        "api-resources --api-group=authentication.k8s.io --verbs=list,watch -o name",
        // Errors.
        "get nonsense",
        "get widgets.nonsense",
        "get cm -l =",
        "get cm -l app=a,,b)",
        "get widget ..",
        "get cm --as jane",
        "get cm,svc --as jane",
        "get realms x --as jane",
        "get cm --token wrong",
    ] {
        let mut words: Vec<&str> = line.split(' ').collect();
        if !words.contains(&"-n") && !words.contains(&"-A") {
            words.extend(["-n", &namespace]);
        }
        let theirs = kubectl(testbed.kubeconfig(), &words).output().expect("kubectl runs");
        let text = |bytes: &[u8]| ageless(&String::from_utf8_lossy(bytes));
        let ours = env.kdelta_on(testbed, &words).finish();
        assert_eq!(ageless(&ours.stdout), text(&theirs.stdout), "{line}");
        assert_eq!(ageless(&ours.stderr), text(&theirs.stderr), "{line}");
        assert_eq!(Some(ours.code), theirs.status.code(), "{line}");
    }
}

#[test]
fn ages_are_replaced_with_the_same_width() {
    let text = "NAME   AGE   NOTE\na      9s    x\nb      10m   3 x\nc      5m7s\n";
    assert_eq!(ageless(text), "NAME   AGE   NOTE\na      AGE   x\nb      AGE   3 x\nc      AGE\n");
}
