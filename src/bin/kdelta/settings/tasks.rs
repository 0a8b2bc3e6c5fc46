//! What is to be done: the checked meaning of each command's arguments.

use std::time::Duration;

use super::by::{By, IndexName};
use super::environment::Environment;
use super::lines::{Flow, Lines};
use super::targets::{self, Target};
use super::{Pattern, UsageError, duration};
use crate::args::{
    ApiResourcesArgs, Command, GetArgs, IndexArgs, ListModeArg, OutcomeArgs, PrintArgs, ResourceColumn,
    SelectArgs, Shell, UntilArgs, WatchArgs,
};

/// What `-o` takes where objects are printed.
pub(crate) const OBJECT_FORMATS: &str = "json,name,wide,yaml";
/// What `-o` takes where the server's resources are printed.
pub(crate) const RESOURCE_FORMATS: &str = "name,wide";

/// One variant for each thing the program can do; `get -w` is a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    Watch(Watch),
    Get(Get),
    Index(Index),
    ApiResources(ApiResources),
    /// Serve the demo, which stands in the settings for every task.
    Demo,
    /// Print the script for a shell.
    Completions(Shell),
    /// Print a page of the manual: that of this command, or that of the program.
    Man(Option<String>),
}

/// `kdelta watch`, and `kdelta get` with `-w` or `--watch-only`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) selection: Selection,
    pub(crate) by: Vec<By>,
    pub(crate) print: Print,
    /// Whether the initial state is printed.
    pub(crate) initial: bool,
    pub(crate) lines: Lines,
    pub(crate) flow: Flow,
    pub(crate) until: Until,
    pub(crate) ignore_not_found: bool,
}

/// `kdelta get`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Get {
    pub(crate) selection: Selection,
    pub(crate) by: Vec<By>,
    pub(crate) print: Print,
    pub(crate) ignore_not_found: bool,
    /// Whether it is a failure that nothing matched.
    pub(crate) fail_if_empty: bool,
    /// Whether it is told what it took.
    pub(crate) stats: bool,
}

/// `kdelta index`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) selection: Selection,
    pub(crate) by: IndexName,
    /// Only these values; `None` is all.
    pub(crate) values: Option<Vec<String>>,
    pub(crate) headers: bool,
    /// Whether it is a failure that nothing matched.
    pub(crate) fail_if_empty: bool,
    /// Whether it is told what it took.
    pub(crate) stats: bool,
}

/// `kdelta api-resources`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiResources {
    /// `Some("")` is the core group.
    pub(crate) group: Option<String>,
    pub(crate) namespaced: Option<bool>,
    /// All of them.
    pub(crate) verbs: Vec<String>,
    /// All of them.
    pub(crate) categories: Vec<String>,
    /// `None` is by group and then by name.
    pub(crate) sort_by: Option<ResourceColumn>,
    /// Only [`Format::Table`] or [`Format::Name`].
    pub(crate) format: Format,
    pub(crate) headers: bool,
}

/// Which objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selection {
    /// At least one.
    pub(crate) targets: Vec<Target>,
    pub(crate) namespaces: Namespaces,
    /// Unparsed; the server reads it.
    pub(crate) label_selector: Option<String>,
    /// Unparsed; the server reads it.
    pub(crate) field_selector: Option<String>,
    /// Any state from the server's cache will do.
    pub(crate) cached: bool,
    /// Objects in a page; 0 is all at once.
    pub(crate) page_size: u32,
    pub(crate) list_mode: ListMode,
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// The one that the kubeconfig says.
    Current,
    /// `-n a` or `-n a,b`; each once.
    Named(Vec<String>),
    /// `-A`.
    All,
    /// `-n a,'team-*'` or `--namespace-selector`: those that there are at the moment and that match.
    Matching {
        /// Whether they are there or not.
        always: Vec<String>,
        /// One of these matches the name.
        patterns: Vec<Pattern>,
        /// And this the labels. Unparsed; the server reads it.
        labels: Option<String>,
    },
}

/// How the initial state is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListMode {
    /// Through the watch where the server can.
    Auto,
    /// Through the watch.
    WatchList,
    /// By pages.
    List,
}

/// How objects are printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Print {
    pub(crate) format: Format,
    pub(crate) managed_fields: bool,
    pub(crate) headers: bool,
    pub(crate) show_labels: bool,
    pub(crate) label_columns: Vec<String>,
    pub(crate) show_kind: bool,
}

/// `-o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The server's table, with all of its columns or those of priority 0.
    Table {
        /// `-o wide`.
        wide: bool,
    },
    Json,
    Yaml,
    Name,
}

