//! `kdelta __complete WORD…`: completions of a command line, in the protocol of Cobra programs that the scripts in
//! `completions/` and kubectl use.
//!
//! Prints one line per candidate, `word<TAB>description`, and finally a colon with the sum of the directives below. The
//! time is limited, except while a credential plugin runs. Nothing else is printed, because a shell would insert it
//! into the line being typed.

mod argument_value;
mod completion;
mod end_of_line;
mod field_path;
mod line;
mod lookup;

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

use clap::{Command, CommandFactory};
use tokio::time::timeout;

use crate::args::{self, Cli, accept_kubectl_spelling};
use crate::session::credential_plugins;
use crate::settings::{ConfigFile, Environment, ResolveError, ResolvedArguments, Settings, TypedWords};
use crate::view::escape_cell;
use completion::{Candidate, Completion, ValueSource};
use end_of_line::end_of_line;
use line::TypedLine;
use lookup::Scope;

/// The time limit for the cluster, in steps.
const STEP: Duration = Duration::from_millis(50);
const STEPS: u32 = 20;

/// Directive: add no space, because the word continues.
const NO_SPACE: u8 = 2;
/// Directive: do not complete file names.
const NO_FILES: u8 = 4;

/// Prints the completions of a line whose last word is being typed. `topics` are the help topics other than commands.
///
/// # Errors
/// The output can't be written.
pub(crate) async fn run(
    words: &[OsString],
    environment: &Environment,
    topics: &[&str],
    out: impl Write,
) -> io::Result<()> {
    let mut app = Cli::command();
    app.build();
    let words = normalize(words, &app);
    let line = TypedLine::read(&app, &words);
    let completion = end_of_line(&line, &app, topics);
    let found = match &completion.source {
        ValueSource::Fixed(candidates) => candidates.clone(),
        ValueSource::Files => Vec::new(),
        _ => match settings(&line, &app, environment) {
            Some((settings, scope)) => {
                within_time_limit(lookup::look_up(&scope, &completion, &settings)).await.unwrap_or_default()
            }
            None => Vec::new(),
        },
    };
    print(&completion, found, out)
}

/// Returns the result if it is ready in time. As in kubectl, time in which a credential plugin runs does not count: a
/// plugin that is cut off may lose the credential it was about to store, and the next TAB would start it again.
async fn within_time_limit<T>(lookup: impl Future<Output = anyhow::Result<T>>) -> Option<T> {
    let mut lookup = std::pin::pin!(lookup);
    let mut left = STEPS;
    while left > 0 || credential_plugins().is_running() {
        if let Ok(found) = timeout(STEP, &mut lookup).await {
            return found.ok();
        }
        if !credential_plugins().is_running() {
            left = left.saturating_sub(1);
        }
    }
    None
}

