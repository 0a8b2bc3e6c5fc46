//! Local filters on a real server: the same objects as those computed from the server's JSON and from kubectl's table, in
//! every command and format.

mod crossings;

use std::collections::BTreeSet;

use serde_json::{Value, json};

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
    let status = |pod: &Value| pod["status"]["containerStatuses"][0].clone();
    let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let minutes_since_restart = |pod: &Value| {
        let finished = status(pod)["lastState"]["terminated"]["finishedAt"].as_str()?.parse().ok()?;
        Some(jiff::Timestamp::now().duration_since(finished).as_mins())
    };
    let cases: &[(&[&str], Oracle<'_>)] = &[
        (&["--older-than", "1h"], &|_| false),
        (&["--newer-than", "1h"], &|_| true),
        (&["--restarted-within", "35m"], &|pod| {
            minutes_since_restart(pod).is_some_and(|minutes| minutes < 35)
        }),
    ];
    for (flags, matches) in cases {
        let expected: BTreeSet<String> = pods.iter().filter(|pod| matches(pod)).map(name).collect();
        assert_eq!(selected(&env, testbed, &namespace, flags), expected, "{flags:?}");
    }
}
