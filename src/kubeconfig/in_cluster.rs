//! What a pod is told about its own server.

use super::file_format::{AuthInfo, Cluster};
use super::options::InCluster;
use super::{given, path_text};
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};

/// Whether we run in a pod that was given a service account.
pub(crate) fn is_possible(pod: &InCluster) -> bool {
    given(pod.host.as_ref()).is_some()
        && given(pod.port.as_ref()).is_some()
        && std::fs::metadata(pod.folder.join("token")).is_ok_and(|token| !token.is_dir())
}

/// The pod's server with its authority, and the service account's token file.
pub(crate) fn parts(pod: &InCluster) -> (Cluster, AuthInfo) {
    let host = pod.host.as_deref().unwrap_or_default();
    let port = pod.port.as_deref().unwrap_or_default();
    let server = if host.contains(':') {
        format!("https://[{host}]:{port}")
    } else {
        format!("https://{host}:{port}")
    };
    let authority = pod.folder.join("ca.crt");
    let cluster = Cluster {
        server: Some(server),
        // Without it the system's roots are all there is; kubectl goes on as well.
        certificate_authority: if authority.is_file() { path_text(&authority) } else { None },
        ..Cluster::default()
    };
    let user = AuthInfo { token_file: path_text(&pod.folder.join("token")), ..AuthInfo::default() };
    (cluster, user)
}

/// The pod's namespace: what it was told, else the service account's.
pub(crate) fn namespace(pod: &InCluster) -> Option<String> {
    given(pod.namespace.as_ref()).or_else(|| {
        let text = local_file::read_text(&pod.folder.join("namespace"), CREDENTIAL_LIMIT).ok()?;
        given(Some(&text.trim().to_owned()))
    })
}
