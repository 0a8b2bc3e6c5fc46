//! The validated arguments of `kdelta wait` and `kdelta rollout status`.

mod rollout;

pub(crate) use rollout::Rollout;

use std::time::Duration;

use kdelta::query::KubectlCondition;

use super::UsageError;
use super::environment::Environment;
use super::kubectl::{EVENT_FORMATS, Files};
use super::print::{Format, Print, read_template};
use super::selection::{ObjectWords, Selection};
use crate::args::{FileArgs, GoDuration, WaitArgs};

/// The time that a negative `--timeout` stands for.
const LONGEST: Duration = Duration::from_hours(168);

/// `kdelta wait`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) objects: RequestedObjects,
    /// Whether the objects are those in the files, without a server.
    pub(crate) local: bool,
    /// At least one; an object must meet them one after the other.
    pub(crate) conditions: Vec<KubectlCondition>,
    /// The time for all objects; zero checks once.
    pub(crate) timeout: Duration,
    pub(crate) print: Print,
}

/// The objects that the words, selectors or files of kubectl's commands name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestedObjects {
    pub(crate) selection: Selection,
    /// The files that name the objects, instead of the selection.
    pub(crate) files: Option<Files>,
    /// Whether types without names select nothing. As in kubectl, this is an error once the types are known to exist.
    pub(crate) needs_names: bool,
}

impl Wait {
    /// Validates the arguments, in kubectl's order.
    pub(in crate::settings) fn read(
        args: &WaitArgs,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let format = read_format(args)?;
        let conditions = args.conditions.iter().map(|text| KubectlCondition::parse(text));
        let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
        if conditions.is_empty() {
            return Err(UsageError::NoWaitCondition);
        }
        if args.local && !args.resources.is_empty() {
            return Err(UsageError::WordsWithLocal);
        }
        let files = FileArgs {
            filename: args.filename.clone(),
            kustomize: args.kustomize.clone(),
            // On by default, and a kustomization excludes it.
            recursive: args.recursive && args.kustomize.is_none(),
        };
        let words = ObjectWords {
            words: &args.resources,
            all: args.all,
            all_namespaces: args.all_namespaces,
            labels: args.selector.as_deref(),
            fields: args.field_selector.as_deref(),
        };
        let objects = RequestedObjects::read(&words, &files, namespace, environment)?;
        if args.local && conditions.iter().any(|condition| *condition != KubectlCondition::Create) {
            return Err(UsageError::LocalCondition);
        }
        let GoDuration { length, is_negative } = args.timeout;
        // Templates and paths see whole objects, as in kubectl. Documents can't: they would show the fields.
        let is_document = matches!(format, Format::Json | Format::Yaml | Format::Kyaml);
        let reads_all = matches!(format, Format::Template(_))
            || conditions.iter().any(|condition| matches!(condition, KubectlCondition::Value(_)));
        let managed_fields = args.show_managed_fields || (reads_all && !is_document);
        let print = Print { format, managed_fields, ..Print::default() };
        let timeout = if is_negative { LONGEST } else { length };
        Ok(Self { objects, local: args.local, conditions, timeout, print })
    }
}

/// Reads the format; the default is a line for each object. As in kubectl, `--template` alone is a Go template.
fn read_format(args: &WaitArgs) -> Result<Format, UsageError> {
    let text = args.output.as_deref().unwrap_or_default();
    let name = text.split('=').next().unwrap_or_default();
    if matches!(name, "wide" | "custom-columns" | "custom-columns-file" | "jq" | "jq-file") {
        return Err(UsageError::OutputFormat { format: text.to_owned(), allowed: EVENT_FORMATS });
    }
    match read_template(text, &args.template, false, false)? {
        Some(template) => Ok(Format::Template(template)),
        None => Format::read(Some(text), EVENT_FORMATS),
    }
}