impl Format {
    /// How it is asked for, if what it prints says nothing of contexts.
    pub(crate) fn of_one_context(self) -> Option<&'static str> {
        match self {
            Self::Table { .. } => None,
            Self::Json => Some("json"),
            Self::Yaml => Some("yaml"),
            Self::Name => Some("name"),
        }
    }
}

impl Default for Format {
    fn default() -> Self {
        Self::Table { wide: false }
    }
}

/// What ends a watch, with exit code 0; by itself it never ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Until {
    /// After so many printed deltas; at least 1.
    pub(crate) count: Option<u64>,
    pub(crate) duration: Option<Duration>,
    pub(crate) synced: bool,
}

impl Task {
    pub(super) fn read(
        command: &Command,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let selection = |args: &SelectArgs| Selection::read(args, namespace, environment);
        match command {
            Command::Watch(args) => watch(args, selection(&args.select)?),
            Command::Get(args) => get(args, selection(&args.select)?),
            Command::Index(args) => index(args, selection(&args.select)?),
            Command::ApiResources(args) => api_resources(args),
            Command::Demo(_) => Ok(Self::Demo),
            Command::Completions(args) => Ok(Self::Completions(args.shell)),
            Command::Man(args) => Ok(Self::Man(args.command.clone())),
        }
    }
}

fn watch(args: &WatchArgs, selection: Selection) -> Result<Task, UsageError> {
    let (by, print, until) = (by(&args.index.by)?, Print::read(&args.print)?, Until::read(&args.until)?);
    let watch = Watch {
        flow: Flow::read(&args.flow, &selection, &by, until)?,
        selection,
        by,
        initial: !args.watch_only,
        lines: Lines::read(&args.lines, print.format)?,
        print,
        until,
        ignore_not_found: args.ignore_not_found,
    };
    watch.checked().map(Task::Watch)
}

fn get(args: &GetArgs, selection: Selection) -> Result<Task, UsageError> {
    let is_watch = args.watch || args.watch_only;
    if !is_watch {
        if args.output_watch_events {
            return Err(UsageError::OutputWatchEvents);
        }
        let UntilArgs { count, duration, until_synced } = &args.until;
        let until =
            [(count.is_some(), "count"), (duration.is_some(), "duration"), (*until_synced, "until-synced")];
        let until = until.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag);
        if let Some(flag) = until.or(Lines::given(&args.lines)).or(Flow::given(&args.flow)) {
            return Err(UsageError::NeedsWatch(flag));
        }
    }
    if is_watch && args.outcome.fail_if_empty {
        return Err(UsageError::WatchIsNeverEmpty);
    }
    if is_watch && args.outcome.stats {
        return Err(UsageError::StatsOfAWatch);
    }
    let (by, print) = (by(&args.index.by)?, Print::read(&args.print)?);
    if is_watch {
        let until = Until::read(&args.until)?;
        let watch = Watch {
            flow: Flow::read(&args.flow, &selection, &by, until)?,
            selection,
            by,
            initial: !args.watch_only,
            lines: Lines::read(&args.lines, print.format)?,
            print,
            until,
            ignore_not_found: args.ignore_not_found,
        };
        watch.checked().map(Task::Watch)
    } else {
        let OutcomeArgs { fail_if_empty, stats } = args.outcome;
        let ignore_not_found = args.ignore_not_found;
        Ok(Task::Get(Get { selection, by, print, ignore_not_found, fail_if_empty, stats }))
    }
}

impl Watch {
    /// The same, if it can be meant.
    fn checked(self) -> Result<Self, UsageError> {
        match () {
            () if !self.initial && self.until.synced => Err(UsageError::NothingToPrint),
            () if !self.initial && self.flow.coalesce => Err(UsageError::MergedWithUnprinted),
            () => Ok(self),
        }
    }
}

fn index(args: &IndexArgs, selection: Selection) -> Result<Task, UsageError> {
    let [by] = args.by.as_slice() else { return Err(UsageError::SeveralIndices) };
    let (by, values) = By::parse_optional(by)?;
    let OutcomeArgs { fail_if_empty, stats } = args.outcome;
    Ok(Task::Index(Index { selection, by, values, headers: !args.no_headers, fail_if_empty, stats }))
}

