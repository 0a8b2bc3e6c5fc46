//! Finds the programs that some tests need, so that tests that can't run are reported as ignored.
//!
//! The package that is published has no build script: neither the library nor the program depends on these names.

use std::path::Path;
use std::process::Command;

/// Each program sets the name `has_PROGRAM`.
const PROGRAMS: [&str; 8] = ["bash", "fish", "go", "kubectl", "nu", "promtool", "script", "zsh"];

/// `KDELTA_TESTBED=off` is for machines that have Go, but can't fetch modules.
const SWITCH: &str = "KDELTA_TESTBED";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed={SWITCH}");
    for program in PROGRAMS {
        let is_off = program == "go" && std::env::var(SWITCH).is_ok_and(|value| value == "off");
        set(&format!("has_{program}"), !is_off && is_on_path(program));
    }
    set("can_mount", can_mount());
}

fn set(name: &str, is_set: bool) {
    println!("cargo::rustc-check-cfg=cfg({name})");
    if is_set {
        println!("cargo::rustc-cfg={name}");
    }
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file())
}

/// Returns true if a process may mount file systems in a mount namespace of its own.
fn can_mount() -> bool {
    let mount = ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/var/run"];
    Command::new("unshare").args(mount).output().is_ok_and(|done| done.status.success())
}
