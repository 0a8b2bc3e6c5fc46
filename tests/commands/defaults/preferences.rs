//! kubectl's preferences (`kuberc`) from the user's home: defaults, aliases, and the policy for credential plugins.

use std::fs;

use crate::support::{DemoServer, TestEnv, eventually};

const START: &str = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n";

/// Creates a home with these preferences.
fn home_with(preferences: &str) -> TestEnv {
    let env = TestEnv::new();
    fs::create_dir(env.home().join(".kube")).expect("a folder");
    env.file(".kube/kuberc", &format!("{START}{preferences}"));
    env
}

#[test]
fn defaults_and_aliases_come_from_the_home() {
    let env = home_with(
        "defaults: [{command: get, options: [{name: output, default: name}]}]\n\
         aliases: [{name: deps, command: get, prependArgs: [deploy], options: [{name: namespace, default: shop}]}]\n",
    );
    let output = |words: &[&str]| env.kdelta(&[words, &["--demo"]].concat()).finish().quiet_success();
    let names = "deployment.apps/checkout\ndeployment.apps/payments\n";
    assert_eq!(output(&["get", "deploy", "-n", "shop"]), names);
    assert!(output(&["get", "deploy", "-n", "shop", "-o", "wide"]).starts_with("NAME  "));
    assert!(output(&["deps", "checkout"]).starts_with("NAME  "), "an alias has its own options only");
    let disabled = env.kdelta(&["deps", "--demo"]).env("KUBERC", "off").finish();
    assert_eq!((disabled.code, disabled.stdout.as_str()), (2, ""));
}

#[test]
fn unusable_preferences_of_the_home_are_reported_and_ignored() {
    let env = home_with("defaults: 1\n");
    let done = env.kdelta(&["get", "deploy", "-n", "shop", "-o", "name", "--demo"]).finish();
    assert_eq!((done.code, done.stdout.lines().count()), (0, 2));
    let reason = "kuberc: no preferences loaded from ";
    assert!(
        done.stderr.starts_with(reason) && done.stderr.contains("no valid preferences"),
        "{}",
        done.stderr
    );
    let file = env.home().join(".kube/kuberc");
    let file = file.to_str().expect("UTF-8");
    let failure = env.kdelta(&["get", "deploy", "--demo", "--kuberc", file]).finish().failure(1);
    assert!(
        failure.starts_with("error occurred while applying preferences kuberc error kuberc: "),
        "{failure}"
    );
}

#[test]
fn policy_decides_which_plugins_run() {
    let env = home_with(
        "credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{command: kdelta-no-such}]\n",
    );
    let config = "
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh,
  args: [-c, ': > ran']}}}]
";
    let file = env.file("config", config);
    let call = |words: &[&str]| env.kdelta(words).env("KUBECONFIG", &file);
    let failure = call(&["get", "pods"]).finish().failure(1);
    assert!(failure.contains("is not permitted by the credential plugin allowlist"), "{failure}");
    assert_eq!(call(&["__complete", "get", "pods", ""]).finish().quiet_success(), ":4\n");
    assert!(!env.home().join("ran").exists(), "the plugin ran");
    let failure = call(&["get", "pods"]).env("KUBERC", "off").finish().failure(1);
    assert!(!failure.contains("allowlist") && env.home().join("ran").exists(), "{failure}");
}

#[test]
fn lines_with_an_alias_are_completed() {
    let env =
        home_with("aliases: [{name: deps, command: get, prependArgs: [deploy], appendArgs: [-o, name]}]\n");
    let demo = DemoServer::start(&env, &[]);
    let complete = |words: &[&str]| {
        let words = [&["__complete"], words].concat();
        // A slow server times out silently.
        eventually("a completion", || {
            Some(env.kdelta(&words).finish().quiet_success()).filter(|output| output != ":4\n")
        })
    };
    assert_eq!(complete(&["deps", "-s", &demo.url, "-n", "shop", "che"]), "checkout\n:4\n");
    assert!(complete(&["deps", "--subresource", "s"]).starts_with("scale\nstatus\n"));
}

#[test]
fn servers_of_the_followed_release_match() {
    let env = TestEnv::new();
    let names =
        env.kdelta(&["get", "deploy", "-n", "shop", "-o", "name", "--demo", "--match-server-version"]);
    assert_eq!(names.finish().quiet_success().lines().count(), 2);
}
