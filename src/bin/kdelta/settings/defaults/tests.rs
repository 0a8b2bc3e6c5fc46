//! The command line with its defaults, from words, a file and variables to settings.

use std::collections::BTreeMap;
use std::ffi::OsString;

use kdelta::kubeconfig::{ConfigOptions, Secret};

use super::key::built_app;
use super::resolve::{ResolveError, ResolvedArguments, TypedWords};
use super::rules::CONFIG_EXAMPLE;
use crate::args::{ColorWhen, Command, accept_kubectl_spelling};
use crate::settings::environment::{ConfigFile, Environment};
use crate::settings::{Contexts, Format, Namespaces, Selection, Task, Template};

fn resolve_in(line: &str, environment: &Environment) -> Result<ResolvedArguments, String> {
    let app = built_app();
    let typed: Vec<OsString> = std::iter::once("kdelta").chain(line.split(' ')).map(Into::into).collect();
    let words = accept_kubectl_spelling(typed.clone(), &app);
    let matches = app.clone().try_get_matches_from(&words).expect(line);
    let words = TypedWords { app: &app, typed: &typed, words: &words, matches: &matches, defaults_of: None };
    words.resolve(environment).map_err(|error| match error {
        ResolveError::Clap(error) => error.to_string(),
        ResolveError::Defaults(error) => error.to_string(),
        ResolveError::Usage(error) => error.to_string(),
        ResolveError::Default { origin, error } => format!("{origin}: {error}"),
    })
}

/// Returns an environment with these variables, and the file in its folder.
fn environment(file: &str, variables: &[(&str, &str)]) -> (tempfile::TempDir, Environment) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config.toml");
    std::fs::write(&path, file).expect("a file");
    let variable = |(name, value): &(&str, &str)| ((*name).to_owned(), Some(Secret::new(*value)));
    let environment = Environment {
        config_file: ConfigFile::Named(path),
        kdelta_variables: variables.iter().map(variable).collect(),
        ..Environment::default()
    };
    (folder, environment)
}

fn resolve_with(line: &str, file: &str, variables: &[(&str, &str)]) -> Result<ResolvedArguments, String> {
    let (folder, environment) = environment(file, variables);
    resolve_in(line, &environment).map_err(|error| error.replace(&*folder.path().to_string_lossy(), ""))
}

#[track_caller]
fn resolved(line: &str, file: &str) -> ResolvedArguments {
    resolve_with(line, file, &[]).expect(line)
}

fn task(line: &str, file: &str) -> Task {
    resolved(line, file).settings.task
}

fn namespaces(line: &str, file: &str) -> Namespaces {
    match task(line, file) {
        Task::Get(get) => get.selection.namespaces,
        other => panic!("{other:?}"),
    }
}

#[test]
fn flag_overrides_variable_overrides_table_overrides_top() {
    let color = |line: &str, file: &str, variables: &[(&str, &str)]| {
        resolve_with(line, file, variables).expect(line).cli.terminal.color
    };
    let file = "color = 'always'\n[get]\ncolor = 'never'";
    assert_eq!(color("get po", "", &[]), ColorWhen::Auto);
    assert_eq!(color("watch po", file, &[]), ColorWhen::Always);
    assert_eq!(color("get po", file, &[]), ColorWhen::Never);
    assert_eq!(color("get po", file, &[("KDELTA_COLOR", "auto")]), ColorWhen::Auto);
    assert_eq!(color("get po --color always", file, &[("KDELTA_COLOR", "auto")]), ColorWhen::Always);
    assert_eq!(color("--color always get po", file, &[]), ColorWhen::Always);
}

