//! Usage errors, with exit code 2. The messages are kubectl's where it has one.

mod first_flag;
mod hints;

pub(super) use first_flag::first_flag;

use std::net::IpAddr;

use kdelta::object::SelectorError;
use kdelta::query::{CelSyntaxError, FieldFilterError, JqSyntaxError, KubectlConditionError};

use crate::settings::duration::DurationError;
use crate::settings::print::TemplateError;

/// An error in the arguments that clap does not detect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    /// No TYPE is given.
    #[error(
        "Required resource not specified.\nUse \"kdelta explain <resource>\" for a detailed description of that resource (e.g. kdelta explain pods)."
    )]
    NoResource,
    /// No TYPE is given to `get -w` or `wait`.
    #[error(
        "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'"
    )]
    NothingToWatch,
    #[error("you may only specify a single resource type")]
    SeveralTypes,
    #[error(
        "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kdelta get resource/<resource_name>' instead of 'kdelta get resource resource/<resource_name>'"
    )]
    MixedForms,
    #[error("names can't be given with {0:?}, which stands for many types")]
    NamesOfMany(String),
    #[error("{0:?} is no type; --all-kinds means every type")]
    EveryType(String),
    #[error("--{flag} needs a name: there is none in {text:?}")]
    NoNames { flag: &'static str, text: String },
    #[error("--{0} applies to one cluster, but several contexts are selected")]
    SeveralContexts(&'static str),
    #[error("{0} takes one context")]
    OneContext(&'static str),
    #[error("the server doesn't have a resource type \"\"")]
    EmptyType,
    #[error("you must specify only one resource")]
    NamesOfAll,
    #[error("arguments in resource/name form may not have more than one slash")]
    SlashesInName,
    #[error("arguments in resource/name form must have a single resource and name")]
    EmptyTypeOrName,
    #[error("name cannot be provided when a selector is specified")]
    SelectorWithName,
    #[error("selectors and the all flag cannot be used when passing resource/name arguments")]
    SelectorWithSlash,
    #[error("at least one resource must be specified to use a selector")]
    SelectorWithoutType,
    #[error("subresource cannot be used when bulk resources are specified")]
    SubresourceOfMany,
    #[error("--subresource and --by exclude each other: an index holds whole objects")]
    SubresourceByIndex,
    #[error(
        "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
    )]
    TypesWithFiles,
    #[error("resource/name arguments cannot be provided when a path is specified")]
    NamesWithFiles,
    #[error("invalid argument {} for \"-f, --filename\" flag: {reason}", kdelta::object::go_quote(.value))]
    FileNames { value: String, reason: String },
    #[error("--{0} selects among many objects, but -f and -k name each of theirs")]
    SelectorWithFiles(&'static str),
    #[error("-f and -k take one namespace, but -n selects several: {0:?}")]
    SeveralNamespacesWithFiles(String),
    #[error("arguments may not be passed when --raw is specified")]
    WordsWithRaw,
    #[error("--raw may not be specified with other flags that filter the server request or alter the output")]
    FlagsWithRaw,
    #[error("--raw and --output are mutually exclusive")]
    OutputWithRaw,
    #[error("--raw must be a valid URL path: parse {}: {reason}", kdelta::object::go_quote(.text))]
    RawPath { text: String, reason: String },
    #[error("--output-watch-events option can only be used with --watch or --watch-only")]
    OutputWatchEvents,
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("--show-labels option cannot be used with {0} printer")]
    ShowLabelsFormat(String),
    #[error("--metrics needs a PORT, HOST:PORT or [IPv6]:PORT, not {0:?}")]
    MetricsAddress(String),
    #[error("--{0} needs --watch or --watch-only")]
    NeedsWatch(&'static str),
    #[error("--fail-if-empty can't be used with --watch or --watch-only: what is not there may still come")]
    WatchIsNeverEmpty,
    #[error("--stats reports the cost of a finished list, and a watch has no end")]
    StatsOfAWatch,
    #[error("--until-synced and --watch-only exclude each other: nothing would be printed")]
    NothingToPrint,
    #[error(
        "unable to match a printer suitable for the output format {format:?}, allowed formats are: {allowed}"
    )]
    OutputFormat { format: String, allowed: &'static str },
    #[error("unexpected arguments: [{0}]")]
    UnexpectedArguments(String),
    #[error("extra arguments: [{0}]")]
    ExtraArguments(String),
    #[error("--sort-by accepts only name or kind")]
    ResourceColumn,
    #[error("--output must be 'yaml' or 'json'")]
    VersionFormat,
    #[error("--for must be in resource/name form")]
    EventObject,
    #[error("valid --types are Normal or Warning")]
    EventTypes,
    /// `wait` without `--for`.
    #[error("unrecognized condition: []")]
    NoWaitCondition,
    #[error(transparent)]
    WaitCondition(#[from] KubectlConditionError),
    #[error(
        "you must specify resources by --filename when --local is set.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'"
    )]
    WordsWithLocal,
    #[error("--local has no server to wait for: it needs --for=create alone")]
    LocalCondition,
    #[error("rollout needs an action: status")]
    NoRolloutAction,
    #[error("unknown command {}", kdelta::object::go_quote(.0))]
    RolloutAction(String),
    #[error("required resource not specified")]
    NothingRolledOut,
    #[error("revision must be a positive integer: {0}")]
    NegativeRevision(i64),
    #[error(
        "there is no index {index:?}: the indices are namespace, name, label:KEY, annotation:KEY, owner, node, image, field:PATH, cel:EXPRESSION"
    )]
    UnknownIndex {
        index: String,
        /// The flag that may be meant.
        similar: Option<String>,
    },
    #[error("--by {0} selects objects without a value, and index shows values")]
    NoValues(String),
    #[error("--explain describes the requests of a query, and -f and -k name single objects")]
    PlanOfFiles,
    #[error("--sort-by {0} needs --{0} PATH")]
    SortedAggregate(&'static str),
    #[error(
        "a table over several indices shows one aggregate: give one of --sum, --avg, --min and --max, or -o json"
    )]
    SeveralAggregates,
    #[error(
        "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
    )]
    RequestTimeout,
    #[error("invalid --duration: {0}")]
    Duration(#[from] DurationError),
    #[error("--by {0}: `!` selects objects without a value, and `=` those with one")]
    ValueOfAbsent(String),
    #[error("--by {0}: the value after `=` is a plain text without quotes; `==` compares in the expression")]
    QuotedValue(String),
    #[error("invalid --{flag}: {error}\n  {excerpt}\n  {mark:>column$}", excerpt = .error.excerpt, mark = "^", column = .error.column)]
    Expression { flag: &'static str, error: CelSyntaxError },
    #[error("invalid --{flag}: {error}")]
    Age { flag: &'static str, error: DurationError },
    #[error("invalid --{flag}: {error}")]
    Time { flag: &'static str, error: DurationError },
    #[error("--{0} must be more than 0")]
    ZeroTime(&'static str),
    #[error(
        "--no-initial and --until-synced exclude each other without --checkpoint: there would be nothing to run"
    )]
    NothingToRun,
    #[error("--status needs a status, such as Pending")]
    NoStatus,
    #[error("--ready and --not-ready exclude each other")]
    ReadyAndNot,
    #[error("invalid --name {text}: {reason}")]
    NameExpression { text: String, reason: String },
    #[error("--name {0:?} has a slash: a regular expression stands between two, as in /^web/")]
    NameWithSlash(String),
    #[error("invalid --selector {text:?}: {error}")]
    Labels { text: String, error: SelectorError },
    #[error(transparent)]
    Fields(#[from] FieldFilterError),
    #[error("invalid --changed-by: error parsing jq {text}: {error}")]
    ChangedBy { text: String, error: JqSyntaxError },
    #[error("invalid --resync: {0}")]
    Resync(DurationError),
    #[error("--resync must be at least 1s")]
    ResyncTooShort,
    #[error("--{0} is about JSON lines: it needs -o json")]
    NeedsJson(&'static str),
    #[error("--ts needs a table: a JSON line has the field ts")]
    TimeFormat,
    #[error("--changes has one form in JSON lines, the field `changes`: other forms need a table")]
    ChangesForm,
    #[error("--{0} is about the results of jq: it needs -o jq=EXPRESSION or -o jq-file=FILE")]
    NeedsJq(&'static str),
    #[error("--changes needs a table or -o json")]
    ChangesFormat,
    #[error(
        "--resource-version must be the version to go on after, such as the resume of a JSON line: a number above 0, not {0:?}"
    )]
    NoVersion(String),
    #[error(
        "--resource-version and --{0} exclude each other: a watch that goes on from a version has no initial state"
    )]
    NoInitialState(&'static str),
    #[error(
        "--watch-only and --on-slow=coalesce exclude each other: a change that comes while the initial state is read would be merged with it, and not be printed"
    )]
    MergedWithUnprinted,
    #[error("unknown profile '{0}'")]
    UnknownProfile(String),
    #[error("kdelta writes no profiles: --profile accepts only none")]
    Profile,
    #[error("--as-user-extra must be KEY=VALUE, not {0:?}")]
    UserExtra(String),
    #[error("--{0} needs --demo")]
    NeedsDemo(&'static str),
    #[error("--speed needs --from DIR, to replay a recording, or --demo")]
    SpeedWithoutReplay,
    #[error("recording needs a tool: info, verify, cut, merge, export or import")]
    NoRecordingTool,
    #[error("recording has no tool {0:?}; its tools are info, verify, cut, merge, export and import")]
    UnknownRecordingTool(String),
    #[error("recording {0} needs a directory of recordings, or for import a file of JSON lines")]
    NoDirectory(&'static str),
    #[error("recording {0} needs --to with the directory of the new recordings")]
    NoTarget(&'static str),
    #[error("recording {tool} has no flag --{flag}, which is for {users}")]
    FlagOfOtherTool { flag: &'static str, tool: &'static str, users: &'static str },
    #[error("recording takes the names of namespaces in -n, not patterns")]
    NamespacePatterns,
    #[error("--{0} needs --from")]
    NeedsRecording(&'static str),
    #[error("--plain and --encrypt-to exclude each other: new recordings are encrypted, or they are not")]
    PlainAndEncrypted,
    #[error("--{0} selects a server, and --from a recording")]
    RecordingElsewhere(&'static str),
    #[error("{0} can't read a recording: omit --from")]
    NoRecording(&'static str),
    #[error(
        "invalid --{flag} {text:?}: it takes a time such as 2026-11-24T03:12:00Z or 03:12, an age before the recording's end such as -10m, or a version such as rv:1234"
    )]
    Moment { flag: &'static str, text: String },
    #[error("serve --speed needs --since, from which the recording is replayed")]
    ServedSpeed,
    #[error("serve needs --from DIR, the recording to serve, or --follow TYPE, the objects to mirror")]
    ServeWithoutRecording,
    #[error("--follow mirrors a cluster, and --{0} is for a recording: omit one of them")]
    FollowAndRecording(&'static str),
    #[error("{0} needs --follow: a recording is served with all of its objects")]
    NeedsFollow(&'static str),
    #[error("--where can't use `old` here: a mirror has the current objects")]
    MirroredChanges,
    #[error(
        "serve --follow can't use filters that depend on the time, such as --older-than: their result changes without a change of the object"
    )]
    MirroredAges,
    #[error("--at and --since exclude each other: the moment stands still, or the recording is replayed")]
    MomentAndReplay,
    #[error("--address must be one address of this machine, not {0}: clients verify the server by it")]
    ServeAddress(IpAddr),
    #[error(
        "--move-to and --{0} exclude each other: --move-to is for a server that runs already, which --kubeconfig selects"
    )]
    MoveAndServe(&'static str),
    #[error("history needs names: TYPE/NAME or TYPE NAME")]
    HistoryOfMany,
    #[error(
        "history takes names, not patterns such as {0:?}: `kdelta get TYPE -o name` with the same --from lists the names"
    )]
    HistoryOfPattern(String),
    #[error(
        "a cluster keeps no earlier versions: --from DIR reads a recording, -w prints the versions from now on"
    )]
    NoLiveHistory,
    #[error("changes takes types without names")]
    ChangesOfNames,
    #[error("--brief and -o json exclude each other")]
    BriefFormat,
    #[error("a cluster keeps no earlier states to compare with: --from DIR reads a recording")]
    NoLiveChanges,
    #[error(
        "invalid --{flag} {text:?}: it takes a time such as 2026-11-24T03:12:00Z or 03:12, or an age before the recording's end such as -10m"
    )]
    RangeTime { flag: &'static str, text: String },
    #[error("--{0} takes a time, not a version: --at takes versions")]
    VersionInRange(&'static str),
    #[error("--at selects one moment, and --{0} a range")]
    MomentAndRange(&'static str),
    #[error("wait --from reads a range, not a moment: use --since and --until in place of --at")]
    WaitAtMoment,
    #[error("--speed is for replays of a range, which --since or --until selects, and for --demo")]
    SpeedOfAMoment,
    #[error("--speed of a replay must be a number above 0 and at most 1000000, such as 10x, or max")]
    ReplaySpeed,
    #[error("--until is before --since")]
    EmptyRange,
    #[error("--{0} names a server, and --demo is one of its own")]
    DemoElsewhere(&'static str),
    #[error("--speed must be a number above 0, at most 1000")]
    DemoSpeed,
    #[error("--max-size must be a number of bytes above 0, or of a unit such as MB or GiB, not {0:?}")]
    Size(String),
    #[error("--where can't use `old` here: a recording has all changes of its objects")]
    RecordedChanges,
    #[error(
        "record can't use filters that depend on the time, such as --older-than: their result changes without a change of the object"
    )]
    RecordedAges,
    #[error("--redact: {0}")]
    RedactedPath(String),
    #[error("--redact {0}: a recording needs the type, the names, the UID and the version of each object")]
    RedactedIdentity(String),
    #[error("KDELTA_DEMO_SEED must be a whole number, not {0:?}")]
    DemoSeed(String),
}

impl UsageError {
    /// Whether only the combination of arguments is wrong, each of which is valid: a default among them then yields.
    pub(in crate::settings) fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::ChangesFormat
                | Self::DemoElsewhere(_)
                | Self::FlagOfOtherTool { .. }
                | Self::FlagsWithRaw
                | Self::FollowAndRecording(_)
                | Self::MomentAndReplay
                | Self::MoveAndServe(_)
                | Self::MergedWithUnprinted
                | Self::NeedsDemo(_)
                | Self::SpeedWithoutReplay
                | Self::NeedsFollow(_)
                | Self::NeedsJson(_)
                | Self::NeedsRecording(_)
                | Self::NeedsWatch(_)
                | Self::NoInitialState(_)
                | Self::NothingToPrint
                | Self::OneContext(_)
                | Self::OutputWithRaw
                | Self::RecordingElsewhere(_)
                | Self::SelectorWithFiles(_)
                | Self::ServedSpeed
                | Self::SeveralContexts(_)
                | Self::SeveralNamespacesWithFiles(_)
                | Self::ShowLabelsFormat(_)
                | Self::StatsOfAWatch
                | Self::WatchIsNeverEmpty
        )
    }
}
