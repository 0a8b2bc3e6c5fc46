//! The validated arguments of each command.

use jiff::Zoned;

use super::UsageError;
use super::by::By;
use super::environment::Environment;
use super::index::Index;
use super::kubectl::{
    ApiResources, Events, Files, RawPath, Version, WatchForm, no_arguments, read_api_resources,
};
use super::lines::{Flow, Lines, Rows};
use super::past::{Changes, History, Range, Replay, RequestedMoment};
use super::print::Print;
use super::record::Record;
use super::recording_tool::RecordingTool;
use super::run::Run;
use super::selection::{Selection, TargetForm};
use super::serve::{self, Mirror};
use super::set_wait::SetWait;
use super::tree::Tree;
use super::until::Until;
use super::wait::{Rollout, Wait};
use super::watch::Watch;
use crate::args::{
    ByArgs, Command, ExplainArgs, FileArgs, GetArgs, ObjectArgs, OneShotArgs, PlanForm, RowArgs, SelectArgs,
    Shell,
};

/// The task to perform; `get -w` is a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    Watch(Watch),
    Get(Get),
    Raw(RawPath),
    Index(Index),
    Tree(Tree),
    Wait(Box<Wait>),
    Rollout(Box<Rollout>),
    Run(Box<Run>),
    Record(Box<Record>),
    RecordingTool(RecordingTool),
    SetWait(Box<SetWait>),
    History(Box<History>),
    Changes(Box<Changes>),
    Events(Events),
    ApiResources(ApiResources),
    ApiVersions,
    Version(Version),
    Explain(Explain),
    /// Serve a recording, as the settings describe.
    Serve,
    /// Serve a live mirror, as the settings describe.
    Mirror(Box<Mirror>),
    /// Move the moment of a server of a recording.
    MoveServed(RequestedMoment),
    /// Serve the demo, whose options are in the settings of every task.
    Demo,
    /// Print the completion script of a shell.
    Completions(Shell),
    /// Print the manual page of a command, or of the program.
    Man(Option<String>),
    /// Print the flags that every command takes.
    Options,
}

/// `kdelta get`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Get {
    pub(crate) selection: Selection,
    /// The files that name the objects, instead of the selection.
    pub(crate) files: Option<Files>,
    pub(crate) by: Vec<By>,
    pub(crate) print: Print,
    /// The part of the named objects to print instead of them.
    pub(crate) subresource: Option<String>,
    /// The expression of `--sort-by`.
    pub(crate) sort_by: Option<String>,
    pub(crate) ignore_not_found: bool,
    /// Whether an empty result is a failure.
    pub(crate) fail_if_empty: bool,
    /// Whether statistics are printed.
    pub(crate) stats: bool,
    /// The form of the plan that is printed instead of the objects.
    pub(crate) explain: Option<PlanForm>,
}

/// `kdelta explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Explain {
    /// The words for the resource and field; only one is allowed.
    pub(crate) fields: Vec<String>,
    /// Whether the fields of fields are printed.
    pub(crate) recursive: bool,
    /// The group and version; `None` selects the preferred one.
    pub(crate) api_version: Option<String>,
    pub(crate) format: ExplainFormat,
}

/// The `-o` value of `kdelta explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExplainFormat {
    /// `plaintext`, from the documents of version 3.
    Plaintext,
    /// `plaintext-openapiv2`.
    PlaintextV2,
    /// Rejected once the resource is found, as in kubectl.
    Unknown(String),
}

impl ExplainFormat {
    /// The names of the formats, for completion.
    pub(crate) const NAMES: &str = "plaintext,plaintext-openapiv2";

    fn read(text: &str) -> Self {
        match text {
            "plaintext" => Self::Plaintext,
            "plaintext-openapiv2" => Self::PlaintextV2,
            text => Self::Unknown(text.to_owned()),
        }
    }
}

