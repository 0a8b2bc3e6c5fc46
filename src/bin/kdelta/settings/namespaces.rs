//! The selected namespaces: `-n`, `-A` and `--namespace-selector`.

use super::{Pattern, UsageError};

/// The selected namespaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// The namespace of the kubeconfig context.
    Current,
    /// `-n a` or `-n a,b`, each once.
    Named(Vec<String>),
    /// `-A`.
    All,
    /// `-n a,'team-*'` or `--namespace-selector`: the existing namespaces that match.
    Matching {
        /// Names that are selected even if they do not exist.
        always: Vec<String>,
        /// Patterns for the name, one of which must match.
        patterns: Vec<Pattern>,
        /// The label selector of namespaces, which must match too. Unparsed, for the server.
        labels: Option<String>,
    },
}

impl Namespaces {
    /// Rejects namespaces that can't be the default of objects in files. `text` is the value of `-n`.
    pub(super) fn of_files(self, text: Option<&str>) -> Result<Self, UsageError> {
        match &self {
            Self::Matching { .. } => {}
            Self::Named(names) if names.len() > 1 => {}
            _ => return Ok(self),
        }
        Err(UsageError::SeveralNamespacesWithFiles(text.unwrap_or_default().to_owned()))
    }

    /// Validates the namespace flags. As in kubectl, `-A` overrides `-n`, and an empty `-n` is ignored.
    pub(super) fn read(
        all: bool,
        namespace: Option<&str>,
        labels: Option<String>,
    ) -> Result<Self, UsageError> {
        let mut names: Vec<String> = Vec::new();
        let text = namespace.unwrap_or_default();
        if !text.is_empty() && text.chars().all(|c| c == ',') {
            return Err(UsageError::NoNames { flag: "namespace", text: text.to_owned() });
        }
        for name in text.split(',').filter(|name| !name.is_empty() && !all) {
            if names.iter().all(|known| known != name) {
                names.push(name.to_owned());
            }
        }
        let plain = |name: &String| Pattern::new(name).is_plain();
        Ok(match labels {
            Some(labels) => {
                let of_all = names.is_empty().then(|| "*".to_owned());
                let patterns = names.iter().chain(&of_all).map(|name| Pattern::new(name)).collect();
                Self::Matching { always: Vec::new(), patterns, labels: Some(labels) }
            }
            None if all => Self::All,
            None if names.is_empty() => Self::Current,
            None if names.iter().all(plain) => Self::Named(names),
            None => {
                let (always, patterns): (Vec<_>, Vec<_>) = names.into_iter().partition(plain);
                let patterns = patterns.iter().map(|text| Pattern::new(text)).collect();
                Self::Matching { always, patterns, labels: None }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::settings::Environment;
    use crate::settings::selection::{Selection, TargetForm};

    fn read(line: &str) -> Result<Selection, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        let Command::Get(args) = &cli.command else { panic!("{line}") };
        let namespace = cli.connection.namespace.as_deref();
        Selection::read(&args.objects.select, TargetForm::Get, namespace, &Environment::default())
    }

    #[test]
    fn all_namespaces_overrides_list_and_list_is_unique() {
        let namespaces = |line: &str| read(line).expect(line).namespaces;
        assert_eq!(namespaces("get po"), Namespaces::Current);
        assert_eq!(namespaces("get po -n a,b,a"), Namespaces::Named(vec!["a".into(), "b".into()]));
        assert_eq!(namespaces("get po -n a -A"), Namespaces::All);
        assert_eq!(namespaces("get po --namespace="), Namespaces::Current);
    }

    #[test]
    fn namespaces_match_by_name_and_label() {
        let matching = |line: &str| match read(line).map(|selection| selection.namespaces) {
            Ok(Namespaces::Matching { always, patterns, labels }) => {
                let patterns: Vec<_> = patterns.iter().map(|pattern| pattern.text().to_owned()).collect();
                (always.join(","), patterns.join(","), labels.unwrap_or_default())
            }
            other => panic!("{line}: {other:?}"),
        };
        let expected =
            |always: &str, patterns: &str, labels: &str| (always.into(), patterns.into(), labels.into());
        assert_eq!(matching("get po -n a,team-*,b,x?"), expected("a,b", "team-*,x?", ""));
        assert_eq!(matching("get po --namespace-selector env=prod"), expected("", "*", "env=prod"));
        assert_eq!(matching("get po -A --namespace-selector env=prod"), expected("", "*", "env=prod"));
        assert_eq!(matching("get po -n a,b* --namespace-selector env"), expected("", "a,b*", "env"));
    }

    #[test]
    fn namespace_list_selects_named_namespaces() {
        for text in [",", ",,"] {
            let error = read(&format!("get pods -n {text}")).expect_err("no name");
            assert_eq!(error.to_string(), format!("--namespace needs a name: there is none in {text:?}"));
        }
    }
}
