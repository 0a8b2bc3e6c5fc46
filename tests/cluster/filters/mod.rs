//! Local filters on a real server: the same objects as those computed from the server's JSON and from kubectl's table, in
//! every command and format.

mod crossings;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cluster::kubectl;
use crate::support::{Api, OnServer, TestEnv, Testbed};

/// Whether a pod, as the server returns it, matches.
type Oracle<'a> = &'a dyn Fn(&Value) -> bool;

/// Creates pods with different names, labels, nodes, requests and statuses.
fn create_pods(api: &Api, namespace: &str) {
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let now = jiff::Timestamp::now();
    for number in 0..24_i64 {
        let name =
            format!("{}-{number}", ["web", "db", "cache"][usize::try_from(number % 3).expect("small")]);
        let memory = ["512Mi", "1Gi", "1500M", "2Gi"][usize::try_from(number % 4).expect("small")];
        api.create(
            &pods,
            &json!({
                "metadata": {"name": name, "labels": {"app": format!("a{}", number % 4), "tier": format!("t{}", number % 5)}},
                "spec": {
                    "nodeName": format!("n{}", number % 5),
                    "containers": [{"name": "c", "image": "i", "resources": {"requests": {"memory": memory}}}],
                },
            }),
        );
        let ended = now - jiff::SignedDuration::from_mins(10 * (number % 7));
        let last = match number % 3 {
            0 => json!({}),
            _ => {
                json!({"terminated": {"exitCode": 1, "startedAt": ended.to_string(), "finishedAt": ended.to_string()}})
            }
        };
        let state = match number % 4 {
            0 => json!({"waiting": {"reason": "CrashLoopBackOff"}}),
            1 => json!({"running": {"startedAt": now.to_string()}}),
            2 => json!({"waiting": {"reason": "ImagePullBackOff"}}),
            _ => json!({"terminated": {"exitCode": 0, "reason": "Completed"}}),
        };
        let phase =
            ["Pending", "Running", "Pending", "Succeeded"][usize::try_from(number % 4).expect("small")];
        let status = json!({"name": "c", "image": "i", "imageID": "", "ready": false,
            "restartCount": number % 6, "lastState": last, "state": state});
        let status = json!({"status": {"phase": phase, "containerStatuses": [status]}});
        api.patch(&format!("{pods}/{name}/status"), &status);
    }
}

fn names(text: &str) -> BTreeSet<String> {
    text.lines().map(|line| line.trim_start_matches("pod/").to_owned()).collect()
}

