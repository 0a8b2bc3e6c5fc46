//! The values that may complete the last word of a line, and the text around them. No I/O.

use clap::{Arg, Command, ValueHint};

use super::line::{LastWord, TypedLine};
use crate::settings::{EVENT_FORMATS, ExplainFormat, IndexName, OBJECT_FORMATS, RESOURCE_FORMATS};

/// A completion candidate with its description.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) value: String,
    pub(super) help: String,
}

impl Candidate {
    pub(super) fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), help: String::new() }
    }

    pub(super) fn with_help(value: impl Into<String>, help: impl Into<String>) -> Self {
        Self { value: value.into(), help: help.into() }
    }
}

/// The values expected at the end of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completion {
    /// The text of the word before the value.
    pub(super) head: String,
    /// The typed part of the value.
    pub(super) typed: String,
    pub(super) source: ValueSource,
    /// The text after the value that the word continues with.
    pub(super) tail: &'static str,
}

/// The source of the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueSource {
    /// A fixed list.
    Fixed(Vec<Candidate>),
    /// Files, which the shell completes.
    Files,
    Contexts,
    Clusters,
    Users,
    Namespaces,
    /// Resource types.
    Types,
    /// Names of objects of these types, except those already on the line.
    Names {
        types: Vec<String>,
        taken: Vec<String>,
    },
    /// Keys of the labels or annotations of objects of these types.
    Labels(Vec<String>),
    Annotations(Vec<String>),
    /// Values of an index over objects of these types.
    Values(IndexName, Vec<String>),
    /// Fields of a resource or field, for `explain`: its path, and the version to explain.
    Fields {
        of: String,
        api_version: Option<String>,
    },
    /// Attributes of the served resources.
    Groups,
    Verbs,
    Categories,
}

impl Completion {
    fn of(source: ValueSource, head: impl Into<String>, typed: impl Into<String>) -> Self {
        Self { head: head.into(), typed: typed.into(), source, tail: "" }
    }

    fn nothing() -> Self {
        Self::of(ValueSource::Fixed(Vec::new()), "", "")
    }

    fn and_then(self, tail: &'static str) -> Self {
        Self { tail, ..self }
    }

    /// Completes the last item of a comma-separated list.
    fn of_list(source: ValueSource, head: &str, typed: &str) -> Self {
        let (before, typed) = typed.rsplit_once(',').map_or(("", typed), |(before, typed)| (before, typed));
        let comma = if before.is_empty() { "" } else { "," };
        Self::of(source, format!("{head}{before}{comma}"), typed)
    }

    /// Returns the completion for the end of a line. `topics` are the help topics other than commands.
    pub(super) fn at_end_of(line: &TypedLine<'_>, app: &Command, topics: &[&str]) -> Self {
        let command = line.command.unwrap_or(app);
        match &line.last {
            LastWord::Flag(typed) => Self::of(ValueSource::Fixed(flags(command)), "", typed),
            LastWord::Value { arg, head, typed } => value(line, app, arg, head, typed),
            LastWord::Word(typed) if line.command.is_none() && line.words.is_empty() => {
                Self::of(ValueSource::Fixed(commands(app)), "", typed)
            }
            LastWord::Word(typed) if command.get_name() == "help" && line.words.is_empty() => {
                let topics = topics.iter().map(|topic| Candidate::with_help(*topic, "Topic"));
                Self::of(ValueSource::Fixed(commands(app).into_iter().chain(topics).collect()), "", typed)
            }
            LastWord::Word(typed) => match command.get_positionals().next() {
                Some(arg) if arg.get_id() == "resources" => resource(line, typed),
                Some(arg) if arg.get_id() == "fields" => field(line, typed),
                Some(arg) if line.command.is_some() && line.words.is_empty() => {
                    value(line, app, arg, "", typed)
                }
                _ => Self::nothing(),
            },
        }
    }
}

