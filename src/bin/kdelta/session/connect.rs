//! Conversion of the connection settings to the library's configuration options.

use kdelta::kubeconfig::Contexts as Known;
use kdelta::kubeconfig::{ConfigOptions, Error};

use crate::settings::{Connection, Contexts, Pattern};

/// Returns one set of options for each selected context.
///
/// # Errors
/// The kubeconfig can't be read, or a context does not exist.
pub(super) fn each_context(
    connection: &Connection,
    options: &ConfigOptions,
) -> anyhow::Result<Vec<ConfigOptions>> {
    let with = |name: String| options.clone().context(Some(name));
    let names = match &connection.contexts {
        Contexts::Current => return Ok(vec![options.clone()]),
        Contexts::Named(name) => vec![name.clone()],
        Contexts::Matching { text, patterns } => matching(text, patterns, &Known::load(options)?.names)?,
        Contexts::All => Known::load(options)?.names,
    };
    anyhow::ensure!(!names.is_empty(), "the kubeconfig has no contexts");
    Ok(names.into_iter().map(with).collect())
}

/// Returns the contexts that match a pattern, each once, in the order of the patterns.
fn matching(text: &str, patterns: &[Pattern], known: &[String]) -> anyhow::Result<Vec<String>> {
    if known.iter().any(|name| name == text) {
        return Ok(vec![text.to_owned()]);
    }
    let mut names: Vec<String> = Vec::new();
    for pattern in patterns {
        let before = names.len();
        let found: Vec<&String> = known.iter().filter(|name| pattern.matches(name)).collect();
        match pattern.text() {
            name if found.is_empty() && pattern.is_plain() => {
                return Err(Error::NoContext(name.to_owned()).into());
            }
            text if found.is_empty() => anyhow::bail!("no context matches {text:?}"),
            _ => {}
        }
        for name in found {
            if !names[..before].contains(name) {
                names.push(name.clone());
            }
        }
    }
    Ok(names)
}

/// Returns the environment's kubeconfig options, overridden by the flags.
pub(super) fn options(connection: &Connection, stdin_is_terminal: bool) -> ConfigOptions {
    let Connection {
        kubeconfig,
        contexts: _,
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
        spare_refresh_tokens,
        request_timeout: _,
        cache_dir: _,
    } = connection.clone();
    ConfigOptions::from_env()
        .kubeconfig(kubeconfig)
        .cluster(cluster)
        .user(user)
        .server(server)
        .token(token)
        .token_file(token_file)
        .username(username)
        .password(password)
        .as_user(impersonate.user)
        .as_uid(impersonate.uid)
        .as_groups(impersonate.groups)
        .as_extra(impersonate.extra)
        .certificate_authority(certificate_authority)
        .client_certificate(client_certificate)
        .client_key(client_key)
        .tls_server_name(tls_server_name)
        .insecure_skip_tls_verify(insecure_skip_tls_verify)
        .disable_compression(disable_compression)
        .spare_refresh_tokens(spare_refresh_tokens)
        .stdin_is_terminal(stdin_is_terminal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_match_names_and_patterns_once() {
        let known = ["prod-eu", "dev", "prod-us", "a,b"].map(str::to_owned);
        let find = |text: &str| {
            let patterns: Vec<_> = text.split(',').map(Pattern::new).collect();
            matching(text, &patterns, &known).map_err(|error| error.to_string())
        };
        let names = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(find("dev,prod-*"), names(&["dev", "prod-eu", "prod-us"]));
        assert_eq!(find("prod-us,prod-*"), names(&["prod-us", "prod-eu"]));
        assert_eq!(find("a,b"), names(&["a,b"]));
        assert_eq!(find("dev,x"), Err("context \"x\" does not exist".to_owned()));
        assert_eq!(find("dev,x*"), Err("no context matches \"x*\"".to_owned()));
    }
}
