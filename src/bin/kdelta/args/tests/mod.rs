//! Tests of the command line.

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
    assert_eq!(parse("-s http://x get po").expect("a server").connection.server.as_deref(), Some("http://x"));
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
    let cli =
        parse("get po --as me --as-group a --as-group b --by namespace=x --by label:app=y").expect("fine");
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
