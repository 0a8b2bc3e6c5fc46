//! The configuration of a pod from its service account and environment.

use super::optional_text::{non_empty, path_text};
use crate::kubeconfig::file_format::{AuthInfo, Cluster};
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};
use crate::kubeconfig::options::InCluster;

/// Returns whether the process runs in a pod with a service account.
pub(crate) fn is_possible(pod: &InCluster) -> bool {
    non_empty(pod.host.as_ref()).is_some()
        && non_empty(pod.port.as_ref()).is_some()
        && std::fs::metadata(pod.folder.join("token")).is_ok_and(|token| !token.is_dir())
}

/// Returns the pod's server with its authority, and a user with the service account's token file.
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
        // Without the file only the system's roots are left; kubectl continues as well.
        certificate_authority: if authority.is_file() { path_text(&authority) } else { None },
        ..Cluster::default()
    };
    let user = AuthInfo { token_file: path_text(&pod.folder.join("token")), ..AuthInfo::default() };
    (cluster, user)
}

/// Returns the pod's namespace: that of the environment, else the service account's.
pub(crate) fn namespace(pod: &InCluster) -> Option<String> {
    non_empty(pod.namespace.as_ref()).or_else(|| {
        let text = local_file::read_text(&pod.folder.join("namespace"), CREDENTIAL_LIMIT).ok()?;
        non_empty(Some(&text.trim().to_owned()))
    })
}
