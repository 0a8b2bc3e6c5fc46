//! The part of a configuration that a credential plugin receives.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use super::file_format::Cluster;

/// The server as a plugin with `provideClusterInfo` receives it, in client-go's field order.
#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ExecCluster {
    pub(crate) server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls_server_name: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) insecure_skip_tls_verify: bool,
    /// Base64 of the authority's PEM text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certificate_authority_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proxy_url: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) disable_compression: bool,
    /// The cluster's extension for plugins; `null` without one.
    pub(crate) config: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl ExecCluster {
    /// Collects the fields of a resolved cluster. `authority` is the PEM text of its authority.
    pub(crate) fn new(cluster: &Cluster, authority: Option<&[u8]>) -> Self {
        Self {
            server: cluster.server.clone().unwrap_or_default(),
            tls_server_name: cluster.tls_server_name.clone(),
            insecure_skip_tls_verify: cluster.insecure_skip_tls_verify.unwrap_or_default(),
            certificate_authority_data: authority.map(|pem| STANDARD.encode(pem)),
            proxy_url: cluster.proxy_url.clone(),
            disable_compression: cluster.disable_compression.unwrap_or_default(),
            config: cluster.exec_extension().cloned(),
        }
    }
}
