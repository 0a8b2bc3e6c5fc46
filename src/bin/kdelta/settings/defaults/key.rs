//! The keys of defaults: the flags of all commands, with the type of their values.

use std::any::TypeId;

use clap::{Arg, ArgAction, Command};

use super::policy::{Policy, policy};
use crate::args::SpeedArg;

/// Commands without defaults: a mistake in a file must not break what helps to correct it.
const WITHOUT_DEFAULTS: [&str; 3] = ["completions", "help", "man"];

/// The type of a flag's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// True or false.
    Switch,
    Number,
    Text,
    /// A duration, or a number of seconds.
    Time,
    /// Texts of a flag that may be repeated.
    List,
    /// One of these texts.
    Choice(Vec<String>),
}

impl ValueKind {
    pub(super) fn of(arg: &Arg) -> Self {
        let id = arg.get_value_parser().type_id();
        let is_number = [
            TypeId::of::<u8>(),
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<i32>(),
            TypeId::of::<i64>(),
            TypeId::of::<SpeedArg>(),
        ]
        .iter()
        .any(|number| id == *number);
        let is_list = matches!(arg.get_action(), ArgAction::Append) || arg.get_value_delimiter().is_some();
        let choices = arg.get_possible_values();
        let is_time = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "TIME"));
        match () {
            () if is_switch(arg) || id == TypeId::of::<bool>() => Self::Switch,
            () if is_number => Self::Number,
            () if is_list => Self::List,
            () if !choices.is_empty() => {
                Self::Choice(choices.iter().map(|value| value.get_name().to_owned()).collect())
            }
            () if is_time => Self::Time,
            () => Self::Text,
        }
    }

    /// Returns the type in words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Text => "a string".to_owned(),
            Self::Time => "a string or a number".to_owned(),
            Self::List => "a string or an array of strings".to_owned(),
            Self::Choice(choices) => format!("one of the strings {}", choices.join(", ")),
        }
    }
}

/// Whether the flag takes no value.
pub(super) fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// A key, as the help describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// The long name of the flag.
    pub(crate) name: String,
    /// The effect, the type and the commands.
    pub(crate) meaning: String,
}

/// Returns the keys of all commands by name. `app` must be built.
pub(crate) fn keys(app: &Command) -> Vec<Key> {
    let paths = command_paths(app);
    let mut names: Vec<&str> = paths
        .iter()
        .flat_map(|(_, command)| flags_of(command).filter_map(Arg::get_long))
        .filter(|name| !matches!(policy(name), None | Some(Policy::Nowhere(_))))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| key(name, &paths)).collect()
}

fn key(name: &str, paths: &[(String, &Command)]) -> Option<Key> {
    let owners = owners(name, paths);
    // A flag that is accepted without an effect is hidden.
    let (_, arg) = owners.iter().find(|(_, arg)| !arg.is_hide_set()).or(owners.first())?;
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let commands: Vec<&str> =
        owners.iter().filter(|(_, arg)| !arg.is_hide_set()).map(|(path, _)| *path).collect();
    let commands = if arg.is_global_set() { "all commands".to_owned() } else { commands.join(", ") };
    let commands = match policy(name) {
        Some(Policy::Tables(_)) => format!("only in tables: {commands}"),
        _ => commands,
    };
    let meaning = format!("{help} [{}; {commands}]", ValueKind::of(arg).words());
    Some(Key { name: name.to_owned(), meaning })
}

/// Returns the commands that have a flag, with their definitions of it.
pub(super) fn owners<'a>(flag: &str, paths: &'a [(String, &'a Command)]) -> Vec<(&'a str, &'a Arg)> {
    let own = |command: &'a Command| flags_of(command).find(|arg| arg.get_long() == Some(flag));
    paths.iter().filter_map(|(path, command)| Some((path.as_str(), own(command)?))).collect()
}

/// Whether a command uses defaults.
pub(super) fn has_defaults(command: &str) -> bool {
    !WITHOUT_DEFAULTS.contains(&command)
}

/// Returns the commands that have defaults, by the words that select them: `get`, `rollout status`.
pub(super) fn command_paths(app: &Command) -> Vec<(String, &Command)> {
    let mut found = Vec::new();
    let mut pending: Vec<(String, &Command)> = vec![(String::new(), app)];
    while let Some((path, command)) = pending.pop() {
        let inner: Vec<_> = command
            .get_subcommands()
            .filter(|inner| has_defaults(inner.get_name()))
            .map(|inner| (format!("{path} {}", inner.get_name()).trim_start().to_owned(), inner))
            .collect();
        if inner.is_empty() {
            found.push((path, command));
        }
        pending.extend(inner.into_iter().rev());
    }
    found
}

/// Returns the flags of a command, without those for help and version.
pub(super) fn flags_of(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| {
        let prints_text = matches!(
            arg.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        );
        !arg.is_positional() && !prints_text
    })
}

/// Returns the definition of the command line.
#[cfg(test)]
pub(super) fn built_app() -> Command {
    let mut app = <crate::args::Cli as clap::CommandFactory>::command();
    app.build();
    app
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_definition() {
        let app = built_app();
        let paths = command_paths(&app);
        let kind = |flag: &str| ValueKind::of(owners(flag, &paths)[0].1);
        for (flag, expected) in [
            ("no-headers", ValueKind::Switch),
            ("allow-missing-template-keys", ValueKind::Switch),
            ("verbose", ValueKind::Number),
            ("chunk-size", ValueKind::Number),
            ("speed", ValueKind::Number),
            ("output", ValueKind::Text),
            ("kubeconfig", ValueKind::Text),
            ("request-timeout", ValueKind::Time),
            ("ignore", ValueKind::List),
            ("label-columns", ValueKind::List),
            ("fields", ValueKind::List),
            ("color", ValueKind::Choice(["auto", "always", "never"].map(str::to_owned).to_vec())),
        ] {
            assert_eq!(kind(flag), expected, "{flag}");
        }
    }

    #[test]
    fn keys_name_their_commands() {
        let app = built_app();
        let keys = keys(&app);
        let meaning = |name: &str| {
            let found = keys.iter().find(|key| key.name == name);
            found.map(|key| key.meaning.rsplit_once('[').expect("brackets").1.to_owned())
        };
        assert_eq!(
            meaning("cached").as_deref(),
            Some("true or false; watch, get, index, tree, run, record, api-resources, serve]")
        );
        assert!(meaning("namespace").expect("a key").ends_with("; all commands]"));
        assert!(meaning("sort-by").expect("a key").contains("; only in tables: get, "));
        assert_eq!((meaning("token"), meaning("watch"), meaning("help")), (None, None, None));
    }

    #[test]
    fn nested_commands_have_paths() {
        let inner = Command::new("rollout").subcommand(Command::new("status"));
        let mut app = Command::new("x").subcommand(Command::new("get")).subcommand(inner);
        app.build();
        let paths: Vec<String> = command_paths(&app).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["get", "rollout status"]);
    }
}
