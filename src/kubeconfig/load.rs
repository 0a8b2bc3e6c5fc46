//! From files, flags and a pod's environment to one settled configuration.

use std::path::PathBuf;

use super::Error;
use super::exec_cluster::ExecCluster;
use super::file_format::{AuthInfo, Cluster, Context, Kubeconfig};
use super::files::Files;
use super::{Config, ConfigOptions, Origin, Trust, cluster, files, given, in_cluster, server_url, user};

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
            users: files.users.into_iter().map(|named| named.name).collect(),
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

pub(crate) fn load(options: &ConfigOptions) -> Result<Config, Error> {
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
        Some(named) => named.context.clone(),
        None if asked.is_some() => return Err(Error::NoContext(context_name)),
        None if !context_name.is_empty() => return Err(Error::NoCurrentContext(context_name)),
        None => Context::default(),
    };
    let cluster_name = given(options.cluster.as_ref()).unwrap_or_else(|| context.cluster.clone());
    let cluster = match files.clusters.iter().find(|named| named.name == cluster_name) {
        Some(named) => named.cluster.clone(),
        None if given(options.cluster.as_ref()).is_some() => return Err(Error::NoCluster(cluster_name)),
        None if !cluster_name.is_empty() && given(options.server.as_ref()).is_none() => {
            return Err(Error::NoCluster(cluster_name));
        }
        None => Cluster::default(),
    };
    let user_name = given(options.user.as_ref()).or_else(|| context.user.clone()).unwrap_or_default();
    let user = match files.users.iter().find(|named| named.name == user_name) {
        Some(named) => named.user.clone(),
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

/// Checks the parts and joins them. `stands_in` is the user's file.
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
    let (bundle, authorities) = cluster::authorities(&parts.cluster)?.unzip();
    let trust = match (authorities, authority) {
        _ if parts.cluster.insecure_skip_tls_verify == Some(true) => Trust::Unverified,
        (None, _) => Trust::System,
        (Some(present), Some(file)) if in_pod => Trust::AuthorityFile(file.into(), present),
        (Some(authorities), _) => Trust::Authorities(authorities),
    };
    let has_plugin = parts.user.exec.as_ref().is_some_and(|exec| exec.provide_cluster_info);
    Ok(Config {
        url,
        context: parts.context_name,
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        exec_cluster: has_plugin.then(|| ExecCluster::new(&parts.cluster, bundle.as_deref())),
        disable_compression: parts.cluster.disable_compression.unwrap_or_default(),
        user: parts.user,
        trust,
        way,
        proxies: options.proxies.clone(),
        stdin_is_terminal: options.stdin_is_terminal,
        spare_refresh_tokens: options.spare_refresh_tokens,
        origin,
    })
}