/// Normalizes the words for clap, except the last one, which is incomplete.
fn normalize(words: &[OsString], app: &Command) -> Vec<String> {
    let Some((last, before)) = words.split_last() else { return Vec::new() };
    let words = accept_kubectl_spelling(before.to_vec(), app).into_iter().chain([last.clone()]);
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Returns the connection settings of the line and its namespaces, with the defaults of its command. Interactive password
/// prompts are disabled.
fn settings(line: &TypedLine<'_>, app: &Command, environment: &Environment) -> Option<(Settings, Scope)> {
    let mut words = vec![app.get_name().to_owned()];
    // Verbosity and colour do not affect the connection, so mistakes in those flags are ignored.
    let flags = line.flags.iter().filter(|(arg, _)| arg.is_global_set() || arg.get_id() == "all_namespaces");
    for (arg, value) in flags.filter(|(arg, _)| arg.get_help_heading() != Some("Terminal")) {
        let long = arg.get_long()?;
        words.push(value.as_ref().map_or_else(|| format!("--{long}"), |value| format!("--{long}={value}")));
    }
    words.splice(1..1, ["get", "pods"].map(str::to_owned));
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let matches = app.clone().try_get_matches_from(&words).ok()?;
    let defaults_of = line.command.map(Command::get_name);
    let typed = TypedWords { app, typed: &words, words: &words, matches: &matches, defaults_of };
    let resolved = typed.resolve(environment).or_else(|error| match error {
        // Mistakes in defaults are reported when the command runs.
        ResolveError::Defaults(_) | ResolveError::Default { .. } => {
            typed.resolve(&without_defaults(environment))
        }
        error => Err(error),
    });
    let ResolvedArguments { cli, mut settings, .. } = resolved.ok()?;
    settings.connection.options.stdin_is_terminal = false;
    settings.connection.options.spare_refresh_tokens = true;
    let is_everywhere = match &cli.command {
        args::Command::Get(get) => get.objects.select.all_namespaces,
        _ => false,
    };
    let namespaces = cli.connection.namespace.as_deref().unwrap_or_default().split(',');
    let namespaces = namespaces.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some((settings, Scope { is_everywhere, namespaces }))
}

fn without_defaults(environment: &Environment) -> Environment {
    Environment {
        config_file: ConfigFile::Off,
        kdelta_variables: std::collections::BTreeMap::new(),
        ..environment.clone()
    }
}

fn print(completion: &Completion, mut found: Vec<Candidate>, mut out: impl Write) -> io::Result<()> {
    found.retain(|one| one.value.starts_with(&completion.typed) && is_plain(&one.value));
    if completion.head.ends_with(',') {
        // Items already in the list are not offered again.
        found.retain(|one| completion.head.split([',', '=']).all(|item| item != one.value));
    }
    found.sort();
    found.dedup_by(|next, one| next.value == one.value);
    let mut directive = if completion.source == ValueSource::Files { 0 } else { NO_FILES };
    for Candidate { value, help, tail, continues } in found {
        let word = format!("{}{value}{tail}{}", completion.head, completion.tail);
        if continues || word.ends_with(['/', ':', '=']) {
            directive |= NO_SPACE;
        }
        if help.is_empty() {
            writeln!(out, "{word}")?;
        } else {
            writeln!(out, "{word}\t{}", escape_cell(&help))?;
        }
    }
    writeln!(out, ":{directive}")?;
    out.flush()
}

/// Whether a value has no special meaning in any shell. Values come from the cluster, and a shell inserts them
/// unquoted.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "._-/:=@+%".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Contexts;

    fn printed(completion: &Completion, values: &[(&str, &str)]) -> String {
        let found = values.iter().map(|(value, help)| Candidate::with_help(*value, *help)).collect();
        let mut out = Vec::new();
        print(completion, found, &mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn candidates_are_filtered_sorted_and_unique() {
        let completion =
            Completion { head: "pods/".into(), typed: "w".into(), source: ValueSource::Namespaces, tail: "" };
        let values =
            [("web", ""), ("w$(x)", ""), ("api", ""), ("web", ""), ("w b", ""), ("w\nb", ""), ("wa", "A\tb")];
        assert_eq!(printed(&completion, &values), "pods/wa\tA\tb\npods/web\n:4\n");
    }

    #[test]
    fn list_items_are_offered_once() {
        let completion = |head: &str| Completion {
            head: head.into(),
            typed: String::new(),
            source: ValueSource::Namespaces,
            tail: "",
        };
        for head in ["a,", "--namespace=a,"] {
            assert_eq!(printed(&completion(head), &[("a", ""), ("b", "")]), format!("{head}b\n:4\n"));
        }
        assert_eq!(printed(&completion("a/"), &[("a", "")]), "a/a\n:4\n", "a name is no item of the list");
    }

    #[test]
    fn unfinished_word_gets_no_space_and_shell_completes_files() {
        let keys = Completion {
            head: String::new(),
            typed: String::new(),
            source: ValueSource::Namespaces,
            tail: "=",
        };
        assert_eq!(printed(&keys, &[("app", "")]), "app=\n:6\n");
        let files = Completion { source: ValueSource::Files, ..keys };
        assert_eq!(printed(&files, &[]), ":0\n");
    }

    #[test]
    fn connection_flags_become_settings_despite_other_errors() {
        let mut app = Cli::command();
        app.build();
        let read = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            settings(&TypedLine::read(&app, &words), &app, &Environment::default())
        };
        let (settings, scope) =
            read("-n a,b get --context c --color red pods --as me --count x ").expect("settings");
        assert_eq!((scope.namespaces, scope.is_everywhere), (vec!["a".to_owned(), "b".to_owned()], false));
        assert_eq!(settings.connection.contexts, Contexts::Named("c".into()));
        assert_eq!(settings.connection.options.as_user.as_deref(), Some("me"));
        let options = settings.connection.options;
        assert!(!options.stdin_is_terminal && options.spare_refresh_tokens);
        assert!(read("get --demo pods ").expect("settings").0.demo.is_some());
        assert!(read("get pods -A ").expect("settings").1.is_everywhere);
        assert!(read("get --speed 7 pods ").is_none(), "a mistake");
    }
}
