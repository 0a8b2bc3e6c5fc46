//! The selection: which objects, in which namespaces, and how they are listed.

use super::UsageError;
use super::by::{By, Condition, IndexName};
use super::environment::Environment;
use super::filter::{ObjectFilter, Selectors};
use super::kubectl::Files;
use super::namespaces::Namespaces;
use super::targets::{self, Target};
use super::usage::first_flag;
use crate::args::{ListModeArg, SelectArgs};

/// The selected objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Empty if files name the objects.
    pub(crate) targets: Vec<Target>,
    /// Whether an object that is named twice is selected twice, as in kubectl's `get`.
    pub(crate) keeps_repeated_names: bool,
    pub(crate) namespaces: Namespaces,
    /// The only namespace that a condition of `--by` accepts, of all namespaces.
    pub(crate) required_namespace: Option<String>,
    /// Unparsed, for the server.
    pub(crate) label_selector: Option<String>,
    /// Unparsed, for the server.
    pub(crate) field_selector: Option<String>,
    /// The conditions that are evaluated locally.
    pub(crate) filter: ObjectFilter,
    /// Whether any cached state of the server is acceptable.
    pub(crate) cached: bool,
    /// The number of objects per page; 0 lists everything at once.
    pub(crate) page_size: u32,
    pub(crate) list_mode: ListMode,
}

/// The words and flags by which kubectl's commands other than `get` select objects.
pub(super) struct ObjectWords<'a> {
    pub(super) words: &'a [String],
    /// Whether types without names select all of their objects.
    pub(super) all: bool,
    pub(super) all_namespaces: bool,
    pub(super) labels: Option<&'a str>,
    pub(super) fields: Option<&'a str>,
}

/// The form of the words that select objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetForm {
    /// kdelta's own, in which types and names may be mixed.
    Own,
    /// The same for a watch.
    OwnWatch,
    /// That of kubectl's `get`.
    Get,
    /// The same for a watch, which watches an object once.
    GetWatch,
}

/// The way the initial state is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListMode {
    /// The fastest way that the server supports.
    Auto,
    /// Through the watch.
    WatchList,
    /// By paged lists.
    List,
}

impl TargetForm {
    /// Whether the objects are watched.
    fn is_watch(self) -> bool {
        matches!(self, Self::OwnWatch | Self::GetWatch)
    }
}

impl Selection {
    /// Whether the matching types or namespaces may change over time.
    pub(crate) fn is_open(&self) -> bool {
        self.targets.iter().any(|target| target.types.is_open())
            || matches!(self.namespaces, Namespaces::Matching { .. })
    }

    /// Whether objects of several namespaces may be selected.
    pub(super) fn has_several_namespaces(&self) -> bool {
        match &self.namespaces {
            Namespaces::Current => false,
            Namespaces::Named(names) => names.len() > 1,
            Namespaces::All | Namespaces::Matching { .. } => true,
        }
    }

    /// Whether objects of the files may be absent without being missing: a selector does not match them, or not yet.
    pub(super) fn may_exclude(&self, files: Option<&Files>) -> bool {
        files.is_some() && (self.label_selector.is_some() || !self.filter.is_empty())
    }

    /// Returns the selection of all events of a namespace, or of all namespaces.
    pub(super) fn of_events(
        all_namespaces: bool,
        chunk_size: i64,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        Ok(Self {
            targets: targets::parse(&["events".to_owned()], false, false)?,
            keeps_repeated_names: false,
            namespaces: Namespaces::read(all_namespaces, namespace, None)?,
            label_selector: None,
            field_selector: None,
            filter: ObjectFilter::default(),
            cached: false,
            page_size: page_size(chunk_size),
            required_namespace: None,
            list_mode: list_mode(None, environment),
        })
    }

    /// Returns the selection of a command that takes kubectl's words.
    pub(super) fn of_words(
        words: &ObjectWords<'_>,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let non_empty =
            |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let (labels, fields) = (non_empty(words.labels), non_empty(words.fields));
        let has_selector = labels.is_some() || fields.is_some();
        let targets = match words.words {
            [] if has_selector => return Err(UsageError::SelectorWithoutType),
            [] => return Err(UsageError::NothingToWatch),
            words => targets::parse_as_get(words, has_selector, false)?,
        };
        Ok(Self {
            targets,
            keeps_repeated_names: true,
            namespaces: Namespaces::read(words.all_namespaces, namespace, None)?,
            label_selector: labels,
            field_selector: fields,
            filter: ObjectFilter::default(),
            cached: false,
            page_size: PAGE_SIZE,
            required_namespace: None,
            list_mode: list_mode(None, environment),
        })
    }

    /// Returns the selection of the objects in files for a command that takes kubectl's words. As in kubectl, a field
    /// selector has no effect.
    pub(super) fn of_named_files(
        words: &ObjectWords<'_>,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let namespaces = Namespaces::read(words.all_namespaces, namespace, None)?.of_files(namespace)?;
        let labels = words.labels.map(str::trim).filter(|text| !text.is_empty());
        Ok(Self {
            targets: Vec::new(),
            keeps_repeated_names: true,
            namespaces,
            label_selector: labels.map(str::to_owned),
            field_selector: None,
            filter: ObjectFilter::default(),
            cached: false,
            page_size: PAGE_SIZE,
            required_namespace: None,
            list_mode: list_mode(None, environment),
        })
    }

