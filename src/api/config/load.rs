//! From files, flags and a pod's environment to one settled configuration.

use std::path::PathBuf;

use kube_client::config::{
    AuthInfo, Cluster, Context, Kubeconfig, KubeconfigError, LoadDataError, NamedAuthInfo, NamedCluster,
    NamedContext,
};

use super::files::Files;
use super::{Config, ConfigOptions, Origin, cluster, files, given, in_cluster, server_url, user};
use crate::api::error::Error;

/// The contexts that the files have, and what contexts are made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contexts {
    /// Their names, in the order of the files.
    pub names: Vec<String>,
    /// The current one, which need not exist.
    pub current: Option<String>,
    /// The names of the clusters, in the order of the files.
    pub clusters: Vec<String>,
    /// The names of the users, in the order of the files.
    pub users: Vec<String>,
}

impl Contexts {
    /// Reads the files that the options name.
    ///
    /// # Errors
    /// As [`Config::load`], for the files only.
    pub fn load(options: &ConfigOptions) -> Result<Self, Error> {
        let files = files::read(options)?.merged;
        Ok(Self {
            names: files.contexts.into_iter().map(|named| named.name).collect(),
            current: files.current_context,
            clusters: files.clusters.into_iter().map(|named| named.name).collect(),
            users: files.auth_infos.into_iter().map(|named| named.name).collect(),
        })
    }
}

/// The three parts of a configuration, with the names they were found by.
struct Parts {
    context_name: String,
    context: Context,
    cluster_name: String,
    cluster: Cluster,
    user_name: String,
    user: AuthInfo,
}

pub(super) fn load(options: &ConfigOptions) -> Result<Config, Error> {
    let Files { merged: files, users } = files::read(options)?;
    let mut parts = find(&files, options)?;
    parts.cluster = cluster::override_with(parts.cluster, options);
    let mut in_pod = false;
    if parts.cluster.server.is_none() {
        if !parts.cluster_name.is_empty() {
            return Err(Error::Invalid(format!(
                "invalid configuration: no server found for cluster {:?}",
                parts.cluster_name
            )));
        }
        if !in_cluster::is_possible(&options.in_cluster) {
            return Err(no_server(&files));
        }
        let (cluster, user) = in_cluster::parts(&options.in_cluster);
        parts.cluster = cluster::override_with(cluster, options);
        parts.user = user;
        in_pod = true;
    }
    parts.user = user::override_with(parts.user, options);
    let stands_in = users.get(&parts.user_name).cloned();
    settle(parts, options, stands_in, in_pod)
}

/// Looks the parts up. What a flag names must exist; so must the current context and its cluster. A context's user
/// need not, as with kubectl: its requests are anonymous.
fn find(files: &Kubeconfig, options: &ConfigOptions) -> Result<Parts, Error> {
    let asked = given(options.context.as_ref());
    let context_name = asked.clone().or_else(|| files.current_context.clone()).unwrap_or_default();
    let found = files.contexts.iter().find(|named| named.name == context_name);
    let context = match found {
        Some(named) => named.context.clone().unwrap_or_default(),
        None if asked.is_some() => return Err(Error::NoContext(context_name)),
        None if !context_name.is_empty() => return Err(Error::NoCurrentContext(context_name)),
        None => Context::default(),
    };
    let cluster_name = given(options.cluster.as_ref()).unwrap_or_else(|| context.cluster.clone());
    let cluster = match files.clusters.iter().find(|named| named.name == cluster_name) {
        Some(named) => named.cluster.clone().unwrap_or_default(),
        None if given(options.cluster.as_ref()).is_some() => return Err(Error::NoCluster(cluster_name)),
        None if !cluster_name.is_empty() && given(options.server.as_ref()).is_none() => {
            return Err(Error::NoCluster(cluster_name));
        }
        None => Cluster::default(),
    };
    let user_name = given(options.user.as_ref()).or_else(|| context.user.clone()).unwrap_or_default();
    let user = match files.auth_infos.iter().find(|named| named.name == user_name) {
        Some(named) => named.auth_info.clone().unwrap_or_default(),
        None if given(options.user.as_ref()).is_some() => return Err(Error::NoUser(user_name)),
        None => AuthInfo::default(),
    };
    Ok(Parts { context_name, context, cluster_name, cluster, user_name, user })
}

fn no_server(files: &Kubeconfig) -> Error {
    if files.contexts.is_empty() {
        return Error::NotConfigured;
    }
    let names: Vec<&str> = files.contexts.iter().map(|named| named.name.as_str()).collect();
    Error::Invalid(format!("invalid configuration: no context chosen; there are: {}", names.join(", ")))
}

