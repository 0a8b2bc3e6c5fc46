//! The connection settings: server and credentials, from the flags that override the kubeconfig.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kdelta::kubeconfig::{ConfigOptions, Secret};

use super::environment::Environment;
use super::{Pattern, UsageError, duration};
use crate::args::ConnectionArgs;

/// The connection settings: the environment's, overridden by the flags. Missing values come from the kubeconfig.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    /// The options of every context, without its name.
    pub(crate) options: ConfigOptions,
    pub(crate) contexts: Contexts,
    /// The time limit of requests other than watches; `None` is unlimited.
    pub(crate) request_timeout: Option<Duration>,
    /// The discovery cache of kdelta alone; `None` without a home directory.
    pub(crate) cache_dir: Option<PathBuf>,
}

/// The selected contexts of the kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contexts {
    /// The current context.
    Current,
    Named(String),
    /// `a,b,'prod-*'`: the contexts that match one of the patterns, in this order. A text that is itself the name of a
    /// context selects only that one.
    Matching {
        text: String,
        patterns: Vec<Pattern>,
    },
    /// `--all-contexts`.
    All,
}

impl Contexts {
    fn read(all: bool, text: Option<&String>) -> Result<Self, UsageError> {
        let Some(text) = non_empty(text).filter(|_| !all) else {
            return Ok(if all { Self::All } else { Self::Current });
        };
        if Pattern::new(&text).is_plain() && !text.contains(',') {
            return Ok(Self::Named(text));
        }
        let patterns: Vec<_> = text.split(',').filter(|each| !each.is_empty()).map(Pattern::new).collect();
        if patterns.is_empty() {
            return Err(UsageError::NoNames { flag: "context", text });
        }
        Ok(Self::Matching { text, patterns })
    }
}

impl Connection {
    pub(super) fn read(args: &ConnectionArgs, environment: &Environment) -> Result<Self, UsageError> {
        let contexts = Contexts::read(args.all_contexts, args.context.as_ref())?;
        if !matches!(contexts, Contexts::Current | Contexts::Named(_)) {
            let flags = [(args.server.is_some(), "server"), (args.cluster.is_some(), "cluster")];
            if let Some((_, flag)) = flags.into_iter().find(|(given, _)| *given) {
                return Err(UsageError::SeveralContexts(flag));
            }
        }
        let extra = args.as_user_extra.iter().map(|text| user_extra(text)).collect::<Result<_, _>>()?;
        let config = environment.config.clone();
        let options = config
            .kubeconfig(args.kubeconfig.clone().filter(|path| !path.as_os_str().is_empty()))
            .cluster(non_empty(args.cluster.as_ref()))
            .user(non_empty(args.user.as_ref()))
            .server(non_empty(args.server.as_ref()))
            .token(secret(args.token.as_ref()))
            .token_file(args.token_file.clone())
            .username(non_empty(args.username.as_ref()))
            .password(secret(args.password.as_ref()))
            .as_user(non_empty(args.as_user.as_ref()))
            .as_uid(non_empty(args.as_uid.as_ref()))
            .as_groups(args.as_group.clone())
            .as_extra(extra)
            .certificate_authority(args.certificate_authority.clone())
            .client_certificate(args.client_certificate.clone())
            .client_key(args.client_key.clone())
            .tls_server_name(non_empty(args.tls_server_name.as_ref()))
            .insecure_skip_tls_verify(args.insecure_skip_tls_verify)
            .disable_compression(args.disable_compression);
        Ok(Self {
            options,
            contexts,
            request_timeout: request_timeout(&args.request_timeout)?,
            cache_dir: cache_dir(args.cache_dir.as_deref(), environment),
        })
    }
}

/// Returns the value of a flag. Empty is kubectl's default and means not given.
fn non_empty(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

fn secret(secret: Option<&Secret>) -> Option<Secret> {
    secret.filter(|secret| !secret.expose().is_empty()).cloned()
}

fn user_extra(text: &str) -> Result<(String, String), UsageError> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(UsageError::UserExtra(text.to_owned())),
    }
}

/// Parses whole seconds or a Go duration; zero means no limit.
fn request_timeout(text: &str) -> Result<Option<Duration>, UsageError> {
    let timeout = duration::parse_seconds(text).map_err(|_| UsageError::RequestTimeout)?;
    Ok(Some(timeout).filter(|timeout| !timeout.is_zero()))
}

/// Returns the cache directory. kubectl stores its own files in the directories of its variables, so kdelta uses a
/// subdirectory.
fn cache_dir(flag: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
    const OWN: &str = "kdelta";
    if let Some(dir) = flag {
        return Some(dir.join(OWN));
    }
    if let Some(dir) = &environment.kdelta_cache_dir {
        return Some(dir.clone());
    }
    let kubectl = environment.kube_cache_dir.clone();
    kubectl
        .or_else(|| Some(environment.config.home.as_ref()?.join(".kube").join("cache")))
        .map(|dir| dir.join(OWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_timeout_is_seconds_or_go_duration() {
        for (text, seconds) in [("0", None), ("0s", None), ("30", Some(30)), ("1m30s", Some(90))] {
            assert_eq!(request_timeout(text), Ok(seconds.map(Duration::from_secs)), "{text}");
        }
        for text in ["", "1x", "-1s", "ten", "-5"] {
            assert_eq!(request_timeout(text), Err(UsageError::RequestTimeout), "{text}");
        }
    }

    #[test]
    fn cache_is_separate_from_kubectls() {
        let config = ConfigOptions::default().home(Some("/h".into()));
        let mut environment = Environment { config, ..Environment::default() };
        assert_eq!(cache_dir(None, &environment), Some("/h/.kube/cache/kdelta".into()));
        environment.kube_cache_dir = Some("/k".into());
        assert_eq!(cache_dir(None, &environment), Some("/k/kdelta".into()));
        environment.kdelta_cache_dir = Some("/own".into());
        assert_eq!(cache_dir(None, &environment), Some("/own".into()));
        assert_eq!(cache_dir(Some(Path::new("/flag")), &environment), Some("/flag/kdelta".into()));
        assert_eq!(cache_dir(Some(Path::new("")), &environment), Some("kdelta".into()), "as in kubectl");
        assert_eq!(cache_dir(None, &Environment::default()), None);
    }

    #[test]
    fn contexts_are_a_name_or_patterns() {
        let all = Contexts::read(true, Some(&"a".into()));
        assert_eq!(all, Ok(Contexts::All));
        for text in [",", ",,"] {
            let error = Contexts::read(false, Some(&text.to_owned())).expect_err("no name");
            assert_eq!(error.to_string(), format!("--context needs a name: there is none in {text:?}"));
        }
        let read = |text: &str| Contexts::read(false, Some(&text.to_owned())).expect("contexts");
        assert_eq!(read(""), Contexts::Current);
        assert_eq!(read("prod"), Contexts::Named("prod".into()));
        for text in ["a,b", "prod-*", "a,"] {
            assert!(matches!(read(text), Contexts::Matching { .. }), "{text}");
        }
    }

    #[test]
    fn impersonation_extras_are_pairs() {
        assert_eq!(user_extra("scopes=view=all"), Ok(("scopes".into(), "view=all".into())));
        assert!(user_extra("scopes").is_err() && user_extra("=x").is_err());
    }
}
