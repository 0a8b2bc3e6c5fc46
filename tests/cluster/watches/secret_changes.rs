//! Values of Secrets in the changes of a watch, in each form.

use serde_json::{Value, json};

use crate::support::{OnServer, Running, TestEnv};

/// The value of `kubectl.kubernetes.io/last-applied-configuration`, which repeats the data.
fn last_applied(data: &Value) -> Value {
    json!({"kubectl.kubernetes.io/last-applied-configuration": json!({"data": data}).to_string()})
}

/// Returns the lines up to the deletion.
fn until_deleted(running: &Running) -> String {
    let mut all = String::new();
    running.stdout.find("the deletion", |line| {
        all.push_str(line);
        line.starts_with("DELETED")
    });
    all
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn no_form_of_changes_shows_values_of_secrets() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    // In base64: values that are replaced, added, removed, and kept.
    let [old, new, added, removed, kept] = ["b2xk", "bmV3", "YWRkZWQ=", "cmVtb3ZlZA==", "a2VwdA=="];
    let data = json!({"a": old, "gone": removed, "kept": kept});
    let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
    let metadata = json!({"name": "s", "annotations": last_applied(&data)});
    api.create(&secrets, &json!({"metadata": metadata, "data": data}));
    let watch = ["watch", "secrets", "-n", &namespace];
    let forms = [
        "--changes",
        "--changes=inline",
        "--changes=unified",
        "--changes=json-patch",
        "--changes=merge-patch",
    ];
    let start = |form: &'static str, more: &[&str]| {
        let running = env.kdelta_on(testbed, &[&watch[..], &[form], more].concat()).start();
        running.stdout.find("the initial state", |line| line.starts_with("ADDED"));
        (form, running)
    };
    let masked = forms.map(|form| start(form, &[]));
    let whole = forms.map(|form| start(form, &["--show-secrets"]));
    let one = format!("{secrets}/s");
    let changed = json!({"a": new, "added": added, "gone": null});
    api.patch(&one, &json!({"data": changed, "metadata": {"annotations": last_applied(&changed)}}));
    // The last change adds and removes all data at once.
    api.patch(&one, &json!({"data": null}));
    api.patch(&one, &json!({"data": {"a": old}, "metadata": {"labels": {"last": "1"}}}));
    api.delete(&one);
    for (form, running) in &masked {
        let lines = until_deleted(running);
        for value in [old, new, added, removed, kept] {
            assert!(!lines.contains(value), "{form}: {value} in {lines}");
        }
        assert!(lines.contains("***") && lines.contains("last"), "{form}: {lines}");
    }
    for (form, running) in &whole {
        let lines = until_deleted(running);
        for value in [new, added] {
            assert!(lines.contains(value), "{form}: {value} is missing in {lines}");
        }
    }
}