impl Task {
    pub(super) fn read(
        command: &Command,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let selection = |args: &SelectArgs, form| Selection::read(args, form, namespace, environment);
        let objects = |select: &SelectArgs, files: &FileArgs, form| {
            let files = Files::read(files, &select.resources, environment)?;
            if files.is_some() {
                return Ok((Selection::of_files(select, form, namespace, environment)?, files));
            }
            Ok::<_, UsageError>((selection(select, form)?, None))
        };
        match command {
            Command::Watch(args) => {
                let (select, files) = (&args.objects.select, &args.objects.files);
                let (selection, files) = objects(select, files, TargetForm::OwnWatch)?;
                let range = Range::read(&args.range, &Zoned::now())?;
                watch(&args.objects, Some(&args.rows), selection, files, WatchForm::Deltas)
                    .map(|task| task.replaying(range))
            }
            Command::Get(args) => match args.raw.as_deref().unwrap_or_default() {
                "" => {
                    if !args.objects.select.resources.is_empty() {
                        Print::check_show_labels(&args.objects.print)?;
                    }
                    let is_watch = args.watch || args.objects.flow.watch_only;
                    let form = if is_watch { TargetForm::GetWatch } else { TargetForm::Get };
                    let (selection, files) = objects(&args.objects.select, &args.objects.files, form)?;
                    get(args, selection, files)
                }
                path => raw(path, args),
            },
            Command::Index(args) => {
                Index::read(args, selection(&args.select, TargetForm::Own)?).map(Self::Index)
            }
            Command::Tree(args) => {
                Tree::read(args, selection(&args.select, TargetForm::Own)?).map(Self::Tree)
            }
            Command::Wait(args) => {
                if SetWait::is_requested(args, namespace) {
                    return SetWait::read(args, namespace, environment)
                        .map(|wait| Self::SetWait(Box::new(wait)));
                }
                Wait::read(args, namespace, environment).map(|wait| Self::Wait(Box::new(wait)))
            }
            Command::Run(args) => {
                let (selection, files) = objects(&args.select, &args.files, TargetForm::OwnWatch)?;
                Run::read(args, selection, files, namespace).map(|run| Self::Run(Box::new(run)))
            }
            Command::Record(args) => {
                let selection = selection(&args.objects.select, TargetForm::OwnWatch)?;
                Record::read(args, selection, environment).map(|record| Self::Record(Box::new(record)))
            }
            Command::Recording(args) => {
                RecordingTool::read(args, namespace, environment, &Zoned::now()).map(Self::RecordingTool)
            }
            Command::Rollout(args) => {
                Rollout::read(args, namespace, environment).map(|rollout| Self::Rollout(Box::new(rollout)))
            }
            Command::History(args) => {
                History::read(args, namespace, environment).map(|history| Self::History(Box::new(history)))
            }
            Command::Changes(args) => {
                Changes::read(args, namespace, environment).map(|changes| Self::Changes(Box::new(changes)))
            }
            Command::Events(args) => Events::read(args, namespace, environment).map(Self::Events),
            Command::ApiResources(args) => read_api_resources(args).map(Self::ApiResources),
            Command::ApiVersions(args) => no_arguments(&args.unexpected).map(|()| Self::ApiVersions),
            Command::Version(args) => Version::read(args).map(Self::Version),
            Command::Explain(args) => Ok(Self::Explain(explain(args))),
            Command::Serve(args) if args.follow && args.move_to.is_none() => {
                let selection = selection(&args.objects.select, TargetForm::OwnWatch)?;
                Mirror::read(&args.objects, selection, environment)
                    .map(|mirror| Self::Mirror(Box::new(mirror)))
            }
            Command::Serve(args) => Ok(serve::moved(args)?.map_or(Self::Serve, Self::MoveServed)),
            Command::Demo(_) => Ok(Self::Demo),
            Command::Completions(args) => Ok(Self::Completions(args.shell)),
            Command::Man(args) => Ok(Self::Man(args.command.clone())),
            Command::Options(_) => Ok(Self::Options),
        }
    }
}

impl Task {
    /// Makes a watch replay a range of a recording, if one is given.
    fn replaying(self, range: Range) -> Self {
        match self {
            Self::Watch(watch) => Self::Watch(Watch { replay: Replay::of(range).map(Box::new), ..watch }),
            task => task,
        }
    }

    /// Returns the range of a recording that the task reads, if it reads one.
    pub(crate) fn range(&self) -> Option<&Range> {
        match self {
            Self::Watch(watch) => watch.replay.as_ref().map(|replay| &replay.range),
            Self::SetWait(wait) => wait.replay.as_ref().map(|replay| &replay.range),
            Self::History(history) => Some(&history.range),
            Self::Changes(changes) => Some(&changes.range),
            _ => None,
        }
    }

