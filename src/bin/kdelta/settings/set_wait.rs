//! The validated arguments of `kdelta wait` for a set of objects.

use std::sync::Arc;
use std::time::Duration;

use kdelta::query::{KubectlCondition, KubectlConditionError, Quantifier, WaitCondition, WaitRules};

use super::by::By;
use super::duration;
use super::environment::Environment;
use super::kubectl::Files;
use super::recording::{Range, Replay};
use super::selection::{Selection, TargetForm};
use super::usage::UsageError;
use crate::args::{FileArgs, GoDuration, SelectArgs, SetWaitArgs, WaitArgs};

/// The time that a negative `--timeout` stands for.
const LONGEST: Duration = Duration::from_hours(168);

/// The number of objects per page, which is kubectl's default.
const PAGE_SIZE: i64 = 500;

/// `kdelta wait` with flags or conditions that kubectl does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SetWait {
    pub(crate) selection: Selection,
    /// The files that name the objects, instead of the selection.
    pub(crate) files: Option<Files>,
    pub(crate) by: Vec<By>,
    /// At least one; all must hold for one state of an object.
    pub(crate) conditions: Vec<SetCondition>,
    pub(crate) quantifier: Quantifier,
    /// Whether an object counts once it has met the conditions.
    pub(crate) was: bool,
    /// The time for which the conditions must hold.
    pub(crate) stable: Duration,
    pub(crate) fail_on: Vec<SetCondition>,
    pub(crate) fail_fast: bool,
    pub(crate) wait_for_create: bool,
    /// The time for everything; zero checks once.
    pub(crate) timeout: Duration,
    /// Whether the result is printed as JSON.
    pub(crate) json: bool,
    /// The range of a recording in which the conditions are evaluated, in place of a wait.
    pub(crate) replay: Option<Replay>,
}

/// A condition. Two are equal if their texts are.
#[derive(Debug, Clone)]
pub(crate) struct SetCondition(Arc<WaitCondition>);

impl PartialEq for SetCondition {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for SetCondition {}

impl SetCondition {
    /// Returns the condition as it was typed.
    pub(crate) fn text(&self) -> &str {
        self.0.text()
    }
}

impl SetWait {
    /// Returns the rules of the wait.
    pub(crate) fn rules(&self) -> WaitRules {
        let shared = |conditions: &[SetCondition]| {
            conditions.iter().map(|condition| Arc::clone(&condition.0)).collect()
        };
        WaitRules {
            conditions: shared(&self.conditions),
            quantifier: self.quantifier,
            was: self.was,
            stable: self.stable,
            fail_on: shared(&self.fail_on),
            fail_fast: self.fail_fast,
            wait_for_create: self.wait_for_create,
        }
    }

    /// Whether the conditions read the bodies of objects.
    pub(crate) fn reads_body(&self) -> bool {
        !self.rules().reads_only_metadata()
    }

    /// Whether types that do not exist yet are waited for. A wait for the end of objects would succeed for a misspelled type.
    pub(crate) fn awaits_types(&self) -> bool {
        let is_for_end = self.rules().is_for_end() && !self.wait_for_create;
        !self.timeout.is_zero() && !is_for_end
    }
}

impl SetWait {
    /// Evaluates the conditions in a range of a recording, in place of a wait. The range is not limited by `--timeout`.
    pub(super) fn of_recording(self, range: Range) -> Self {
        Self { replay: Some(Replay { range, speed: None }), ..self }
    }

    /// Whether the arguments need a wait for a set of objects: a flag or a condition that kubectl does not have, or several
    /// namespaces.
    pub(super) fn is_requested(args: &WaitArgs, namespace: Option<&str>) -> bool {
        let SetWaitArgs { any, none, at_least, at_most, was, stable, fail_on, .. } = &args.set;
        let SetWaitArgs { fail_fast, wait_for_create, namespace_selector, index, .. } = &args.set;
        let has_flag = *any
            || *none
            || at_least.is_some()
            || at_most.is_some()
            || *was
            || stable.is_some()
            || !fail_on.is_empty()
            || *fail_fast
            || *wait_for_create
            || namespace_selector.is_some()
            || !index.by.is_empty()
            || args.set.filter.is_given();
        let has_namespaces = namespace.is_some_and(|text| text.contains([',', '*', '?', '[']));
        has_flag || has_namespaces || args.conditions.iter().any(|text| is_expression(text))
    }