/// Completes the value of a flag or a positional argument.
fn value(line: &TypedLine<'_>, app: &Command, arg: &Arg, head: &str, typed: &str) -> Completion {
    let possible = arg.get_possible_values();
    match arg.get_id().as_str() {
        "context" => Completion::of_list(ValueSource::Contexts, head, typed),
        "cluster" => Completion::of(ValueSource::Clusters, head, typed),
        "user" => Completion::of(ValueSource::Users, head, typed),
        "namespace" => Completion::of_list(ValueSource::Namespaces, head, typed),
        "selector" => selector(line, head, typed),
        "label_columns" => Completion::of_list(ValueSource::Labels(types(line)), head, typed),
        "by" => by(line, head, typed),
        "output" => {
            let formats = match line.command.map(Command::get_name) {
                Some("api-resources") => RESOURCE_FORMATS,
                Some("explain") => ExplainFormat::NAMES,
                Some("events") => EVENT_FORMATS,
                Some("version") => "json,yaml",
                _ => OBJECT_FORMATS,
            };
            Completion::of(ValueSource::Fixed(formats.split(',').map(Candidate::new).collect()), head, typed)
        }
        "subresource" => {
            let names = ["resize", "scale", "status"].map(Candidate::new);
            Completion::of(ValueSource::Fixed(names.to_vec()), head, typed)
        }
        "api_group" => Completion::of(ValueSource::Groups, head, typed),
        "verbs" => Completion::of_list(ValueSource::Verbs, head, typed),
        "categories" => Completion::of_list(ValueSource::Categories, head, typed),
        "command" => Completion::of(ValueSource::Fixed(commands(app)), head, typed),
        _ if !possible.is_empty() => {
            let shown = possible.iter().filter(|value| !value.is_hide_set());
            let help = |help: Option<&clap::builder::StyledStr>| help.map(first_line).unwrap_or_default();
            let fixed = shown.map(|value| Candidate::with_help(value.get_name(), help(value.get_help())));
            Completion::of(ValueSource::Fixed(fixed.collect()), head, typed)
        }
        _ => match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => {
                Completion::of(ValueSource::Files, head, typed)
            }
            _ => Completion::nothing(),
        },
    }
}

/// Completes `TYPE[,TYPE…] [NAME…]` or `TYPE/NAME[,TYPE/NAME…]…`.
fn resource(line: &TypedLine<'_>, typed: &str) -> Completion {
    let (before, item) = typed.rsplit_once(',').map_or(("", typed), |(before, item)| (before, item));
    let comma = if before.is_empty() { "" } else { "," };
    if let Some((word, name)) = item.split_once('/') {
        let of_type = |word: &str| {
            let given = line.words.iter().flat_map(|given| given.split(',')).chain(before.split(','));
            let names = given.filter_map(|item| item.split_once('/')).filter(|(given, _)| *given == word);
            names.map(|(_, name)| name.to_owned()).collect()
        };
        let names = ValueSource::Names { types: vec![word.to_owned()], taken: of_type(word) };
        return Completion::of(names, format!("{before}{comma}{word}/"), name);
    }
    match line.words.split_first() {
        None => Completion::of(ValueSource::Types, format!("{before}{comma}"), item),
        Some((first, _)) if first.contains('/') => {
            Completion::of(ValueSource::Types, format!("{before}{comma}"), item).and_then("/")
        }
        Some((_, taken)) => {
            Completion::of(ValueSource::Names { types: types(line), taken: taken.to_vec() }, "", typed)
        }
    }
}

/// Completes `TYPE[.FIELD…]`.
fn field(line: &TypedLine<'_>, typed: &str) -> Completion {
    let api_version = line.flag_value("api_version").filter(|version| !version.is_empty());
    match typed.rsplit_once('.') {
        _ if !line.words.is_empty() => Completion::nothing(),
        None => Completion::of(ValueSource::Types, "", typed),
        Some((of, name)) => {
            let fields =
                ValueSource::Fields { of: of.to_owned(), api_version: api_version.map(str::to_owned) };
            Completion::of(fields, format!("{of}."), name)
        }
    }
}

