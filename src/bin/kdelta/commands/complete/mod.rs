//! `kdelta __complete WORD…`: how a line may go on, in the protocol of Cobra's programs, which is what the scripts in
//! `completions/` and kubectl speak.
//!
//! A line for each way, `word<TAB>description`, and as the last one a number after a colon: a sum of the directives below.
//! Nobody waits for long, except for a credential plugin, and nothing but the answer is ever said: a shell would print it into the line being typed.

mod line;
mod live;
mod wanted;

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

use clap::{Command, CommandFactory, FromArgMatches};
use kdelta::api::a_plugin_runs;
use tokio::time::timeout;

use crate::args::{Cli, accept_kubectl_spelling};
use crate::settings::{Environment, Settings};
use crate::view::escape_cell;
use line::Line;
use wanted::{Candidate, Wanted, What};

/// How long the cluster may take for its part, in steps.
const STEP: Duration = Duration::from_millis(50);
const STEPS: u32 = 20;

/// The word goes on: no space behind it.
const NO_SPACE: u8 = 2;
/// These are all: the shell has no files to add.
const NO_FILES: u8 = 4;

/// Prints how these words, the last of which is being typed, may go on. `topics` are what the help knows beside the
/// commands.
///
/// # Errors
/// The answer can't be written.
pub(crate) async fn run(
    words: &[OsString],
    environment: &Environment,
    topics: &[&str],
    out: impl Write,
) -> io::Result<()> {
    let mut app = Cli::command();
    app.build();
    let words = spelled(words, &app);
    let line = Line::read(&app, &words);
    let wanted = Wanted::at_end_of(&line, &app, topics);
    let found = match &wanted.what {
        What::Fixed(candidates) => candidates.clone(),
        What::Files => Vec::new(),
        _ => match settings(&line, &app, environment) {
            Some(settings) => patiently(live::look_up(&line, &wanted, &settings)).await.unwrap_or_default(),
            None => Vec::new(),
        },
    };
    print(&wanted, found, out)
}

/// What is found in time. Time in which a credential plugin runs does not count, as with kubectl: one that is cut off may
/// have spent what it was about to keep, and the next TAB would only begin it anew.
async fn patiently<T>(asked: impl Future<Output = anyhow::Result<T>>) -> Option<T> {
    let mut asked = std::pin::pin!(asked);
    let mut left = STEPS;
    while left > 0 || a_plugin_runs() {
        if let Ok(found) = timeout(STEP, &mut asked).await {
            return found.ok();
        }
        if !a_plugin_runs() {
            left = left.saturating_sub(1);
        }
    }
    None
}

/// The words as clap takes them; the last one stays, it is not complete.
fn spelled(words: &[OsString], app: &Command) -> Vec<String> {
    let Some((last, before)) = words.split_last() else { return Vec::new() };
    let words = accept_kubectl_spelling(before.to_vec(), app).into_iter().chain([last.clone()]);
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}

/// What the line says of the connection. Nobody can be asked for a password here.
fn settings(line: &Line<'_>, app: &Command, environment: &Environment) -> Option<Settings> {
    let mut words = vec![app.get_name().to_owned()];
    // How much is said, and in which colour, is nothing to the cluster, and a slip there no reason to be silent.
    let flags = line.flags.iter().filter(|(arg, _)| arg.is_global_set());
    for (arg, value) in flags.filter(|(arg, _)| arg.get_help_heading() != Some("Terminal")) {
        let long = arg.get_long()?;
        words.push(value.as_ref().map_or_else(|| format!("--{long}"), |value| format!("--{long}={value}")));
    }
    words.extend(["get", "pods"].map(str::to_owned));
    let matches = app.clone().try_get_matches_from(words).ok()?;
    let cli = Cli::from_arg_matches(&matches).ok()?;
    let mut settings = Settings::read(&cli, environment).ok()?;
    settings.terminal.stdin = false;
    settings.connection.spare_refresh_tokens = true;
    Some(settings)
}

fn print(wanted: &Wanted, mut found: Vec<Candidate>, mut out: impl Write) -> io::Result<()> {
    found.retain(|one| one.value.starts_with(&wanted.typed) && is_plain(&one.value));
    if wanted.head.ends_with(',') {
        // What stands in the list already is in it.
        found.retain(|one| wanted.head.split([',', '=']).all(|item| item != one.value));
    }
    found.sort();
    found.dedup_by(|next, one| next.value == one.value);
    let mut directive = if wanted.what == What::Files { 0 } else { NO_FILES };
    for Candidate { value, help } in found {
        let word = format!("{}{value}{}", wanted.head, wanted.tail);
        if word.ends_with(['/', ':', '=']) {
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

/// Whether a value means itself in every shell. Others are not offered: they come from the cluster, and a shell would
/// put them into the line as they are.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "._-/:=@+%".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Contexts;

    fn printed(wanted: &Wanted, values: &[(&str, &str)]) -> String {
        let found = values.iter().map(|(value, help)| Candidate::with_help(*value, *help)).collect();
        let mut out = Vec::new();
        print(wanted, found, &mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn only_what_goes_on_as_typed_and_means_itself_is_offered_once_and_in_order() {
        let wanted = Wanted { head: "pods/".into(), typed: "w".into(), what: What::Namespaces, tail: "" };
        let values =
            [("web", ""), ("w$(x)", ""), ("api", ""), ("web", ""), ("w b", ""), ("w\nb", ""), ("wa", "A\tb")];
        assert_eq!(printed(&wanted, &values), "pods/wa\tA\tb\npods/web\n:4\n");
    }

    #[test]
    fn of_a_list_only_what_is_not_in_it_is_offered() {
        let wanted =
            |head: &str| Wanted { head: head.into(), typed: String::new(), what: What::Namespaces, tail: "" };
        for head in ["a,", "--namespace=a,"] {
            assert_eq!(printed(&wanted(head), &[("a", ""), ("b", "")]), format!("{head}b\n:4\n"));
        }
        assert_eq!(printed(&wanted("a/"), &[("a", "")]), "a/a\n:4\n", "a name is no item of the list");
    }

    #[test]
    fn a_word_that_goes_on_gets_no_space_and_files_are_left_to_the_shell() {
        let keys = Wanted { head: String::new(), typed: String::new(), what: What::Namespaces, tail: "=" };
        assert_eq!(printed(&keys, &[("app", "")]), "app=\n:6\n");
        let files = Wanted { what: What::Files, ..keys };
        assert_eq!(printed(&files, &[]), ":0\n");
    }

    #[test]
    fn the_flags_of_a_line_are_settings_and_its_mistakes_elsewhere_do_not_matter() {
        let mut app = Cli::command();
        app.build();
        let read = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            settings(&Line::read(&app, &words), &app, &Environment::default())
        };
        let settings = read("-n a get --context c --color red pods --as me --count x ").expect("settings");
        assert_eq!(settings.connection.contexts, Contexts::Named("c".into()));
        assert_eq!(settings.connection.impersonate.user.as_deref(), Some("me"));
        assert!(!settings.terminal.stdin && settings.connection.spare_refresh_tokens);
        assert!(read("get --demo pods ").expect("settings").demo.is_some());
        assert!(read("get --speed 7 pods ").is_none(), "a mistake");
    }
}
