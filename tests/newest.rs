//! Tests of `cluster` on the newest supported Kubernetes (`tests/testbed/newest.mod`).

use std::fs;
use std::process::Command;

use crate::support::{self, TestEnv};

/// The groups that depend on how a server lists and watches, and the check that the server is the newest one.
const GROUPS: [&str; 6] = [
    "cluster::chaos::",
    "cluster::deltas::",
    "cluster::gap::",
    "cluster::kubectl::",
    "cluster::representations::",
    "newest::server_has_the_version_of_the_module_file",
];

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn server_has_the_version_of_the_module_file() {
    let server = TestEnv::on_server();
    let module = fs::read_to_string(support::module_file()).expect("the module file");
    let line = module.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "));
    assert_eq!(Some(server.testbed.text("version")), line);
}

/// The groups run in a process of their own, because the tests of a process share one server.
#[test]
#[ignore = "a second server: cargo test --test integration -- --ignored newest"]
fn cluster_tests_pass_on_the_newest_kubernetes() {
    let status = Command::new(std::env::current_exe().expect("the test program"))
        .args(GROUPS)
        .env(support::MODULE_FILE, "newest.mod")
        .status()
        .expect("the test program starts");
    assert!(status.success(), "{status}");
}