fn api_resources(args: &ApiResourcesArgs) -> Result<Task, UsageError> {
    let format = Format::read(args.output.as_deref(), RESOURCE_FORMATS)?;
    if matches!(format, Format::Json | Format::Yaml) {
        let format = args.output.clone().unwrap_or_default();
        return Err(UsageError::OutputFormat { format, allowed: RESOURCE_FORMATS });
    }
    Ok(Task::ApiResources(ApiResources {
        group: args.api_group.clone(),
        namespaced: args.namespaced,
        verbs: words(&args.verbs),
        categories: words(&args.categories),
        sort_by: args.sort_by,
        format,
        headers: !args.no_headers,
    }))
}

/// The words that are not empty.
fn words(texts: &[String]) -> Vec<String> {
    texts.iter().filter(|text| !text.is_empty()).cloned().collect()
}

fn by(texts: &[String]) -> Result<Vec<By>, UsageError> {
    texts.iter().map(|text| By::parse(text)).collect()
}

impl Selection {
    /// Whether it may come to other parts tomorrow than today.
    pub(crate) fn is_open(&self) -> bool {
        self.targets.iter().any(|target| target.types.is_open())
            || matches!(self.namespaces, Namespaces::Matching { .. })
    }

    fn read(
        args: &SelectArgs,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let (label_selector, field_selector) = (given(&args.selector), given(&args.field_selector));
        let has_selector = label_selector.is_some() || field_selector.is_some();
        Ok(Self {
            targets: targets::parse(&args.resources, has_selector, args.all_kinds)?,
            namespaces: Namespaces::read(args.all_namespaces, namespace, given(&args.namespace_selector))?,
            label_selector,
            field_selector,
            cached: args.cached,
            page_size: args.chunk_size,
            list_mode: list_mode(args.list_mode, environment),
        })
    }
}

