//! The help topics other than commands: `kdelta help exit-codes`, `kdelta help environment`.

use clap::Command;

use crate::exit;
use crate::settings::VARIABLES;

/// The names of the topics.
pub(crate) const TOPICS: [&str; 2] = ["exit-codes", "environment"];

/// Returns a topic as a clap command without a command behind it, so that clap wraps its lines to the terminal.
pub(super) fn topic(name: &str) -> Option<Command> {
    let (about, lines): (&'static str, Vec<(String, &'static str)>) = match name {
        "exit-codes" => ("What the exit codes mean", exit::meanings().collect()),
        "environment" => {
            let lines = VARIABLES.iter().map(|(name, what)| ((*name).to_owned(), *what));
            ("The variables that kdelta reads; one that is set to nothing counts as not set", lines.collect())
        }
        _ => return None,
    };
    let page = Command::new("topic").about(about).disable_help_subcommand(true);
    let page = page.help_template("{about-with-newline}\n{subcommands}\n");
    Some(lines.into_iter().enumerate().fold(page, |page, (place, (word, what))| {
        page.subcommand(Command::new(word).about(what).display_order(place))
    }))
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
