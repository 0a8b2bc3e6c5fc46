//! What flags and environment say about the server, before any file is read.

use std::ffi::OsString;
use std::path::PathBuf;

use super::EnvironmentProxies;
use super::Secret;

/// Where to look for configuration, and what overrides it. Nothing here is checked yet; [`super::Config::load`] does.
///
/// An empty text counts as absent, as with kubectl's flags. Paths are used as they are; those in a file are relative to
/// it.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own, as on the command line")]
pub struct ConfigOptions {
    /// The one file to read; it must exist.
    pub kubeconfig: Option<PathBuf>,
    /// The value of `KUBECONFIG`: a list of files that are merged, missing ones skipped.
    pub kubeconfig_env: Option<OsString>,
    /// The user's home, where `.kube/config` is read when no file is named.
    pub home: Option<PathBuf>,
    /// The context to use instead of the current one.
    pub context: Option<String>,
    /// The cluster to use instead of the context's.
    pub cluster: Option<String>,
    /// The user to use instead of the context's.
    pub user: Option<String>,
    /// The server's URL or `host:port`, instead of the cluster's.
    pub server: Option<String>,
    /// The server where nothing else names one (`KUBERNETES_MASTER`).
    pub default_server: Option<String>,
    /// A bearer token.
    pub token: Option<Secret>,
    /// A file with a bearer token, read again about every minute.
    pub token_file: Option<PathBuf>,
    /// Name for basic authentication.
    pub username: Option<String>,
    /// Password for basic authentication.
    pub password: Option<Secret>,
    /// Whom to act as.
    pub as_user: Option<String>,
    /// The uid to act with.
    pub as_uid: Option<String>,
    /// The groups to act with.
    pub as_groups: Vec<String>,
    /// More about whom to act as: key and value, keys may repeat.
    pub as_extra: Vec<(String, String)>,
    /// PEM file of the authorities that the server's certificate is checked against.
    pub certificate_authority: Option<PathBuf>,
    /// PEM file of our certificate.
    pub client_certificate: Option<PathBuf>,
    /// PEM file of its key.
    pub client_key: Option<PathBuf>,
    /// Whether any server certificate will do.
    pub insecure_skip_tls_verify: bool,
    /// The name the server's certificate is checked against, instead of the URL's host.
    pub tls_server_name: Option<String>,
    /// A `http`, `https` or `socks5` proxy, instead of the cluster's or the environment's; it may hold a password.
    pub proxy_url: Option<Secret>,
    /// Whether answers are to come uncompressed.
    pub disable_compression: bool,
    /// Whether to speak HTTP/1.1 only (`DISABLE_HTTP2`).
    pub http1_only: bool,
    /// The environment's proxies, where neither flag nor cluster name one.
    pub proxies: EnvironmentProxies,
    /// How many watches at a time may have a connection of their own each, over which a busy server sends events sooner;
    /// more share HTTP/2 connections (`KDELTA_WATCH_CONNECTIONS`). 8 where it is no number.
    pub watch_connections: Option<String>,
    /// Seconds of silence after which a connection is tried (`HTTP2_READ_IDLE_TIMEOUT_SECONDS`).
    pub http2_read_idle_timeout: Option<String>,
    /// Seconds that the answer to that may take (`HTTP2_PING_TIMEOUT_SECONDS`).
    pub http2_ping_timeout: Option<String>,
    /// Whether standard input is a terminal at which a credential plugin may ask its user: it then has standard input
    /// and standard error of this process to itself. Otherwise it has no input, and what it says is told as
    /// [`crate::client::Notice::Plugin`].
    pub stdin_is_terminal: bool,
    /// Whether a refresh token of `OpenID` Connect is to be left unspent: an id-token that is no longer good is an error
    /// then. For what may be given up at any moment, when a token that was spent would be lost.
    pub spare_refresh_tokens: bool,
    /// What a pod is given to find its own server.
    pub in_cluster: InCluster,
}

/// What a pod is given to find its own server.
#[derive(Debug, Clone)]
pub struct InCluster {
    /// `KUBERNETES_SERVICE_HOST`.
    pub host: Option<String>,
    /// `KUBERNETES_SERVICE_PORT`.
    pub port: Option<String>,
    /// `POD_NAMESPACE`.
    pub namespace: Option<String>,
    /// The folder of the service account's `token`, `ca.crt` and `namespace`.
    pub folder: PathBuf,
}

impl Default for InCluster {
    fn default() -> Self {
        let folder = PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount");
        Self { host: None, port: None, namespace: None, folder }
    }
}

impl ConfigOptions {
    /// What the environment of this process says: `KUBECONFIG`, `HOME`, `KUBERNETES_MASTER`, `DISABLE_HTTP2`,
    /// `KDELTA_WATCH_CONNECTIONS`, `HTTP2_READ_IDLE_TIMEOUT_SECONDS`, `HTTP2_PING_TIMEOUT_SECONDS`, `HTTP_PROXY`,
    /// `HTTPS_PROXY`, `NO_PROXY`, and a pod's `KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT` and `POD_NAMESPACE`.
    /// Nothing else is read from the environment but `PATH`, in which a credential plugin is searched for when it is run.
    #[must_use]
    pub fn from_env() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let either = |name: &str| text(name).or_else(|| text(&name.to_lowercase()));
        Self {
            kubeconfig_env: std::env::var_os("KUBECONFIG").filter(|value| !value.is_empty()),
            home: home(),
            default_server: text("KUBERNETES_MASTER"),
            http1_only: text("DISABLE_HTTP2").is_some(),
            proxies: EnvironmentProxies {
                http: either("HTTP_PROXY").map(Secret::from),
                https: either("HTTPS_PROXY").map(Secret::from),
                none_for: either("NO_PROXY"),
            },
            watch_connections: text("KDELTA_WATCH_CONNECTIONS"),
            http2_read_idle_timeout: text("HTTP2_READ_IDLE_TIMEOUT_SECONDS"),
            http2_ping_timeout: text("HTTP2_PING_TIMEOUT_SECONDS"),
            in_cluster: InCluster {
                host: text("KUBERNETES_SERVICE_HOST"),
                port: text("KUBERNETES_SERVICE_PORT"),
                namespace: text("POD_NAMESPACE"),
                ..InCluster::default()
            },
            ..Self::default()
        }
    }
}

/// `PATH` and, where program names have endings, `PATHEXT`: read when a credential plugin is run.
pub(crate) fn search_path() -> (Option<OsString>, Vec<OsString>) {
    let path = std::env::var_os("PATH").filter(|path| !path.is_empty());
    if !cfg!(windows) {
        return (path, vec![OsString::new()]);
    }
    let endings = std::env::var("PATHEXT").unwrap_or_else(|_| ".com;.exe;.bat;.cmd".to_owned());
    let endings = endings.split(';').filter(|ending| !ending.is_empty());
    (path, std::iter::once("").chain(endings).map(OsString::from).collect())
}

#[cfg(not(windows))]
fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// As kubectl: the first of three places that has a kubeconfig, else the first that is set.
#[cfg(windows)]
fn home() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let drive = set("HOMEDRIVE").zip(set("HOMEPATH")).map(|(mut drive, path)| {
        drive.push(path);
        drive
    });
    let places: Vec<PathBuf> =
        [set("HOME"), drive, set("USERPROFILE")].into_iter().flatten().map(PathBuf::from).collect();
    let with_config = places.iter().find(|home| home.join(".kube").join("config").exists());
    with_config.or(places.first()).cloned()
}