    /// Whether standard input is a manifest.
    pub(super) fn reads_standard_input(&self) -> bool {
        let files = match self {
            Self::Watch(watch) => &watch.files,
            Self::Get(get) => &get.files,
            Self::Wait(wait) => &wait.objects.files,
            Self::Rollout(rollout) => &rollout.objects.files,
            Self::SetWait(wait) => &wait.files,
            Self::Run(run) => &run.files,
            _ => &None,
        };
        files.as_ref().is_some_and(Files::has_standard_input)
    }
}

/// Reads `get --raw`. As in kubectl, some flags are refused, and others are ignored.
fn raw(path: &str, args: &GetArgs) -> Result<Task, UsageError> {
    let ObjectArgs { select, print, flow, .. } = &args.objects;
    let is_given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    match () {
        () if !select.resources.is_empty() => return Err(UsageError::WordsWithRaw),
        () if args.watch || flow.watch_only || select.selector.iter().any(|text| !text.is_empty()) => {
            return Err(UsageError::FlagsWithRaw);
        }
        () if is_given(&print.output) => return Err(UsageError::OutputWithRaw),
        () => {}
    }
    let path = RawPath::parse(path)?;
    if flow.output_watch_events { Err(UsageError::OutputWatchEvents) } else { Ok(Task::Raw(path)) }
}

fn watch(
    args: &ObjectArgs,
    rows: Option<&RowArgs>,
    selection: Selection,
    files: Option<Files>,
    form: WatchForm,
) -> Result<Task, UsageError> {
    let explain = plan_form(args, files.as_ref())?;
    let (by, print, until) = (by(&args.index.by)?, Print::read(&args.print)?, Until::read(&args.until)?);
    // kubectl leaves them in the objects of events.
    let is_event = matches!(&form, WatchForm::Get(form) if form.events);
    let print = Print { managed_fields: print.managed_fields || is_event, ..print };
    // An object of a file that a selector does not match, or not yet, is not missing.
    let is_filter = files.is_some() && (selection.label_selector.is_some() || !selection.filter.is_empty());
    let lines = Lines::read(&args.lines, print.format)?;
    let print = Print { record_managers: lines.names_managers(print.format), ..print };
    let watch = Watch {
        flow: Flow::read(&args.flow, &selection, &by, until)?,
        selection: selection.with_conditions(&by),
        files,
        by,
        initial: !args.flow.watch_only,
        lines,
        rows: rows.map(|rows| Rows::read(rows, print.format)).transpose()?.unwrap_or_default(),
        print,
        until,
        ignore_not_found: args.ignore_not_found || is_filter,
        form,
        explain,
        replay: None,
    };
    watch.checked().map(Task::Watch)
}

fn get(args: &GetArgs, selection: Selection, files: Option<Files>) -> Result<Task, UsageError> {
    let GetArgs { objects, raw: _, subresource, sort_by, watch: _, one_shot } = args;
    let OneShotArgs { fail_if_empty, stats } = one_shot;
    let explain = plan_form(objects, files.as_ref())?;
    let ObjectArgs {
        index,
        ignore_not_found,
        print,
        lines,
        flow,
        until,
        select: _,
        files: _,
        metrics: _,
        plan: _,
    } = objects;
    if args.watch || flow.watch_only {
        return match () {
            () if *fail_if_empty => Err(UsageError::WatchIsNeverEmpty),
            () if *stats => Err(UsageError::StatsOfAWatch),
            () => watch(objects, None, selection, files, WatchForm::of_get(args)),
        };
    }
    if flow.output_watch_events {
        return Err(UsageError::OutputWatchEvents);
    }
    if let Some(flag) = Until::first_flag(until).or(Lines::first_flag(lines)).or(Flow::first_flag(flow)) {
        return Err(UsageError::NeedsWatch(flag));
    }
    // As in kubectl, it has no effect on the objects of files.
    let subresource = subresource.clone().filter(|name| !name.is_empty() && files.is_none());
    if subresource.is_some() {
        check_named(&selection, index)?;
    }
    let (by, print) = (by(&index.by)?, Print::read(print)?);
    let (ignore_not_found, fail_if_empty, stats) = (*ignore_not_found, *fail_if_empty, *stats);
    let sort_by = sort_by.clone().filter(|expression| !expression.is_empty());
    Ok(Task::Get(Get {
        selection: selection.with_conditions(&by),
        files,
        by,
        print,
        subresource,
        sort_by,
        ignore_not_found,
        fail_if_empty,
        stats,
        explain,
    }))
}

