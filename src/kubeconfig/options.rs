//! The options of a configuration from flags and the environment, before any file is read.

use std::ffi::OsString;
use std::path::PathBuf;

use super::EnvironmentProxies;
use super::PluginPolicy;
use super::Secret;

/// The sources of a configuration and the settings that override them. [`super::Config::load`] validates them.
///
/// An empty text counts as absent, as with kubectl's flags. Paths are used as they are; those in a file are relative
/// to it.
///
/// ```
/// use kdelta::kubeconfig::{Config, ConfigOptions};
///
/// let options = ConfigOptions::default().server(Some("https://127.0.0.1:6443".to_owned()));
/// let config = Config::load(&options)?;
/// assert_eq!(config.authority(), "127.0.0.1:6443");
/// # Ok::<(), kdelta::kubeconfig::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own, as on the command line")]
#[non_exhaustive]
pub struct ConfigOptions {
    /// The one file to read; it must exist.
    pub kubeconfig: Option<PathBuf>,
    /// The value of `KUBECONFIG`: a list of files that are merged. Missing files are skipped.
    pub kubeconfig_env: Option<OsString>,
    /// The user's home. Its `.kube/config` is read when no file is named.
    pub home: Option<PathBuf>,
    /// The context to use instead of the current one.
    pub context: Option<String>,
    /// The cluster to use instead of the context's.
    pub cluster: Option<String>,
    /// The user to use instead of the context's.
    pub user: Option<String>,
    /// The server's URL or `host:port`, instead of the cluster's.
    pub server: Option<String>,
    /// The server if no other source names one (`KUBERNETES_MASTER`).
    pub default_server: Option<String>,
    /// A bearer token.
    pub token: Option<Secret>,
    /// A file with a bearer token, reread about every minute.
    pub token_file: Option<PathBuf>,
    /// The user name for basic authentication.
    pub username: Option<String>,
    /// The password for basic authentication.
    pub password: Option<Secret>,
    /// The user to impersonate.
    pub as_user: Option<String>,
    /// The uid to impersonate.
    pub as_uid: Option<String>,
    /// The groups to impersonate.
    pub as_groups: Vec<String>,
    /// Extra fields of the impersonated user: keys, which may repeat, and values.
    pub as_extra: Vec<(String, String)>,
    /// PEM file of the authorities that the server's certificate is verified against.
    pub certificate_authority: Option<PathBuf>,
    /// PEM file of the client certificate.
    pub client_certificate: Option<PathBuf>,
    /// PEM file of the client certificate's key.
    pub client_key: Option<PathBuf>,
    /// Whether the server's certificate is not verified.
    pub insecure_skip_tls_verify: bool,
    /// The name that the server's certificate is verified against, instead of the URL's host.
    pub tls_server_name: Option<String>,
    /// A `http`, `https` or `socks5` proxy, instead of the cluster's or the environment's; it may hold a password.
    pub proxy_url: Option<Secret>,
    /// Whether to request uncompressed responses.
    pub disable_compression: bool,
    /// Whether to speak HTTP/1.1 only (`DISABLE_HTTP2`).
    pub http1_only: bool,
    /// The environment's proxies, used if neither flag nor cluster name one.
    pub proxies: EnvironmentProxies,
    /// The maximum number of watches with a dedicated connection, over which a busy server sends events sooner;
    /// further watches share HTTP/2 connections (`KDELTA_WATCH_CONNECTIONS`). 8 unless it is a number.
    pub watch_connections: Option<String>,
    /// Seconds of silence after which a connection is pinged (`HTTP2_READ_IDLE_TIMEOUT_SECONDS`).
    pub http2_read_idle_timeout: Option<String>,
    /// Maximum seconds for the response to a ping (`HTTP2_PING_TIMEOUT_SECONDS`).
    pub http2_ping_timeout: Option<String>,
    /// Whether standard input is a terminal at which a credential plugin may prompt the user: the plugin then has
    /// exclusive use of this process's standard input and standard error. Otherwise it has no input, and its standard
    /// error is reported as [`crate::client::Notice::Plugin`].
    pub stdin_is_terminal: bool,
    /// Which credential plugins may run.
    pub plugin_policy: PluginPolicy,
    /// Whether a refresh token of `OpenID` Connect must not be used: an expired id-token is an error then. For
    /// programs that may be killed at any moment, which would lose the new token after the old one was spent.
    pub spare_refresh_tokens: bool,
    /// The environment of a pod, from which it finds its own server.
    pub in_cluster: InCluster,
}

setters!(ConfigOptions {
    kubeconfig: Option<PathBuf>,
    kubeconfig_env: Option<OsString>,
    home: Option<PathBuf>,
    context: Option<String>,
    cluster: Option<String>,
    user: Option<String>,
    server: Option<String>,
    default_server: Option<String>,
    token: Option<Secret>,
    token_file: Option<PathBuf>,
    username: Option<String>,
    password: Option<Secret>,
    as_user: Option<String>,
    as_uid: Option<String>,
    as_groups: Vec<String>,
    as_extra: Vec<(String, String)>,
    certificate_authority: Option<PathBuf>,
    client_certificate: Option<PathBuf>,
    client_key: Option<PathBuf>,
    insecure_skip_tls_verify: bool,
    tls_server_name: Option<String>,
    proxy_url: Option<Secret>,
    disable_compression: bool,
    http1_only: bool,
    proxies: EnvironmentProxies,
    watch_connections: Option<String>,
    http2_read_idle_timeout: Option<String>,
    http2_ping_timeout: Option<String>,
    stdin_is_terminal: bool,
    plugin_policy: PluginPolicy,
    spare_refresh_tokens: bool,
    in_cluster: InCluster,
});

