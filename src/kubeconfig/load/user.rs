//! The user of a configuration: flags applied over the file's entry, then validated and reduced to one login method.

use std::collections::BTreeMap;
use std::path::Path;

use super::optional_text::{non_empty, path_text};
use crate::kubeconfig::ConfigOptions;
use crate::kubeconfig::Error;
use crate::kubeconfig::Secret;
use crate::kubeconfig::file_format::{AuthInfo, InteractiveMode};
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};
use crate::listwatch::system_words;

const GCP_REMOVED: &str = "The gcp auth plugin has been removed.\nPlease use the \"gke-gcloud-auth-plugin\" \
     kubectl/client-go credential plugin instead.\nSee \
     https://cloud.google.com/blog/products/containers-kubernetes/kubectl-auth-changes-in-gke for further details";
const AZURE_REMOVED: &str = "The azure auth plugin has been removed.\nPlease use the \
     https://github.com/Azure/kubelogin kubectl/client-go credential plugin instead.\nSee \
     https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins for \
     further details";

/// Applies the flags to the user of the file.
pub(crate) fn apply_options(mut user: AuthInfo, options: &ConfigOptions) -> AuthInfo {
    let token = set(options.token.as_ref());
    if token.is_some() {
        user.token.clone_from(&token);
        user.token_file = None;
    }
    if let Some(file) = options.token_file.as_deref().and_then(path_text) {
        user.token_file = Some(file);
        user.token = token;
    }
    user.username = non_empty(options.username.as_ref()).or_else(|| non_empty(user.username.as_ref()));
    user.password = set(options.password.as_ref()).or(user.password);
    if let Some(certificate) = options.client_certificate.as_deref().and_then(path_text) {
        user.client_certificate = Some(certificate);
        user.client_certificate_data = None;
    }
    if let Some(key) = options.client_key.as_deref().and_then(path_text) {
        user.client_key = Some(key);
        user.client_key_data = None;
    }
    impersonate(&mut user, options);
    user
}

fn impersonate(user: &mut AuthInfo, options: &ConfigOptions) {
    user.impersonate = non_empty(options.as_user.as_ref()).or_else(|| non_empty(user.impersonate.as_ref()));
    user.impersonate_uid =
        non_empty(options.as_uid.as_ref()).or_else(|| non_empty(user.impersonate_uid.as_ref()));
    if !options.as_groups.is_empty() {
        user.impersonate_groups = Some(options.as_groups.clone());
    }
    if !options.as_extra.is_empty() {
        let extra = user.impersonate_user_extra.insert(BTreeMap::new());
        for (key, value) in &options.as_extra {
            extra.entry(key.clone()).or_default().push(value.clone());
        }
    }
}

/// Removes the credentials for an unencrypted connection and keeps the impersonated identity.
pub(crate) fn without_credentials(user: AuthInfo) -> AuthInfo {
    AuthInfo {
        impersonate: user.impersonate,
        impersonate_uid: user.impersonate_uid,
        impersonate_groups: user.impersonate_groups,
        impersonate_user_extra: user.impersonate_user_extra,
        ..AuthInfo::default()
    }
}

/// Returns the user without empty values. As in kubectl, a key without a certificate is ignored.
pub(crate) fn normalized(mut user: AuthInfo) -> AuthInfo {
    user.token_file = non_empty(user.token_file.as_ref());
    user.token = set(user.token.as_ref());
    user.password = set(user.password.as_ref());
    user.client_certificate = non_empty(user.client_certificate.as_ref());
    user.client_certificate_data = non_empty(user.client_certificate_data.as_ref());
    user.client_key = non_empty(user.client_key.as_ref());
    if !has_certificate(&user) {
        user.client_key = None;
        user.client_key_data = None;
    }
    user
}

/// Returns the contradictions and unreadable files of a normalized user, in kubectl's order.
pub(crate) fn problems(name: &str, user: &AuthInfo) -> Vec<String> {
    let mut problems = Vec::new();
    if has_certificate(user) {
        problems.extend(certificate_problems(name, user));
    }
    if user.exec.is_some() && user.auth_provider.is_some() {
        problems
            .push(format!("authProvider cannot be provided in combination with an exec plugin for {name}"));
    }
    problems.extend(plugin_problems(name, user));
    if has_basic(user) && user.token.is_some() {
        problems.push(format!(
            "more than one authentication method found for {name}; found [token basicAuth], only one is allowed"
        ));
    } else if has_basic(user) && user.token_file.is_some() {
        problems.push("username/password or bearer token may be set, but not both".to_owned());
    }
    let groups = user.impersonate_groups.as_ref().is_some_and(|groups| !groups.is_empty());
    let extra = user.impersonate_user_extra.as_ref().is_some_and(|extra| !extra.is_empty());
    if user.impersonate.is_none() && (user.impersonate_uid.is_some() || groups || extra) {
        problems
            .push(format!("requesting uid, groups or user-extra for {name} without impersonating a user"));
    }
    problems
}

