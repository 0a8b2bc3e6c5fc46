//! The completion at the end of a line: a command, a flag, the value of a flag, or a word of the command. No I/O.

use clap::{Arg, Command};

use super::argument_value::{argument_value, commands, first_line, types};
use super::completion::{Candidate, Completion, ValueSource};
use super::line::{LastWord, TypedLine};

/// Returns the completion for the end of a line. `topics` are the help topics other than commands.
pub(super) fn end_of_line(line: &TypedLine<'_>, app: &Command, topics: &[&str]) -> Completion {
    let command = line.command.unwrap_or(app);
    match &line.last {
        LastWord::Flag(typed) => Completion::of(ValueSource::Fixed(flags(command)), "", typed),
        LastWord::Value { arg, head, typed } => argument_value(line, app, arg, head, typed),
        LastWord::Word(typed) if line.command.is_none() && line.words.is_empty() => {
            Completion::of(ValueSource::Fixed(commands(app)), "", typed)
        }
        LastWord::Word(typed) if command.get_name() == "help" && line.words.is_empty() => {
            let topics = topics.iter().map(|topic| Candidate::with_help(*topic, "Topic"));
            Completion::of(ValueSource::Fixed(commands(app).into_iter().chain(topics).collect()), "", typed)
        }
        LastWord::Word(typed) if line.action.is_some() && command.get_name() == "recording" => {
            Completion::of(ValueSource::Files, "", typed)
        }
        LastWord::Word(typed) if line.action.is_some() => resource(line, typed),
        LastWord::Word(typed) => match command.get_positionals().next() {
            Some(arg) if arg.get_id() == "resources" => resource(line, typed),
            Some(arg) if arg.get_id() == "fields" => field(line, typed),
            Some(arg) if line.command.is_some() && line.words.is_empty() => {
                argument_value(line, app, arg, "", typed)
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;
    use crate::commands::complete::field_path::PathStyle;
    use crate::settings::{IndexName, output_formats};

    fn completion(words: &str) -> Completion {
        let mut app = Cli::command();
        app.build();
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        end_of_line(&TypedLine::read(&app, &words), &app, &["exit-codes"])
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
        assert_eq!(values("get po -o "), output_formats("get").split(',').collect::<Vec<_>>());
        assert_eq!(values("api-resources -o "), ["json", "kyaml", "name", "wide", "yaml"]);
        assert_eq!(values("explain -o "), ["plaintext", "plaintext-openapiv2"]);
        assert_eq!(values("get po a --subresource="), ["resize", "scale", "status"]);
        assert_eq!(values("get --color="), ["auto", "always", "never"]);
        assert_eq!(values("recording "), ["cut", "export", "import", "info", "merge", "verify"]);
        assert_eq!(completion("recording info x").source, ValueSource::Files);
        assert_eq!(completion("recording merge a b").source, ValueSource::Files);
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
        let names = |word: &str| ValueSource::Names { types: list(&[word]), taken: Vec::new() };
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
            ("explain --api-version ap", "", "ap", ValueSource::Versions, ""),
            ("events --for po", "", "po", ValueSource::Types, "/"),
            ("events --for po/w", "po/", "w", names("po"), ""),
            ("get pods --namespace-selector a", "", "a", ValueSource::Labels(list(&["namespaces"])), "="),
            ("api-resources --api-group ap", "", "ap", ValueSource::Groups, ""),
            ("api-resources --verbs list,w", "list,", "w", ValueSource::Verbs, ""),
        ] {
            let expected = Completion { head: head.into(), typed: typed.into(), source, tail };
            assert_eq!(completion(line), expected, "{line}");
        }
    }

    #[test]
    fn paths_complete_fields_of_the_types() {
        let fields = |path: &[&str], has_brackets: bool, ends_anywhere, end| ValueSource::ObjectFields {
            types: list(&["pods"]),
            path: list(path),
            style: PathStyle { brackets: has_brackets.then_some("[*]"), ends_anywhere, end },
        };
        for (line, head, typed, source) in [
            ("get pods web -o jsonpath={.sp", "jsonpath={.", "sp", fields(&[], true, true, "}")),
            ("get pods -w -ojsonpath={.sp", "-ojsonpath={.", "sp", fields(&[], true, true, "}")),
            (
                "get pods -o jsonpath={.items[*].spec.no",
                "jsonpath={.items[*].spec.",
                "no",
                fields(&["spec"], true, true, "}"),
            ),
            (
                "watch pods -o custom-columns=A:.spec.no",
                "custom-columns=A:.spec.",
                "no",
                fields(&["spec"], true, false, ""),
            ),
            ("get pods --sort-by=", "--sort-by=.", "", fields(&[], true, false, "")),
            ("watch pods --only sp", "", "sp", fields(&[], false, true, "")),
            ("watch pods --ignore=status.", "--ignore=status.", "", fields(&["status"], false, true, "")),
            ("get pods --by field:sp", "field:", "sp", fields(&[], false, false, "=")),
            ("index pods --by field:spec.", "field:spec.", "", fields(&["spec"], false, false, "")),
        ] {
            let expected = Completion { head: head.into(), typed: typed.into(), source, tail: "" };
            assert_eq!(completion(line), expected, "{line}");
        }
        assert_eq!(values("get pods -o jsonpath={."), ["apiVersion", "items", "kind"]);
        assert_eq!(values("api-resources --sort-by "), ["name", "kind"]);
        assert_eq!(values("events --types Normal,"), ["Normal", "Warning"]);
        assert!(values("watch pods -o json --fields name,o").contains(&"object".to_owned()));
        assert_eq!(values("get pods --field-selector a=b,"), ["metadata.name", "metadata.namespace"]);
        assert_eq!(completion("get po -o jsonpath-file=x").source, ValueSource::Files);
        let conditions = values("wait pod/x --for=");
        assert!(
            ["condition=", "create", "delete", "jsonpath=", "ready"]
                .iter()
                .all(|one| conditions.iter().any(|other| other == one))
        );
        assert_eq!(values("wait pod/x --for=ready --fail-on="), conditions);
        assert!(values("wait pod/x --for condition=R").contains(&"Ready".to_owned()));
    }

    #[test]
    fn resources_follow_an_action() {
        assert_eq!(values("rollout "), ["status"]);
        assert_eq!(completion("rollout status de").source, ValueSource::Types);
        let names = ValueSource::Names { types: list(&["deploy"]), taken: Vec::new() };
        assert_eq!(completion("rollout status deploy/w").source, names);
        assert_eq!(completion("rollout status deploy w").source, names);
    }

    /// A flag whose value is not completed needs a reason here.
    #[test]
    fn each_flag_value_is_completed_or_free() {
        const FREE: [(&str, &[&str]); 3] = [
            (
                "a number",
                &[
                    "batch",
                    "at-least",
                    "at-most",
                    "chunk-size",
                    "count",
                    "depth",
                    "jobs",
                    "max-retries",
                    "max-size",
                    "objects",
                    "port",
                    "resource-version",
                    "revision",
                    "speed",
                    "top",
                    "verbose",
                ],
            ),
            (
                "a time",
                &[
                    "at",
                    "debounce",
                    "duration",
                    "keep",
                    "log-flush-frequency",
                    "move-to",
                    "newer-than",
                    "older-than",
                    "request-timeout",
                    "restarted-within",
                    "resync",
                    "retry-delay",
                    "since",
                    "stable",
                    "timeout",
                    "until",
                ],
            ),
            (
                "a text that only the user knows",
                &[
                    "address",
                    "as",
                    "as-group",
                    "as-uid",
                    "as-user-extra",
                    "encrypt-to",
                    "metrics",
                    "password",
                    "raw",
                    "server",
                    "template",
                    "tls-server-name",
                    "token",
                    "username",
                    "vmodule",
                    "where",
                ],
            ),
        ];
        let mut app = Cli::command();
        app.build();
        for command in app.get_subcommands().filter(|command| command.get_name() != "help") {
            for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
                let Some(flag) = arg.get_long() else { continue };
                let found = completion(&format!("{} pods --{flag}=", command.get_name())).source;
                let is_free = FREE.iter().any(|(_, flags)| flags.contains(&flag));
                let is_empty = found == ValueSource::Fixed(Vec::new());
                assert_eq!(is_empty, is_free, "{} --{flag}: {found:?}", command.get_name());
            }
        }
    }
}
