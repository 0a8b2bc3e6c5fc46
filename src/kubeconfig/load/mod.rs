//! Resolves files, flags and a pod's environment to one configuration.

mod cluster;
mod files;
mod format_message;
mod in_cluster;
mod optional_text;
mod user;

use std::path::PathBuf;

use crate::kubeconfig::Error;
use crate::kubeconfig::config::{Config, server_url};
use crate::kubeconfig::exec_cluster::ExecCluster;
use crate::kubeconfig::file_format::{AuthInfo, Cluster, Context, Kubeconfig};
use crate::kubeconfig::{ConfigOptions, TokenStore, Trust};
use files::Files;
use optional_text::non_empty;

/// The names of the contexts, clusters and users in the kubeconfig files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contexts {
    /// The contexts, in the order of the files.
    pub names: Vec<String>,
    /// The current context, which need not exist.
    pub current: Option<String>,
    /// The clusters, in the order of the files.
    pub clusters: Vec<String>,
    /// The users, in the order of the files.
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

/// The context, cluster and user of a configuration, with their names.
struct Parts {
    context_name: String,
    context: Context,
    cluster_name: String,
    cluster: Cluster,
    user_name: String,
    user: AuthInfo,
}

impl Config {
    /// Resolves the configuration as kubectl does: files, then flags over them, then the environment of a pod. Reads
    /// files, runs no program and opens no connection.
    ///
    /// # Errors
    /// [`Error`] by what has to be repaired, in kubectl's words.
    pub fn load(options: &ConfigOptions) -> Result<Self, Error> {
        let Files { merged: files, users } = files::read(options)?;
        let mut parts = find(&files, options)?;
        parts.cluster = cluster::apply_options(parts.cluster, options);
        let mut in_pod = false;
        if parts.cluster.server.is_none() {
            if !parts.cluster_name.is_empty() {
                let problem = format!("no server found for cluster {:?}", parts.cluster_name);
                return Err(Error::Contradictory(vec![problem]));
            }
            if !in_cluster::is_possible(&options.in_cluster) {
                return Err(no_server(&files));
            }
            let (cluster, user) = in_cluster::parts(&options.in_cluster);
            parts.cluster = cluster::apply_options(cluster, options);
            parts.user = user;
            in_pod = true;
        }
        parts.user = user::apply_options(parts.user, options);
        let user_file = users.get(&parts.user_name).cloned();
        settle(parts, options, user_file, in_pod)
    }
}

/// Finds the context, cluster and user. A part that a flag names must exist, and so must the current context and its
/// cluster. As in kubectl, a missing user of a context makes requests anonymous.
fn find(files: &Kubeconfig, options: &ConfigOptions) -> Result<Parts, Error> {
    let requested = non_empty(options.context.as_ref());
    let context_name = requested.clone().or_else(|| files.current_context.clone()).unwrap_or_default();
    let found = files.contexts.iter().find(|named| named.name == context_name);
    let context = match found {
        Some(named) => named.context.clone(),
        None if requested.is_some() => return Err(Error::NoContext(context_name)),
        None if !context_name.is_empty() => return Err(Error::NoCurrentContext(context_name)),
        None => Context::default(),
    };
    let cluster_name = non_empty(options.cluster.as_ref()).unwrap_or_else(|| context.cluster.clone());
    let cluster = match files.clusters.iter().find(|named| named.name == cluster_name) {
        Some(named) => named.cluster.clone(),
        None if non_empty(options.cluster.as_ref()).is_some() => return Err(Error::NoCluster(cluster_name)),
        None if !cluster_name.is_empty() && non_empty(options.server.as_ref()).is_none() => {
            return Err(Error::NoCluster(cluster_name));
        }
        None => Cluster::default(),
    };
    let user_name = non_empty(options.user.as_ref()).or_else(|| context.user.clone()).unwrap_or_default();
    let user = match files.users.iter().find(|named| named.name == user_name) {
        Some(named) => named.user.clone(),
        None if non_empty(options.user.as_ref()).is_some() => return Err(Error::NoUser(user_name)),
        None => AuthInfo::default(),
    };
    Ok(Parts { context_name, context, cluster_name, cluster, user_name, user })
}

fn no_server(files: &Kubeconfig) -> Error {
    if files.contexts.is_empty() {
        return Error::NotConfigured;
    }
    let names: Vec<&str> = files.contexts.iter().map(|named| named.name.as_str()).collect();
    Error::Contradictory(vec![format!("no context chosen; there are: {}", names.join(", "))])
}

/// Validates the parts and joins them. `user_file` is the file that the user comes from.
fn settle(
    mut parts: Parts,
    options: &ConfigOptions,
    user_file: Option<PathBuf>,
    in_pod: bool,
) -> Result<Config, Error> {
    let authority = parts.cluster.certificate_authority.clone();
    parts.user = user::normalized(parts.user);
    // All problems are reported, in kubectl's order.
    let mut problems = user::problems(&parts.user_name, &parts.user);
    problems.extend(cluster::settle(&parts.cluster_name, &mut parts.cluster));
    if !problems.is_empty() {
        return Err(Error::Contradictory(problems));
    }
    parts.user = user::settle(parts.user)?;
    let has_tls = parts.cluster.certificate_authority_data.is_some()
        || parts.cluster.insecure_skip_tls_verify == Some(true)
        || parts.user.client_certificate.is_some()
        || parts.user.client_certificate_data.is_some();
    let url = server_url(parts.cluster.server.as_deref().unwrap_or_default(), has_tls)?;
    if url.scheme() != "https" {
        parts.user = user::without_credentials(parts.user);
    }
    // A plugin receives the server as written in the file, without the slash that a parsed URL adds.
    let has_slash = parts.cluster.server.as_ref().is_some_and(|server| server.ends_with('/'));
    let server = if has_slash { url.as_str() } else { url.as_str().trim_end_matches('/') };
    parts.cluster.server = Some(server.to_owned());
    let namespace = non_empty(parts.context.namespace.as_ref());
    let namespace = namespace.or_else(|| {
        if in_cluster::is_possible(&options.in_cluster) {
            in_cluster::namespace(&options.in_cluster)
        } else {
            None
        }
    });
    let token_store = user_file
        .filter(|_| parts.user.auth_provider.is_some())
        .map(|file| TokenStore { file, user: parts.user_name.clone() });
    let connection_options = cluster::connection_options(&parts.cluster_name, &parts.cluster, &url, options)?;
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
        connection_options,
        proxies: options.proxies.clone(),
        stdin_is_terminal: options.stdin_is_terminal,
        plugin_policy: options.plugin_policy.clone(),
        spare_refresh_tokens: options.spare_refresh_tokens,
        token_store,
    })
}
