//! Permissions, discovery and missing objects: requests and error messages.

use serde_json::{Value, json};

use crate::support::{OnServer, TestEnv, eventually};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn kind_missing_from_the_cached_discovery_is_watched() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    // Fills the discovery cache before the kind exists.
    let error = env.kdelta_on(testbed, &["get", "gadgets", "-n", &namespace]).finish().failure(1);
    assert!(error.starts_with("error: the server doesn't have a resource type \"gadgets\""), "{error}");

    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let names = json!({"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "shortNames": ["gd"]});
    api.create(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        &json!({
            "metadata": {"name": "gadgets.kdelta.test"},
            "spec": {
                "group": "kdelta.test", "scope": "Namespaced", "names": names,
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": open}}],
            },
        }),
    );
    let path = format!("/apis/kdelta.test/v1/namespaces/{namespace}/gadgets");
    eventually("the server serves gadgets in its discovery", || {
        api.find(&path).filter(|_| api.discovers("kdelta.test", "gadgets"))
    });
    let running = env.kdelta_on(testbed, &["watch", "gadgets", "-n", &namespace, "-o", "json"]).start();
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    let gadget =
        json!({"apiVersion": "kdelta.test/v1", "kind": "Gadget", "metadata": {"name": "g"}, "size": 3});
    api.create(&path, &gadget);
    let lines = running.stdout.json_until("the gadget", |line| line["type"] == "ADDED");
    assert_eq!(lines.last().map(|line| &line["object"]["size"]), Some(&json!(3)));
    for word in ["gd", "Gadget", "gadgets.kdelta.test", "gadgets.v1.kdelta.test", "gadget/g"] {
        let stdout =
            env.kdelta_on(testbed, &["get", word, "-n", &namespace, "-o", "name"]).finish().quiet_success();
        assert_eq!(stdout, "gadget.kdelta.test/g\n", "{word}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn forbidden_requests_report_the_servers_message() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let config = env.kubeconfig(testbed, "nobody", "default", testbed.port());
    for command in [&["get", "pods"][..], &["watch", "pods"], &["index", "pods", "--by", "namespace"]] {
        let error = env.kdelta(command).env("KUBECONFIG", &config).finish().failure(1);
        let expected =
            "Error from server (Forbidden): pods is forbidden: User \"nobody\" cannot list resource \"pods\"";
        assert!(error.starts_with(expected), "{command:?}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn wrong_token_fails_without_printing_the_token() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let server = testbed.server();
    let access = ["--server", server, "--certificate-authority", testbed.ca_file(), "-v=9"];
    let wrong = [&["get", "namespaces", "--token", "s3cr3t-and-wrong"], &access[..]].concat();
    let error = env.kdelta(&wrong).finish().failure(1);
    assert!(error.contains("error: You must be logged in to the server (Unauthorized)"), "{error}");
    assert!(!error.contains("s3cr3t"), "{error}");

    let token = testbed.token("admin");
    let file = env.file("token", &format!("{token}\n"));
    let by_file = ["get", "ns", "default", "-o", "name", "--token-file", file.to_str().expect("UTF-8")];
    for login in [&["get", "ns", "default", "-o", "name", "--token", token][..], &by_file] {
        let done = env.kdelta(&[login, &access].concat()).finish();
        assert_eq!((done.code, done.stdout.as_str()), (0, "namespace/default\n"), "{}", done.stderr);
        assert!(!done.stderr.contains(token), "{}", done.stderr);
        assert!(!done.stderr.is_empty(), "-v=9 shows the requests");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn impersonation_headers_are_sent() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let error =
        env.kdelta_on(testbed, &["get", "pods", "--as", "jane", "--as-group", "dev"]).finish().failure(1);
    assert!(error.contains("User \"jane\" cannot list resource \"pods\""), "{error}");
    let masters = ["get", "ns", "default", "-o", "name", "--as", "jane", "--as-group", "system:masters"];
    assert_eq!(env.kdelta_on(testbed, &masters).finish().quiet_success(), "namespace/default\n");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn api_resources_lists_the_served_types() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let stdout = env.kdelta_on(testbed, &["api-resources"]).finish().quiet_success();
    let rows: Vec<Vec<&str>> = stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]);
    assert!(rows.contains(&vec!["deployments", "deploy", "apps/v1", "true", "Deployment"]), "{stdout}");
    assert!(rows.contains(&vec!["nodes", "no", "v1", "false", "Node"]), "{stdout}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn single_object_is_printed_without_a_list_and_a_missing_one_fails() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let stdout = env.kdelta_on(testbed, &["get", "ns", "default", "-o", "json"]).finish().quiet_success();
    let object: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&object["kind"], &object["metadata"]["name"]), (&json!("Namespace"), &json!("default")));
    let error = env.kdelta_on(testbed, &["get", "ns", "no-such"]).finish().failure(1);
    assert_eq!(error, "Error from server (NotFound): namespaces \"no-such\" not found\n");
    let empty = env.kdelta_on(testbed, &["get", "pods", "-n", "no-such"]).finish();
    assert_eq!((empty.code, empty.stdout.as_str()), (0, ""));
    assert_eq!(empty.stderr, "No resources found in no-such namespace.\n");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn index_fails_for_a_missing_name_and_reports_no_groups() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let on = |words: &str| {
        let words: Vec<&str> = words.split(' ').chain(["-n", &namespace]).collect();
        env.kdelta_on(testbed, &words).finish()
    };
    let output = |words: &str| {
        let done = on(words);
        assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{words}: {}", done.stderr);
        done.stderr
    };
    let missing = "Error from server (NotFound): configmaps \"nope\" not found\n";
    // Repeated because the message depends on a race when a connection closes.
    for _ in 0..5 {
        assert_eq!(on("index cm nope --by name").failure(1), missing);
        assert_eq!(on("get cm nope --by label:app=web").failure(1), missing);
    }
    assert_eq!(output("get cm nope --by label:app=web --ignore-not-found"), "");
    assert_eq!(output("index cm --by name"), format!("No resources found in {namespace} namespace.\n"));
    api.create_config_map(&namespace, "there", &json!({}));
    assert_eq!(output("index cm --by label:app"), "No values of label:app found\n");
    assert_eq!(output("index cm --by name=x"), "No such values of name found\n");
    assert_eq!(
        output("get cm there --by label:app=web"),
        format!("No resources found in {namespace} namespace.\n")
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_reports_a_missing_name_and_watches_the_others() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "there", &json!({}));
    let words = ["watch", "cm", "there", "later", "-n", &namespace, "-o", "name", "--count", "2"];
    let mut running = env.kdelta_on(testbed, &words).start();
    let output = running.stderr.find("the error", |_| true);
    assert_eq!(output, "Error from server (NotFound): configmaps \"later\" not found\n");
    api.patch(&format!("{}/there", crate::support::config_maps(&namespace)), &json!({"data": {"n": "1"}}));
    assert_eq!(running.wait(), 1);

    let patient = [&words[..], &["--ignore-not-found"]].concat();
    let mut running = env.kdelta_on(testbed, &patient).start();
    running.stdout.find("the one that is there", |line| line == "configmap/there\n");
    api.create_config_map(&namespace, "later", &json!({}));
    running.stdout.find("the one that came later", |line| line == "configmap/later\n");
    assert_eq!(running.wait(), 0);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn unsupported_field_selector_is_applied_locally_with_a_note() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({"app": "web"}));
    api.create_config_map(&namespace, "b", &json!({}));
    let words = ["get", "cm", "-n", &namespace, "-o", "name", "--field-selector", "metadata.labels.app=web"];
    let done = env.kdelta_on(testbed, &words).finish();
    assert_eq!((done.code, done.stdout.as_str()), (0, "configmap/a\n"), "{}", done.stderr);
    assert!(
        done.stderr.starts_with("configmaps: field selector applied by kdelta, not by the server: "),
        "{}",
        done.stderr
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn initial_objects_are_grouped_by_kind() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for number in 0..20 {
        api.create_config_map(&namespace, &format!("c{number}"), &json!({}));
        let secret = json!({"metadata": {"name": format!("s{number}")}});
        api.create(&format!("/api/v1/namespaces/{namespace}/secrets"), &secret);
    }
    let words = ["watch", "cm,secrets,cm", "-n", &namespace, "--until-synced"];
    let mut expected: Vec<String> =
        (0..20).flat_map(|number| [format!("ConfigMap c{number}"), format!("Secret s{number}")]).collect();
    expected.sort();
    eventually("it comes in at once, grouped by kind", || {
        let table = env.kdelta_on(testbed, &words).finish().quiet_success();
        let (headers, rows): (Vec<&str>, Vec<&str>) =
            table.lines().partition(|line| line.starts_with("EVENT"));
        assert_eq!(headers.len(), 1, "{table}");
        let kind_and_name = |row: &&str| {
            let mut cells = row.split_whitespace().skip(1);
            format!("{} {}", cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
        };
        let printed: Vec<String> = rows.iter().map(kind_and_name).collect();
        let mut sorted = printed.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected, "{table}");
        let mut kinds: Vec<&str> = printed.iter().filter_map(|row| row.split(' ').next()).collect();
        kinds.dedup();
        (kinds.len() == 2).then_some(())
    });
}
