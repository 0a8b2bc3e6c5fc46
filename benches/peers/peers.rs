//! The programs that kdelta is compared with, and what is missing of them on this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

/// Where the peers are. curl and client-go (the testbed) are always there.
pub(crate) struct Peers {
    /// Nothing where it is not installed.
    pub(crate) kubectl: Option<PathBuf>,
    pub(crate) kube_rs: PathBuf,
}

/// Finds or builds them.
pub(crate) fn find() -> anyhow::Result<Peers> {
    runs("curl", &["--version"])
        .then_some(())
        .context("curl is missing: install it, it is the limit of each task")?;
    let kubectl = runs("kubectl", &["version", "--client"]).then(|| PathBuf::from("kubectl"));
    if kubectl.is_none() {
        eprintln!("kubectl is missing: its rows are left out");
    }
    Ok(Peers { kubectl, kube_rs: build_kube_rs()? })
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

fn build_kube_rs() -> anyhow::Result<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/kube-rs");
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
