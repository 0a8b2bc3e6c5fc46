//! The resolved configuration of a client.

use std::fmt;

use url::Url;

use super::file_format::AuthInfo;
use super::proxy::EnvironmentProxies;
use super::{ConnectionOptions, Error, ExecCluster, PluginPolicy, TokenStore, Trust};

/// The resolved configuration of a [`crate::api::Client`].
#[derive(Clone)]
pub struct Config {
    pub(super) url: Url,
    pub(super) context: String,
    pub(super) namespace: String,
    pub(super) user: AuthInfo,
    pub(super) trust: Trust,
    /// The description of the server for the user's credential plugin.
    pub(super) exec_cluster: Option<ExecCluster>,
    pub(super) disable_compression: bool,
    pub(super) connection_options: ConnectionOptions,
    pub(super) proxies: EnvironmentProxies,
    pub(super) stdin_is_terminal: bool,
    pub(super) plugin_policy: PluginPolicy,
    pub(super) spare_refresh_tokens: bool,
    /// The file and user whose tokens are saved after a refresh.
    pub(super) token_store: Option<TokenStore>,
}

impl Config {
    /// Returns a configuration for a server without credentials, with the system's trust and the namespace `default`.
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
            connection_options: ConnectionOptions::default(),
            proxies: EnvironmentProxies::default(),
            stdin_is_terminal: false,
            plugin_policy: PluginPolicy::AllowAll,
            spare_refresh_tokens: false,
            token_store: None,
        })
    }

    /// Returns the server's URL, without credentials and without a trailing slash.
    #[must_use]
    pub fn server(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Returns the name of the selected context, empty without one.
    #[must_use]
    pub fn context(&self) -> &str {
        &self.context
    }

    /// Returns the namespace of requests that name none.
    #[must_use]
    pub fn default_namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the `host:port` of the URL.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Returns the server's URL, with a slash if it has no path.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the options of connections to the server.
    pub(crate) fn connection_options(&self) -> &ConnectionOptions {
        &self.connection_options
    }

    /// Sets the interval and the timeout of pings.
    #[cfg(test)]
    pub(crate) fn with_pings(mut self, after: std::time::Duration, timeout: std::time::Duration) -> Self {
        (self.connection_options.ping_after, self.connection_options.ping_timeout) = (Some(after), timeout);
        self
    }

    /// Returns the resolved credentials, with at most one login method.
    pub(crate) fn user(&self) -> &AuthInfo {
        &self.user
    }

    #[cfg(test)]
    pub(crate) fn user_mut(&mut self) -> &mut AuthInfo {
        &mut self.user
    }

    /// Returns the authorities that servers' certificates are verified against.
    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Returns the description of the server for the user's plugin; `None` when the plugin receives none.
    pub(crate) fn exec_cluster(&self) -> Option<&ExecCluster> {
        self.exec_cluster.as_ref()
    }

    /// Returns whether uncompressed responses are requested.
    pub(crate) fn disables_compression(&self) -> bool {
        self.disable_compression
    }

    #[cfg(test)]
    pub(crate) fn with_terminal(self) -> Self {
        Self { stdin_is_terminal: true, ..self }
    }

    /// Removes the proxy of the server.
    pub(crate) fn without_proxy(mut self) -> Self {
        self.connection_options.proxy = None;
        self
    }

    /// Returns the options of connections to another server, such as a token issuer: through the environment's
    /// proxies, in the same protocol.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unsupported proxy.
    pub(crate) fn connection_options_to(&self, other: &Url) -> Result<ConnectionOptions, Error> {
        let proxy = self.proxies.for_server(other);
        let proxy =
            proxy.map_err(|why| Error::Invalid(format!("the proxy of the environment has an {why}")))?;
        Ok(ConnectionOptions { proxy, server_name: None, ..self.connection_options.clone() })
    }

    /// Returns whether refresh tokens must not be used.
    pub(crate) fn spares_refresh_tokens(&self) -> bool {
        self.spare_refresh_tokens
    }

    /// Returns the place where the user's tokens are saved.
    pub(crate) fn token_store(&self) -> Option<&TokenStore> {
        self.token_store.as_ref()
    }

    /// Returns the policy for credential plugins.
    pub(crate) fn plugin_policy(&self) -> &PluginPolicy {
        &self.plugin_policy
    }

    /// Returns whether a credential plugin may prompt the user.
    pub(crate) fn stdin_is_terminal(&self) -> bool {
        self.stdin_is_terminal
    }
}

/// Shows the server, context and namespace, never a credential.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("server", &self.server())
            .field("context", &self.context)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// Parses the URL of a server as kubectl does: a path is kept, query and fragment are dropped, and a missing scheme
/// is https when anything about TLS is configured, else http.
pub(super) fn server_url(text: &str, has_tls: bool) -> Result<Url, Error> {
    let text = text.trim();
    let scheme = if has_tls { "https" } else { "http" };
    let full = if text.contains("://") { text.to_owned() } else { format!("{scheme}://{text}") };
    let mut url = Url::parse(&full).map_err(|_| not_a_server(text))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(not_a_server(text));
    }
    // User and password in a URL are dropped, since messages show the URL.
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
