//! kubectl on both servers: equal commands have equal output.

use std::path::Path;
use std::process::Command;

use crate::support::{DemoServer, Kdelta, OnServer, TestEnv};

/// Commands of a first session whose outcome does not depend on controllers, which the testbed does not run. `FILE` is
/// a manifest, `CHANGED` a changed one, `WRONG` one with an unknown field.
const COMMANDS: &[&str] = &[
    "create namespace both",
    "create deployment d --image=i --replicas=0",
    "create configmap c --from-literal=a=b",
    "create secret generic s --from-literal=a=b",
    "create job j --image=i -- true",
    "create cronjob cj --image=i --schedule=5_4_*_*_* -- true",
    "create role r --verb=get --resource=pods",
    "create rolebinding rb --role=r --user=u",
    "create clusterrole both-r --verb=get --resource=nodes",
    "create serviceaccount sa",
    "create quota q --hard=pods=5",
    "create poddisruptionbudget p --min-available=1 --selector=app=d",
    "create priorityclass both-p --value=100",
    "create ingress i --rule=a.b/c=s:80",
    "create service clusterip svc --tcp=80:80",
    "create service nodeport np --tcp=80:80",
    "create namespace both",
    "create deployment d --image=i",
    "create configmap c2 --from-literal=a=b --dry-run=server",
    "get configmap c2",
    "run pod --image=i",
    "expose deployment d --port=80",
    "autoscale deployment d --min=1 --max=3 --cpu-percent=50",
    "apply -f FILE",
    "apply -f FILE",
    "diff -f FILE",
    "apply -f CHANGED",
    "create -f WRONG",
    "apply -f WRONG",
    "apply -f FILE --dry-run=server",
    "apply --server-side -f FILE",
    "apply --server-side -f CHANGED --field-manager=other",
    "apply --server-side -f CHANGED --field-manager=other --force-conflicts",
    "get deployment applied -o jsonpath={.spec.template.spec.containers[*].env}",
    "set image deployment/applied c=j",
    "set env deployment/applied X=1",
    "label deployment applied a=b",
    "label deployment applied a=c",
    "label deployment applied a=c --overwrite",
    "label deployment applied a-",
    "annotate deployment applied a=b",
    "patch deployment applied -p {\"spec\":{\"paused\":true}}",
    "patch deployment applied --type=merge -p {\"spec\":{\"foo\":1}}",
    "patch deployment applied --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/paused\"}]",
    "patch deployment applied --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/paused\"}]",
    "scale deployment applied --replicas=0",
    "scale deployment applied --replicas=1 --current-replicas=5",
    "get deployment applied -o jsonpath={.spec}",
    "get deployment,secret -o name",
    "get pods -l none=such",
    "get nope",
    "get pod nope",
    "explain pods.spec.containers.livenessProbe.httpGet.port",
    "explain cronjob.spec.schedule",
    "explain pods.nope",
    "auth can-i create pods",
    "get --raw /readyz",
    "top pods",
    "delete configmap c",
    "delete configmap c",
    "delete configmap c --ignore-not-found",
    "delete deployment -l app=d",
    "delete clusterrole both-r",
    "delete priorityclass both-p",
];

const MANIFEST: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"applied","labels":{"x":"y"}},
    "spec":{"replicas":0,"selector":{"matchLabels":{"x":"y"}},"template":{"metadata":{"labels":{"x":"y"}},
    "spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"b"}]}]}}}}"#;

/// Runs kubectl and returns its exit code and both its output streams.
fn run(env: &TestEnv, home: &Path, server: &[&str], command: &str, files: &[(&str, String)]) -> String {
    let mut kubectl = Command::new(crate::support::kubectl());
    kubectl.args(server);
    if !command.contains("namespace both") {
        kubectl.args(["-n", "both"]);
    }
    for argument in command.split(' ') {
        let file = files.iter().find(|(name, _)| *name == argument);
        let argument = file.map_or_else(|| argument.to_owned(), |(_, path)| path.clone());
        let is_schedule = argument.starts_with("--schedule=");
        kubectl.arg(if is_schedule { argument.replace('_', " ") } else { argument });
    }
    // Each server has its own HOME, where kubectl caches discovery.
    let ended = Kdelta::other(kubectl).env("HOME", home).finish();
    let printed = format!("{}: {}{}", ended.code, ended.stdout, ended.stderr);
    printed.replace(&env.home().display().to_string(), "")
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn kubectl_output_is_equal_on_both_servers() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let demo = DemoServer::start(&env, &[]);
    let changed = MANIFEST.replace("\"value\":\"b\"", "\"value\":\"c\"");
    let wrong = MANIFEST.replace("\"replicas\":0", "\"replicaz\":0").replace("applied", "wrong");
    let files = [("FILE", MANIFEST), ("CHANGED", &changed), ("WRONG", &wrong)];
    let files =
        files.map(|(name, text)| (name, env.file(&format!("{name}.json"), text).display().to_string()));
    let [real_home, demo_home] = ["real", "demo"].map(|name| env.home().join(name));
    for home in [&real_home, &demo_home] {
        std::fs::create_dir_all(home).expect("a folder");
    }
    let mut table = Vec::new();
    let mut differences = 0;
    for command in COMMANDS {
        let expected = run(&env, &real_home, &["--kubeconfig", testbed.kubeconfig()], command, &files);
        let actual = run(&env, &demo_home, &["--server", &demo.url], command, &files);
        if expected == actual {
            table.push(format!("same    kubectl {command}"));
        } else {
            differences += 1;
            table.push(format!("DIFFERS kubectl {command}\n  real {expected}\n  demo {actual}"));
        }
    }
    assert!(differences == 0, "{differences} of {} differ:\n{}", COMMANDS.len(), table.join("\n"));
}