/// Returns the form of the requested plan.
fn plan_form(args: &ObjectArgs, files: Option<&Files>) -> Result<Option<PlanForm>, UsageError> {
    match args.plan.explain {
        Some(_) if files.is_some() => Err(UsageError::PlanOfFiles),
        form => Ok(form),
    }
}

/// Rejects a selection whose subresources can't be requested: only named objects have them.
fn check_named(selection: &Selection, index: &ByArgs) -> Result<(), UsageError> {
    match () {
        () if selection.targets.iter().any(|target| target.names.is_empty()) => {
            Err(UsageError::SubresourceOfMany)
        }
        () if !index.by.is_empty() => Err(UsageError::SubresourceByIndex),
        () => Ok(()),
    }
}

fn explain(args: &ExplainArgs) -> Explain {
    Explain {
        fields: args.fields.clone(),
        recursive: args.recursive,
        api_version: args.api_version.clone().filter(|version| !version.is_empty()),
        format: ExplainFormat::read(&args.output),
    }
}

fn by(texts: &[String]) -> Result<Vec<By>, UsageError> {
    texts.iter().map(|text| By::parse(text)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::args::Cli;
    use crate::settings::GetWatch;

    fn read(line: &str) -> Result<Task, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        Task::read(&cli.command, cli.connection.namespace.as_deref(), &Environment::default())
    }

    fn watch_of(line: &str) -> Watch {
        match read(line) {
            Ok(Task::Watch(watch)) => watch,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn get_with_w_is_a_watch() {
        let get = watch_of("get po -w --count 3 --duration 1m");
        assert_eq!((get.initial, get.until.count), (true, Some(3)));
        assert_eq!(get.until.duration, Some(Duration::from_mins(1)));
        let form = GetWatch { events: false, sort_by: None, is_watch: true };
        assert_eq!(get.form, WatchForm::Get(form.clone()));
        let deltas = Watch { form: WatchForm::Deltas, ..get };
        assert_eq!(deltas, watch_of("watch po --count 3 --duration 1m"));
        let only = watch_of("get po --watch-only --output-watch-events --sort-by .a -o json");
        assert!(!only.initial);
        let sort_by = Some(".a".to_owned());
        assert_eq!(only.form, WatchForm::Get(GetWatch { events: true, sort_by, is_watch: false }));
        assert!(only.print.managed_fields, "as in kubectl");
        let patient = watch_of("get po x -w --ignore-not-found");
        assert!(patient.ignore_not_found);
        assert_eq!(patient.form, WatchForm::Get(form));
    }

    #[test]
    fn flags_of_lines_select_the_form_of_watch() {
        for flags in [
            "--changes",
            "--changes --show-secrets",
            "-o json --old",
            "-o json --fields name",
            "--resync 10m",
        ] {
            let get = watch_of(&format!("get po -w {flags}"));
            assert_eq!(get, watch_of(&format!("watch po {flags}")), "{flags}");
        }
        for flags in ["--only spec", "--ignore status", "--show-all", "--on-slow=coalesce", "--by name=a"] {
            assert!(matches!(watch_of(&format!("get po -w {flags}")).form, WatchForm::Get(_)), "{flags}");
        }
    }

    #[test]
    fn get_with_w_refuses_what_kubectl_refuses() {
        assert_eq!(read("get -w"), Err(UsageError::NothingToWatch));
        assert_eq!(read("get po, --watch-only"), Err(UsageError::SeveralTypes));
        assert_eq!(read("get po,svc/a -w"), Err(UsageError::EmptyTypeOrName));
    }

    #[test]
    fn watch_flags_need_a_watch() {
        assert_eq!(read("get po --output-watch-events"), Err(UsageError::OutputWatchEvents));
        assert_eq!(read("get po --count 1"), Err(UsageError::NeedsWatch("count")));
        assert_eq!(read("get po -w --fail-if-empty"), Err(UsageError::WatchIsNeverEmpty));
        assert_eq!(read("get po -w --stats"), Err(UsageError::StatsOfAWatch));
        assert_eq!(read("get po --until-synced"), Err(UsageError::NeedsWatch("until-synced")));
        assert_eq!(read("watch po --watch-only --until-synced"), Err(UsageError::NothingToPrint));
    }

    #[test]
    fn files_replace_the_selection() {
        let Ok(Task::Get(get)) = read("get -f a -l x=y --field-selector a=b -n shop") else {
            panic!("a get")
        };
        assert!(get.files.is_some() && get.selection.targets.is_empty());
        assert_eq!(
            (get.selection.label_selector.as_deref(), get.selection.field_selector),
            (Some("x=y"), None)
        );
        let Ok(Task::Watch(watch)) = read("get -f - -w -l x=y") else { panic!("a watch") };
        assert!(watch.files.is_some() && watch.ignore_not_found);
        let deltas = Watch { form: WatchForm::Deltas, ..watch.clone() };
        assert_eq!(Ok(Task::Watch(deltas)), read("watch -f - -l x=y"));
        assert!(Task::Watch(watch).reads_standard_input());
        assert!(read("run -f - -- x").expect("a run").reads_standard_input());
        assert!(!read("get -f a").expect("a get").reads_standard_input());
        assert_eq!(read("get -R"), Err(UsageError::NoResource));
        assert_eq!(read("get -f a --all-kinds"), Err(UsageError::SelectorWithFiles("all-kinds")));
        for namespaces in ["a,b", "a*"] {
            let error = UsageError::SeveralNamespacesWithFiles(namespaces.into());
            assert_eq!(read(&format!("get -f a -n {namespaces}")), Err(error));
        }
        assert!(read("get -f a -A").is_ok());
    }

    #[test]
    fn raw_excludes_what_kubectl_excludes() {
        assert!(matches!(read("get --raw /version -f a -A --show-labels"), Ok(Task::Raw(_))));
        for (line, error) in [
            ("get --raw /x pods -w", UsageError::WordsWithRaw),
            ("get --raw /x -w", UsageError::FlagsWithRaw),
            ("get --raw /x --watch-only -o json", UsageError::FlagsWithRaw),
            ("get --raw x -l a=b", UsageError::FlagsWithRaw),
            ("get --raw x -o json", UsageError::OutputWithRaw),
            ("get --raw /x --output-watch-events", UsageError::OutputWatchEvents),
            ("get --raw=", UsageError::NoResource),
        ] {
            assert_eq!(read(line), Err(error), "{line}");
        }
    }

    #[test]
    fn kubectl_refuses_the_same_arguments() {
        for (line, expected) in [
            ("api-resources a b", "unexpected arguments: [a b]"),
            ("api-versions a", "unexpected arguments: [a]"),
            ("api-resources --sort-by=x", "--sort-by accepts only name or kind"),
            ("version a", "extra arguments: [a]"),
            ("version -o wide", "--output must be 'yaml' or 'json'"),
            ("events --for web", "--for must be in resource/name form"),
            ("events --for a/b/c", "arguments in resource/name form may not have more than one slash"),
            ("events --types Error", "valid --types are Normal or Warning"),
        ] {
            assert_eq!(read(line).map_err(|error| error.to_string()), Err(expected.to_owned()), "{line}");
        }
        for line in [
            "api-resources -o wide --sort-by=",
            "version a --client",
            "events --types=warning,NORMAL",
            "events --types= ignored",
        ] {
            assert!(read(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn subresources_need_names() {
        let subresource = |line: &str| match read(line) {
            Ok(Task::Get(get)) => get.subresource,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(subresource("get po a b --subresource=status"), Some("status".into()));
        assert_eq!(subresource("get po/a svc/b --subresource x"), Some("x".into()));
        assert_eq!(subresource("get po --subresource="), None);
        for line in
            ["get po --subresource=status", "get po -l a=b --subresource=x", "get po,svc --subresource=x"]
        {
            assert_eq!(read(line), Err(UsageError::SubresourceOfMany), "{line}");
        }
        assert_eq!(read("get po a --by node=b --subresource=x"), Err(UsageError::SubresourceByIndex));
        assert!(matches!(read("get po -w --subresource=status"), Ok(Task::Watch(_))), "as in kubectl");
    }

    #[test]
    fn selectors_allow_types_but_not_names() {
        assert_eq!(read("get po a -l x=y"), Err(UsageError::SelectorWithName));
        assert!(read("get po,svc -l x=y --field-selector a=b").is_ok());
        assert!(read("get po a --selector=").is_ok());
    }
}
