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
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        let words = std::iter::once("kdelta").chain(line.split_whitespace()).map(Into::into);
        Cli::try_parse_from(accept_kubectl_spelling(words.collect(), &Cli::command()))
    }

    #[test]
    fn command_names_match_subcommands() {
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let line = format!("{name} pods --by node");
            let line = match name {
                "api-resources" | "api-versions" | "changes" | "demo" | "events" | "explain" | "man"
                | "options" | "serve" | "version" => name,
                "completions" => "completions bash",
                "history" => "history pods/x",
                "recording" => "recording info recordings",
                "run" => "run pods -- true",
                "record" => "record pods --to recordings",
                "tree" => "tree pods",
                "wait" => "wait pods",
                "rollout" => "rollout status deploy",
                _ => &line,
            };
            assert_eq!(parse(line).expect(line).command.name(), command.get_name());
        }
    }

    fn get(line: &str) -> GetArgs {
        match parse(line).expect(line).command {
            Command::Get(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn clap_definition_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn definition_with_one_command_equals_its_part_of_the_whole() {
        let mut whole = Cli::command();
        whole.build();
        let arguments = |app: &clap::Command| format!("{:?}", app.get_arguments().collect::<Vec<_>>());
        // The order in the list of commands differs.
        let shown = |command: &clap::Command| format!("{:?}", command.clone().display_order(0));
        for command in whole.get_subcommands().filter(|command| command.get_name() != "help") {
            let name = command.get_name();
            let mut app = Cli::command_with_only(name).expect(name);
            app.build();
            assert_eq!(app.find_subcommand(name).map(shown), Some(shown(command)), "{name}");
            assert_eq!(app.get_subcommands().count(), 2, "{name} and help");
            assert_eq!(arguments(&app), arguments(&whole), "{name}");
            assert!(app.is_subcommand_required_set() && app.is_arg_required_else_help_set(), "{name}");
        }
        assert!(Cli::command_with_only("help").is_none());
    }

    #[test]
    fn global_flags_are_accepted_before_and_after_command() {
        for line in ["-n shop --context prod get pods", "get pods --context=prod -nshop"] {
            let cli = parse(line).expect(line);
            assert_eq!(cli.connection.namespace.as_deref(), Some("shop"), "{line}");
            assert_eq!(cli.connection.context.as_deref(), Some("prod"), "{line}");
        }
    }

    #[test]
    fn short_flags_match_kubectl() {
        let args = get("get po -Aw -l app=web -L tier,zone -L rack -owide");
        assert!(args.objects.select.all_namespaces && args.watch);
        assert_eq!(args.objects.select.selector, ["app=web"]);
        assert_eq!(args.objects.print.label_columns, ["tier", "zone", "rack"]);
        assert_eq!(args.objects.print.output.as_deref(), Some("wide"));
        assert_eq!(
            parse("-s http://x get po").expect("a server").connection.server.as_deref(),
            Some("http://x")
        );
    }

    #[test]
    fn switch_accepts_kubectl_values() {
        assert!(get("get po --watch=true").watch);
        assert!(!get("get po --watch=false").watch);
        assert!(get("get po -A=true").objects.select.all_namespaces);
        assert!(get("get po -A=1 --watch=T").watch && !get("get po -w=F").watch);
        assert!(parse("get po --watch=maybe").is_err());
    }

    #[test]
    fn switches_set_to_false_are_found() {
        let words = |line: &str| line.split(' ').map(Into::into).collect::<Vec<_>>();
        let app = Cli::command();
        let off = |line: &str| switched_off(&words(line), &app);
        assert_eq!(off("kdelta get po --watch=false -A=F --demo=0"), ["watch", "all-namespaces", "demo"]);
        assert!(off("kdelta get po --watch --changes=true -o=false -- --watch=false").is_empty());
    }

    #[test]
    fn verbosity_is_count_or_level() {
        for (line, level) in [
            ("get po", 0),
            ("get po -v", 1),
            ("get po -vv", 2),
            ("get po -v -v", 2),
            ("get po -v=6", 6),
            ("get po -v6", 6),
            ("get -v 6 po", 6),
            ("get po --v=9", 9),
            ("get po --verbose", 1),
        ] {
            assert_eq!(parse(line).expect(line).terminal.level(), level, "{line}");
        }
    }

    #[test]
    fn as_group_and_by_are_repeatable() {
        let cli = parse("get po --as me --as-group a --as-group b --by namespace=x --by label:app=y")
            .expect("fine");
        assert_eq!(cli.connection.as_group, ["a", "b"]);
        let Command::Get(args) = cli.command else { panic!("get") };
        assert_eq!(args.objects.index.by, ["namespace=x", "label:app=y"]);
    }

    #[test]
    fn last_of_repeated_flag_wins() {
        for line in ["-n a get po -n b", "get po -n a -n b", "get -n a po --namespace=b"] {
            assert_eq!(parse(line).expect(line).connection.namespace.as_deref(), Some("b"), "{line}");
        }
        assert!(get("get po -A -A -o json -o yaml").objects.select.all_namespaces);
        assert!(parse("--token a get po --token b").is_ok());
    }

    #[test]
    fn token_is_never_shown() {
        let cli = parse("--token s3cr3t get po").expect("fine");
        assert!(!format!("{cli:?}").contains("s3cr3t"));
        assert_eq!(cli.connection.token.expect("a token").expose(), "s3cr3t");
    }

    #[test]
    fn usage_errors_exit_2_and_help_exits_0() {
        for line in
            ["frobnicate", "get po --no-such-flag", "watch po --count 0", "index po", "watch po --color red"]
        {
            assert_eq!(parse(line).expect_err(line).exit_code(), 2, "{line}");
        }
        assert_eq!(parse("--help").expect_err("help").exit_code(), 0);
    }

    #[test]
    fn help_lists_examples_before_flags() {
        let mut app = Cli::command();
        app.build();
        let commands = app.get_subcommands().filter(|command| command.get_name() != "help");
        for command in std::iter::once(&app).chain(commands) {
            let help = command.clone().render_long_help().to_string();
            let (examples, usage) = (help.find("Examples:"), help.find("Usage:"));
            assert!(examples.is_some() && examples < usage, "{}: {help}", command.get_name());
        }
    }
}
