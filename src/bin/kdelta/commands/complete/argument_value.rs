//! The completion of a flag's value. No I/O.

use clap::{Arg, Command, ValueHint};
use kdelta::query::CelValues;

use super::completion::{Candidate, Completion, ValueSource};
use super::field_path::{
    PartialPath, Root, custom_columns, index_field, jq_path, json_path, sort_key, update_filter,
};
use super::line::TypedLine;
use crate::settings::{IndexName, RECORDING_TOOLS, output_formats};

/// Common values of STATUS columns.
const STATUSES: &[&str] = &[
    "Active",
    "Bound",
    "Completed",
    "ContainerCreating",
    "CrashLoopBackOff",
    "Error",
    "Evicted",
    "Failed",
    "ImagePullBackOff",
    "NotReady",
    "OOMKilled",
    "Pending",
    "Ready",
    "Running",
    "SchedulingDisabled",
    "Succeeded",
    "Terminating",
];

/// The conditions of `wait`: kubectl's forms, and the words of expressions.
const WAIT_CONDITIONS: &[&str] = &[
    "complete",
    "condition=",
    "create",
    "current",
    "delete",
    "exists",
    "failed",
    "gone",
    "jsonpath=",
    "ready",
];

/// Common conditions of objects.
const CONDITIONS: &[&str] = &[
    "Available",
    "Complete",
    "ContainersReady",
    "Established",
    "Failed",
    "Initialized",
    "PodScheduled",
    "Progressing",
    "Ready",
];

/// Completes the value of a flag or a positional argument.
pub(super) fn argument_value(
    line: &TypedLine<'_>,
    app: &Command,
    arg: &Arg,
    head: &str,
    typed: &str,
) -> Completion {
    let possible = arg.get_possible_values();
    match arg.get_id().as_str() {
        "context" => Completion::of_list(ValueSource::Contexts, head, typed),
        "cluster" => Completion::of(ValueSource::Clusters, head, typed),
        "user" => Completion::of(ValueSource::Users, head, typed),
        "namespace" => Completion::of_list(ValueSource::Namespaces, head, typed),
        "selector" => selector(&types(line), head, typed),
        "namespace_selector" => selector(&["namespaces".to_owned()], head, typed),
        "field_selector" => field_selector(head, typed),
        "label_columns" => Completion::of_list(ValueSource::Labels(types(line)), head, typed),
        "by" => by(line, head, typed),
        "output" => output(line, head, typed),
        "sort_by" if line.is_command("api-resources") => fixed(&["name", "kind"], head, typed),
        "sort_by" if line.is_command("index") => {
            fixed(&["avg", "count", "max", "min", "sum", "value"], head, typed)
        }
        "sort_by" => fields(line, head, sort_key(typed)),
        "ignore" | "only" | "changed_by" | "redact" | "sum" | "avg" | "min" | "max" => {
            fields(line, head, update_filter(typed))
        }
        "object" => object(head, typed),
        "conditions" | "fail_on" => wait_condition(line, head, typed),
        "action" if line.is_command("recording") => fixed(&RECORDING_TOOLS, head, typed),
        "action" => fixed(&["status"], head, typed),
        "status" => Completion::of_list(fixed_source(STATUSES), head, typed),
        "name" => {
            Completion::of_list(ValueSource::Names { types: types(line), taken: Vec::new() }, head, typed)
        }
        "types" => Completion::of_list(fixed_source(&["Normal", "Warning"]), head, typed),
        "api_version" => Completion::of(ValueSource::Versions, head, typed),
        "profile" => fixed(&["none"], head, typed),
        "subresource" => fixed(&["resize", "scale", "status"], head, typed),
        "api_group" => Completion::of(ValueSource::Groups, head, typed),
        "verbs" => Completion::of_list(ValueSource::Verbs, head, typed),
        "categories" => Completion::of_list(ValueSource::Categories, head, typed),
        "command" => Completion::of(ValueSource::Fixed(commands(app)), head, typed),
        _ if !possible.is_empty() => {
            let shown = possible.iter().filter(|value| !value.is_hide_set());
            let help = |help: Option<&clap::builder::StyledStr>| help.map(first_line).unwrap_or_default();
            let fixed = shown.map(|value| Candidate::with_help(value.get_name(), help(value.get_help())));
            let source = ValueSource::Fixed(fixed.collect());
            match arg.get_value_delimiter() {
                Some(',') => Completion::of_list(source, head, typed),
                _ => Completion::of(source, head, typed),
            }
        }
        _ => match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => {
                Completion::of(ValueSource::Files, head, typed)
            }
            _ => Completion::nothing(),
        },
    }
}

