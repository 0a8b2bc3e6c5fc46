//! The rules for the crates that the library depends on.

use std::process::Command;

/// Crates that the library must not depend on without its features: network, TLS, terminal, C, and command line.
/// `libc` represents any direct use of the system.
const NOT_WITHOUT_FEATURES: &[&str] = &[
    "anyhow",
    "clap",
    "colored",
    "comfy-table",
    "console",
    "crossterm",
    "h2",
    "http",
    "hyper",
    "indicatif",
    "jiff",
    "k8s-openapi",
    "libc",
    "mio",
    "openssl",
    "reqwest",
    "ring",
    "rustix",
    "rustls",
    "rustls-platform-verifier",
    "serde-saphyr",
    "socket2",
    "tower",
    "tracing-subscriber",
    "zstd",
];

/// The names of the packages that the library is built from with these features.
fn packages(features: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            features,
            "-e",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).expect("text");
    let packages: Vec<_> =
        tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert!(packages.iter().any(|name| name == "tokio"), "{tree}");
    packages
}

#[test]
fn library_without_features_has_no_network_or_terminal_dependencies() {
    let packages = packages("--no-default-features");
    let taken: Vec<_> =
        packages.iter().filter(|name| NOT_WITHOUT_FEATURES.contains(&name.as_str())).collect();
    assert!(taken.is_empty(), "{taken:?}");
}

/// An application chooses the version of the API's types; kube-client would choose it, too, and a TLS provider.
#[test]
fn no_feature_chooses_the_version_of_the_api() {
    let packages = packages("--all-features");
    let taken: Vec<_> =
        packages.iter().filter(|name| ["kube-client", "schemars"].contains(&name.as_str())).collect();
    assert!(taken.is_empty(), "{taken:?}");
    let manifest = include_str!("../../Cargo.toml");
    let dependency =
        manifest.lines().find(|line| line.starts_with("k8s-openapi = { ")).expect("a dependency");
    assert!(!dependency.contains(" features ="), "{dependency}");
}
