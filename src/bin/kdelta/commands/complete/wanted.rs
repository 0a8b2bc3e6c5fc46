//! What may stand where the last word of a line is: what has to be looked up, and what is said before it. Pure.

use clap::{Arg, Command, ValueHint};

use super::line::{Last, Line};
use crate::settings::{IndexName, OBJECT_FORMATS, RESOURCE_FORMATS};

/// A word that may stand there, and what it is.
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

/// The values that are wanted, for the end of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// What stands in the word before the value.
    pub(super) head: String,
    /// The beginning of the value.
    pub(super) typed: String,
    pub(super) what: What,
    /// What stands in the word after the value, so that it can go on.
    pub(super) tail: &'static str,
}

/// A kind of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// These.
    Fixed(Vec<Candidate>),
    /// The shell's own business.
    Files,
    Contexts,
    Clusters,
    Users,
    Namespaces,
    /// Types of objects.
    Types,
    /// Names of the objects of these types, but for those that stand there already.
    Names {
        types: Vec<String>,
        taken: Vec<String>,
    },
    /// Keys of the labels, or the annotations, of the objects of these types.
    Labels(Vec<String>),
    Annotations(Vec<String>),
    /// The values of an index of the objects of these types.
    Values(IndexName, Vec<String>),
    /// What the server's resources have.
    Groups,
    Verbs,
    Categories,
}

impl Wanted {
    fn of(what: What, head: impl Into<String>, typed: impl Into<String>) -> Self {
        Self { head: head.into(), typed: typed.into(), what, tail: "" }
    }

    fn nothing() -> Self {
        Self::of(What::Fixed(Vec::new()), "", "")
    }

    fn and_then(self, tail: &'static str) -> Self {
        Self { tail, ..self }
    }

    /// The same for the last item of a comma list.
    fn of_list(what: What, head: &str, typed: &str) -> Self {
        let (before, typed) = typed.rsplit_once(',').map_or(("", typed), |(before, typed)| (before, typed));
        let comma = if before.is_empty() { "" } else { "," };
        Self::of(what, format!("{head}{before}{comma}"), typed)
    }

    /// What is wanted at the end of a line. `topics` are what the help knows beside the commands.
    pub(super) fn at_end_of(line: &Line<'_>, app: &Command, topics: &[&str]) -> Self {
        let command = line.command.unwrap_or(app);
        match &line.last {
            Last::Flag(typed) => Self::of(What::Fixed(flags(command)), "", typed),
            Last::Value { arg, head, typed } => value(line, app, arg, head, typed),
            Last::Word(typed) if line.command.is_none() && line.words.is_empty() => {
                Self::of(What::Fixed(commands(app)), "", typed)
            }
            Last::Word(typed) if command.get_name() == "help" && line.words.is_empty() => {
                let topics = topics.iter().map(|topic| Candidate::with_help(*topic, "Topic"));
                Self::of(What::Fixed(commands(app).into_iter().chain(topics).collect()), "", typed)
            }
            Last::Word(typed) => match command.get_positionals().next() {
                Some(arg) if arg.get_id() == "resources" => resource(line, typed),
                Some(arg) if line.command.is_some() && line.words.is_empty() => {
                    value(line, app, arg, "", typed)
                }
                _ => Self::nothing(),
            },
        }
    }
}

/// The value of a flag, or a word that a command takes.
fn value(line: &Line<'_>, app: &Command, arg: &Arg, head: &str, typed: &str) -> Wanted {
    let possible = arg.get_possible_values();
    match arg.get_id().as_str() {
        "context" => Wanted::of_list(What::Contexts, head, typed),
        "cluster" => Wanted::of(What::Clusters, head, typed),
        "user" => Wanted::of(What::Users, head, typed),
        "namespace" => Wanted::of_list(What::Namespaces, head, typed),
        "selector" => selector(line, head, typed),
        "label_columns" => Wanted::of_list(What::Labels(types(line)), head, typed),
        "by" => by(line, head, typed),
        "output" => {
            let is_resources = line.command.is_some_and(|command| command.get_name() == "api-resources");
            let formats = if is_resources { RESOURCE_FORMATS } else { OBJECT_FORMATS };
            Wanted::of(What::Fixed(formats.split(',').map(Candidate::new).collect()), head, typed)
        }
        "api_group" => Wanted::of(What::Groups, head, typed),
        "verbs" => Wanted::of_list(What::Verbs, head, typed),
        "categories" => Wanted::of_list(What::Categories, head, typed),
        "command" => Wanted::of(What::Fixed(commands(app)), head, typed),
        _ if !possible.is_empty() => {
            let shown = possible.iter().filter(|value| !value.is_hide_set());
            let help = |help: Option<&clap::builder::StyledStr>| help.map(first_line).unwrap_or_default();
            let fixed = shown.map(|value| Candidate::with_help(value.get_name(), help(value.get_help())));
            Wanted::of(What::Fixed(fixed.collect()), head, typed)
        }
        _ => match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => {
                Wanted::of(What::Files, head, typed)
            }
            _ => Wanted::nothing(),
        },
    }
}

