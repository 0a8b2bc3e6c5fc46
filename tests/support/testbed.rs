//! Finds, builds and starts the testbed: a real kube-apiserver with etcd, and the Go peers (`tests/testbed`),
//! kubectl among them.
//!
//! The programs are built once per content of that folder, in the user's cache folder, so a clean clone reuses them. On a
//! machine without Go, tests that need it are ignored (`build.rs`).

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// A running kube-apiserver. It ends on drop, or when this process ends and its standard input closes.
#[derive(Debug)]
pub(crate) struct Testbed {
    child: Child,
    /// The line that `testbed serve` prints when it is ready.
    pub(crate) ready: Value,
}

impl Testbed {
    /// Returns the shared server; fails the test if it can't be built.
    pub(super) fn shared() -> &'static Self {
        // A static is never dropped: the server ends when this process ends and its standard input closes.
        static SHARED: OnceLock<Testbed> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(None, &[]))
    }

    /// Starts a server of the test's own, on a state folder that a later server can reuse.
    pub(super) fn own(state: &Path) -> Self {
        Self::own_with(state, &[])
    }

    /// The same with additional flags of kube-apiserver.
    pub(super) fn own_with(state: &Path, flags: &[String]) -> Self {
        Self::start(Some(state), flags)
    }

    fn start(state: Option<&Path>, flags: &[String]) -> Self {
        let mut command = Command::new(binary());
        command.arg("serve");
        if let Some(state) = state {
            command.arg("--state").arg(state);
        }
        command.arg("--").args(flags);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the testbed starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let ready = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("testbed serve printed {line:?}: {error}"));
        Self { child, ready }
    }

    /// Returns a field of the line that `serve` prints when it is ready.
    pub(crate) fn text(&self, field: &str) -> &str {
        self.ready[field].as_str().unwrap_or_else(|| panic!("testbed serve names no {field}"))
    }

    /// `https://127.0.0.1:PORT`.
    pub(crate) fn server(&self) -> &str {
        self.text("server")
    }

    pub(crate) fn port(&self) -> u16 {
        self.server().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
    }

    /// Returns the path of the certificate authority, as PEM.
    pub(crate) fn ca_file(&self) -> &str {
        self.text("caFile")
    }

    /// Returns the folder of its certificates and keys.
    pub(crate) fn state(&self) -> &Path {
        Path::new(self.text("state"))
    }

    /// Returns the path of the administrator's kubeconfig.
    pub(crate) fn kubeconfig(&self) -> &str {
        self.text("kubeconfig")
    }

    /// Returns the bearer token of one of its users: admin, reader, nobody.
    pub(crate) fn token(&self, user: &str) -> &str {
        self.ready["tokens"][user].as_str().unwrap_or_else(|| panic!("no user {user}"))
    }

    /// Returns the `OpenID` Connect issuer whose tokens it accepts.
    pub(crate) fn issuer(&self) -> &str {
        self.text("issuer")
    }

    /// Returns the secret of the issuer's client `kdelta`.
    pub(crate) fn client_secret(&self) -> &str {
        self.text("clientSecret")
    }

    /// Returns the address of a proxy in front of it that authenticates `reader` by name and password.
    pub(crate) fn front(&self) -> &str {
        self.text("front")
    }

    /// Returns the password of `reader` at the proxy.
    pub(crate) fn password(&self) -> &str {
        self.text("password")
    }

    /// Stops the server and waits until its state is written.
    pub(crate) fn stop(mut self) {
        self.close();
    }

    fn close(&mut self) {
        drop(self.child.stdin.take());
        let _ended = self.child.wait();
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the testbed as a command, for its subcommands `load`, `churn` and `informer`.
pub(crate) fn tool() -> Command {
    Command::new(binary())
}

/// Returns kubectl of the testbed's version of Kubernetes; fails the test if it can't be built.
pub(crate) fn kubectl() -> &'static Path {
    static KUBECTL: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    built(&KUBECTL, "kubectl", "./kubectl")
}

/// Returns the built testbed; fails the test if it can't be built.
fn binary() -> &'static Path {
    static BINARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    built(&BINARY, "testbed", ".")
}

/// Builds a program of the testbed's module once per process.
fn built(once: &'static OnceLock<Result<PathBuf, String>>, name: &str, package: &str) -> &'static Path {
    let built = once.get_or_init(|| build(name, package)).as_deref();
    built.unwrap_or_else(|reason| panic!("{name} can't be built: {reason}"))
}

/// The environment variable that names the module file of the testbed, `newest.mod` instead of `go.mod`.
pub(crate) const MODULE_FILE: &str = "KDELTA_TESTBED_MODFILE";

/// The module file of the testbed, which determines the version of Kubernetes.
pub(crate) fn module_file() -> PathBuf {
    let name = std::env::var_os(MODULE_FILE).unwrap_or_else(|| "go.mod".into());
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testbed").join(name)
}

fn build(name: &str, package: &str) -> Result<PathBuf, String> {
    let module = module_file();
    let source = module.parent().expect("tests/testbed");
    let folder = cache_folder().ok_or("there is no HOME to build it in")?.join(content_key(&module));
    let binary = folder.join(name);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // A file lock rather than a mutex: several test processes may build the same binary.
    let lock = File::create(folder.join(format!("{name}.lock"))).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if binary.exists() {
        return Ok(binary);
    }
    let fresh = folder.join(format!("{name}.new"));
    let message = format!("building {name} of tests/testbed with Go: minutes the first time\n");
    let _sent = std::io::stderr().write_all(message.as_bytes());
    let status = Command::new("go")
        .args(["build", "-trimpath", "-ldflags=-s -w", "-modfile"])
        .arg(&module)
        .arg("-o")
        .arg(&fresh)
        .arg(package)
        .current_dir(source)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("go is missing ({error}); install Go 1.26 or newer"))?;
    if !status.success() {
        return Err(format!("`go build {package}` in tests/testbed failed"));
    }
    fs::rename(&fresh, &binary).map_err(|error| error.to_string())?;
    Ok(binary)
}

fn cache_folder() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    cache.filter(|path| path.is_absolute()).or_else(home).map(|path| path.join("kdelta/testbed"))
}

/// Returns a hash of the module's sources, module file and sums: equal content is built once.
fn content_key(module: &Path) -> String {
    let root = module.parent().expect("tests/testbed");
    let mut files = vec![module.to_owned(), module.with_extension("sum")];
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the testbed") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".go") && !name.ends_with("_test.go") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(root).expect("a file of the module").hash(&mut hasher);
        fs::read(&file).expect("a source file").hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}
