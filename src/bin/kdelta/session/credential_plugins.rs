//! The credential plugins that run for this process.

use std::sync::LazyLock;

use kdelta::client::CredentialPlugins;

/// A static: a signal may end the process before or after any session.
static CREDENTIAL_PLUGINS: LazyLock<CredentialPlugins> = LazyLock::new(CredentialPlugins::default);

/// Returns the credential plugins of all clients of this process.
pub(crate) fn credential_plugins() -> &'static CredentialPlugins {
    &CREDENTIAL_PLUGINS
}