/// Checks the parts and joins them; kube-client reads the files of certificates. `stands_in` is the user's file.
fn settle(
    mut parts: Parts,
    options: &ConfigOptions,
    stands_in: Option<PathBuf>,
    in_pod: bool,
) -> Result<Config, Error> {
    let authority = parts.cluster.certificate_authority.clone();
    cluster::settle(&parts.cluster_name, &mut parts.cluster)?;
    parts.user = user::settle(&parts.user_name, parts.user)?;
    let has_tls = parts.cluster.certificate_authority_data.is_some()
        || parts.cluster.insecure_skip_tls_verify == Some(true)
        || parts.user.client_certificate.is_some()
        || parts.user.client_certificate_data.is_some();
    let url = server_url(parts.cluster.server.as_deref().unwrap_or_default(), has_tls)?;
    if url.scheme() != "https" {
        parts.user = user::without_credentials(parts.user);
    }
    // A plugin is told the server as it stands in the file, without a slash that only a URL adds.
    let has_slash = parts.cluster.server.as_ref().is_some_and(|server| server.ends_with('/'));
    let told = if has_slash { url.as_str() } else { url.as_str().trim_end_matches('/') };
    parts.cluster.server = Some(told.to_owned());
    let namespace = given(parts.context.namespace.as_ref());
    let namespace = namespace.or_else(|| {
        if in_cluster::is_possible(&options.in_cluster) {
            in_cluster::namespace(&options.in_cluster)
        } else {
            None
        }
    });
    let origin = stands_in
        .filter(|_| parts.user.auth_provider.is_some())
        .map(|file| Origin { file, user: parts.user_name.clone() });
    let way = cluster::way(&parts.cluster_name, &parts.cluster, &url, options)?;
    let context = parts.context_name.clone();
    // Where the cluster names none kube-client would read the environment's proxy, by rules of its own.
    let names_proxy = parts.cluster.proxy_url.is_some();
    parts.cluster.proxy_url.get_or_insert_with(|| NO_PROXY.to_owned());
    let mut kube = kube_client::Config::try_from(joined(parts)).map_err(unusable)?;
    if !names_proxy {
        kube.proxy_url = None;
        if let Some(cluster) = kube.auth_info.exec.as_mut().and_then(|exec| exec.cluster.as_mut()) {
            cluster.proxy_url = None;
        }
    }
    if kube.root_cert.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::Invalid(
            "unable to load root certificates: unable to parse bytes as PEM block".to_owned(),
        ));
    }
    if in_pod {
        kube.root_cert_file = authority.map(Into::into);
    }
    Ok(Config {
        url,
        context,
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        kube,
        way,
        proxies: options.proxies.clone(),
        stdin_is_terminal: options.stdin_is_terminal,
        spare_refresh_tokens: options.spare_refresh_tokens,
        origin,
    })
}

/// A proxy that nothing is sent to.
const NO_PROXY: &str = "http://127.0.0.1";

/// A kubeconfig of one context, for kube-client to read.
fn joined(parts: Parts) -> Kubeconfig {
    let name = "settled".to_owned();
    Kubeconfig {
        clusters: vec![NamedCluster {
            name: name.clone(),
            cluster: Some(parts.cluster),
            ..Default::default()
        }],
        auth_infos: vec![NamedAuthInfo {
            name: name.clone(),
            auth_info: Some(parts.user),
            ..Default::default()
        }],
        contexts: vec![NamedContext {
            name: name.clone(),
            context: Some(Context { cluster: name.clone(), user: Some(name.clone()), ..parts.context }),
            ..Default::default()
        }],
        current_context: Some(name),
        ..Kubeconfig::default()
    }
}

fn unusable(error: KubeconfigError) -> Error {
    let why = match error {
        KubeconfigError::LoadCertificateAuthority(why) => {
            format!("unable to load root certificates: {}", data(&why))
        }
        KubeconfigError::ParseCertificates(why) => format!("unable to load root certificates: {why}"),
        other => format!("invalid configuration: {other}"),
    };
    Error::Invalid(why)
}

fn data(error: &LoadDataError) -> String {
    match error {
        LoadDataError::ReadFile(error, path) => format!("open {}: {error}", path.display()),
        LoadDataError::DecodeBase64(_) => "illegal base64 data".to_owned(),
        LoadDataError::NoBase64DataOrFile => error.to_string(),
    }
}
