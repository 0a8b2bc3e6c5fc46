//! Where the server is and who we are to it: what kubeconfig files, flags and environment come to.

mod cluster;
mod files;
mod in_cluster;
mod load;
mod options;
#[cfg(test)]
mod tests;
mod user;

pub use load::Contexts;
pub use options::{ConfigOptions, InCluster};

use std::fmt;
use std::path::Path;

use reqwest::Url;

use super::error::Error;

/// Everything that a [`super::Client`] needs to know, settled.
#[derive(Clone)]
pub struct Config {
    url: Url,
    context: String,
    namespace: String,
    /// Trust and credentials, with the same server.
    kube: kube_client::Config,
    tls_server_name: Option<String>,
    proxy: Option<String>,
    http1_only: bool,
    stdin_is_terminal: bool,
}

impl Config {
    /// A server and nothing else: no credentials, the system's trust, namespace `default`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the text is not the URL of a server.
    pub fn for_server(server: &str) -> Result<Self, Error> {
        let url = server_url(server, false)?;
        let uri = url.as_str().parse().map_err(|_| not_a_server(server))?;
        Ok(Self {
            url,
            context: String::new(),
            namespace: "default".to_owned(),
            kube: kube_client::Config::new(uri),
            tls_server_name: None,
            proxy: None,
            http1_only: false,
            stdin_is_terminal: false,
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
        authority(&self.url)
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// The host; an IPv6 address in brackets.
    pub(super) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The URL with the host under which the certificate is checked: that of `tls-server-name` when it is set.
    pub(super) fn request_url(&self) -> Url {
        let mut url = self.url.clone();
        if let Some(name) = &self.tls_server_name {
            // A name that can't stand in a URL was refused when the configuration was made.
            let _ = url.set_host(Some(name));
        }
        url
    }

    pub(super) fn tls_server_name(&self) -> Option<&str> {
        self.tls_server_name.as_deref()
    }

    pub(super) fn proxy(&self) -> Option<&str> {
        self.proxy.as_deref()
    }

    /// `host:port` of the proxy, for messages.
    pub(super) fn proxy_authority(&self) -> Option<String> {
        self.proxy.as_ref().and_then(|proxy| Url::parse(proxy).ok()).as_ref().map(authority)
    }

    pub(super) fn http1_only(&self) -> bool {
        self.http1_only
    }

    pub(super) fn kube(&self) -> &kube_client::Config {
        &self.kube
    }

    #[cfg(test)]
    pub(super) fn kube_mut(&mut self) -> &mut kube_client::Config {
        &mut self.kube
    }

    #[cfg(test)]
    pub(super) fn with_terminal(self) -> Self {
        Self { stdin_is_terminal: true, ..self }
    }

    /// Whether a credential plugin may ask its user.
    pub(super) fn stdin_is_terminal(&self) -> bool {
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

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
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
