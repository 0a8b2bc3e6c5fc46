//! The server of all contenders, a kube-apiserver with pods in one namespace, and curl's configuration.

use std::fs;
use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::audit::Audit;
use crate::contender::CURL_AGENT;
use crate::testbed::{self, Testbed};

/// The namespace of the pods.
pub(crate) const NAMESPACE: &str = "big";

const PAGES: &str = "/api/v1/pods?limit=500";
const JSON: &str = "application/json";
/// In this representation a page is little more than its continue token.
const ROWS: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

/// A kube-apiserver with the pods, which lives until it is dropped.
pub(crate) struct BenchServer {
    testbed: Testbed,
    /// curl's configuration file with the credentials: no token appears on a command line.
    curl: PathBuf,
    json_bytes: u64,
    pub(crate) audit: Audit,
    // Declared last: the server writes into it until it has ended.
    folder: TempDir,
}

impl BenchServer {
    /// Starts the server and creates the pods.
    pub(crate) fn set_up(pods: usize) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let state = folder.path().join("state");
        fs::create_dir(&state)?;
        let audit = Audit::set_up(folder.path())?;
        let testbed = Testbed::own_with(&state, &audit.flags());
        let curl = folder.path().join("curl");
        let settings = curl_settings(&testbed);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&curl)?;
        file.write_all(settings.as_bytes())?;
        let mut server = Self { testbed, curl, json_bytes: 0, audit, folder };
        eprintln!("loading {pods} pods");
        let pods = pods.to_string();
        let load = ["load", "--pods", &pods, "-n", NAMESPACE, "--kubeconfig", server.kubeconfig()];
        ensure!(testbed::tool().args(load).output()?.status.success(), "the pods could not be made");
        server.json_bytes = server.measure_json().context("the pods could not be measured")?;
        Ok(server)
    }

    pub(crate) fn kubeconfig(&self) -> &str {
        self.testbed.kubeconfig()
    }

    /// `kube-apiserver vX.Y.Z`.
    pub(crate) fn version(&self) -> String {
        format!("kube-apiserver {}", self.testbed.text("version"))
    }

    /// `https://127.0.0.1:PORT`.
    pub(crate) fn server(&self) -> &str {
        self.testbed.server()
    }

    pub(crate) fn port(&self) -> u16 {
        self.testbed.port()
    }

    /// Returns the folder for the files of runs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes curl's settings again, which apply up to the next `next` of a configuration file. The file is as secret as
    /// the first one.
    pub(crate) fn write_curl_settings(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        out.write_all(curl_settings(&self.testbed).as_bytes())
    }

    /// Returns curl requesting this representation of the URLs that follow. It accepts gzip, as all contenders do.
    pub(crate) fn curl(&self, accept: &str) -> Command {
        let mut command = Command::new("curl");
        command.arg("--config").arg(&self.curl).args(["--header", &format!("Accept: {accept}")]);
        command
    }

    /// Returns curl of these URLs, two at a time, that discards the data and prints for each its number and the
    /// seconds from its request to its first byte.
    pub(crate) fn curl_discarding(&self, urls: &[String]) -> anyhow::Result<Command> {
        let file = self.folder().join("urls");
        let mut named = fs::File::create(&file)?;
        for url in urls {
            writeln!(named, "url = \"{url}\"\noutput = /dev/null")?;
        }
        let mut command = self.curl(JSON);
        command.args(["--parallel", "--parallel-max", "2", "--no-progress-meter"]);
        command.args(["--write-out", "%{urlnum} %{time_starttransfer}\\n"]).arg("--config").arg(file);
        Ok(command)
    }

    /// Returns the URLs of the pages of all pods at the newest version.
    pub(crate) fn pages(&self, server: &str) -> anyhow::Result<Vec<String>> {
        let mut urls = Vec::new();
        let mut next = Some(format!("{server}{PAGES}"));
        while let Some(url) = next {
            next = next_page(server, &self.get_json(&format!("{url}&includeObject=None"), ROWS)?);
            urls.push(url);
        }
        Ok(urls)
    }

    fn get_json(&self, url: &str, accept: &str) -> anyhow::Result<Value> {
        let output = self.curl(accept).arg(url).output()?;
        ensure!(output.status.success(), "curl: {}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Returns the bytes of all pods as JSON without managedFields, which an index of bodies has to keep.
    pub(crate) fn json_bytes(&self) -> u64 {
        self.json_bytes
    }

    /// Counted in a child process: the kernel counts this process's peak memory as that of the processes it starts.
    fn measure_json(&self) -> anyhow::Result<u64> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kdelta"));
        command.args(["watch", "pods", "-A", "-o", "json", "--until-synced", "--fields", "object"]);
        let mut child =
            command.args(["--kubeconfig", self.kubeconfig()]).stdout(std::process::Stdio::piped()).spawn()?;
        let out = std::io::BufReader::new(child.stdout.take().context("a pipe")?);
        let mut bytes = 0;
        for line in out.split(b'\n') {
            let line = line?;
            let object = line.strip_prefix(b"{\"object\":").and_then(|rest| rest.strip_suffix(b"}"));
            bytes += object.map_or(0, <[u8]>::len) as u64;
        }
        ensure!(child.wait()?.success() && bytes > 0, "kdelta can't list the pods");
        Ok(bytes)
    }
}

fn curl_settings(testbed: &Testbed) -> String {
    format!(
        "header = \"Authorization: Bearer {}\"\ncacert = \"{}\"\nuser-agent = \"{CURL_AGENT}\"\nsilent\nshow-error\nfail\ncompressed\n",
        testbed.token("admin"),
        testbed.ca_file()
    )
}

fn next_page(server: &str, page: &Value) -> Option<String> {
    let token = page["metadata"]["continue"].as_str().filter(|token| !token.is_empty())?;
    Some(format!("{server}{PAGES}&continue={token}"))
}