/// Returns the types named on the line.
fn types(line: &TypedLine<'_>) -> Vec<String> {
    let items = line.words.first().into_iter().flat_map(|word| word.split(','));
    let words = items.map(|item| item.split('/').next().unwrap_or_default());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Completes the last requirement of a label selector: a key or its value.
fn selector(line: &TypedLine<'_>, head: &str, typed: &str) -> Completion {
    if typed.rfind('(') > typed.rfind(')') {
        return Completion::nothing();
    }
    let (before, item) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    let Some(equals) = item.rfind('=') else {
        let (not, key) = item.split_at(item.len() - item.trim_start_matches('!').len());
        let keys = Completion::of(ValueSource::Labels(types(line)), format!("{head}{before}{not}"), key);
        return if not.is_empty() { keys.and_then("=") } else { keys };
    };
    let (key, value) = item.split_at(equals + 1);
    let name = IndexName::Label(key.trim_end_matches(['=', '!']).to_owned());
    Completion::of(ValueSource::Values(name, types(line)), format!("{head}{before}{key}"), value)
}

/// Completes `INDEX=VALUE[,VALUE…]`.
fn by(line: &TypedLine<'_>, head: &str, typed: &str) -> Completion {
    // Only `index` takes an index without a value.
    let equals = if line.command.is_some_and(|command| command.get_name() == "index") { "" } else { "=" };
    if let Some((index, value)) = typed.split_once('=') {
        let Ok(name) = IndexName::parse(index) else { return Completion::nothing() };
        return Completion::of_list(
            ValueSource::Values(name, types(line)),
            &format!("{head}{index}="),
            value,
        );
    }
    let keys = [
        ("label:", ValueSource::Labels(types(line))),
        ("annotation:", ValueSource::Annotations(types(line))),
    ];
    for (kind, source) in keys {
        if let Some(key) = typed.strip_prefix(kind) {
            return Completion::of(source, format!("{head}{kind}"), key).and_then(equals);
        }
    }
    let names = IndexName::NAMES.map(|name| {
        Candidate::new(if name.ends_with(':') { name.to_owned() } else { format!("{name}{equals}") })
    });
    Completion::of(ValueSource::Fixed(names.to_vec()), head, typed)
}

fn commands(app: &Command) -> Vec<Candidate> {
    let shown = app.get_subcommands().filter(|command| !command.is_hide_set());
    let help = |command: &Command| command.get_about().map(first_line).unwrap_or_default();
    shown.map(|command| Candidate::with_help(command.get_name(), help(command))).collect()
}

fn flags(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional());
    let help = |arg: &Arg| arg.get_help().map(first_line).unwrap_or_default();
    let names = |arg: &Arg| {
        let short = arg.get_short().map(|short| format!("-{short}"));
        let long = arg.get_long().map(|long| format!("--{long}"));
        [short, long].into_iter().flatten()
    };
    shown.flat_map(|arg| names(arg).map(|name| Candidate::with_help(name, help(arg)))).collect()
}