/// `TYPE[,TYPE…] [NAME…]` or `TYPE/NAME[,TYPE/NAME…]…`.
fn resource(line: &Line<'_>, typed: &str) -> Wanted {
    let (before, item) = typed.rsplit_once(',').map_or(("", typed), |(before, item)| (before, item));
    let comma = if before.is_empty() { "" } else { "," };
    if let Some((word, name)) = item.split_once('/') {
        let of_type = |word: &str| {
            let given = line.words.iter().flat_map(|given| given.split(',')).chain(before.split(','));
            let names = given.filter_map(|item| item.split_once('/')).filter(|(given, _)| *given == word);
            names.map(|(_, name)| name.to_owned()).collect()
        };
        let names = What::Names { types: vec![word.to_owned()], taken: of_type(word) };
        return Wanted::of(names, format!("{before}{comma}{word}/"), name);
    }
    match line.words.split_first() {
        None => Wanted::of(What::Types, format!("{before}{comma}"), item),
        Some((first, _)) if first.contains('/') => {
            Wanted::of(What::Types, format!("{before}{comma}"), item).and_then("/")
        }
        Some((_, taken)) => Wanted::of(What::Names { types: types(line), taken: taken.to_vec() }, "", typed),
    }
}

/// The types that the line names.
fn types(line: &Line<'_>) -> Vec<String> {
    let items = line.words.first().into_iter().flat_map(|word| word.split(','));
    let words = items.map(|item| item.split('/').next().unwrap_or_default());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The last requirement of a label selector: a key, or the value of one.
fn selector(line: &Line<'_>, head: &str, typed: &str) -> Wanted {
    if typed.rfind('(') > typed.rfind(')') {
        return Wanted::nothing();
    }
    let (before, item) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    let Some(equals) = item.rfind('=') else {
        let (not, key) = item.split_at(item.len() - item.trim_start_matches('!').len());
        let keys = Wanted::of(What::Labels(types(line)), format!("{head}{before}{not}"), key);
        return if not.is_empty() { keys.and_then("=") } else { keys };
    };
    let (key, value) = item.split_at(equals + 1);
    let name = IndexName::Label(key.trim_end_matches(['=', '!']).to_owned());
    Wanted::of(What::Values(name, types(line)), format!("{head}{before}{key}"), value)
}

/// `INDEX=VALUE[,VALUE…]`.
fn by(line: &Line<'_>, head: &str, typed: &str) -> Wanted {
    // Only `index` takes an index without a value.
    let equals = if line.command.is_some_and(|command| command.get_name() == "index") { "" } else { "=" };
    if let Some((index, value)) = typed.split_once('=') {
        let Ok(name) = IndexName::parse(index) else { return Wanted::nothing() };
        return Wanted::of_list(What::Values(name, types(line)), &format!("{head}{index}="), value);
    }
    let keys = [("label:", What::Labels(types(line))), ("annotation:", What::Annotations(types(line)))];
    for (kind, what) in keys {
        if let Some(key) = typed.strip_prefix(kind) {
            return Wanted::of(what, format!("{head}{kind}"), key).and_then(equals);
        }
    }
    let names = IndexName::NAMES.map(|name| {
        Candidate::new(if name.ends_with(':') { name.to_owned() } else { format!("{name}{equals}") })
    });
    Wanted::of(What::Fixed(names.to_vec()), head, typed)
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

    fn wanted(words: &str) -> Wanted {
        let mut app = Cli::command();
        app.build();
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Wanted::at_end_of(&Line::read(&app, &words), &app, &["exit-codes"])
    }

    fn values(words: &str) -> Vec<String> {
        match wanted(words).what {
            What::Fixed(candidates) => candidates.into_iter().map(|one| one.value).collect(),
            other => panic!("{words}: {other:?}"),
        }
    }

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn commands_topics_flags_and_choices_need_nobody_to_be_asked() {
        assert!(values("").contains(&"watch".to_owned()) && values("").contains(&"help".to_owned()));
        assert!(values("help ").contains(&"exit-codes".to_owned()));
        assert!(values("help ").contains(&"get".to_owned()));
        assert!(values("man ").contains(&"get".to_owned()));
        assert!(values("get --").contains(&"--kubeconfig".to_owned()));
        assert_eq!(values("get po -o "), ["json", "name", "wide", "yaml"]);
        assert_eq!(values("api-resources -o "), ["name", "wide"]);
        assert_eq!(values("get --color="), ["auto", "always", "never"]);
        assert_eq!(values("completions "), ["bash", "zsh", "fish", "powershell", "nushell"]);
        assert!(values("index po --by ").contains(&"node".to_owned()));
        assert!(values("get po --by ").contains(&"node=".to_owned()));
        assert!(values("get po --by ").contains(&"label:".to_owned()));
        assert!(values("api-resources pods ").is_empty() && values("completions bash ").is_empty());
        assert!(values("nothing ").is_empty() && values("get po --count ").is_empty());
    }

    #[test]
    fn of_a_resource_the_type_comes_first_and_then_the_name() {
        let names = |types: &[&str], taken: &[&str]| What::Names { types: list(types), taken: list(taken) };
        for (line, head, typed, what, tail) in [
            ("get po", "", "po", What::Types, ""),
            ("get pods,", "pods,", "", What::Types, ""),
            ("get pods we", "", "we", names(&["pods"], &[]), ""),
            ("get pods,svc a b", "", "b", names(&["pods", "svc"], &["a"]), ""),
            ("get deploy/we", "deploy/", "we", names(&["deploy"], &[]), ""),
            ("get pods,deploy/we", "pods,deploy/", "we", names(&["deploy"], &[]), ""),
            ("get po/a ", "", "", What::Types, "/"),
            ("get po/a,svc/b po/", "po/", "", names(&["po"], &["a"]), ""),
        ] {
            let expected = Wanted { head: head.into(), typed: typed.into(), what, tail };
            assert_eq!(wanted(line), expected, "{line}");
        }
    }

    #[test]
    fn a_value_is_looked_up_where_it_comes_from() {
        let pods = || list(&["pods"]);
        let app = || IndexName::Label("app".into());
        for (line, head, typed, what, tail) in [
            ("get -n a,b", "a,", "b", What::Namespaces, ""),
            ("get -na", "-n", "a", What::Namespaces, ""),
            ("get --context=", "--context=", "", What::Contexts, ""),
            ("get --context a,b", "a,", "b", What::Contexts, ""),
            ("get --cluster x", "", "x", What::Clusters, ""),
            ("get --user x", "", "x", What::Users, ""),
            ("get --kubeconfig x", "", "x", What::Files, ""),
            ("get pods -l a", "", "a", What::Labels(pods()), "="),
            ("get pods -l !a", "!", "a", What::Labels(pods()), ""),
            ("get pods -l x=y,app!=w", "x=y,app!=", "w", What::Values(app(), pods()), ""),
            ("get pods -l app==w", "app==", "w", What::Values(app(), pods()), ""),
            ("get pods -L a,b", "a,", "b", What::Labels(pods()), ""),
            ("get pods --by label:a", "label:", "a", What::Labels(pods()), "="),
            ("index pods --by label:a", "label:", "a", What::Labels(pods()), ""),
            ("get pods --by=annotation:a", "--by=annotation:", "a", What::Annotations(pods()), "="),
            ("get pods --by label:app=a,b", "label:app=a,", "b", What::Values(app(), pods()), ""),
            ("get pods --by node=", "node=", "", What::Values(IndexName::Node, pods()), ""),
            ("api-resources --api-group ap", "", "ap", What::Groups, ""),
            ("api-resources --verbs list,w", "list,", "w", What::Verbs, ""),
        ] {
            let expected = Wanted { head: head.into(), typed: typed.into(), what, tail };
            assert_eq!(wanted(line), expected, "{line}");
        }
    }
}
