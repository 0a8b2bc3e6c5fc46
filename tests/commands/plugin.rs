//! The program under the names of a kubectl plugin and its completion.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{DemoServer, Kdelta, TestEnv, eventually};

/// Creates a folder with both links.
fn links(env: &TestEnv) -> PathBuf {
    let folder = env.home().join("bin");
    std::fs::create_dir(&folder).expect("a folder");
    for name in ["kubectl-delta", "kubectl_complete-delta"] {
        symlink(env!("CARGO_BIN_EXE_kdelta"), folder.join(name)).expect("a link");
    }
    folder
}

fn call(env: &TestEnv, program: impl AsRef<Path>, path: &Path, arguments: &[&str]) -> Kdelta {
    let mut command = Command::new(program.as_ref());
    command.env_clear().env("HOME", env.home()).env("PATH", path).args(arguments);
    Kdelta::other(command)
}

#[test]
fn plugin_link_runs_the_program_under_its_name() {
    let env = TestEnv::new();
    let (links, demo) = (links(&env), DemoServer::start(&env, &[]));
    let plugin = |arguments: &[&str]| call(&env, links.join("kubectl-delta"), &links, arguments).finish();
    let names = plugin(&["get", "deploy", "-n", "shop", "-s", &demo.url, "-o", "name"]).quiet_success();
    assert_eq!(names, "deployment.apps/checkout\ndeployment.apps/payments\n");
    assert!(plugin(&["get", "--help"]).quiet_success().contains("Usage: kubectl delta get"));
    assert!(plugin(&["get", "--nope"]).failure(2).contains("See 'kubectl delta get --help'"));
}

#[test]
fn completion_link_completes() {
    let env = TestEnv::new();
    let (links, demo) = (links(&env), DemoServer::start(&env, &[]));
    let complete = |arguments: &[&str]| {
        let call = || call(&env, links.join("kubectl_complete-delta"), &links, arguments);
        // A slow server times out silently.
        let offer = || Some(call().finish().quiet_success()).filter(|output| output != ":4\n");
        eventually(&format!("an offer for {arguments:?}"), offer)
    };
    assert_eq!(complete(&["get", "-s", &demo.url, "-n", "shop", "deploy", "che"]), "checkout\n:4\n");
    assert!(complete(&["ap"]).starts_with("api-resources\t"));
}

#[test]
#[cfg_attr(not(has_kubectl), ignore = "needs kubectl")]
fn kubectl_finds_the_plugin_and_its_completion() {
    let env = TestEnv::new();
    let folder = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).find(|folder| folder.join("kubectl").is_file()));
    let kubectl = folder.expect("kubectl").join("kubectl");
    let (links, demo) = (links(&env), DemoServer::start(&env, &[]));
    let kubectl = |arguments: &[&str]| call(&env, &kubectl, &links, arguments).finish();
    let names = kubectl(&["delta", "get", "deploy", "-n", "shop", "-s", &demo.url, "-o", "name"]);
    assert_eq!(names.quiet_success(), "deployment.apps/checkout\ndeployment.apps/payments\n");
    let completed = eventually("an offer", || {
        let completed = kubectl(&["__complete", "delta", "get", "-s", &demo.url, "po"]);
        (completed.stdout != ":4\n").then_some(completed)
    });
    let words: Vec<&str> =
        completed.stdout.lines().map(|line| line.split('\t').next().unwrap_or(line)).collect();
    assert!(words.contains(&"pods") && words.ends_with(&[":4"]), "{completed:?}");
}
