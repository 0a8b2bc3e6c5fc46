//! The cluster of a configuration: the file's, the flags' above it, and what may not stand together.

use std::path::Path;

use kube_client::config::Cluster;
use reqwest::Url;

use super::{ConfigOptions, given, path_text};
use crate::api::error::Error;
use crate::api::failure::system_words;

/// Lays the flags over the cluster of the file, as kubectl does: a server takes the file's `tls-server-name` away, an
/// authority takes its authority data and its insecurity, insecurity takes its authority.
pub(super) fn override_with(mut cluster: Cluster, options: &ConfigOptions) -> Cluster {
    let server = given(options.server.as_ref());
    let name = given(options.tls_server_name.as_ref());
    if server.is_some() || name.is_some() {
        cluster.tls_server_name = name;
    }
    if server.is_some() {
        cluster.server = server;
    }
    cluster.server = given(cluster.server.as_ref()).or_else(|| given(options.default_server.as_ref()));
    let authority = options.certificate_authority.as_deref().and_then(path_text);
    if options.insecure_skip_tls_verify || authority.is_some() {
        cluster.insecure_skip_tls_verify = Some(options.insecure_skip_tls_verify);
        cluster.certificate_authority = authority;
        cluster.certificate_authority_data = None;
    }
    cluster.proxy_url = given(options.proxy_url.as_ref()).or_else(|| given(cluster.proxy_url.as_ref()));
    if options.disable_compression {
        cluster.disable_compression = Some(true);
    }
    cluster.tls_server_name = given(cluster.tls_server_name.as_ref());
    cluster.certificate_authority = given(cluster.certificate_authority.as_ref());
    cluster.certificate_authority_data = given(cluster.certificate_authority_data.as_ref());
    cluster
}

/// Refuses what contradicts itself or can't be read.
pub(super) fn check(name: &str, cluster: &Cluster) -> Result<(), Error> {
    let invalid = |why: String| Err(Error::Invalid(format!("invalid configuration: {why}")));
    if cluster.certificate_authority.is_some() && cluster.certificate_authority_data.is_some() {
        return invalid(format!(
            "certificate-authority-data and certificate-authority are both specified for {name}. \
             certificate-authority-data will override."
        ));
    }
    if let Some(file) = &cluster.certificate_authority
        && let Err(error) = std::fs::File::open(Path::new(file))
    {
        return invalid(format!(
            "unable to read certificate-authority {file} for {name} due to open {file}: {}",
            system_words(&error)
        ));
    }
    let has_authority =
        cluster.certificate_authority.is_some() || cluster.certificate_authority_data.is_some();
    if has_authority && cluster.insecure_skip_tls_verify == Some(true) {
        return invalid(
            "specifying a root certificates file with the insecure flag is not allowed".to_owned(),
        );
    }
    let proxy = cluster.proxy_url.as_deref().map(|proxy| proxy_scheme(name, proxy)).transpose()?;
    if let Some(server_name) = &cluster.tls_server_name {
        if server_name.parse::<std::net::IpAddr>().is_ok() {
            return invalid(format!(
                "tls-server-name {server_name:?} is an address; only a host name can be checked"
            ));
        }
        if proxy.is_some_and(|scheme| scheme != "socks5") {
            return invalid("tls-server-name can't be used behind a http or https proxy".to_owned());
        }
    }
    Ok(())
}

fn proxy_scheme(cluster: &str, proxy: &str) -> Result<String, Error> {
    let why = match Url::parse(proxy) {
        Ok(url) if matches!(url.scheme(), "http" | "https" | "socks5") => return Ok(url.scheme().to_owned()),
        Ok(url) => format!("unsupported scheme {:?}, must be http, https, or socks5", url.scheme()),
        Err(error) => error.to_string(),
    };
    Err(Error::Invalid(format!("invalid configuration: invalid 'proxy-url' for cluster {cluster:?}: {why}")))
}
