//! `kdelta wait` and `kdelta rollout status` on the demo, whose controllers work.

use serde_json::json;

use crate::support::{Api, DemoServer, Finished, TestEnv};

const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";

/// A demo server and the program on it.
struct Demo {
    env: TestEnv,
    server: DemoServer,
}

impl Demo {
    fn start(speed: &str) -> Self {
        let env = TestEnv::new();
        let server = DemoServer::start(&env, &["--speed", speed]);
        Self { env, server }
    }

    fn run(&self, words: &str) -> Finished {
        let words: Vec<&str> = words.split(' ').chain(["-s", &self.server.url]).collect();
        self.env.kdelta(&words).finish()
    }

    /// Changes the pods of the deployment `web`, which starts a rollout.
    fn roll_out(&self, value: &str) {
        let template = json!({"metadata": {"annotations": {"test": value}}});
        Api::open(&self.server.url).patch(WEB, &json!({"spec": {"template": template}}));
    }
}

#[test]
fn rollout_of_a_deployment_is_followed_to_its_end() {
    let demo = Demo::start("20");
    demo.roll_out("one");
    let printed = demo.run("rollout status deploy/web --timeout=1m").quiet_success();
    let lines: Vec<&str> = printed.lines().collect();
    let (last, before) = lines.split_last().expect("a line");
    assert_eq!(*last, r#"deployment "web" successfully rolled out"#);
    let is_progress = |line: &&str| {
        line.starts_with(r#"Waiting for deployment "web" rollout to finish: "#) && line.ends_with("...")
            || *line == "Waiting for deployment spec update to be observed..."
    };
    assert!(!before.is_empty() && before.iter().all(is_progress), "{printed}");
    let done = demo.run("wait deploy/web --for=condition=Available --timeout=1m").quiet_success();
    assert_eq!(done, "deployment.apps/web condition met\n");
}

#[test]
fn rollout_that_takes_too_long_fails() {
    let demo = Demo::start("0.001");
    demo.roll_out("one");
    let done = demo.run("rollout status deploy/web --timeout=100ms");
    assert_eq!((done.code, done.stderr.as_str()), (1, "error: timed out waiting for the condition\n"));
    let once = demo.run("rollout status deploy/web --watch=false").quiet_success();
    assert_eq!(once.lines().count(), 1, "{once}");
}

#[test]
fn errors_and_time_outs_exit_with_1() {
    let demo = Demo::start("0.001");
    for (words, code, message) in [
        ("wait pod/nope --for=condition=Ready", 1, "Error from server (NotFound): pods \"nope\" not found\n"),
        (
            "wait deploy/web --for=delete --timeout=100ms",
            1,
            "error: timed out waiting for the condition on deployments/web\n",
        ),
        ("wait deploy/web --for=delete --timeout=0", 1, "error: condition not met for deployments/web\n"),
        ("wait pods -l app=none --for=condition=Ready", 1, "error: no matching resources found\n"),
        ("wait deploy/web --for=redy", 2, "error: unrecognized condition: \"redy\"\n"),
    ] {
        assert_eq!(demo.run(words).failure(code), message, "{words}");
    }
    assert_eq!(demo.run("wait pod/nope --for=delete").quiet_success(), "");
    assert_eq!(demo.run("wait deploy/web --for=create -o name").quiet_success(), "deployment.apps/web\n");
}

#[test]
fn other_actions_of_rollout_are_kubectls() {
    let done = TestEnv::new().kdelta(&["rollout", "restart", "deploy/web", "-n", "shop"]).finish();
    let advice = "error: kdelta never changes objects: use `kubectl rollout restart deploy/web -n shop`\n";
    assert_eq!(done.failure(2), advice);
    let done = TestEnv::new().kdelta(&["rollout", "undo", "deploy/web", "--to-revision=2"]).finish();
    assert!(done.failure(2).ends_with("use `kubectl rollout undo deploy/web --to-revision=2`\n"));
}
