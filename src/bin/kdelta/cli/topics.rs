//! The help topics other than commands: `kdelta help exit-codes`, `kdelta help environment`, `kdelta help config`.

use clap::{Command, CommandFactory};

use crate::args::Cli;
use crate::exit;
use crate::settings::{CONFIG_EXAMPLE, CONFIG_RULES, VARIABLES, keys, refusals};

/// The names of the topics.
pub(crate) const TOPICS: [&str; 3] = ["exit-codes", "environment", "config"];

const CONFIG_ABOUT: &str = "Defaults for flags, from a file and from environment variables";

/// Returns a topic as a clap command without a command behind it, so that clap wraps its lines to the terminal.
pub(super) fn topic(name: &str) -> Option<Command> {
    let (about, lines): (&'static str, Vec<(String, &'static str)>) = match name {
        "exit-codes" => ("What the exit codes mean", exit::meanings().collect()),
        "environment" => {
            let lines = VARIABLES.iter().map(|(name, what)| ((*name).to_owned(), *what));
            ("The variables that kdelta reads; one that is set to nothing counts as not set", lines.collect())
        }
        "config" => {
            let mut app = Cli::command();
            app.build();
            let lines = keys(&app).into_iter().map(|key| (key.name, key.meaning));
            return Some(page(CONFIG_ABOUT, &config_rules(), lines, &config_refusals()));
        }
        _ => return None,
    };
    Some(page(about, "", lines.into_iter().map(|(word, what)| (word, what.to_owned())), ""))
}

/// Returns a page with two columns between two texts.
fn page(
    about: &'static str,
    before: &str,
    lines: impl Iterator<Item = (String, String)>,
    after: &str,
) -> Command {
    let page = Command::new("topic").about(about).disable_help_subcommand(true);
    let page = page.help_template("{about-with-newline}\n{before-help}{subcommands}{after-help}\n");
    // An empty text would still be a line.
    let page = if before.is_empty() { page } else { page.before_help(before.to_owned()) };
    let page = if after.is_empty() { page } else { page.after_help(after.to_owned()) };
    lines.enumerate().fold(page, |page, (place, (word, what))| {
        page.subcommand(Command::new(word).about(what).display_order(place))
    })
}

/// Returns the rules and an example.
fn config_rules() -> String {
    format!("{}\n\nExample:\n{CONFIG_EXAMPLE}\nKeys:", CONFIG_RULES.join("\n\n"))
}

/// Returns the flags without a default, with the reasons.
fn config_refusals() -> String {
    let lines = refusals().map(|(reason, flags)| format!("- {}: {reason}", flags.join(", ")));
    format!("No default:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_exists() {
        for name in TOPICS {
            topic(name).expect(name).debug_assert();
        }
        assert!(topic("get").is_none());
    }
}
