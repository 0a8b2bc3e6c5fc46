//! The programs that kdelta is compared with, found or built, and their versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::testbed;

/// The paths of the programs. curl is on the PATH.
pub(crate) struct Peers {
    pub(crate) kubectl: PathBuf,
    /// The testbed built without a server: the memory of client-go alone.
    pub(crate) client_go: PathBuf,
    pub(crate) kube_rs: PathBuf,
    /// A client that finds the objects of a tree as kubectl-tree does, with client-go.
    pub(crate) tree_by_lists: PathBuf,
    /// Their versions, on one line.
    pub(crate) versions: String,
}

/// Finds or builds the programs. kubectl is built for the version of the server unless a path is given.
pub(crate) fn find(kubectl: Option<&Path>) -> anyhow::Result<Peers> {
    let curl = output("curl", &["--version"])
        .context("curl is missing: install it, it is the limit of each task")?;
    let jq =
        output("jq", &["--version"]).context("jq is missing: install it, kubectl's JSON is piped to it")?;
    let kubectl = kubectl.unwrap_or_else(|| testbed::kubectl()).to_owned();
    let client_go = go_build("tests/testbed", "testbed-client", &["-tags", "clientonly"])?;
    let kube_rs = build_kube_rs()?;
    let tree_by_lists = go_build("benches/tree-by-lists", "tree-by-lists", &[])?;
    let said_kubectl =
        output(&kubectl, &["version", "--client"]).context("kubectl does not say its version")?;
    let versions = format!(
        "kdelta {}; {}; kubectl {}; {}; client-go {}; kube-rs {}",
        env!("CARGO_PKG_VERSION"),
        curl.split_whitespace().take(2).collect::<Vec<_>>().join(" "),
        said_kubectl.lines().next().unwrap_or_default().trim_start_matches("Client Version: "),
        jq.trim(),
        module("tests/testbed", "k8s.io/client-go")?,
        locked("kube")?,
    );
    Ok(Peers { kubectl, client_go, kube_rs, tree_by_lists, versions })
}

/// Returns the output of a program, if it succeeds.
fn output(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn folder(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// Builds one of the repository's Go modules. Go caches builds, so the second build takes seconds.
fn go_build(module: &str, name: &str, flags: &[&str]) -> anyhow::Result<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    eprintln!("building {name}: minutes the first time");
    let mut command = Command::new("go");
    command.args(["build", "-trimpath"]).args(flags).arg("-o").arg(&program).arg(".");
    let built = command.current_dir(folder(module)).status().context("go is missing: install Go")?;
    ensure!(built.success(), "{module} does not build");
    Ok(program)
}

/// Returns the version of a dependency of one of the repository's Go modules.
fn module(ours: &str, other: &str) -> anyhow::Result<String> {
    let go_mod = fs::read_to_string(folder(ours).join("go.mod"))?;
    let line = go_mod.lines().find_map(|line| line.trim().strip_prefix(other)?.strip_prefix(" v"));
    let version = line.with_context(|| format!("{ours}/go.mod does not name {other}"))?;
    Ok(format!("v{}", version.split_whitespace().next().unwrap_or_default()))
}

fn build_kube_rs() -> anyhow::Result<PathBuf> {
    let package = folder("benches/kube-rs");
    eprintln!("building the kube-rs peer: minutes the first time");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--locked", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(package.join("target"))
        .status()?;
    ensure!(built.success(), "the kube-rs peer does not build");
    Ok(package.join("target/release/kube-rs-peer"))
}

/// Returns the version of a crate in the lock file of the kube-rs peer.
fn locked(name: &str) -> anyhow::Result<String> {
    let lock = fs::read_to_string(folder("benches/kube-rs/Cargo.lock"))?;
    let (_, after) =
        lock.split_once(&format!("name = \"{name}\"\nversion = \"")).context("its Cargo.lock")?;
    Ok(after.split('"').next().unwrap_or_default().to_owned())
}