fn fixed_source(values: &[&str]) -> ValueSource {
    ValueSource::Fixed(values.iter().map(|value| Candidate::new(*value)).collect())
}

fn fixed(values: &[&str], head: &str, typed: &str) -> Completion {
    Completion::of(fixed_source(values), head, typed)
}

/// Completes `FORMAT` or `FORMAT=TEMPLATE`.
fn output(line: &TypedLine<'_>, head: &str, typed: &str) -> Completion {
    let Some((format, template)) = typed.split_once('=') else {
        let formats = output_formats(line.command.map(Command::get_name).unwrap_or_default());
        return fixed(&formats.split(',').collect::<Vec<_>>(), head, typed);
    };
    let head = format!("{head}{format}=");
    match format {
        "jsonpath" | "jsonpath-as-json" => fields(line, &head, json_path(template, root(line))),
        "jq" => fields(line, &head, jq_path(template, root(line))),
        "custom-columns" => fields(line, &head, custom_columns(template)),
        "custom-columns-file" | "go-template-file" | "jq-file" | "jsonpath-file" | "templatefile" => {
            Completion::of(ValueSource::Files, head, template)
        }
        _ => Completion::nothing(),
    }
}

/// Completes a condition of `wait`.
fn wait_condition(line: &TypedLine<'_>, head: &str, typed: &str) -> Completion {
    match typed.split_once('=') {
        Some(("condition", name)) => fixed(CONDITIONS, &format!("{head}condition="), name),
        Some(("jsonpath", path)) => fields(line, &format!("{head}jsonpath="), json_path(path, Root::Object)),
        Some(_) => Completion::nothing(),
        None => fixed(WAIT_CONDITIONS, head, typed),
    }
}

/// Returns what a template is applied to: `get` prints several objects as a list.
fn root(line: &TypedLine<'_>) -> Root {
    let is_watch = line.flag_value("watch").is_some() || line.flag_value("watch_only").is_some();
    let is_one = match line.words.as_slice() {
        [only] => only.contains('/') && !only.contains(','),
        [types, _] => !types.contains([',', '/']),
        _ => false,
    };
    if line.is_command("get") && !is_watch && !is_one { Root::List } else { Root::Object }
}

/// Completes the name at the end of a path.
fn fields(line: &TypedLine<'_>, head: &str, path: Option<PartialPath>) -> Completion {
    let Some(PartialPath { head: before, typed, names, root, style }) = path else {
        return Completion::nothing();
    };
    let source = match root {
        Root::Object => ValueSource::ObjectFields { types: types(line), path: names, style },
        Root::List => ValueSource::Fixed(vec![
            Candidate::with_help("apiVersion", "string").and_then(style.end),
            Candidate::with_help("items", "[]Object").and_then(style.brackets.unwrap_or_default()),
            Candidate::with_help("kind", "string").and_then(style.end),
        ]),
    };
    Completion::of(source, format!("{head}{before}"), typed)
}

/// Completes `TYPE/NAME`.
fn object(head: &str, typed: &str) -> Completion {
    match typed.split_once('/') {
        None => Completion::of(ValueSource::Types, head, typed).and_then("/"),
        Some((word, name)) => {
            let names = ValueSource::Names { types: vec![word.to_owned()], taken: Vec::new() };
            Completion::of(names, format!("{head}{word}/"), name)
        }
    }
}