    /// Validates the arguments.
    pub(super) fn read(
        args: &WaitArgs,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let json = match args.output.as_deref().unwrap_or_default() {
            "" => false,
            "json" => true,
            other => return Err(UsageError::OutputFormat { format: other.to_owned(), allowed: "json" }),
        };
        if args.local {
            return Err(UsageError::LocalCondition);
        }
        let conditions = read_conditions("for", &args.conditions)?;
        if conditions.is_empty() {
            return Err(UsageError::NoWaitCondition);
        }
        let set = &args.set;
        let stable = set.stable.as_deref().map(duration::parse_seconds).transpose();
        let stable = stable.map_err(|error| UsageError::Age { flag: "stable", error })?.unwrap_or_default();
        let files = FileArgs {
            filename: args.filename.clone(),
            kustomize: args.kustomize.clone(),
            recursive: args.recursive && args.kustomize.is_none(),
        };
        let files = Files::read(&files, &args.resources, environment)?;
        let select = select_args(args);
        let selection = match files {
            Some(_) => Selection::of_files(&select, TargetForm::Own, namespace, environment)?,
            None if args.resources.is_empty() => return Err(UsageError::NothingToWatch),
            None => Selection::read(&select, TargetForm::Own, namespace, environment)?,
        };
        let GoDuration { length, is_negative } = args.timeout;
        Ok(Self {
            selection,
            files,
            by: By::parse_all(&set.index.by)?,
            conditions,
            quantifier: quantifier(set),
            was: set.was,
            stable,
            fail_on: read_conditions("fail-on", &set.fail_on)?,
            fail_fast: set.fail_fast,
            wait_for_create: set.wait_for_create,
            timeout: if is_negative { LONGEST } else { length },
            json,
            replay: None,
        })
    }
}

/// Returns the flags that select objects, as those of other commands.
fn select_args(args: &WaitArgs) -> SelectArgs {
    SelectArgs {
        resources: args.resources.clone(),
        all_kinds: false,
        all_namespaces: args.all_namespaces,
        namespace_selector: args.set.namespace_selector.clone(),
        selector: args.selector.clone().into_iter().collect(),
        field_selector: args.field_selector.clone(),
        cached: false,
        chunk_size: PAGE_SIZE,
        list_mode: None,
        filter: args.set.filter.clone(),
    }
}

/// Whether a condition is an expression and none of kubectl's. A misspelled condition of kubectl's gets its error.
fn is_expression(text: &str) -> bool {
    let is_kubectls = !matches!(KubectlCondition::parse(text), Err(KubectlConditionError::Unrecognized(_)));
    let is_word = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '='));
    !is_kubectls && !text.is_empty() && (!is_word || WaitCondition::parse(text).is_ok())
}

fn read_conditions(flag: &'static str, texts: &[String]) -> Result<Vec<SetCondition>, UsageError> {
    let each = texts.iter().map(|text| {
        let condition = match KubectlCondition::parse(text) {
            Ok(condition) => WaitCondition::kubectl(text, condition),
            Err(KubectlConditionError::Unrecognized(_)) => {
                WaitCondition::parse(text).map_err(|error| UsageError::Expression { flag, error })?
            }
            Err(error) => return Err(error.into()),
        };
        Ok(SetCondition(Arc::new(condition)))
    });
    each.collect()
}

