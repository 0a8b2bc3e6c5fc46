//! The cluster of a configuration: flags applied over the file's entry, then validated.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::{CertificateDer, ServerName};
use url::Url;

use super::optional_text::{non_empty, path_text};
use crate::kubeconfig::Error;
use crate::kubeconfig::Secret;
use crate::kubeconfig::file_format::Cluster;
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};
use crate::kubeconfig::{ConfigOptions, ConnectionOptions, Proxy, certificates};
use crate::listwatch::system_words;

/// Applies the flags to the cluster of the file, as kubectl does: a server removes the file's `tls-server-name`, an
/// authority removes its authority data and its insecure setting, and the insecure setting removes its authority.
pub(crate) fn apply_options(mut cluster: Cluster, options: &ConfigOptions) -> Cluster {
    let server = non_empty(options.server.as_ref());
    let name = non_empty(options.tls_server_name.as_ref());
    if server.is_some() || name.is_some() {
        cluster.tls_server_name = name;
    }
    if server.is_some() {
        cluster.server = server;
    }
    cluster.server =
        non_empty(cluster.server.as_ref()).or_else(|| non_empty(options.default_server.as_ref()));
    let authority = options.certificate_authority.as_deref().and_then(path_text);
    if options.insecure_skip_tls_verify || authority.is_some() {
        cluster.insecure_skip_tls_verify = Some(options.insecure_skip_tls_verify);
        cluster.certificate_authority = authority;
        cluster.certificate_authority_data = None;
    }
    let proxy = options.proxy_url.as_ref().map(Secret::expose).filter(|proxy| !proxy.is_empty());
    cluster.proxy_url = proxy.map(str::to_owned).or_else(|| non_empty(cluster.proxy_url.as_ref()));
    if options.disable_compression {
        cluster.disable_compression = Some(true);
    }
    cluster.tls_server_name = non_empty(cluster.tls_server_name.as_ref());
    cluster.certificate_authority = non_empty(cluster.certificate_authority.as_ref());
    cluster.certificate_authority_data = non_empty(cluster.certificate_authority_data.as_ref());
    cluster
}

/// Replaces the authority's file by its data. Returns the contradictions and unreadable files.
pub(crate) fn settle(name: &str, cluster: &mut Cluster) -> Vec<String> {
    let mut problems = Vec::new();
    if cluster.certificate_authority.is_some() && cluster.certificate_authority_data.is_some() {
        problems.push(format!(
            "certificate-authority-data and certificate-authority are both specified for {name}. \
             certificate-authority-data will override."
        ));
    }
    if let Some(file) = cluster.certificate_authority.take() {
        match local_file::read(Path::new(&file), CREDENTIAL_LIMIT) {
            Ok(bundle) => cluster.certificate_authority_data = Some(STANDARD.encode(bundle)),
            Err(error) => problems.push(format!(
                "unable to read certificate-authority {file} for {name} due to open {file}: {}",
                system_words(&error)
            )),
        }
    }
    if cluster.certificate_authority_data.is_some() && cluster.insecure_skip_tls_verify == Some(true) {
        problems.push("specifying a root certificates file with the insecure flag is not allowed".to_owned());
    }
    problems
}

/// Decodes the authority data of a resolved cluster: the PEM text, and the certificates in it.
pub(crate) fn authorities(cluster: &Cluster) -> Result<Option<Authorities>, Error> {
    let invalid = |why: &str| Error::Invalid(format!("unable to load root certificates: {why}"));
    let Some(data) = &cluster.certificate_authority_data else { return Ok(None) };
    // The data may be folded over several lines.
    let bundle = STANDARD.decode(data.split_ascii_whitespace().collect::<String>());
    let bundle = bundle.map_err(|_| invalid("illegal base64 data"))?;
    let certificates = certificates(&bundle).map_err(invalid)?;
    Ok(Some((bundle, certificates)))
}

type Authorities = (Vec<u8>, Vec<CertificateDer<'static>>);

/// Returns the connection options for the server at this URL, with the cluster's proxy or else the environment's.
pub(crate) fn connection_options(
    name: &str,
    cluster: &Cluster,
    url: &Url,
    options: &ConfigOptions,
) -> Result<ConnectionOptions, Error> {
    let invalid = |why: String| Error::Contradictory(vec![why]);
    let proxy = match &cluster.proxy_url {
        Some(text) => Some(Proxy::parse(text).map_err(|why| {
            let shown = without_login(text);
            Error::Invalid(format!("invalid 'proxy-url' {shown:?} for cluster {name:?}: {why}"))
        })?),
        None => options
            .proxies
            .for_server(url)
            .map_err(|why| invalid(format!("the proxy of the environment has an {why}")))?,
    };
    let server_name = cluster.tls_server_name.as_ref().filter(|_| url.scheme() == "https");
    let server_name = server_name.map(|text| {
        ServerName::try_from(text.clone())
            .map_err(|_| invalid(format!("tls-server-name {text:?} is neither a host name nor an address")))
    });
    let connection_options = ConnectionOptions {
        proxy,
        server_name: server_name.transpose()?,
        http1_only: options.http1_only,
        ..ConnectionOptions::default()
    };
    let connection_options = connection_options.with_dedicated_watches(options.watch_connections.as_deref());
    Ok(connection_options
        .with_pings(options.http2_read_idle_timeout.as_deref(), options.http2_ping_timeout.as_deref()))
}

/// Removes user and password from a URL.
fn without_login(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{}", rest.rsplit('@').next().unwrap_or_default())
}