impl RequestedObjects {
    /// Reads the words and files.
    pub(in crate::settings) fn read(
        words: &ObjectWords<'_>,
        files: &FileArgs,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let files = Files::read(files, words.words, environment)?;
        let selection = match &files {
            Some(_) => Selection::of_named_files(words, namespace, environment)?,
            None => Selection::of_words(words, namespace, environment)?,
        };
        let is_selective =
            words.all || selection.label_selector.is_some() || selection.field_selector.is_some();
        Ok(Self { selection, needs_names: files.is_none() && !is_selective, files })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn read_words(words: &[&str]) -> Result<Wait, String> {
        let cli =
            Cli::try_parse_from([&["kdelta", "wait"], words].concat()).map_err(|error| error.to_string())?;
        let Command::Wait(args) = &cli.command else { panic!("wait") };
        let namespace = cli.connection.namespace.as_deref();
        Wait::read(args, namespace, &Environment::default()).map_err(|error| error.to_string())
    }

    fn read(line: &str) -> Result<Wait, String> {
        read_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn timeout_follows_kubectls_rules() {
        for (flag, seconds) in [
            ("", 30),
            ("--timeout=0", 0),
            ("--timeout=90s", 90),
            ("--timeout=-1s", 168 * 3600),
            ("--timeout -2m", 168 * 3600),
        ] {
            let wait = read(&format!("pod/x --for=delete {flag}")).expect(flag);
            assert_eq!(wait.timeout, Duration::from_secs(seconds), "{flag}");
        }
        for (flag, reason) in [
            ("--timeout=30", "missing unit"),
            ("--timeout=x", "invalid duration"),
            ("--timeout=1d", "unknown unit"),
        ] {
            let error = read(&format!("pod/x --for=delete {flag}")).expect_err(flag);
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn conditions_are_required_and_checked_before_the_words() {
        assert_eq!(read(""), Err("unrecognized condition: []".to_owned()));
        assert_eq!(read("--for=ready"), Err(r#"unrecognized condition: "ready""#.to_owned()));
        let wide = read("--for=ready -o wide").expect_err("no format of wait");
        assert!(
            wide.starts_with(r#"unable to match a printer suitable for the output format "wide""#),
            "{wide}"
        );
        let none = read("--for=delete").expect_err("no words");
        assert!(none.starts_with("You must provide one or more resources"), "{none}");
        assert_eq!(
            read("--for=delete -l app=web"),
            Err("at least one resource must be specified to use a selector".to_owned())
        );
        let two = read("pod/x --for=create --for=condition=Ready").expect("valid").conditions;
        assert_eq!(two.len(), 2);
    }

    #[test]
    fn types_alone_need_a_selection() {
        for (line, needs_names) in [
            ("pods", true),
            ("pods x", true),
            ("pods --all", false),
            ("pods -l app=web", false),
            ("pods --field-selector status.phase=Pending", false),
            ("pods -l=", true),
            ("-f x.yaml", false),
        ] {
            let wait = read(&format!("{line} --for=delete")).expect(line);
            assert_eq!(wait.objects.needs_names, needs_names, "{line}");
        }
        let selectors = read("pods --for=delete -l a=b --selector=c=d").expect("valid").objects.selection;
        assert_eq!(selectors.label_selector.as_deref(), Some("c=d"));
    }

    #[test]
    fn folders_are_read_recursively_by_default() {
        let recursive = |line: &str| {
            let wait = read(&format!("--for=delete {line}")).expect(line);
            wait.objects.files.expect("files").recursive
        };
        assert!(recursive("-f x") && recursive("-f x -R") && !recursive("-f x -R=false"));
        assert!(!recursive("-k x"));
    }

    #[test]
    fn files_alone_are_enough_to_create() {
        assert!(read("--local -f x.yaml --for=create").expect("valid").local);
        let error = read("--local pod/x --for=create").expect_err("words");
        assert!(
            error.starts_with("you must specify resources by --filename when --local is set."),
            "{error}"
        );
        assert!(read("--local -f x.yaml --for=delete").is_err());
    }

    #[test]
    fn template_alone_is_a_go_template() {
        let wait = read_words(&["pod/x", "--for=delete", "--template", "{{.kind}}"]).expect("valid");
        assert!(matches!(wait.print.format, Format::Template(_)) && wait.print.managed_fields);
        assert_eq!(read("pod/x --for=delete").expect("valid").print.format, Format::default());
    }
}