fn quantifier(args: &SetWaitArgs) -> Quantifier {
    match (args.at_least, args.at_most) {
        (Some(least), _) => Quantifier::AtLeast(least),
        (None, Some(most)) => Quantifier::AtMost(most),
        (None, None) if args.any => Quantifier::Any,
        (None, None) if args.none => Quantifier::None,
        (None, None) => Quantifier::All,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn args_of(words: &[&str]) -> (Cli, Option<String>) {
        let cli = Cli::try_parse_from([&["kdelta", "wait"], words].concat()).expect("arguments");
        let namespace = cli.connection.namespace.clone();
        (cli, namespace)
    }

    fn is_requested(words: &[&str]) -> bool {
        let (cli, namespace) = args_of(words);
        let Command::Wait(args) = &cli.command else { panic!("wait") };
        SetWait::is_requested(args, namespace.as_deref())
    }

    fn read(words: &[&str]) -> Result<SetWait, UsageError> {
        let (cli, namespace) = args_of(words);
        let Command::Wait(args) = &cli.command else { panic!("wait") };
        SetWait::read(args, namespace.as_deref(), &Environment::default())
    }

    #[test]
    fn own_flags_and_expressions_select_the_set() {
        for words in [
            &["pods", "--for=ready"][..],
            &["pods", "--for", "object.status.phase == 'x'"],
            &["pods", "--for", "object.status.phase = 'x'"],
            &["pods", "--for=condition=Ready", "--any"],
            &["pods", "--for=condition=Ready", "--stable", "3s"],
            &["pods", "--for=condition=Ready", "--fail-on", "failed"],
            &["pods", "--for=condition=Ready", "--wait-for-create"],
            &["pods", "--for=condition=Ready", "--where", "true"],
            &["pods", "--for=condition=Ready", "--by", "node=x"],
            &["pods", "--for=condition=Ready", "--older-than", "1m"],
            &["pods", "--for=condition=Ready", "-n", "a,b"],
        ] {
            assert!(is_requested(words), "{words:?}");
        }
        for words in [
            &["pods", "--for=condition=Ready"][..],
            &["pods", "--for=created", "-n", "a"],
            &["pods", "--for=Condition=Ready"],
            &["pods", "--for=jsonpath={.a}=b=c", "--all"],
            &["pods", "--for=delete", "-l", "a=b", "--field-selector=a=b", "--timeout=0"],
            &["pods"],
        ] {
            assert!(!is_requested(words), "{words:?}");
        }
    }

    #[test]
    fn rules_follow_the_flags() {
        let wait = read(&[
            "deploy/web",
            "pods",
            "--for=ready",
            "--for=condition=Available",
            "--at-least",
            "2",
            "--was",
            "--stable=90",
            "--fail-on=gone",
            "--fail-fast",
            "--timeout=-1s",
            "-o",
            "json",
        ])
        .expect("valid");
        assert_eq!((wait.quantifier, wait.was, wait.fail_fast), (Quantifier::AtLeast(2), true, true));
        assert_eq!((wait.stable, wait.timeout), (Duration::from_secs(90), LONGEST));
        assert_eq!((wait.conditions.len(), wait.fail_on.len(), wait.json), (2, 1, true));
        assert_eq!(wait.selection.targets.len(), 2);
        assert!(wait.awaits_types() && wait.reads_body());
        let gone = read(&["cm/x", "--for=gone"]).expect("valid");
        assert!(!gone.awaits_types() && !gone.reads_body());
        assert!(read(&["cm/x", "--for=delete", "--wait-for-create"]).expect("valid").awaits_types());
    }

    #[test]
    fn errors_name_the_flag() {
        let error = |words: &[&str]| read(words).expect_err("invalid").to_string();
        let expression = error(&["pods", "--for=ready", "--fail-on", "object.a ="]);
        assert!(expression.starts_with("invalid --fail-on: line 1, column 10"), "{expression}");
        assert!(error(&["pods", "--for=ready", "--stable=x"]).starts_with("invalid --stable: "));
        assert!(error(&["pods", "--for=ready", "-o", "yaml"]).contains("allowed formats are: json"));
        assert_eq!(read(&["pods", "--any"]), Err(UsageError::NoWaitCondition));
        assert_eq!(read(&["--for=ready"]), Err(UsageError::NothingToWatch));
    }
}
