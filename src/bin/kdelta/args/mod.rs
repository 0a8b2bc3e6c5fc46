//! The command line as clap structures. Imports nothing else of the program.
//!
//! Flags have kubectl's names and forms; `settings` validates their meaning. The doc comments here are the program's
//! help.

mod connection;
mod demo;
mod discovery;
mod events;
mod files;
mod help_template;
mod index;
mod kubectl_options;
mod lines;
mod one_shot;
mod record;
mod recording;
mod rows;
mod run;
mod select;
mod shell;
mod spelling;
mod tasks;
mod tree;
mod wait;

pub(crate) use connection::{ColorWhen, ConnectionArgs, LogFormat, TerminalArgs};
pub(crate) use demo::{DemoArgs, DemoCommandArgs};
pub(crate) use discovery::{ApiResourcesArgs, ApiVersionsArgs, VersionArgs};
pub(crate) use events::EventsArgs;
pub(crate) use files::FileArgs;
pub(crate) use index::{AggregateArgs, CountOrder, IndexArgs};
pub(crate) use kubectl_options::KubectlOptionArgs;
pub(crate) use lines::{ChangesArg, FlowArgs, LineArgs, MetricsArgs, OnSlowArg, UpdateArgs};
pub(crate) use one_shot::{OneShotArgs, PlanArgs, PlanForm};
pub(crate) use record::{RecordArgs, SecretsArg, WatchedObjectsArgs};
pub(crate) use recording::{
    ChangesArgs, HistoryArgs, RangeArgs, RecordingArgs, RecordingToolArgs, ServeArgs, SpeedArg,
};
pub(crate) use rows::{RowArgs, TsArg};
pub(crate) use run::{OnArg, RunArgs, RunEndArgs};
pub(crate) use select::{ByArgs, FilterArgs, ListModeArg, PrintArgs, SelectArgs, TemplateArgs};
pub(crate) use shell::{CompletionsArgs, ManArgs, OptionsArgs, Shell};
pub(crate) use spelling::{
    GoDuration, GoDurationError, Spelling, accept_kubectl_spelling, accept_spelling_of_command, flag_names,
    parse_bool, spelling, switched_off, takes_bool, unknown_shorthand, wrong_switch,
};
pub(crate) use tasks::{ExplainArgs, GetArgs, ObjectArgs, UntilArgs, WatchArgs};
pub(crate) use tree::{BusyType, TreeArgs};
pub(crate) use wait::{RolloutArgs, SetWaitArgs, WaitArgs};

use clap::{Args, CommandFactory, Parser, Subcommand};

use help_template::HELP;

/// Watch and inspect the objects of a Kubernetes cluster: every delta, nothing lost, nothing invented
#[derive(Debug, Parser)]
#[command(
    name = "kdelta",
    version,
    help_template = HELP,
    subcommand_required = true,
    args_override_self = true,
    before_help = "\
Examples:
  kdelta watch pods                      the pods, then every change
  kdelta watch pods,svc -A -o json       two types in all namespaces, as JSON lines
  kdelta get pods --by label:app=web     the pods with the label app=web, by index
  kdelta index pods -A --by node         the nodes, with the number of pods on each
  kdelta watch pods --demo               an embedded demo cluster, no server needed
",
    after_help = "\
Topics:
  kdelta help exit-codes                 what each exit code means
  kdelta help environment                the environment variables
  kdelta help config                     defaults for flags, from a file and from variables
"
)]
pub(crate) struct GenericCli<C: Subcommand> {
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,

    #[command(flatten)]
    pub(crate) kubectl_options: KubectlOptionArgs,

    #[command(flatten)]
    pub(crate) demo: DemoArgs,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,

    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,

    #[command(subcommand)]
    pub(crate) command: C,
}

/// The command line with all commands.
pub(crate) type Cli = GenericCli<Command>;

/// The commands of a definition to which they are added later.
#[derive(Debug, Subcommand)]
enum NoCommand {}

impl Cli {
    /// Returns the definition with one command only; `None` if no command has this name.
    ///
    /// Most of the memory and time of a definition goes into the commands, of which a run needs one. Words that this
    /// definition accepts have the same meaning for that of all commands; the error for other words may differ.
    pub(crate) fn command_with_only(name: &str) -> Option<clap::Command> {
        Some(GenericCli::<NoCommand>::command().subcommand(Command::definition(name)?))
    }
}

/// Defines the commands: the variant of each, its arguments, and the word that selects it.
macro_rules! commands {
    ($($variant:ident($args:ty) = $word:literal,)+) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[command(name = $word)] $variant($args),)+
        }

        impl Command {
            /// Returns the word that selects the command.
            pub(crate) fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $word,)+
                }
            }

            /// Returns the definition of the command that the word selects.
            fn definition(word: &str) -> Option<clap::Command> {
                match word {
                    $($word => Some(<$args>::augment_args(clap::Command::new($word))),)+
                    _ => None,
                }
            }
        }
    };
}

commands! {
    Watch(Box<WatchArgs>) = "watch",
    Get(Box<GetArgs>) = "get",
    Index(Box<IndexArgs>) = "index",
    Tree(Box<TreeArgs>) = "tree",
    Wait(Box<WaitArgs>) = "wait",
    Rollout(Box<RolloutArgs>) = "rollout",
    Run(Box<RunArgs>) = "run",
    Record(Box<RecordArgs>) = "record",
    Recording(RecordingToolArgs) = "recording",
    History(HistoryArgs) = "history",
    Changes(ChangesArgs) = "changes",
    Events(EventsArgs) = "events",
    ApiResources(ApiResourcesArgs) = "api-resources",
    ApiVersions(ApiVersionsArgs) = "api-versions",
    Version(VersionArgs) = "version",
    Explain(ExplainArgs) = "explain",
    Serve(Box<ServeArgs>) = "serve",
    Demo(DemoCommandArgs) = "demo",
    Completions(CompletionsArgs) = "completions",
    Man(ManArgs) = "man",
    Options(OptionsArgs) = "options",
}

impl Command {
    /// Returns the value of `--metrics`, and whether the command watches.
    pub(crate) fn metrics(&self) -> (Option<&str>, bool) {
        let (args, watches) = match self {
            Self::Watch(args) => (&args.objects.metrics, true),
            Self::Get(args) => (&args.objects.metrics, args.watch || args.objects.flow.watch_only),
            Self::Index(args) => (&args.metrics, args.watch),
            Self::Tree(args) => (&args.metrics, args.watch),
            Self::Events(args) => (&args.metrics, args.watch),
            Self::Run(args) => (&args.metrics, true),
            Self::Record(args) => (&args.metrics, true),
            _ => return (None, false),
        };
        (args.metrics.as_deref(), watches)
    }
}

#[cfg(test)]
mod tests;
