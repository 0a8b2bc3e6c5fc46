//! Notices, warnings, errors and a running count, on standard error.
//!
//! Everything goes through [`Messages`], so that a line never tears the spinner and the spinner never tears a table. It
//! masks credentials that a server repeats, escapes each message and indents its further lines: only a message of the
//! program begins a line.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use colored::Colorize;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use kdelta::api::Redaction;

use crate::view::{escape_line, escape_message};

/// A list that is longer than this, or takes longer than [`PATIENCE`], is counted on the screen.
const MANY: u64 = 500;
const PATIENCE: Duration = Duration::from_millis(300);

/// The writer of standard error. Failures to write there are ignored.
pub(crate) struct Messages {
    /// Draws the running counts; hidden unless standard error is a terminal.
    counts: MultiProgress,
    /// Behind a lock because the machine speaks from several tasks; it is held for one line.
    out: Mutex<Box<dyn Write + Send>>,
    /// The credentials of the session's clients. A read-write lock: written once, when the session opens, and read by each
    /// message.
    redactions: RwLock<Vec<Redaction>>,
    is_terminal: bool,
    colour: bool,
}

impl Messages {
    /// Speaks on standard error.
    pub(crate) fn stderr(is_terminal: bool, colour: bool) -> Self {
        Self::to(Box::new(io::stderr()), is_terminal, colour)
    }

    fn to(out: Box<dyn Write + Send>, is_terminal: bool, colour: bool) -> Self {
        if colour {
            // Whether a stream has colour is decided by its owner; the library is not to ask again.
            colored::control::set_override(true);
        }
        let counts = MultiProgress::with_draw_target(target(is_terminal));
        Self { counts, out: Mutex::new(out), redactions: RwLock::default(), is_terminal, colour }
    }

    /// Masks these credentials in every message from now on. Errors of a client are masked already; a message may also quote
    /// a name, a kind or a token of a page that the server chose.
    pub(crate) fn mask(&self, redactions: Vec<Redaction>) {
        *self.redactions.write().unwrap_or_else(PoisonError::into_inner) = redactions;
    }

    /// Prints a message.
    pub(crate) fn notice(&self, text: &str) {
        self.print("", text);
    }

    /// Prints `Warning: …`, in yellow where there is colour.
    pub(crate) fn warning(&self, text: &str) {
        let heading = if self.colour { "Warning:".yellow().bold().to_string() } else { "Warning:".into() };
        self.print(&format!("{heading} "), text);
    }

    /// Prints messages of an error, in their order; the hint is for people, so only a terminal gets it. Nothing without a
    /// message.
    pub(crate) fn error(&self, messages: &[String], hint: Option<&str>) {
        for text in messages {
            self.print("", text);
        }
        if let Some(hint) = hint.filter(|_| !messages.is_empty()) {
            self.hint(hint);
        }
    }

    /// Whether a person reads this: hints are for people.
    pub(crate) fn has_reader(&self) -> bool {
        self.is_terminal
    }

    /// Prints what to try, below the message before; only on a terminal.
    pub(crate) fn hint(&self, text: &str) {
        if self.is_terminal {
            self.print("  hint: ", text);
        }
    }

    /// Starts a running count of `what` (`pods`).
    pub(crate) fn count(&self, what: &str) -> Count {
        // It joins the others, and so is drawn, when there is reason to show it.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        // The template is a constant of this function; were it wrong, the default would do.
        let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} ({elapsed})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(escape_line(what));
        Count { counts: self.counts.clone(), bar, counted: 0, started: Instant::now(), shown: false }
    }

    /// Takes the running counts off the screen and does what is to be done without them.
    pub(crate) fn without_counts(&self, action: impl FnOnce()) {
        self.counts.suspend(action);
    }

    /// Takes the running counts off the screen while somebody else is asked something there, and brings them back.
    pub(crate) fn show_counts(&self, shown: bool) {
        // Failures to write to standard error are nobody's business.
        let _ = self.counts.clear();
        self.counts.set_draw_target(target(shown && self.is_terminal));
    }

    /// The only function that writes a message. `heading` is the program's own, `text` may be a server's.
    fn print(&self, heading: &str, text: &str) {
        let line = format!("{heading}{}\n", escape_message(&self.masked(text)));
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        self.counts.suspend(|| {
            // One write for the whole message, so that other processes' lines stay whole too.
            let _ = out.write_all(line.as_bytes());
            let _ = out.flush();
        });
    }

    fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let redactions = self.redactions.read().unwrap_or_else(PoisonError::into_inner);
        redactions.iter().fold(Cow::Borrowed(text), |text, redaction| match redaction.apply(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => Cow::Owned(masked),
        })
    }
}

fn target(is_shown: bool) -> ProgressDrawTarget {
    if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}

/// A running count; it leaves the screen when it is dropped.
pub(crate) struct Count {
    counts: MultiProgress,
    bar: ProgressBar,
    counted: u64,
    started: Instant,
    shown: bool,
}

impl Count {
    /// Counts `more`.
    pub(crate) fn add(&mut self, more: u64) {
        self.counted += more;
        if !self.shown && (self.counted >= MANY || self.started.elapsed() >= PATIENCE) {
            self.shown = true;
            self.counts.add(self.bar.clone());
            // indicatif turns the spinner in a thread of its own, which ends with the bar.
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
        if self.shown {
            self.bar.set_position(self.counted);
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn said(colour: bool, say: impl FnOnce(&Messages)) -> String {
        let written = Written::default();
        say(&Messages::to(Box::new(written.clone()), false, colour));
        let text = written.0.lock().expect("no panic").clone();
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn every_message_is_a_cleaned_line() {
        assert_eq!(said(false, |m| m.notice("watch pods: lost (EOF)")), "watch pods: lost (EOF)\n");
        assert_eq!(said(false, |m| m.warning("deprecated \x1b[31m")), "Warning: deprecated ^[[31m\n");
        assert_eq!(said(true, |m| m.warning("x")), "\x1b[1;33mWarning:\x1b[0m x\n");
    }

    #[test]
    fn a_text_forges_no_message_of_its_own() {
        let text = "no\nresumed at 99 after 0.0s, nothing was missed\r\n\nerror: x\u{200b}\n";
        let shown = "no\n    resumed at 99 after 0.0s, nothing was missed\\r\n    \n    error: x\\u200b\n";
        assert_eq!(said(false, |m| m.notice(text)), shown);
        assert_eq!(said(false, |m| m.warning(text)), format!("Warning: {shown}"));
        let errors = [text.to_owned(), "second".to_owned()];
        assert_eq!(said(false, |m| m.error(&errors, None)), format!("{shown}second\n"));
    }

    #[test]
    fn a_hint_is_for_terminals_only_and_silence_stays_silence() {
        let error = ["error: x".to_owned()];
        assert_eq!(said(false, |m| m.error(&error, Some("try y"))), "error: x\n");
        assert_eq!(said(false, |m| m.error(&[], None)), "");
    }

    #[test]
    fn counting_without_a_terminal_says_nothing() {
        let text = said(false, |messages| {
            let mut count = messages.count("pods");
            count.add(10_000);
        });
        assert_eq!(text, "");
    }
}