/// Completes the field of the last requirement, among those that all types support.
fn field_selector(head: &str, typed: &str) -> Completion {
    let (before, item) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    if item.contains('=') {
        return Completion::nothing();
    }
    fixed(&["metadata.name", "metadata.namespace"], &format!("{head}{before}"), item).and_then("=")
}

/// Completes the last requirement of a label selector: a key or its value.
fn selector(of: &[String], head: &str, typed: &str) -> Completion {
    if typed.rfind('(') > typed.rfind(')') {
        return Completion::nothing();
    }
    let (before, item) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    let Some(equals) = item.rfind('=') else {
        let (not, key) = item.split_at(item.len() - item.trim_start_matches('!').len());
        let keys = Completion::of(ValueSource::Labels(of.to_vec()), format!("{head}{before}{not}"), key);
        return if not.is_empty() { keys.and_then("=") } else { keys };
    };
    let (key, value) = item.split_at(equals + 1);
    let name = IndexName::Label(key.trim_end_matches(['=', '!']).to_owned());
    Completion::of(ValueSource::Values(name, of.to_vec()), format!("{head}{before}{key}"), value)
}

/// Completes `INDEX=VALUE[,VALUE…]`.
fn by(line: &TypedLine<'_>, head: &str, typed: &str) -> Completion {
    // Only `index` takes an index without a value.
    let equals = if line.command.is_some_and(|command| command.get_name() == "index") { "" } else { "=" };
    let divided = match typed.strip_prefix("cel:").map(CelValues::split) {
        Some((_, None)) => return Completion::nothing(),
        Some((expression, Some(value))) => Some((&typed[.."cel:".len() + expression.len()], value)),
        None => typed.split_once('='),
    };
    if let Some((index, value)) = divided {
        let name = IndexName::parse(index.trim_end_matches('!'));
        let Ok(name) = name else { return Completion::nothing() };
        return Completion::of_list(
            ValueSource::Values(name, types(line)),
            &format!("{head}{index}="),
            value,
        );
    }
    if let Some(index) = typed.strip_prefix('!') {
        return by_name(line, &format!("{head}!"), index, "");
    }
    by_name(line, head, typed, equals)
}

/// Completes the name of an index, followed by `end`.
fn by_name(line: &TypedLine<'_>, head: &str, typed: &str, end: &'static str) -> Completion {
    if let Some(path) = typed.strip_prefix("field:") {
        return fields(line, &format!("{head}field:"), index_field(path, end));
    }
    let keys = [
        ("label:", ValueSource::Labels(types(line))),
        ("annotation:", ValueSource::Annotations(types(line))),
    ];
    for (kind, source) in keys {
        if let Some(key) = typed.strip_prefix(kind) {
            return Completion::of(source, format!("{head}{kind}"), key).and_then(end);
        }
    }
    let names = IndexName::NAMES.map(|name| {
        Candidate::new(if name.ends_with(':') { name.to_owned() } else { format!("{name}{end}") })
    });
    Completion::of(ValueSource::Fixed(names.to_vec()), head, typed)
}

/// Returns the types named on the line.
pub(super) fn types(line: &TypedLine<'_>) -> Vec<String> {
    if line.is_command("events") {
        return vec!["events".to_owned()];
    }
    let items = line.words.first().into_iter().flat_map(|word| word.split(','));
    let words = items.map(|item| item.split('/').next().unwrap_or_default());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

pub(super) fn commands(app: &Command) -> Vec<Candidate> {
    let shown = app.get_subcommands().filter(|command| !command.is_hide_set());
    let help = |command: &Command| command.get_about().map(first_line).unwrap_or_default();
    shown.map(|command| Candidate::with_help(command.get_name(), help(command))).collect()
}

pub(super) fn first_line(text: &clap::builder::StyledStr) -> String {
    text.to_string().lines().next().unwrap_or_default().to_owned()
}
