//! The notices of connections and logins, as messages.

use kdelta::client::Notice;

use crate::output::Messages;

/// Prints a notice of the connection. Plugin output is printed line by line; while a plugin prompts the user, it owns
/// the terminal.
pub(super) fn report_notice(messages: &Messages, notice: Notice<'_>) {
    match notice {
        Notice::Plugin(line) => messages.notice(line),
        Notice::TerminalTaken => messages.show_counts(false),
        Notice::TerminalReleased => messages.show_counts(true),
        Notice::TokensNotSaved(text) => messages.warning(text),
        Notice::Retrying { server, path, reason, after } => {
            messages
                .notice(&format!("{server}{path}: {reason}, trying again in {:.1}s", after.as_secs_f64()));
        }
        Notice::Silent { server, path, silent, limit } => {
            let limit = limit.map(|limit| format!(", for {:.0}s at most", limit.as_secs_f64()));
            messages.notice(&format!(
                "no response from the server {server} to GET {path} for {}s, still waiting{}",
                silent.as_secs(),
                limit.unwrap_or_default()
            ));
        }
        Notice::LoginPending(name) => messages.notice(&format!("waiting for credentials from {name}")),
        Notice::LoginDone(name) => messages.notice(&format!("no longer waiting for credentials from {name}")),
        _ => {}
    }
}
