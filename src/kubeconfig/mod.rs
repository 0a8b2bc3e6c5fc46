//! Where the server is and who we are to it: what kubeconfig files, flags and environment come to.

mod cluster;
mod connection_options;
mod error;
mod exec_cluster;
pub(crate) mod file_format;
mod files;
mod in_cluster;
mod load;
pub(crate) mod local_file;
mod options;
mod proxy;
mod secret;
#[cfg(test)]
mod tests;
mod token_store;
mod trust;
mod user;

pub(crate) use connection_options::Way;
pub use error::Error;
pub(crate) use exec_cluster::ExecCluster;
pub use load::Contexts;
pub(crate) use options::search_path;
pub use options::{ConfigOptions, InCluster};
pub use proxy::EnvironmentProxies;
pub(crate) use proxy::{Protocol, Proxy};
pub use secret::Secret;
pub(crate) use token_store::{Origin, end_of_writing};
pub(crate) use trust::{Trust, certificates};

use std::fmt;
use std::path::Path;

use url::Url;

use self::file_format::AuthInfo;

/// Everything that a [`crate::api::Client`] needs to know, settled.
#[derive(Clone)]
pub struct Config {
    url: Url,
    context: String,
    namespace: String,
    user: AuthInfo,
    trust: Trust,
    /// The description of the server for the user's plugin.
    exec_cluster: Option<ExecCluster>,
    disable_compression: bool,
    way: Way,
    proxies: EnvironmentProxies,
    stdin_is_terminal: bool,
    spare_refresh_tokens: bool,
    /// Where a user stands whose tokens are to be kept.
    origin: Option<Origin>,
}

impl Config {
    /// A server and nothing else: no credentials, the system's trust, namespace `default`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the text is not the URL of a server.
    pub fn for_server(server: &str) -> Result<Self, Error> {
        let url = server_url(server, false)?;
        Ok(Self {
            url,
            context: String::new(),
            namespace: "default".to_owned(),
            user: AuthInfo::default(),
            trust: Trust::System,
            exec_cluster: None,
            disable_compression: false,
            way: Way::default(),
            proxies: EnvironmentProxies::default(),
            stdin_is_terminal: false,
            spare_refresh_tokens: false,
            origin: None,
        })
    }

    /// Finds the configuration as kubectl does: files, then flags over them, then what a pod is told. Reads files,
    /// runs nothing and connects to nothing.
    ///
    /// # Errors
    /// [`Error`] by what has to be repaired, in kubectl's words.
    pub fn load(options: &ConfigOptions) -> Result<Self, Error> {
        load::load(options)
    }

    /// The server's URL, without credentials and without a slash at its end.
    #[must_use]
    pub fn server(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// The name of the chosen context; empty when none was.
    #[must_use]
    pub fn context(&self) -> &str {
        &self.context
    }

    /// The namespace of requests that name none.
    #[must_use]
    pub fn default_namespace(&self) -> &str {
        &self.namespace
    }

    /// `host:port` as the URL has it.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The server's URL with a slash at its end where it has no path.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// How it is reached.
    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    /// The same, with silence tried after so long and for so long.
    #[cfg(test)]
    pub(crate) fn with_pings(mut self, after: std::time::Duration, timeout: std::time::Duration) -> Self {
        (self.way.ping_after, self.way.ping_timeout) = (Some(after), timeout);
        self
    }

    /// The credentials, resolved: at most one way to log in is left.
    pub(crate) fn user(&self) -> &AuthInfo {
        &self.user
    }

    #[cfg(test)]
    pub(crate) fn user_mut(&mut self) -> &mut AuthInfo {
        &mut self.user
    }

    /// The trust in servers' certificates.
    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The description of the server for the user's plugin; `None` when the plugin receives none.
    pub(crate) fn exec_cluster(&self) -> Option<&ExecCluster> {
        self.exec_cluster.as_ref()
    }

    /// Whether the server is asked for uncompressed responses.
    pub(crate) fn disables_compression(&self) -> bool {
        self.disable_compression
    }

    #[cfg(test)]
    pub(crate) fn with_terminal(self) -> Self {
        Self { stdin_is_terminal: true, ..self }
    }

    /// How others than the server are reached: through the environment's proxies, in the same protocol.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a proxy that can't be spoken to.
    pub(crate) fn way_to(&self, other: &Url) -> Result<Way, Error> {
        let proxy = self.proxies.before(other);
        let proxy =
            proxy.map_err(|why| Error::Invalid(format!("the proxy of the environment has an {why}")))?;
        Ok(Way { proxy, server_name: None, ..self.way.clone() })
    }

    /// Whether a refresh token is to be left unspent.
    pub(crate) fn spares_refresh_tokens(&self) -> bool {
        self.spare_refresh_tokens
    }

    /// Where tokens of the user are kept.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Whether a credential plugin may ask its user.
    pub(crate) fn stdin_is_terminal(&self) -> bool {
        self.stdin_is_terminal
    }
}

/// Shows where it leads, never by what credentials.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("server", &self.server())
            .field("context", &self.context)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// Reads the URL of a server as kubectl does: a path is kept, query and fragment are dropped, and a missing scheme is
/// https when anything about TLS is configured, else http.
fn server_url(text: &str, has_tls: bool) -> Result<Url, Error> {
    let text = text.trim();
    let scheme = if has_tls { "https" } else { "http" };
    let full = if text.contains("://") { text.to_owned() } else { format!("{scheme}://{text}") };
    let mut url = Url::parse(&full).map_err(|_| not_a_server(text))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(not_a_server(text));
    }
    // What stands before an `@` is a credential; it is not taken from a URL that is shown in every message.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

fn not_a_server(text: &str) -> Error {
    let shown = text.rsplit('@').next().unwrap_or_default();
    Error::Invalid(format!("host must be a URL or a host:port pair: {shown:?}"))
}

/// A text that is there and not empty.
fn given(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

/// A path as kubeconfig holds one; an empty one is none.
fn path_text(path: &Path) -> Option<String> {
    given(Some(&path.to_string_lossy().into_owned()))
}