impl Namespaces {
    /// `-A` wins, and an empty `-n` is none, as in kubectl.
    fn read(all: bool, namespace: Option<&str>, labels: Option<String>) -> Result<Self, UsageError> {
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

/// The flag wins over client-go's feature gate, which users know as the cure for a watch-list that never ends. What
/// Go's `ParseBool` can't read says nothing.
fn list_mode(flag: Option<ListModeArg>, environment: &Environment) -> ListMode {
    match (flag, environment.watch_list_client.as_deref()) {
        (Some(ListModeArg::Watchlist), _) => ListMode::WatchList,
        (Some(ListModeArg::List), _) | (None, Some("0" | "f" | "F" | "false" | "FALSE" | "False")) => {
            ListMode::List
        }
        (Some(ListModeArg::Auto) | None, _) => ListMode::Auto,
    }
}

impl Print {
    fn read(args: &PrintArgs) -> Result<Self, UsageError> {
        Ok(Self {
            format: Format::read(args.output.as_deref(), OBJECT_FORMATS)?,
            managed_fields: args.show_managed_fields,
            headers: !args.no_headers,
            show_labels: args.show_labels,
            label_columns: words(&args.label_columns),
            show_kind: args.show_kind,
        })
    }
}

impl Format {
    fn read(text: Option<&str>, allowed: &'static str) -> Result<Self, UsageError> {
        // In capitals or not, as kubectl takes them.
        Ok(match text.unwrap_or_default().to_lowercase().as_str() {
            "" => Self::Table { wide: false },
            "wide" => Self::Table { wide: true },
            "json" => Self::Json,
            "yaml" => Self::Yaml,
            "name" => Self::Name,
            _ => {
                let format = text.unwrap_or_default().to_owned();
                return Err(UsageError::OutputFormat { format, allowed });
            }
        })
    }
}

impl Until {
    fn read(args: &UntilArgs) -> Result<Self, UsageError> {
        let duration = args.duration.as_deref().map(duration::parse).transpose()?;
        Ok(Self { count: args.count, duration, synced: args.until_synced })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    fn read_in(line: &str, environment: &Environment) -> Result<Task, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        Task::read(&cli.command, cli.connection.namespace.as_deref(), environment)
    }

    fn read(line: &str) -> Result<Task, UsageError> {
        read_in(line, &Environment::default())
    }

    #[test]
    fn get_with_w_is_a_watch() {
        let Ok(Task::Watch(get)) = read("get po -w --count 3 --duration 1m") else { panic!("a watch") };
        assert_eq!(Ok(Task::Watch(get.clone())), read("watch po --count 3 --duration 1m"));
        assert_eq!((get.initial, get.until.count), (true, Some(3)));
        assert_eq!(get.until.duration, Some(Duration::from_mins(1)));
        let Ok(Task::Watch(only)) = read("get po --watch-only --output-watch-events") else {
            panic!("a watch")
        };
        assert!(!only.initial);
        let Ok(Task::Watch(patient)) = read("get po x -w --ignore-not-found") else { panic!("a watch") };
        assert_eq!(Ok(Task::Watch(patient)), read("watch po x --ignore-not-found"));
    }

    #[test]
    fn flags_of_a_watch_need_a_watch() {
        assert_eq!(read("get po --output-watch-events"), Err(UsageError::OutputWatchEvents));
        assert_eq!(read("get po --count 1"), Err(UsageError::NeedsWatch("count")));
        assert_eq!(read("get po -w --fail-if-empty"), Err(UsageError::WatchIsNeverEmpty));
        assert_eq!(read("get po -w --stats"), Err(UsageError::StatsOfAWatch));
        assert_eq!(read("get po --until-synced"), Err(UsageError::NeedsWatch("until-synced")));
        assert_eq!(read("watch po --watch-only --until-synced"), Err(UsageError::NothingToPrint));
    }

    #[test]
    fn all_namespaces_win_and_a_list_of_namespaces_holds_each_once() {
        let namespaces = |line: &str| match read(line) {
            Ok(Task::Get(get)) => get.selection.namespaces,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(namespaces("get po"), Namespaces::Current);
        assert_eq!(namespaces("get po -n a,b,a"), Namespaces::Named(vec!["a".into(), "b".into()]));
        assert_eq!(namespaces("get po -n a -A"), Namespaces::All);
        assert_eq!(namespaces("get po --namespace="), Namespaces::Current);
    }

    #[test]
    fn namespaces_are_matched_by_name_and_by_label() {
        let matching = |line: &str| match read(line) {
            Ok(Task::Get(Get {
                selection: Selection { namespaces: Namespaces::Matching { always, patterns, labels }, .. },
                ..
            })) => {
                let patterns: Vec<_> = patterns.iter().map(|pattern| pattern.text().to_owned()).collect();
                (always.join(","), patterns.join(","), labels.unwrap_or_default())
            }
            other => panic!("{line}: {other:?}"),
        };
        let told =
            |always: &str, patterns: &str, labels: &str| (always.into(), patterns.into(), labels.into());
        assert_eq!(matching("get po -n a,team-*,b,x?"), told("a,b", "team-*,x?", ""));
        assert_eq!(matching("get po --namespace-selector env=prod"), told("", "*", "env=prod"));
        assert_eq!(matching("get po -A --namespace-selector env=prod"), told("", "*", "env=prod"));
        assert_eq!(matching("get po -n a,b* --namespace-selector env"), told("", "a,b*", "env"));
    }

    #[test]
    fn a_format_is_taken_in_capitals_too_and_a_list_of_namespaces_names_some() {
        for (text, format) in
            [("JSON", Format::Json), ("Yaml", Format::Yaml), ("WIDE", Format::Table { wide: true })]
        {
            assert_eq!(Format::read(Some(text), OBJECT_FORMATS), Ok(format));
        }
        for text in [",", ",,"] {
            let error = read(&format!("get pods -n {text}")).expect_err("no name");
            assert_eq!(error.to_string(), format!("--namespace needs a name: there is none in {text:?}"));
        }
    }

    #[test]
    fn an_unknown_format_names_those_that_there_are() {
        let error = read("get po -o jsonpath={.x}").expect_err("no such format").to_string();
        assert_eq!(
            error,
            "unable to match a printer suitable for the output format \"jsonpath={.x}\", allowed formats are: json,name,wide,yaml"
        );
        assert!(read("api-resources -o json").is_err());
        assert!(read("api-resources -o wide").is_ok());
    }

    #[test]
    fn the_feature_gate_of_client_go_chooses_the_list_mode() {
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
            let Ok(Task::Get(get)) = read_in(line, &environment) else { panic!("{line}") };
            assert_eq!(get.selection.list_mode, expected, "{line}");
        }
    }

    #[test]
    fn selectors_exclude_names_but_not_types() {
        assert_eq!(read("get po a -l x=y"), Err(UsageError::SelectorWithName));
        assert!(read("get po,svc -l x=y --field-selector a=b").is_ok());
        assert!(read("get po a --selector=").is_ok());
    }

    #[test]
    fn an_index_needs_no_value_but_takes_some() {
        let Ok(Task::Index(index)) = read("index po --by label:app=a,b") else { panic!("an index") };
        assert_eq!(index.by, IndexName::Label("app".into()));
        assert_eq!(index.values, Some(vec!["a".into(), "b".into()]));
        assert_eq!(read("index po --by node --by name"), Err(UsageError::SeveralIndices));
        assert!(matches!(read("index po --by node"), Ok(Task::Index(Index { values: None, .. }))));
    }
}