/// Keeps one login method of a user without problems: direct credentials precede a provider or a plugin.
///
/// # Errors
/// The login method is not supported.
pub(crate) fn settle(mut user: AuthInfo) -> Result<AuthInfo, Error> {
    let basic = has_basic(&user);
    if basic {
        user.username.get_or_insert_default();
        user.password.get_or_insert_with(|| Secret::new(""));
    }
    check_provider(&user)?;
    check_plugin_version(&user)?;
    let has_header = basic || user.token.is_some() || user.token_file.is_some();
    if has_header {
        user.auth_provider = None;
    }
    if has_header || has_certificate(&user) {
        user.exec = None;
    }
    Ok(user)
}

/// Returns the secret unless it is empty.
fn set(secret: Option<&Secret>) -> Option<Secret> {
    secret.filter(|secret| !secret.expose().is_empty()).cloned()
}

fn has_basic(user: &AuthInfo) -> bool {
    user.username.is_some() || user.password.is_some()
}

fn has_certificate(user: &AuthInfo) -> bool {
    user.client_certificate.is_some() || user.client_certificate_data.is_some()
}

fn certificate_problems(name: &str, user: &AuthInfo) -> Vec<String> {
    let mut problems = Vec::new();
    if user.client_certificate.is_some() && user.client_certificate_data.is_some() {
        problems.push(format!(
            "client-cert-data and client-cert are both specified for {name}. client-cert-data will override."
        ));
    }
    match (&user.client_key, &user.client_key_data) {
        (Some(_), Some(_)) => problems.push(format!(
            "client-key-data and client-key are both specified for {name}; client-key-data will override"
        )),
        (None, None) => problems.push(format!(
            "client-key-data or client-key must be specified for {name} to use the clientCert authentication method."
        )),
        _ => {}
    }
    for (what, path) in [("client-cert", &user.client_certificate), ("client-key", &user.client_key)] {
        if let Some(path) = path
            && let Err(error) = local_file::read(Path::new(path), CREDENTIAL_LIMIT)
        {
            let why = system_words(&error);
            problems.push(format!("unable to read {what} {path} for {name} due to open {path}: {why}"));
        }
    }
    problems
}

fn check_provider(user: &AuthInfo) -> Result<(), Error> {
    let Some(provider) = &user.auth_provider else { return Ok(()) };
    match provider.name.as_str() {
        "oidc" => Ok(()),
        "gcp" => Err(Error::Credentials(GCP_REMOVED.to_owned())),
        "azure" => Err(Error::Credentials(AZURE_REMOVED.to_owned())),
        other => Err(Error::Credentials(format!("no Auth Provider found for name {other:?}"))),
    }
}

const PLUGIN_V1: &str = "client.authentication.k8s.io/v1";
const PLUGIN_V1_BETA: &str = "client.authentication.k8s.io/v1beta1";

fn plugin_problems(name: &str, user: &AuthInfo) -> Vec<String> {
    let Some(exec) = &user.exec else { return Vec::new() };
    let to_use = format!("must be specified for {name} to use exec authentication plugin");
    let mut problems = Vec::new();
    if non_empty(exec.command.as_ref()).is_none() {
        problems.push(format!("command {to_use}"));
    }
    let version = non_empty(exec.api_version.as_ref());
    if version.is_none() {
        problems.push(format!("apiVersion {to_use}"));
    }
    let nameless = exec.env.iter().flatten().filter(|variable| variable.name.is_empty());
    problems.extend(nameless.map(|_| format!("env variable name {to_use}")));
    match non_empty(exec.interactive_mode.as_ref()) {
        None if version.as_deref() == Some(PLUGIN_V1) => problems.push(format!("interactiveMode {to_use}")),
        Some(mode) if InteractiveMode::parse(&mode).is_none() => {
            problems.push(format!("invalid interactiveMode for {name}: {mode:?}"));
        }
        _ => {}
    }
    problems
}

fn check_plugin_version(user: &AuthInfo) -> Result<(), Error> {
    let version = user.exec.as_ref().and_then(|exec| non_empty(exec.api_version.as_ref()));
    match version {
        Some(version) if version != PLUGIN_V1 && version != PLUGIN_V1_BETA => {
            Err(Error::Invalid(format!("exec plugin: invalid apiVersion {version:?}")))
        }
        _ => Ok(()),
    }
}