    /// Returns the selection of the objects in files. As in kubectl, a field selector has no effect.
    pub(super) fn of_files(
        args: &SelectArgs,
        form: TargetForm,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let flags = [
            (args.all_kinds, "all-kinds"),
            (args.namespace_selector.as_ref().is_some_and(|text| !text.is_empty()), "namespace-selector"),
        ];
        if let Some(flag) = first_flag(flags) {
            return Err(UsageError::SelectorWithFiles(flag));
        }
        let namespaces = Namespaces::read(args.all_namespaces, namespace, None)?.of_files(namespace)?;
        let Selectors { labels, fields: _, filter } = Selectors::read(args, form.is_watch())?;
        Ok(Self {
            targets: Vec::new(),
            keeps_repeated_names: false,
            namespaces,
            label_selector: labels,
            field_selector: None,
            filter,
            cached: args.cached,
            page_size: page_size(args.chunk_size),
            required_namespace: None,
            list_mode: list_mode(args.list_mode, environment),
        })
    }

    pub(super) fn read(
        args: &SelectArgs,
        form: TargetForm,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let has_labels = args.selector.iter().any(|text| !text.is_empty());
        let has_selector = has_labels || non_empty(&args.field_selector).is_some();
        let parse = match form {
            TargetForm::Own | TargetForm::OwnWatch => targets::parse,
            TargetForm::Get => targets::parse_as_get,
            TargetForm::GetWatch => targets::parse_as_get_watch,
        };
        let targets = parse(&args.resources, has_selector, args.all_kinds)?;
        let Selectors { labels, fields, filter } = Selectors::read(args, form.is_watch())?;
        Ok(Self {
            targets,
            keeps_repeated_names: form == TargetForm::Get,
            namespaces: Namespaces::read(
                args.all_namespaces,
                namespace,
                non_empty(&args.namespace_selector),
            )?,
            label_selector: labels,
            field_selector: fields,
            filter,
            cached: args.cached,
            page_size: page_size(args.chunk_size),
            required_namespace: None,
            list_mode: list_mode(args.list_mode, environment),
        })
    }
}

impl Selection {
    /// Sets the namespace that the conditions require of objects of all namespaces: a list of one namespace is cheaper for
    /// the server, and needs fewer permissions.
    pub(super) fn with_conditions(self, by: &[By]) -> Self {
        let is_name = |text: &str| {
            (1..=63).contains(&text.len())
                && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let required = by.iter().find_map(|by| match (&by.index, &by.condition) {
            (IndexName::Namespace, Condition::AnyOf(values)) => match values.as_slice() {
                [value] if is_name(value) => Some(value.clone()),
                _ => None,
            },
            _ => None,
        });
        Self { required_namespace: required.filter(|_| self.namespaces == Namespaces::All), ..self }
    }
}

/// The number of objects per page of a command without `--chunk-size`, which is kubectl's default of it.
const PAGE_SIZE: u32 = 500;

/// Returns the number of objects per page. The server ignores a limit below 1.
fn page_size(chunk_size: i64) -> u32 {
    u32::try_from(chunk_size.max(0)).unwrap_or(u32::MAX)
}

/// Returns the list mode. The flag overrides client-go's feature gate, which users set if a watch-list does not end.
/// Values that Go's `ParseBool` rejects are ignored.
fn list_mode(flag: Option<ListModeArg>, environment: &Environment) -> ListMode {
    match (flag, environment.watch_list_client.as_deref()) {
        (Some(ListModeArg::Watchlist), _) => ListMode::WatchList,
        (Some(ListModeArg::List), _) | (None, Some("0" | "f" | "F" | "false" | "FALSE" | "False")) => {
            ListMode::List
        }
        (Some(ListModeArg::Auto) | None, _) => ListMode::Auto,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn read(line: &str, environment: &Environment) -> Result<Selection, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        let Command::Get(args) = &cli.command else { panic!("{line}") };
        let namespace = cli.connection.namespace.as_deref();
        Selection::read(&args.objects.select, TargetForm::Get, namespace, environment)
    }

    #[test]
    fn client_go_feature_gate_selects_list_mode() {
        let with =
            |value: &str| Environment { watch_list_client: Some(value.into()), ..Environment::default() };
        for (line, environment, expected) in [
            ("get po", Environment::default(), ListMode::Auto),
            ("get po", with("false"), ListMode::List),
            ("get po", with("true"), ListMode::Auto),
            ("get po", with("nonsense"), ListMode::Auto),
            ("get po --list-mode watchlist", with("false"), ListMode::WatchList),
            ("get po --list-mode list", Environment::default(), ListMode::List),
        ] {
            let selection = read(line, &environment).expect(line);
            assert_eq!(selection.list_mode, expected, "{line}");
        }
    }
}
