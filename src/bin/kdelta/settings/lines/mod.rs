//! The settings of watch output: the printed lines, their contents, and how they are delivered.

mod changed_by;
mod listen_address;
mod rows;

pub(crate) use changed_by::ChangedBy;
pub(crate) use listen_address::ListenAddress;
pub(crate) use rows::Rows;

use std::time::Duration;

use crate::args::{ChangesArg, FlowArgs, LineArgs, OnSlowArg, UpdateArgs};
use crate::settings::print::{Format, TableStyle};
use crate::settings::selection::Selection;
use crate::settings::until::Until;
use crate::settings::usage::first_flag;
use crate::settings::{By, UsageError, duration};

/// The contents of watch lines, and the updates that are printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Lines {
    /// Print the changes of each update, in this form under a row.
    pub(crate) changes: Option<ChangesArg>,
    /// Print the state before an update; JSON only.
    pub(crate) old: bool,
    /// The fields of JSON lines; `None` selects all. Each is a known field.
    pub(crate) fields: Option<Vec<String>>,
    /// Unparsed paths: updates that change nothing else are suppressed.
    pub(crate) ignore: Vec<String>,
    /// Unparsed paths: updates that change none of them are suppressed. Empty selects everything.
    pub(crate) only: Vec<String>,
    /// Updates that change none of these are suppressed. Empty selects everything.
    pub(crate) changed_by: Box<[ChangedBy]>,
    /// Print a row for each update, even if the row is unchanged.
    pub(crate) show_all: bool,
    /// Print the data of Secrets in output for people.
    pub(crate) show_secrets: bool,
}

/// The start of a watch, and how its events are delivered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Flow {
    /// The version to resume after, without an initial state; an ordered version (see [`is_version`]).
    pub(crate) from: Option<String>,
    /// The interval at which everything is printed again.
    pub(crate) resync: Option<Duration>,
    /// Whether the changes of an object are merged while the reader is slow; otherwise the server waits.
    pub(crate) coalesce: bool,
}

impl Lines {
    pub(in crate::settings) fn read(args: &LineArgs, format: Format) -> Result<Self, UsageError> {
        let selects = |field: &str| args.fields.iter().any(|selected| selected == field);
        let lines = Self {
            changes: args
                .changes
                .filter(|form| *form != ChangesArg::None)
                .or(selects("changes").then_some(ChangesArg::Inline)),
            old: args.old || selects("old"),
            fields: (!args.fields.is_empty()).then(|| args.fields.clone()),
            show_all: args.show_all,
            show_secrets: args.show_secrets,
            ..Self::of_updates(&args.updates)?
        };
        match format {
            Format::Json if lines.changes.is_some_and(|form| form != ChangesArg::Inline) => {
                return Err(UsageError::ChangesForm);
            }
            Format::Json => {}
            _ if lines.fields.is_some() => return Err(UsageError::NeedsJson("fields")),
            _ if lines.old => return Err(UsageError::NeedsJson("old")),
            Format::Table { style: TableStyle::Aligned, .. } => {}
            _ if lines.changes.is_some() => return Err(UsageError::ChangesFormat),
            Format::Table { .. } | Format::Yaml | Format::Kyaml | Format::Name | Format::Template(_) => {}
        }
        Ok(lines)
    }

    /// Returns the default lines of the selected updates.
    pub(in crate::settings) fn of_updates(args: &UpdateArgs) -> Result<Self, UsageError> {
        let UpdateArgs { ignore, only, changed_by } = args;
        Ok(Self {
            ignore: ignore.clone(),
            only: only.clone(),
            changed_by: changed_by.iter().map(|text| ChangedBy::read(text)).collect::<Result<_, _>>()?,
            ..Self::default()
        })
    }

    /// Whether the lines of this format name the managers of changes.
    pub(in crate::settings) fn names_managers(&self, format: Format) -> bool {
        match format {
            Format::Table { .. } => self.changes.is_some(),
            Format::Json => {
                self.fields.as_ref().is_none_or(|fields| fields.iter().any(|field| field == "manager"))
            }
            Format::Yaml | Format::Kyaml | Format::Name | Format::Template(_) => false,
        }
    }

    /// Returns the first given flag, which needs a watch.
    pub(in crate::settings) fn first_flag(args: &LineArgs) -> Option<&'static str> {
        let LineArgs { changes, old, fields, updates, show_all, show_secrets } = args;
        let UpdateArgs { ignore, only, changed_by } = updates;
        first_flag([
            (changes.is_some(), "changes"),
            (*old, "old"),
            (!fields.is_empty(), "fields"),
            (!ignore.is_empty(), "ignore"),
            (!only.is_empty(), "only"),
            (!changed_by.is_empty(), "changed-by"),
            (*show_all, "show-all"),
            (*show_secrets, "show-secrets"),
        ])
    }
}

impl Flow {
    pub(in crate::settings) fn read(
        args: &FlowArgs,
        selection: &Selection,
        by: &[By],
        until: Until,
    ) -> Result<Self, UsageError> {
        let resync = args.resync.as_deref().map(duration::parse).transpose().map_err(UsageError::Resync)?;
        if resync.is_some_and(|period| period < Duration::from_secs(1)) {
            return Err(UsageError::ResyncTooShort);
        }
        let coalesce = args.on_slow == OnSlowArg::Coalesce;
        if let Some(version) = &args.resource_version {
            if !is_version(version) {
                return Err(UsageError::NoVersion(version.clone()));
            }
            let about_state = [
                (selection.cached, "cached"),
                (until.synced, "until-synced"),
                (!by.is_empty(), "by"),
                (resync.is_some(), "resync"),
                (coalesce, "on-slow=coalesce"),
            ];
            if let Some(flag) = first_flag(about_state).or(selection.filter.first_flag()) {
                return Err(UsageError::NoInitialState(flag));
            }
        }
        Ok(Self { from: args.resource_version.clone(), resync, coalesce })
    }