/// Returns the names that the flags select, which are the same in each command and format.
fn selected(env: &TestEnv, testbed: &Testbed, namespace: &str, flags: &[&str]) -> BTreeSet<String> {
    let call = |words: &[&str]| {
        let finished = env.kdelta_on(testbed, &[words, &["-n", namespace], flags].concat()).finish();
        assert_eq!(finished.code, 0, "{words:?} {flags:?}: {}", finished.stderr);
        finished.stdout
    };
    let found = names(&call(&["get", "pods", "-o", "name"]));
    assert_eq!(
        names(&call(&["get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}"])),
        found
    );
    let first = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    for table in
        [&["get", "pods", "--no-headers"][..], &["get", "pods", "--no-headers", "--server-print=false"]]
    {
        let text = call(table);
        assert_eq!(text.lines().map(first).collect::<BTreeSet<_>>(), found, "{flags:?}");
    }
    let index = call(&["index", "pods", "--by", "name", "-o", "name"]);
    assert_eq!(names(&index), found, "{flags:?}");
    let by = call(&["get", "pods", "--by", "namespace=x,y,z,", "-o", "name"]);
    assert_eq!(by, "", "--by must hold too");
    for format in ["json", "name"] {
        let watch = call(&["watch", "pods", "--until-synced", "-o", format]);
        let watched = match format {
            "json" => watch
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
                .filter(|line| line["type"] == "ADDED")
                .map(|line| line["name"].as_str().expect("a name").to_owned())
                .collect(),
            _ => names(&watch),
        };
        assert_eq!(watched, found, "{flags:?} {format}");
    }
    found
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn filters_select_the_same_objects_everywhere() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    create_pods(&api, &namespace);
    let list = api.get(&format!("/api/v1/namespaces/{namespace}/pods"));
    let pods = list["items"].as_array().expect("items");
    let label =
        |pod: &Value, key: &str| pod["metadata"]["labels"][key].as_str().unwrap_or_default().to_owned();
    let node = |pod: &Value| pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
    let memory = |pod: &Value| {
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let status = |pod: &Value| pod["status"]["containerStatuses"][0].clone();
    let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let minutes_since_restart = |pod: &Value| {
        let finished = status(pod)["lastState"]["terminated"]["finishedAt"].as_str()?.parse().ok()?;
        Some(jiff::Timestamp::now().duration_since(finished).as_mins())
    };
    let cases: &[(&[&str], Oracle<'_>)] = &[
        (&["--name", "web-*"], &|pod| name(pod).starts_with("web-")),
        (&["--name", "web-*,db-1"], &|pod| name(pod).starts_with("web-") || name(pod) == "db-1"),
        (&["--name", "/-1[0-9]$/", "--name", "cache-2"], &|pod| {
            name(pod).split('-').nth(1).is_some_and(|number| number.len() == 2 && number.starts_with('1'))
                || name(pod) == "cache-2"
        }),
        (&["-l", "app=a1", "-l", "app=a2"], &|pod| ["a1", "a2"].contains(&label(pod, "app").as_str())),
        (&["-l", "app=a1", "-l", "tier in (t1,t2)"], &|pod| {
            label(pod, "app") == "a1" || ["t1", "t2"].contains(&label(pod, "tier").as_str())
        }),
        (&["--field-selector", "spec.nodeName in (n1, n3)"], &|pod| {
            ["n1", "n3"].contains(&node(pod).as_str())
        }),
        (&["--field-selector", "spec.nodeName notin (n1,n3),status.phase=Running"], &|pod| {
            !["n1", "n3"].contains(&node(pod).as_str()) && pod["status"]["phase"] == "Running"
        }),
        (&["--field-selector", "status.containerStatuses[*].restartCount>3"], &|pod| {
            status(pod)["restartCount"].as_i64().is_some_and(|count| count > 3)
        }),
        (&["--field-selector", "spec.containers[*].resources.requests.memory>=1Gi"], &|pod| {
            memory(pod) != "512Mi"
        }),
        (&["--field-selector", "spec.containers[*].resources.requests.memory<1.4Gi"], &|pod| {
            memory(pod) != "2Gi"
        }),
        (&["--older-than", "1h"], &|_| false),
        (&["--newer-than", "1h"], &|_| true),
        (&["--restarted-within", "35m"], &|pod| {
            minutes_since_restart(pod).is_some_and(|minutes| minutes < 35)
        }),
        (&["--restarted-within", "35m", "--name", "/^db/", "--newer-than", "2d"], &|pod| {
            minutes_since_restart(pod).is_some_and(|minutes| minutes < 35) && name(pod).starts_with("db")
        }),
    ];
    for (flags, matches) in cases {
        let expected: BTreeSet<String> = pods.iter().filter(|pod| matches(pod)).map(name).collect();
        assert_eq!(selected(&env, testbed, &namespace, flags), expected, "{flags:?}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn status_is_that_of_kubectls_column() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    create_pods(&api, &namespace);
    let table = kubectl(testbed.kubeconfig(), &["get", "pods", "-n", &namespace, "--no-headers"]);
    let table = { table }.output().expect("kubectl runs").stdout;
    let table = String::from_utf8(table).expect("text");
    let rows: Vec<(&str, &str)> = table
        .lines()
        .map(|line| {
            let mut cells = line.split_whitespace();
            (cells.next().unwrap_or_default(), cells.nth(1).unwrap_or_default())
        })
        .collect();
    let statuses: BTreeSet<&str> = rows.iter().map(|(_, status)| *status).collect();
    assert!(statuses.len() > 3, "{table}");
    let with = |wanted: &[&str]| -> BTreeSet<String> {
        let found = rows.iter().filter(|(_, status)| wanted.contains(status));
        found.map(|(name, _)| (*name).to_owned()).collect()
    };
    for status in &statuses {
        let lower = status.to_lowercase();
        assert_eq!(selected(&env, testbed, &namespace, &["--status", &lower]), with(&[status]), "{status}");
    }
    let two = selected(&env, testbed, &namespace, &["--status", "CrashLoopBackOff,Completed"]);
    assert_eq!(two, with(&["CrashLoopBackOff", "Completed"]));
    let both = selected(&env, testbed, &namespace, &["--status", "*BackOff"]);
    assert_eq!(both, with(&["CrashLoopBackOff", "ImagePullBackOff"]));
    let documents = |flags: &[&str]| {
        let words = [&["get", "pods", "-n", &namespace, "-o", "json"], flags].concat();
        let text = env.kdelta_on(testbed, &words).finish().quiet_success();
        serde_json::from_str::<Value>(&text).expect("a List")["items"].as_array().expect("items").clone()
    };
    let all = documents(&[]);
    let some = documents(&["--status", "Completed"]);
    assert!(!some.is_empty() && some.iter().all(|pod| all.contains(pod)), "the objects are whole");
    let words = ["get", "configmaps", "-n", "kube-system", "--status", "x"];
    let error = env.kdelta_on(testbed, &words).finish().failure(1);
    assert_eq!(
        error,
        "error: --status: the table of ConfigMap objects has neither a STATUS nor a PHASE column\n"
    );
}