/// The environment of a pod, from which it finds its own server.
#[derive(Debug, Clone)]
#[non_exhaustive]
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

setters!(InCluster {
    host: Option<String>,
    port: Option<String>,
    namespace: Option<String>,
    folder: PathBuf,
});

impl ConfigOptions {
    /// Reads the environment of this process: `KUBECONFIG`, `HOME`, `KUBERNETES_MASTER`, `DISABLE_HTTP2`,
    /// `KDELTA_WATCH_CONNECTIONS`, `HTTP2_READ_IDLE_TIMEOUT_SECONDS`, `HTTP2_PING_TIMEOUT_SECONDS`, `HTTP_PROXY`,
    /// `HTTPS_PROXY`, `NO_PROXY`, and a pod's `KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT` and
    /// `POD_NAMESPACE`. The library reads no other variable except `PATH`, in which it searches for a credential
    /// plugin.
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Reads the variables of [`ConfigOptions::from_env`] with `variable`. An empty variable counts as not set, and one
    /// that is not UTF-8 too, unless it holds paths.
    #[must_use]
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| set(name).and_then(|value| value.into_string().ok());
        let either = |name: &str| text(name).or_else(|| text(&name.to_lowercase()));
        Self {
            kubeconfig_env: set("KUBECONFIG"),
            home: home(set, cfg!(windows)),
            default_server: text("KUBERNETES_MASTER"),
            http1_only: text("DISABLE_HTTP2").is_some(),
            proxies: EnvironmentProxies {
                http: either("HTTP_PROXY").map(Secret::from),
                https: either("HTTPS_PROXY").map(Secret::from),
                no_proxy: either("NO_PROXY"),
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

/// Returns `PATH` and, on systems where program names have extensions, `PATHEXT`. Read when a credential plugin runs.
pub(crate) fn search_path() -> (Option<OsString>, Vec<OsString>) {
    let path = std::env::var_os("PATH").filter(|path| !path.is_empty());
    if !cfg!(windows) {
        return (path, vec![OsString::new()]);
    }
    let endings = std::env::var("PATHEXT").unwrap_or_else(|_| ".com;.exe;.bat;.cmd".to_owned());
    let endings = endings.split(';').filter(|ending| !ending.is_empty());
    (path, std::iter::once("").chain(endings).map(OsString::from).collect())
}

/// Returns the home as kubectl does: on Windows the first of three folders with a kubeconfig, else the first that is
/// set (client-go's `homedir`).
fn home(set: impl Fn(&str) -> Option<OsString>, is_windows: bool) -> Option<PathBuf> {
    if !is_windows {
        return set("HOME").map(PathBuf::from);
    }
    let drive = set("HOMEDRIVE").zip(set("HOMEPATH")).map(|(mut drive, path)| {
        drive.push(path);
        drive
    });
    let places: Vec<PathBuf> =
        [set("HOME"), drive, set("USERPROFILE")].into_iter().flatten().map(PathBuf::from).collect();
    let with_config = places.iter().find(|home| home.join(".kube").join("config").exists());
    with_config.or(places.first()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn empty_variables_are_not_set() {
        let options = ConfigOptions::from_variables(variables(&[
            ("KUBECONFIG", ""),
            ("HOME", ""),
            ("DISABLE_HTTP2", ""),
            ("https_proxy", "http://p:1"),
        ]));
        assert_eq!((options.kubeconfig_env, options.home, options.http1_only), (None, None, false));
        assert_eq!(options.proxies.https.expect("a proxy").expose(), "http://p:1");
    }

    #[test]
    fn home_on_windows_is_the_first_place_with_a_kubeconfig() {
        let [with_config, without] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        std::fs::create_dir(with_config.path().join(".kube")).expect("a folder");
        std::fs::write(with_config.path().join(".kube").join("config"), "").expect("a file");
        let [with_config, without] = [&with_config, &without].map(|dir| dir.path().to_str().expect("UTF-8"));
        for (pairs, expected) in [
            (&[("USERPROFILE", with_config)][..], Some(with_config)),
            (&[("HOME", without), ("USERPROFILE", with_config)], Some(with_config)),
            (&[("HOME", without), ("USERPROFILE", "/none")], Some(without)),
            (&[("HOMEDRIVE", without), ("HOMEPATH", "/x")], Some(&*format!("{without}/x"))),
            (&[("HOMEPATH", "/x")], None),
        ] {
            assert_eq!(home(variables(pairs), true), expected.map(PathBuf::from), "{pairs:?}");
        }
        let elsewhere = [("USERPROFILE", with_config)];
        assert_eq!(home(variables(&elsewhere), false), None);
    }
}
