//! `kdelta tree` on a real server, whose objects have the owners that the tests give them: no controller runs.

use serde_json::{Value, json};

use crate::cluster::watches::many::allow;
use crate::support::{Api, FaultProxy, OnServer, TestEnv};

/// Creates an object with owners; returns it.
fn create(api: &Api, path: &str, name: &str, owners: &[&Value], mut rest: Value) -> Value {
    let reference = |owner: &&Value| {
        json!({
            "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "controller": *owner == owners[0],
        })
    };
    let references: Vec<Value> = owners.iter().map(reference).collect();
    rest["metadata"]["name"] = name.into();
    rest["metadata"]["ownerReferences"] = references.into();
    api.create(path, &rest)
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn owners_are_above_and_owned_objects_below_whatever_their_kind() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let place = |plural: &str| format!("/api/v1/namespaces/{namespace}/{plural}");
    let (maps, secrets) = (place("configmaps"), place("secrets"));
    let root = create(&api, &maps, "root", &[], json!({}));
    let child = create(&api, &maps, "child", &[&root], json!({}));
    create(&api, &secrets, "leaf", &[&child, &root], json!({}));
    let of_namespace = api.get(&format!("/api/v1/namespaces/{namespace}"));
    create(&api, &maps, "scoped", &[&of_namespace], json!({}));
    let gone = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gone", "uid": "3d7c1bf0-0000-4000-8000-00000000dead"},
    });
    create(&api, &maps, "orphan", &[&gone], json!({}));
    let unserved = json!({
        "apiVersion": "no.such/v1", "kind": "Thing", "metadata": {"name": "x", "uid": "3d7c1bf0-0000-4000-8000-00000000beef"},
    });
    create(&api, &maps, "stray", &[&unserved], json!({}));
    let hostile = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "../pods\u{1b}[31m", "uid": "x"},
    });
    create(&api, &maps, "hostile", &[&hostile], json!({}));
    let tree = |words: &str| {
        let words: Vec<&str> =
            ["tree", "--no-headers", "-n", &namespace].into_iter().chain(words.split(' ')).collect();
        env.kdelta_on(testbed, &words).finish().quiet_success()
    };
    let whole = ["configmap/root", "└─ configmap/child", "   └─ secret/leaf"];
    let table = tree("cm/root");
    assert!(table.ends_with("  also owned by configmap/root\n"), "{table}");
    assert!(table.lines().all(|line| line.contains(" Current ")), "{table}");
    for words in ["cm/root", "cm root", "secret/leaf", "cm/child"] {
        let names: Vec<String> = tree(words).lines().map(branch_and_name).collect();
        assert_eq!(names, whole, "{words}");
    }
    assert_eq!(tree("cm/root --depth 1 -o name"), "configmap/root\nconfigmap/child\n");
    let orphan = tree("cm/orphan");
    assert!(orphan.starts_with("configmap/gone "), "{orphan}");
    assert!(orphan.contains("NotFound") && orphan.contains("this owner does not exist"), "{orphan}");
    assert!(tree("cm/stray").starts_with("thing.no.such/x "), "a kind that is not served");
    let hostile = tree("cm/hostile");
    assert!(hostile.starts_with("namespace/../pods^[[31m ") && hostile.contains("NotFound"), "{hostile}");
    let above = format!("namespace/{namespace}\nconfigmap/scoped\n");
    assert_eq!(tree("cm/scoped -o name"), above);
    assert_eq!(tree(&format!("ns/{namespace} -o name")), above, "found in all namespaces");
    let forest = tree("cm -o name");
    let mut names: Vec<&str> = forest.lines().collect();
    assert_eq!(names.len(), 11, "{forest}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 11, "each object once: {forest}");
}