fn first_line(text: &clap::builder::StyledStr) -> String {
    text.to_string().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn completion(words: &str) -> Completion {
        let mut app = Cli::command();
        app.build();
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Completion::at_end_of(&TypedLine::read(&app, &words), &app, &["exit-codes"])
    }

    fn values(words: &str) -> Vec<String> {
        match completion(words).source {
            ValueSource::Fixed(candidates) => candidates.into_iter().map(|one| one.value).collect(),
            other => panic!("{words}: {other:?}"),
        }
    }

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn commands_topics_flags_and_choices_need_no_lookup() {
        assert!(values("").contains(&"watch".to_owned()) && values("").contains(&"help".to_owned()));
        assert!(values("help ").contains(&"exit-codes".to_owned()));
        assert!(values("help ").contains(&"get".to_owned()));
        assert!(values("man ").contains(&"get".to_owned()));
        assert!(values("get --").contains(&"--kubeconfig".to_owned()));
        assert_eq!(values("get po -o "), OBJECT_FORMATS.split(',').collect::<Vec<_>>());
        assert_eq!(values("api-resources -o "), ["json", "kyaml", "name", "wide", "yaml"]);
        assert_eq!(values("explain -o "), ["plaintext", "plaintext-openapiv2"]);
        assert_eq!(values("get po a --subresource="), ["resize", "scale", "status"]);
        assert_eq!(values("get --color="), ["auto", "always", "never"]);
        assert_eq!(values("completions "), ["bash", "zsh", "fish", "powershell", "nushell"]);
        assert!(values("index po --by ").contains(&"node".to_owned()));
        assert!(values("get po --by ").contains(&"node=".to_owned()));
        assert!(values("get po --by ").contains(&"label:".to_owned()));
        assert!(values("api-resources pods ").is_empty() && values("completions bash ").is_empty());
        assert!(values("nothing ").is_empty() && values("get po --count ").is_empty());
    }

    #[test]
    fn resource_completes_type_then_name() {
        let names =
            |types: &[&str], taken: &[&str]| ValueSource::Names { types: list(types), taken: list(taken) };
        for (line, head, typed, source, tail) in [
            ("get po", "", "po", ValueSource::Types, ""),
            ("get pods,", "pods,", "", ValueSource::Types, ""),
            ("get pods we", "", "we", names(&["pods"], &[]), ""),
            ("get pods,svc a b", "", "b", names(&["pods", "svc"], &["a"]), ""),
            ("get deploy/we", "deploy/", "we", names(&["deploy"], &[]), ""),
            ("get pods,deploy/we", "pods,deploy/", "we", names(&["deploy"], &[]), ""),
            ("get po/a ", "", "", ValueSource::Types, "/"),
            ("get po/a,svc/b po/", "po/", "", names(&["po"], &["a"]), ""),
        ] {
            let expected = Completion { head: head.into(), typed: typed.into(), source, tail };
            assert_eq!(completion(line), expected, "{line}");
        }
    }

    #[test]
    fn value_completion_finds_its_source() {
        let pods = || list(&["pods"]);
        let app = || IndexName::Label("app".into());
        let fields = |of: &str, version: Option<&str>| ValueSource::Fields {
            of: of.into(),
            api_version: version.map(str::to_owned),
        };
        for (line, head, typed, source, tail) in [
            ("get -n a,b", "a,", "b", ValueSource::Namespaces, ""),
            ("get -na", "-n", "a", ValueSource::Namespaces, ""),
            ("get --context=", "--context=", "", ValueSource::Contexts, ""),
            ("get --context a,b", "a,", "b", ValueSource::Contexts, ""),
            ("get --cluster x", "", "x", ValueSource::Clusters, ""),
            ("get --user x", "", "x", ValueSource::Users, ""),
            ("get --kubeconfig x", "", "x", ValueSource::Files, ""),
            ("get -f x", "", "x", ValueSource::Files, ""),
            ("watch --filename=x", "--filename=", "x", ValueSource::Files, ""),
            ("get -kx", "-k", "x", ValueSource::Files, ""),
            ("get pods -l a", "", "a", ValueSource::Labels(pods()), "="),
            ("get pods -l !a", "!", "a", ValueSource::Labels(pods()), ""),
            ("get pods -l x=y,app!=w", "x=y,app!=", "w", ValueSource::Values(app(), pods()), ""),
            ("get pods -l app==w", "app==", "w", ValueSource::Values(app(), pods()), ""),
            ("get pods -L a,b", "a,", "b", ValueSource::Labels(pods()), ""),
            ("get pods --by label:a", "label:", "a", ValueSource::Labels(pods()), "="),
            ("index pods --by label:a", "label:", "a", ValueSource::Labels(pods()), ""),
            ("get pods --by=annotation:a", "--by=annotation:", "a", ValueSource::Annotations(pods()), "="),
            ("get pods --by label:app=a,b", "label:app=a,", "b", ValueSource::Values(app(), pods()), ""),
            ("get pods --by node=", "node=", "", ValueSource::Values(IndexName::Node, pods()), ""),
            ("explain po", "", "po", ValueSource::Types, ""),
            ("explain po.spec.c", "po.spec.", "c", fields("po.spec", None), ""),
            ("explain --api-version=v1 po.", "po.", "", fields("po", Some("v1")), ""),
            ("api-resources --api-group ap", "", "ap", ValueSource::Groups, ""),
            ("api-resources --verbs list,w", "list,", "w", ValueSource::Verbs, ""),
        ] {
            let expected = Completion { head: head.into(), typed: typed.into(), source, tail };
            assert_eq!(completion(line), expected, "{line}");
        }
    }
}