#[test]
fn defaults_of_all_types_reach_the_arguments() {
    let file = "no-headers = true\nallow-missing-template-keys = false\nchunk-size = 7\nverbose = 3\nrequest-timeout = 30\nlabel-columns = ['a,b', 'c']\nlist-mode = 'list'";
    let ResolvedArguments { cli, .. } = resolved("get po", file);
    let Command::Get(get) = &cli.command else { panic!("get") };
    let print = &get.objects.print;
    assert!(print.no_headers && !print.template.allow_missing_template_keys);
    assert_eq!((get.objects.select.chunk_size, cli.terminal.level()), (7, 3));
    assert_eq!(cli.connection.request_timeout, "30");
    assert_eq!(print.label_columns, ["a", "b", "c"]);
    let typed = resolved("get po -L x --no-headers=false --chunk-size=0 -v", file).cli;
    let Command::Get(get) = &typed.command else { panic!("get") };
    assert_eq!((get.objects.select.chunk_size, typed.terminal.level()), (0, 1));
    assert_eq!(get.objects.print.label_columns, ["x"], "typed values replace the list");
    assert!(!get.objects.print.no_headers, "=false is typed too");
}

#[test]
fn namespace_and_context_yield_to_the_flags_that_exclude_them() {
    let shop = || Namespaces::Named(vec!["shop".into()]);
    assert_eq!(namespaces("get po", "namespace = 'shop'"), shop());
    assert_eq!(namespaces("get po -A", "namespace = 'shop'"), Namespaces::All);
    assert_eq!(namespaces("get po -n shop", "all-namespaces = true"), shop());
    assert_eq!(namespaces("get po -A=false", "all-namespaces = true"), Namespaces::Current);
    assert_eq!(namespaces("get po", "all-namespaces = true\n[get]\nnamespace = 'shop'"), shop());
    let contexts = |line: &str, file: &str| resolved(line, file).settings.connection.contexts;
    assert_eq!(contexts("get po --context a", "all-contexts = true"), Contexts::Named("a".into()));
    assert_eq!(contexts("get po --all-contexts", "context = 'a'"), Contexts::All);
    assert_eq!(contexts("get po --kubeconfig f", "context = 'a'"), Contexts::Current);
}

#[test]
fn default_is_ignored_where_the_arguments_rule_it_out() {
    let lines = "changes = 'inline'\nignore = ['a']\nresync = '1m'\nold = true";
    assert!(matches!(task("get po", lines), Task::Get(_)));
    let Task::Watch(watch) = task("get po -w", lines) else { panic!("a watch") };
    assert!(watch.lines.changes.is_some() && watch.flow.resync.is_some() && !watch.lines.old);
    let Task::Watch(watch) = task("watch po -o json", lines) else { panic!("a watch") };
    assert!(watch.lines.old);
    let format = |line: &str, file: &str| match task(line, file) {
        Task::Get(get) => get.print.format,
        Task::Watch(watch) => watch.print.format,
        other => panic!("{other:?}"),
    };
    assert_eq!(format("get po", "output = 'json'"), Format::Json);
    assert_eq!(format("get po --show-labels", "output = 'json'"), Format::default());
    assert!(matches!(
        format("get po --template {{.kind}}", "output = 'json'"),
        Format::Template(Template::Go(_))
    ));
    // The table of the command takes precedence.
    assert_eq!(format("watch po", "output = 'name'\n[watch]\nchanges = 'inline'"), Format::default());
    assert!(resolved("get po --demo", "context = 'a'").settings.demo.is_some());
    assert!(resolved("get po --context a", "demo = true").settings.demo.is_none());
    assert!(resolved("demo", "context = 'a'").settings.demo.is_some());
    assert!(matches!(task("explain po", "all-contexts = true"), Task::Explain(_)));
    // Several defaults may rule a flag out, each by itself.
    let file = "color = 'never'\noutput = 'json'\nshow-labels = true\nchunk-size = 7\nno-headers = true";
    assert!(matches!(task("get --raw /version", file), Task::Raw(_)));
    assert_eq!(resolved("get --raw /version", file).cli.terminal.color, ColorWhen::Never);
}

