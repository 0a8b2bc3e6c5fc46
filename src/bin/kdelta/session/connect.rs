//! From the settings of a connection to what the library is told of it.

use kdelta::api::ConfigOptions;

use crate::settings::Connection;

/// The environment's kubeconfig, and the flags over it.
pub(super) fn options(connection: &Connection, stdin_is_terminal: bool) -> ConfigOptions {
    let Connection {
        kubeconfig,
        context,
        cluster,
        user,
        server,
        token,
        token_file,
        username,
        password,
        impersonate,
        certificate_authority,
        client_certificate,
        client_key,
        tls_server_name,
        insecure_skip_tls_verify,
        disable_compression,
        request_timeout: _,
        cache_dir: _,
    } = connection.clone();
    ConfigOptions {
        kubeconfig,
        context,
        cluster,
        user,
        server,
        token,
        token_file,
        username,
        password,
        as_user: impersonate.user,
        as_uid: impersonate.uid,
        as_groups: impersonate.groups,
        as_extra: impersonate.extra,
        certificate_authority,
        client_certificate,
        client_key,
        tls_server_name,
        insecure_skip_tls_verify,
        disable_compression,
        stdin_is_terminal,
        ..ConfigOptions::from_env()
    }
}
