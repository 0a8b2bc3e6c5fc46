//! The validated arguments of `kdelta record`.

mod size;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use kdelta::object::FieldPath;
use kdelta::recording::{REDACTED_SELECTOR, SECRETS_SELECTOR, SecretValues};

use super::by::By;
use super::duration;
use super::environment::Environment;
use super::pattern::Pattern;
use super::run::coverage;
use super::selection::Selection;
use super::targets::{Target, Types};
use super::until::Until;
use super::usage::UsageError;
use crate::args::{RecordArgs, SecretsArg, WatchedObjectsArgs};

/// `kdelta record`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) selection: Selection,
    pub(crate) by: Vec<By>,
    /// The selectors of objects in a collection, and what is redacted, by flag. Later recorders must have the same: the
    /// past of objects that match only other selectors is unknown, and what was not redacted stays in the recording.
    pub(crate) selectors: BTreeMap<String, Vec<String>>,
    pub(crate) ignore_not_found: bool,
    pub(crate) until: Until,
    /// The directory of the recordings.
    pub(crate) to: PathBuf,
    pub(crate) keep: Option<Duration>,
    /// The largest size of a recording in bytes.
    pub(crate) max_size: Option<u64>,
    /// Whether table cells are recorded.
    pub(crate) rows: bool,
    pub(crate) redacted: Redacted,
    /// The recipients of an encrypted recording, or files of them; empty for one that is not encrypted.
    pub(crate) encrypt_to: Vec<String>,
}

/// The values to redact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redacted {
    pub(crate) secrets: SecretValues,
    pub(crate) paths: Vec<FieldPath>,
    /// The arguments that the paths were parsed from, sorted.
    pub(crate) path_texts: Vec<String>,
    /// The file of the key; `None` if the environment names no directory for it.
    pub(crate) key_file: Option<PathBuf>,
}

impl Redacted {
    pub(super) fn read(
        secrets: Option<SecretsArg>,
        paths: &[String],
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        Ok(Self {
            secrets: match secrets.unwrap_or(SecretsArg::Hash) {
                SecretsArg::Keep => SecretValues::Keep,
                SecretsArg::Hash => SecretValues::Hash,
                SecretsArg::Drop => SecretValues::Drop,
            },
            paths: paths.iter().map(|path| redacted_path(path)).collect::<Result<_, _>>()?,
            path_texts: paths.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect(),
            key_file: environment.state_dir.as_ref().map(|dir| dir.join("redaction.key")),
        })
    }
}

impl Record {
    pub(super) fn read(
        args: &RecordArgs,
        selection: Selection,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let RecordArgs { objects, recording, end, .. } = args;
        let duration = end.duration.as_deref().map(duration::parse_seconds).transpose()?;
        if !selection.filter.of_changes().is_empty() {
            return Err(UsageError::RecordedChanges);
        }
        let by = By::parse_all(&objects.index.by)?;
        let redacted = Redacted::read(objects.secrets, &objects.redact, environment)?;
        Ok(Self {
            selectors: selectors(objects, &selection, &redacted),
            selection: with_events(selection).with_conditions(&by),
            by,
            ignore_not_found: objects.ignore_not_found,
            until: Until { count: None, duration, synced: end.until_synced },
            to: recording.to.clone(),
            keep: recording.keep.as_deref().map(kept_time).transpose()?,
            max_size: recording.max_size.as_deref().map(size::parse).transpose()?,
            rows: !recording.no_rows,
            redacted,
            encrypt_to: recording.encrypt_to.clone(),
        })
    }
}

/// Adds events to `--all-kinds`: they explain many of the changes.
pub(super) fn with_events(mut selection: Selection) -> Selection {
    let targets = &mut selection.targets;
    let names_events = |target: &Target| match &target.types {
        Types::Word(word) => matches!(word.split('.').next(), Some("ev" | "event" | "events")),
        _ => false,
    };
    let has_all = targets.iter().any(|target| target.types == Types::All);
    if has_all && !targets.iter().any(names_events) {
        targets.push(Target::events());
    }
    selection
}

/// Returns the selectors of objects in a collection, with the patterns of names, and the flags of redaction that are not
/// the default.
fn selectors(
    args: &WatchedObjectsArgs,
    selection: &Selection,
    redacted: &Redacted,
) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = coverage::selectors(&args.select, &args.index.by)
        .into_iter()
        .map(|(name, values)| (name.to_owned(), values))
        .collect();
    let patterns = selection.targets.iter().flat_map(|target| target.patterns.iter().map(Pattern::text));
    let mut patterns: Vec<String> = patterns.map(str::to_owned).collect();
    if !patterns.is_empty() {
        patterns.sort();
        all.insert("names".to_owned(), patterns);
    }
    let secrets = match redacted.secrets {
        SecretValues::Hash => None,
        SecretValues::Keep => Some("keep"),
        SecretValues::Drop => Some("drop"),
    };
    all.extend(secrets.map(|secrets| (SECRETS_SELECTOR.to_owned(), vec![secrets.to_owned()])));
    if !redacted.path_texts.is_empty() {
        all.insert(REDACTED_SELECTOR.to_owned(), redacted.path_texts.clone());
    }
    all
}