#[test]
fn output_applies_to_the_commands_that_have_the_format() {
    for line in ["version", "events", "explain po", "index po --by node", "api-versions"] {
        assert!(resolve_with(line, "output = 'jsonpath={.x}'", &[]).is_ok(), "{line}");
    }
    let Task::Events(events) = task("events", "output = 'yaml'") else { panic!("events") };
    assert_eq!(events.output.format, Format::Yaml);
    for (line, file, expected) in [
        (
            "events",
            "[events]\noutput = 'wide'",
            "/config.toml:2: unable to match a printer suitable for the output format \"wide\", allowed formats are: go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml",
        ),
        ("get po", "output = 'jsonpath={.x'", "/config.toml:1: error parsing jsonpath {.x, unclosed action"),
        (
            "watch po",
            "\nresync = 'soon'",
            "/config.toml:2: invalid --resync: time: invalid duration \"soon\"",
        ),
    ] {
        assert_eq!(resolve_with(line, file, &[]).err().as_deref(), Some(expected), "{file}");
    }
    let error = resolve_with("watch po", "", &[("KDELTA_RESYNC", "soon")]).err();
    assert_eq!(error.as_deref(), Some("KDELTA_RESYNC: invalid --resync: time: invalid duration \"soon\""));
}

#[test]
fn mistakes_of_the_user_are_reported_as_without_defaults() {
    for line in ["get pods a -l b=c", "get po --count 1", "watch po --duration x"] {
        let plain = resolve_in(line, &Environment::default()).err();
        assert!(plain.is_some(), "{line}");
        let file = "output = 'yaml'\nchanges = 'inline'\nnamespace = 'shop'";
        assert_eq!(resolve_with(line, file, &[]).err(), plain, "{line}");
    }
}

#[test]
fn file_yields_to_older_variables() {
    let (_folder, mut environment) =
        environment("kubeconfig = 'f'\ncache-dir = '/c'\nlist-mode = 'watchlist'", &[]);
    let read = |environment: &Environment| resolve_in("get po", environment).expect("fine");
    let connection = read(&environment).settings.connection;
    assert_eq!(connection.options.kubeconfig, Some("f".into()));
    assert_eq!(connection.cache_dir, Some("/c/kdelta".into()));
    environment.config = ConfigOptions::default().kubeconfig_env(Some("g".into()));
    environment.kdelta_cache_dir = Some("/d".into());
    environment.watch_list_client = Some("false".into());
    let ResolvedArguments { settings, cli, .. } = read(&environment);
    assert_eq!(settings.connection.options.kubeconfig, None);
    assert_eq!(settings.connection.cache_dir, Some("/d".into()));
    let Command::Get(get) = cli.command else { panic!("get") };
    assert_eq!(get.objects.select.list_mode, None);
    environment.kdelta_variables = BTreeMap::from([("KDELTA_KUBECONFIG".into(), Some(Secret::new("h")))]);
    assert_eq!(read(&environment).settings.connection.options.kubeconfig, Some("h".into()));
}

#[test]
fn completions_and_manual_ignore_a_wrong_file() {
    for line in ["completions bash", "man"] {
        assert!(resolve_with(line, "x", &[("KDELTA_COLOR", "x")]).is_ok(), "{line}");
    }
    assert!(resolve_with("version", "x", &[]).is_err());
}

#[test]
fn example_of_the_help_is_valid() {
    for line in ["get po", "watch po", "events", "version --client"] {
        let ResolvedArguments { settings, warnings, .. } = resolved(line, CONFIG_EXAMPLE);
        assert_eq!(warnings, [""; 0]);
        if let Task::Watch(watch) = settings.task {
            assert!(watch.lines.changes.is_some() && watch.lines.ignore.len() == 2);
        }
    }
}

#[test]
fn selection_has_no_defaults() {
    let file = "selector = 'a=b'";
    let error = resolve_with("get po", file, &[]).err().expect("refused");
    assert!(error.starts_with("/config.toml:1: selector can't have a default: "), "{error}");
    let Task::Get(get) =
        resolve_with("get po", "", &[("KDELTA_SELECTOR", "a=b")]).expect("fine").settings.task
    else {
        panic!("get")
    };
    assert!(matches!(get.selection, Selection { label_selector: None, .. }));
}
