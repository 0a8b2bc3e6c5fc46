//! The table of docs/rbac.md: each command runs with exactly the listed verbs, and fails without any one of them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Api, OnServer, TestEnv, eventually};

/// The group of roles and of the reviews that report when a role has taken effect.
const RBAC: &str = "rbac.authorization.k8s.io";

/// A row of the table: the words after `kdelta`, and the verbs.
struct Row {
    words: Vec<String>,
    verbs: Vec<String>,
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rbac.md");
    let text = fs::read_to_string(path).expect("docs/rbac.md");
    let quoted =
        |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `kdelta ")?.split('|').collect();
        let words = cells[0].trim().trim_end_matches('`').split(' ').map(str::to_owned).collect();
        Some(Row { words, verbs: quoted(cells[1]) })
    };
    text.lines().filter_map(row).collect()
}

/// Allows these verbs on config maps, and waits until the server's authorizer applies the role.
fn allow(api: &Api, namespace: &str, user: &str, verbs: &[&String]) {
    if verbs.is_empty() {
        return;
    }
    let root = format!("/apis/{RBAC}/v1/namespaces/{namespace}");
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]);
    api.create(&format!("{root}/roles"), &json!({"metadata": {"name": user}, "rules": rules}));
    let subjects = json!([{"kind": "User", "name": user, "apiGroup": RBAC}]);
    let role = json!({"kind": "Role", "name": user, "apiGroup": RBAC});
    let binding = json!({"metadata": {"name": user}, "subjects": subjects, "roleRef": role});
    api.create(&format!("{root}/rolebindings"), &binding);
    for verb in verbs {
        let attributes = json!({"namespace": namespace, "verb": verb, "resource": "configmaps"});
        let spec = json!({"user": user, "resourceAttributes": attributes});
        eventually("the role takes effect", || {
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            let body = json!({"spec": spec}).to_string();
            let review = api.request("POST", path, &[("Content-Type", "application/json")], &body);
            let review: Value = serde_json::from_str(&review.text).ok()?;
            (review["status"]["allowed"] == true).then_some(())
        });
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn each_command_needs_exactly_the_documented_verbs() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "example", &json!({}));
    let rows = rows();
    assert!(rows.len() > 5, "the table has become short");
    for (number, Row { words, verbs }) in rows.iter().enumerate() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let user = format!("user-{number}-{namespace}");
        allow(&api, &namespace, &user, &verbs.iter().collect::<Vec<_>>());
        let done =
            env.kdelta_on(testbed, &[&words[..], &["-n", &namespace, "--as", &user]].concat()).finish();
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{words:?} with {verbs:?}");
        for missing in verbs {
            let user = format!("{user}-without-{missing}");
            let rest: Vec<&String> = verbs.iter().filter(|verb| *verb != missing).collect();
            allow(&api, &namespace, &user, &rest);
            // Long enough for the refusal to arrive on a busy machine.
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "1s" { "60s" } else { *word }).collect();
            let done =
                env.kdelta_on(testbed, &[&words[..], &["-n", &namespace, "--as", &user]].concat()).finish();
            assert_eq!(done.code, 1, "{words:?} without {missing}: {}", done.stderr);
            assert!(done.stderr.contains("(Forbidden)"), "{words:?} without {missing}: {}", done.stderr);
        }
    }
}