fn kept_time(text: &str) -> Result<Duration, UsageError> {
    let parsed = duration::parse_age(text).map_err(|error| UsageError::Time { flag: "keep", error })?;
    if parsed.is_zero() { Err(UsageError::ZeroTime("keep")) } else { Ok(parsed) }
}

/// The fields that a recording identifies an object and its version by.
const IDENTITY: &[u8] =
    br#"{"apiVersion":"v1","kind":"K","metadata":{"name":"n","namespace":"n","uid":"u","resourceVersion":"1"}}"#;

fn redacted_path(text: &str) -> Result<FieldPath, UsageError> {
    let path = FieldPath::parse(text).map_err(|error| UsageError::RedactedPath(error.to_string()))?;
    match path.values(IDENTITY) {
        Ok(values) if values.is_empty() => Ok(path),
        _ => Err(UsageError::RedactedIdentity(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;
    use crate::settings::Task;

    fn read(line: &str) -> Result<Record, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        let environment = Environment { state_dir: Some("/s/kdelta".into()), ..Environment::default() };
        match Task::read(&cli.command, cli.connection.namespace.as_deref(), &environment)? {
            Task::Record(record) => Ok(*record),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn redaction_and_rows_are_on_by_default() {
        let record = read("record pods --to d").expect("a recorder");
        assert_eq!((record.rows, record.redacted.secrets), (true, SecretValues::Hash));
        assert_eq!(record.redacted.key_file.as_deref(), Some("/s/kdelta/redaction.key".as_ref()));
        assert_eq!((record.keep, record.max_size), (None, None));
        let record = read("record pods --to d --no-rows --secrets drop --redact spec --redact status.x");
        let record = record.expect("a recorder");
        assert_eq!((record.rows, record.redacted.paths.len()), (false, 2));
    }

    #[test]
    fn all_types_include_events_and_no_other_busy_types() {
        let types = |line: &str| {
            let targets = read(line).expect("a recorder").selection.targets;
            targets.into_iter().map(|target| target.types).collect::<Vec<_>>()
        };
        assert_eq!(types("record --all-kinds --to d"), [Types::All, Target::events().types]);
        let named = [Types::All, Types::Word("ev".to_owned())];
        assert_eq!(types("record --all-kinds ev --to d"), named);
        assert_eq!(types("record pods --to d"), [Types::Word("pods".to_owned())]);
    }

    #[test]
    fn identity_of_objects_is_not_redacted() {
        for path in ["metadata", "metadata.name", "metadata.namespace", "metadata.uid", "kind"] {
            let result = read(&format!("record pods --to d --redact {path}"));
            assert_eq!(result, Err(UsageError::RedactedIdentity(path.to_owned())), "{path}");
        }
        assert!(read("record pods --to d --redact metadata.labels").is_ok());
    }

    #[test]
    fn selectors_include_the_flags_of_redaction() {
        let selectors = |line: &str| read(&format!("record {line} --to d")).expect("a recorder").selectors;
        assert_eq!(selectors("pods -n shop"), BTreeMap::new());
        assert_eq!(selectors("pods -l app=web"), selectors("svc -A -l app=web --no-rows"));
        assert_eq!(selectors("pods web-*")["names"], ["web-*"]);
        assert_eq!(selectors("pods --secrets drop")["secrets"], ["drop"]);
        assert_eq!(
            selectors("pods --redact spec.b --redact spec.a"),
            selectors("po --redact spec.a --redact spec.b")
        );
        assert_eq!(read("record pods --where old==null --to d"), Err(UsageError::RecordedChanges));
    }

    #[test]
    fn limits_are_positive() {
        let record = read("record pods --to d --keep 1d12h --max-size 2GB").expect("a recorder");
        assert_eq!(record.keep, Some(Duration::from_hours(36)));
        assert_eq!(record.max_size, Some(2_000_000_000));
        assert_eq!(read("record pods --to d --keep 0"), Err(UsageError::ZeroTime("keep")));
        assert!(read("record pods --to d --max-size 0").is_err());
        assert!(read("record pods --to d --redact a[").is_err());
    }
}