/// Returns the branches and the name of a row.
fn branch_and_name(line: &str) -> String {
    let start = line.find(|c: char| c.is_ascii_lowercase()).expect("a name");
    let end = line[start..].find(' ').map_or(line.len(), |end| start + end);
    line[..end].to_owned()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn forbidden_types_are_one_line_and_exit_code_4() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
    let secret = create(&api, &format!("/api/v1/namespaces/{namespace}/secrets"), "top", &[], json!({}));
    let root = create(&api, &maps, "root", &[&secret], json!({}));
    create(&api, &maps, "child", &[&root], json!({}));
    let user = format!("modest-{namespace}");
    allow(&api, &user, Some(&namespace), "configmaps");
    let words = ["tree", "cm/root", "-n", &namespace, "--as", &user];
    let done = env.kdelta_on(testbed, &words).finish();
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert!(done.stderr.starts_with("not allowed, skipped: "), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    let names: Vec<String> = done.stdout.lines().skip(1).map(branch_and_name).collect();
    assert_eq!(names, ["secret/top", "└─ configmap/root", "   └─ configmap/child"]);
    assert!(done.stdout.contains("this owner can't be read"), "{}", done.stdout);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn the_selector_of_a_deployment_narrows_the_lists() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let apps = format!("/apis/apps/v1/namespaces/{namespace}");
    let labels = json!({"app": "web"});
    let container = json!([{"name": "c", "image": "x"}]);
    let pod = |labels: &Value| json!({"metadata": {"labels": labels}, "spec": {"containers": container}});
    let workload = json!({
        "metadata": {"labels": labels}, "spec": {"selector": {"matchLabels": labels}, "template": pod(&labels)},
    });
    let web = create(&api, &format!("{apps}/deployments"), "web", &[], workload.clone());
    let set = create(&api, &format!("{apps}/replicasets"), "web-1", &[&web], workload);
    create(&api, &pods, "web-1-a", &[&set], pod(&labels));
    create(&api, &pods, "stranger", &[], pod(&json!({"app": "other"})));
    let proxy = FaultProxy::before(testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let names = || {
        env.kdelta(&["tree", "deploy/web", "-o", "name"]).env("KUBECONFIG", &config).finish().quiet_success()
    };
    let narrow = "deployment.apps/web\nreplicaset.apps/web-1\npod/web-1-a\n";
    assert_eq!(names(), narrow);
    let requests = proxy.take_requests();
    let of_pods: Vec<&String> = requests.iter().filter(|request| request.starts_with(&pods)).collect();
    assert!(
        !of_pods.is_empty() && of_pods.iter().all(|of| of.contains("labelSelector=app%3Dweb")),
        "{of_pods:?}"
    );
    // A job below the deployment has pods with labels of its own.
    let job = json!({"spec": {"template": {
        "metadata": {"labels": {}}, "spec": {"containers": container, "restartPolicy": "Never"},
    }}});
    let batch = format!("/apis/batch/v1/namespaces/{namespace}/jobs");
    let job = create(&api, &batch, "migrate", &[&web], job);
    create(&api, &pods, "migrate-a", &[&job], pod(&json!({"app": "other"})));
    let wide = "deployment.apps/web\njob.batch/migrate\npod/migrate-a\nreplicaset.apps/web-1\npod/web-1-a\n";
    assert_eq!(names(), wide);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn events_and_leases_are_part_of_a_tree_on_request() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let root = create(&api, &format!("/api/v1/namespaces/{namespace}/configmaps"), "root", &[], json!({}));
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
    create(&api, &leases, "held", &[&root], json!({"spec": {}}));
    let event = json!({
        "involvedObject": {"kind": "ConfigMap", "name": "root", "namespace": namespace}, "reason": "Seen", "type": "Normal",
    });
    create(&api, &format!("/api/v1/namespaces/{namespace}/events"), "root.1", &[&root], event);
    let names = |flags: &[&str]| {
        let words = [&["tree", "cm/root", "-o", "name", "-n", &namespace], flags].concat();
        env.kdelta_on(testbed, &words).finish().quiet_success()
    };
    assert_eq!(names(&[]), "configmap/root\n");
    assert_eq!(names(&["--include", "leases"]), "configmap/root\nlease.coordination.k8s.io/held\n");
    let all = "configmap/root\nevent/root.1\nlease.coordination.k8s.io/held\n";
    assert_eq!(names(&["--include", "events,leases"]), all, "an event of two groups is one object");
}