    /// As [`Lines::first_flag`].
    pub(in crate::settings) fn first_flag(args: &FlowArgs) -> Option<&'static str> {
        let FlowArgs { resource_version, resync, on_slow, watch_only: _, output_watch_events: _ } = args;
        first_flag([
            (resource_version.is_some(), "resource-version"),
            (resync.is_some(), "resync"),
            (*on_slow != OnSlowArg::Block, "on-slow"),
        ])
    }
}

/// Whether the text is a resource version: decimal digits of any length without a leading zero. All servers use this
/// form since Kubernetes 1.35 (KEP-5504), and used it before.
fn is_version(text: &str) -> bool {
    !text.starts_with('0') && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;
    use crate::settings::{Environment, Task, Watch};

    fn read(line: &str) -> Result<Task, UsageError> {
        read_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    fn read_words(words: &[&str]) -> Result<Task, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once(&"kdelta").chain(words)).expect("flags that exist");
        Task::read(&cli.command, cli.connection.namespace.as_deref(), &Environment::default())
    }

    fn watch(line: &str) -> Watch {
        match read(line) {
            Ok(Task::Watch(watch)) => watch,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn named_field_enables_its_option() {
        let lines = watch("watch po -o json --fields name,changes --fields old").lines;
        assert!(lines.changes == Some(ChangesArg::Inline) && lines.old);
        assert_eq!(lines.fields.expect("fields"), ["name", "changes", "old"]);
        assert_eq!(watch("get po -w -o json --old").lines, Lines { old: true, ..Lines::default() });
    }

    #[test]
    fn json_options_need_json() {
        assert_eq!(read("watch po --fields name"), Err(UsageError::NeedsJson("fields")));
        assert_eq!(read("watch po -o yaml --old"), Err(UsageError::NeedsJson("old")));
        assert_eq!(read("watch po -o name --changes"), Err(UsageError::ChangesFormat));
        assert_eq!(watch("watch po -o wide --changes").lines.changes, Some(ChangesArg::Inline));
    }

    #[test]
    fn changes_have_forms_under_rows_only() {
        for (line, expected) in [
            ("watch po", None),
            ("watch po --changes", Some(ChangesArg::Inline)),
            ("watch po --changes=unified", Some(ChangesArg::Unified)),
            ("watch po --changes=json-patch --no-headers", Some(ChangesArg::JsonPatch)),
            ("watch --changes po", Some(ChangesArg::Inline)),
            ("watch po -o json --changes=inline", Some(ChangesArg::Inline)),
            ("watch po -o yaml --changes=none", None),
        ] {
            assert_eq!(watch(line).lines.changes, expected, "{line}");
        }
        assert_eq!(read("watch po -o json --changes=merge-patch"), Err(UsageError::ChangesForm));
        assert_eq!(read("watch po -o yaml --changes=unified"), Err(UsageError::ChangesFormat));
    }

    #[test]
    fn managers_are_recorded_where_they_are_printed() {
        for (line, expected) in [
            ("watch po", false),
            ("watch po --changes", true),
            ("watch po -o json", true),
            ("watch po -o json --fields name,object", false),
            ("watch po -o json --fields name,manager", true),
            ("watch po -o name", false),
        ] {
            assert_eq!(watch(line).print.record_managers, expected, "{line}");
        }
    }

    #[test]
    fn line_flags_need_a_watch() {
        for flag in [
            "changes",
            "old",
            "show-all",
            "show-secrets",
            "fields=v",
            "ignore=a",
            "only=a",
            "changed-by=a",
            "resync=1m",
            "on-slow=coalesce",
        ] {
            let name = flag.split('=').next().expect("a name");
            match read(&format!("get po --{flag}")) {
                Err(UsageError::NeedsWatch(flag)) => assert_eq!(flag, name),
                other => panic!("{flag}: {other:?}"),
            }
        }
    }

    #[test]
    fn resuming_excludes_initial_state() {
        assert_eq!(watch("watch po --resource-version 17").flow.from.as_deref(), Some("17"));
        for version in ["0", "", "abc", "017", "-1", "+1", "1.5", "1e3", "17 "] {
            let expected = Err(UsageError::NoVersion(version.to_owned()));
            let words = ["watch", "po", &format!("--resource-version={version}")];
            assert_eq!(read_words(&words), expected, "{version:?}");
        }
        let beyond = "9".repeat(30);
        assert_eq!(
            watch(&format!("watch po --resource-version {beyond}")).flow.from.as_deref(),
            Some(&*beyond)
        );
        for flag in ["cached", "until-synced", "by=node=x", "resync=1m", "on-slow=coalesce"] {
            let read = read(&format!("watch po --resource-version 17 --{flag}"));
            assert!(matches!(read, Err(UsageError::NoInitialState(_))), "{flag}: {read:?}");
        }
    }

    #[test]
    fn coalescing_needs_all_changes() {
        for line in ["watch po --watch-only", "get po --watch-only"] {
            let read = read(&format!("{line} --on-slow=coalesce"));
            assert_eq!(read, Err(UsageError::MergedWithUnprinted), "{line}");
        }
        assert!(watch("watch po --on-slow=coalesce").flow.coalesce);
    }

    #[test]
    fn resync_is_at_least_one_second() {
        assert_eq!(watch("watch po --resync 90s").flow.resync, Some(Duration::from_secs(90)));
        assert_eq!(read("watch po --resync 10ms"), Err(UsageError::ResyncTooShort));
        assert!(matches!(read("watch po --resync soon"), Err(UsageError::Resync(_))));
    }
}
