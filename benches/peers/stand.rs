//! The server that all contenders ask: a kube-apiserver of its own with pods in one namespace, and how curl gets in.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;

use crate::audit::Audit;
use crate::contender::CURL_AGENT;
use crate::testbed::{self, Testbed};

/// The namespace of all pods.
pub(crate) const NAMESPACE: &str = "big";

pub(crate) struct Stand {
    testbed: Testbed,
    /// What curl reads its credentials from: no token stands on a command line.
    curl: PathBuf,
    json_bytes: u64,
    pub(crate) audit: Audit,
    // Declared last: the server writes into it until it has ended.
    folder: TempDir,
}

impl Stand {
    /// Starts the server and loads it.
    pub(crate) fn set_up(pods: usize) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let state = folder.path().join("state");
        fs::create_dir(&state)?;
        let audit = Audit::set_up(folder.path())?;
        let testbed =
            Testbed::own_with(&state, &audit.flags()).context("there is no server to compare on")?;
        let curl = folder.path().join("curl");
        let settings = format!(
            "header = \"Authorization: Bearer {}\"\ncacert = \"{}\"\nuser-agent = \"{CURL_AGENT}\"\nsilent\nshow-error\nfail\nno-buffer\n",
            testbed.token("admin"),
            testbed.ca_file()
        );
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&curl)?;
        file.write_all(settings.as_bytes())?;
        let mut stand = Self { testbed, curl, json_bytes: 0, audit, folder };
        eprintln!("loading {pods} pods");
        let pods = pods.to_string();
        let load = ["load", "--pods", &pods, "-n", NAMESPACE, "--kubeconfig", stand.kubeconfig()];
        ensure!(testbed::tool().args(load).output()?.status.success(), "the pods could not be made");
        stand.json_bytes = stand.measure_json()?;
        Ok(stand)
    }

    pub(crate) fn kubeconfig(&self) -> &str {
        self.testbed.kubeconfig()
    }

    /// `https://127.0.0.1:PORT`.
    pub(crate) fn server(&self) -> &str {
        self.testbed.server()
    }

    pub(crate) fn port(&self) -> u16 {
        self.testbed.port()
    }

    /// A folder for what a run leaves behind.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// curl of this path on that server, asking for this representation. It reads gzip, as everybody else does.
    pub(crate) fn curl(&self, server: &str, path: &str, accept: &str) -> Command {
        let mut command = Command::new("curl");
        command.arg("--config").arg(&self.curl).args(["--header", &format!("Accept: {accept}")]);
        command.arg("--compressed").arg(format!("{server}{path}"));
        command
    }

    /// The bytes of all pods as JSON without managedFields: what an index of bodies has to keep.
    pub(crate) fn json_bytes(&self) -> u64 {
        self.json_bytes
    }

    fn measure_json(&self) -> anyhow::Result<u64> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kdelta"));
        command.args([
            "watch",
            "pods",
            "-A",
            "-o",
            "json",
            "--until-synced",
            "--fields",
            "object",
            "--kubeconfig",
        ]);
        let mut child = command.arg(self.kubeconfig()).stdout(std::process::Stdio::piped()).spawn()?;
        let mut out = child.stdout.take().context("a pipe")?;
        let bytes = std::io::copy(&mut out, &mut std::io::sink())?;
        if !child.wait()?.success() {
            bail!("kdelta can't list the pods");
        }
        Ok(bytes)
    }
}
