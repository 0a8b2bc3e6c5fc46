//! The options of a client.

use std::fmt;
use std::sync::Arc;

use crate::client::{Connector, CredentialPlugins, NoticeListener};
use crate::listwatch::DirectLists;

/// The options of a [`Client`](super::Client).
///
/// ```
/// use std::sync::Arc;
///
/// use kdelta::api::{Client, ClientOptions};
/// use kdelta::client::{CredentialPlugins, Notice};
/// use kdelta::kubeconfig::Config;
///
/// let plugins = CredentialPlugins::default();
/// let print = |notice: Notice<'_>| eprintln!("{notice:?}");
/// let options = ClientOptions::default().notices(Some(Arc::new(print))).credential_plugins(plugins.clone());
/// let client = Client::with_options(&Config::for_server("http://127.0.0.1:8001")?, options)?;
/// // Before the program exits.
/// plugins.end();
/// # drop(client);
/// # Ok::<(), kdelta::kubeconfig::Error>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Receives the notices of the client. With `None`, the default, they are dropped, and the standard error of a
    /// credential plugin is part of the error when it fails.
    pub notices: Option<NoticeListener>,
    /// The registry of the credential plugins that run for the client; by default a registry of its own.
    pub credential_plugins: CredentialPlugins,
    /// Opens the connections to the server. With `None`, the default, the client connects by TCP, through the proxy of
    /// the configuration if it has one; a connector is used without a proxy. Connections to a token issuer are
    /// unaffected.
    pub connector: Option<Connector>,
    /// Whether the server knows [`IncludeObject::Identity`](crate::wire::IncludeObject::Identity), as those of this
    /// library do. Rows of all namespaces then take one request.
    pub identifies_rows: bool,
    /// The lists of a server inside this process that need no requests. A reflector should list then, and not request the
    /// initial state in a watch: see [`ResourceClient::lists_directly`](crate::api::ResourceClient::lists_directly).
    pub direct_lists: Option<Arc<dyn DirectLists>>,
}

setters!(ClientOptions {
    notices: Option<NoticeListener>,
    credential_plugins: CredentialPlugins,
    connector: Option<Connector>,
    identifies_rows: bool,
    direct_lists: Option<Arc<dyn DirectLists>>,
});

/// Prints whether there is a listener.
impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions").field("has_listener", &self.notices.is_some()).finish_non_exhaustive()
    }
}
