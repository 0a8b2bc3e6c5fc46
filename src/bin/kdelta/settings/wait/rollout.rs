//! The validated arguments of `kdelta rollout status`.

use std::time::Duration;

use super::RequestedObjects;
use crate::args::{GoDuration, RolloutArgs};
use crate::settings::UsageError;
use crate::settings::environment::Environment;
use crate::settings::selection::ObjectWords;

/// `kdelta rollout status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rollout {
    pub(crate) objects: RequestedObjects,
    /// Whether each rollout is watched until it is complete.
    pub(crate) watch: bool,
    /// The revision that deployments must have; 0 for any.
    pub(crate) revision: i64,
    /// The time for each object; `None` without a limit.
    pub(crate) timeout: Option<Duration>,
}

impl Rollout {
    /// Validates the arguments, in kubectl's order.
    pub(in crate::settings) fn read(
        args: &RolloutArgs,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        match args.action.as_deref() {
            Some("status") => {}
            None => return Err(UsageError::NoRolloutAction),
            Some(action) => return Err(UsageError::RolloutAction(action.to_owned())),
        }
        let files = &args.files;
        let has_files = files.filename.iter().any(|name| !name.is_empty())
            || files.kustomize.as_ref().is_some_and(|folder| !folder.is_empty());
        match () {
            () if args.resources.is_empty() && !has_files => return Err(UsageError::NothingRolledOut),
            () if args.revision < 0 => return Err(UsageError::NegativeRevision(args.revision)),
            () => {}
        }
        let words = ObjectWords {
            words: &args.resources,
            all: true,
            all_namespaces: false,
            labels: args.selector.as_deref(),
            fields: None,
        };
        let GoDuration { length, is_negative } = args.timeout;
        Ok(Self {
            objects: RequestedObjects::read(&words, files, namespace, environment)?,
            watch: args.watch,
            revision: args.revision,
            // As in kubectl, a negative time is no limit.
            timeout: (!length.is_zero() && !is_negative).then_some(length),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command, accept_kubectl_spelling};

    fn read(line: &str) -> Result<Rollout, String> {
        use clap::CommandFactory;
        let words = std::iter::once("kdelta").chain(line.split_whitespace()).map(Into::into).collect();
        let cli = Cli::try_parse_from(accept_kubectl_spelling(words, &Cli::command())).expect(line);
        let Command::Rollout(args) = &cli.command else { panic!("{line}") };
        Rollout::read(args, None, &Environment::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn rollout_is_watched_without_limit_by_default() {
        let status = read("rollout status deploy/web").expect("valid");
        assert!(status.watch && status.timeout.is_none() && status.revision == 0);
        for line in ["rollout status deploy/web -w=false", "rollout status deploy/web --watch=F --timeout 3s"]
        {
            assert!(!read(line).expect(line).watch, "{line}");
        }
        assert!(read("rollout status deploy/web -w").expect("valid").watch);
        let limited = read("rollout status deploy/web --timeout=3s").expect("valid");
        assert_eq!(limited.timeout, Some(Duration::from_secs(3)));
        assert_eq!(read("rollout status deploy/web --timeout=-3s").expect("valid").timeout, None);
        assert!(!read("rollout status deploy").expect("valid").objects.needs_names);
    }

    #[test]
    fn errors_have_kubectls_text() {
        for (line, error) in [
            ("rollout status", "required resource not specified"),
            ("rollout status -l app=web", "required resource not specified"),
            ("rollout status deploy/web --revision=-2", "revision must be a positive integer: -2"),
            ("rollout frob", r#"unknown command "frob""#),
        ] {
            assert_eq!(read(line), Err(error.to_owned()), "{line}");
        }
        assert!(read("rollout").is_err());
    }
}
