//! Tests of the tasks of whole command lines.

use std::time::Duration;

use clap::Parser;

use super::Task;
use crate::args::Cli;
use crate::settings::{Environment, GetWatch, UsageError, Watch, WatchForm};

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
    for flags in
        ["--changes", "--changes --show-secrets", "-o json --old", "-o json --fields name", "--resync 10m"]
    {
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
    let Ok(Task::Get(get)) = read("get -f a -l x=y --field-selector a=b -n shop") else { panic!("a get") };
    assert!(get.files.is_some() && get.selection.targets.is_empty());
    assert_eq!((get.selection.label_selector.as_deref(), get.selection.field_selector), (Some("x=y"), None));
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
    for line in ["get po --subresource=status", "get po -l a=b --subresource=x", "get po,svc --subresource=x"]
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
