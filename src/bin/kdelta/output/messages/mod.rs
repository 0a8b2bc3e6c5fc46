//! Notices, warnings, errors and a running count, on standard error.
//!
//! All output goes through [`Messages`], so that lines and the spinner never overwrite each other or a table. It masks
//! credentials that a server repeats, escapes each message and indents its further lines: only messages of the program
//! start at the margin. With `--log-format json`, each message is a JSON line instead.

mod json_line;

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use colored::Colorize;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;
use kdelta::client::Redaction;

use self::json_line::Fields;
pub(crate) use self::json_line::Level;
use super::region::LiveRegion;
use super::set_wait::StatusLine;
use crate::view::{escape_line, escape_message};

/// Lists that are longer than this, or take longer than [`COUNT_DELAY`], show a running count.
const COUNT_THRESHOLD: u64 = 500;
const COUNT_DELAY: Duration = Duration::from_millis(300);

/// The writer of standard error. Write errors are ignored.
pub(crate) struct Messages {
    /// Draws the running counts; hidden unless standard error is a terminal.
    counts: MultiProgress,
    /// A lock because several tasks print messages; held for one line.
    out: Mutex<Box<dyn Write + Send>>,
    /// The credentials of the session's clients. A read-write lock: written once, when the session opens, and read by each
    /// message.
    redactions: RwLock<Vec<Redaction>>,
    /// The live table, if there is one. Erased before a message.
    live_region: Arc<LiveRegion>,
    is_terminal: bool,
    colour: bool,
    /// Whether messages are JSON lines. There are no running counts then.
    is_json: bool,
}

impl Messages {
    /// Creates the writer of standard error.
    pub(crate) fn stderr(is_terminal: bool, colour: bool) -> Self {
        Self::to(Box::new(io::stderr()), is_terminal, colour)
    }

    fn to(out: Box<dyn Write + Send>, is_terminal: bool, colour: bool) -> Self {
        if colour {
            // Each stream decides about colour itself, so the library must not check again.
            colored::control::set_override(true);
        }
        let counts = MultiProgress::with_draw_target(target(is_terminal));
        let (redactions, live_region) = (RwLock::default(), Arc::default());
        Self { counts, out: Mutex::new(out), redactions, live_region, is_terminal, colour, is_json: false }
    }

    /// Sets whether messages are JSON lines.
    pub(crate) fn with_json(self, is_json: bool) -> Self {
        let messages = Self { is_json, ..self };
        messages.show_counts(true);
        messages
    }

    /// Whether messages are JSON lines.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Masks these credentials in every message from now on. Errors of a client are masked already; a message may also quote
    /// a name, a kind or a token of a page that the server chose.
    pub(crate) fn mask(&self, redactions: Vec<Redaction>) {
        *self.redactions.write().unwrap_or_else(PoisonError::into_inner) = redactions;
    }

    /// Returns the region of a live table, which messages erase.
    pub(crate) fn live_region(&self) -> Arc<LiveRegion> {
        Arc::clone(&self.live_region)
    }

    /// Prints a message.
    pub(crate) fn notice(&self, text: &str) {
        self.event(Level::Info, text, &[]);
    }

    /// Prints a message. Its level and its fields are in JSON only: the text has the same facts.
    pub(crate) fn event(&self, level: Level, text: &str, fields: &Fields<'_>) {
        if self.is_json { self.print_json(level, text, fields) } else { self.print("", text) }
    }

    /// Prints the bytes of another program as they are. The caller escapes them for a terminal.
    pub(crate) fn raw(&self, line: &[u8]) {
        self.write(line);
    }

    /// Prints `Warning: …`, in yellow where there is colour.
    pub(crate) fn warning(&self, text: &str) {
        if self.is_json {
            return self.print_json(Level::Warning, text, &[]);
        }
        let heading = if self.colour { "Warning:".yellow().bold().to_string() } else { "Warning:".into() };
        self.print(&format!("{heading} "), text);
    }

    /// Prints the messages of an error in order, then the hint on a terminal. Without messages, prints nothing. In JSON, the
    /// messages and the hint are one line.
    pub(crate) fn error(&self, messages: &[String], hint: Option<&str>) {
        if self.is_json {
            let fields = hint.map(|hint| ("hint", hint));
            if !messages.is_empty() {
                self.print_json(Level::Error, &messages.join("\n"), fields.as_slice());
            }
            return;
        }
        for text in messages {
            self.print("", text);
        }
        if let Some(hint) = hint.filter(|_| !messages.is_empty()) {
            self.hint(hint);
        }
    }

    /// Whether a terminal displays the messages; only then are hints printed.
    pub(crate) fn has_reader(&self) -> bool {
        self.is_terminal
    }

    /// Prints a suggestion below the previous message, on terminals only.
    pub(crate) fn hint(&self, text: &str) {
        match self.is_terminal {
            true if self.is_json => self.print_json(Level::Info, &format!("hint: {text}"), &[]),
            true => self.print("hint: ", text),
            false => {}
        }
    }

    /// Starts a running count of the named objects (`pods`).
    pub(crate) fn count(&self, noun: &str) -> Count {
        // Hidden until it is worth showing; then it is added to the others.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        // The template is constant; the fallback is never used.
        let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} ({elapsed})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(escape_line(noun));
        Count { counts: self.counts.clone(), bar, counted: 0, started: Instant::now(), shown: false }
    }

    /// Returns a line that shows the state of a wait, on terminals.
    pub(crate) fn status_line(&self) -> StatusLine {
        StatusLine::new(self.counts.clone())
    }

    /// Hides the running counts while `action` runs.
    pub(crate) fn without_counts(&self, action: impl FnOnce()) {
        self.counts.suspend(action);
    }

    /// Hides the running counts while another program prompts the user, or shows them again.
    pub(crate) fn show_counts(&self, shown: bool) {
        // Write errors on standard error are ignored.
        let _ = self.counts.clear();
        self.counts.set_draw_target(target(shown && self.is_terminal && !self.is_json));
    }

    /// Prints a message. `heading` is trusted, `text` may be a server's.
    fn print(&self, heading: &str, text: &str) {
        self.write(format!("{heading}{}\n", escape_message(&self.masked(text))).as_bytes());
    }

    /// Prints a message as a JSON line.
    fn print_json(&self, level: Level, text: &str, fields: &Fields<'_>) {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, self.masked(value))).collect();
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
        self.write(json_line::line(Timestamp::now(), level, &self.masked(text), &fields).as_bytes());
    }

    /// Writes a line; the only function that does.
    fn write(&self, line: &[u8]) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        self.counts.suspend(|| {
            if self.is_terminal {
                self.live_region.hide();
            }
            // A single write, so that lines of other processes stay whole too.
            let _ = out.write_all(line);
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

/// A running count, removed from the screen on drop.
pub(crate) struct Count {
    counts: MultiProgress,
    bar: ProgressBar,
    counted: u64,
    started: Instant,
    shown: bool,
}

impl Count {
    /// Adds to the count.
    pub(crate) fn add(&mut self, more: u64) {
        self.counted += more;
        if !self.shown && (self.counted >= COUNT_THRESHOLD || self.started.elapsed() >= COUNT_DELAY) {
            self.shown = true;
            self.counts.add(self.bar.clone());
            // indicatif animates the spinner in a thread that ends with the bar.
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

    fn printed(colour: bool, say: impl FnOnce(&Messages)) -> String {
        let written = Written::default();
        say(&Messages::to(Box::new(written.clone()), false, colour));
        let text = written.0.lock().expect("no panic").clone();
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn message_is_an_escaped_line() {
        assert_eq!(printed(false, |m| m.notice("watch pods: lost (EOF)")), "watch pods: lost (EOF)\n");
        assert_eq!(printed(false, |m| m.warning("deprecated \x1b[31m")), "Warning: deprecated ^[[31m\n");
        assert_eq!(printed(true, |m| m.warning("x")), "\x1b[1;33mWarning:\x1b[0m x\n");
    }

    #[test]
    fn text_can_not_forge_a_message() {
        let text = "no\nresumed at 99 after 0.0s, nothing was missed\r\n\nerror: x\u{200b}\n";
        let shown = "no\n    resumed at 99 after 0.0s, nothing was missed\\r\n    \n    error: x\\u200b\n";
        assert_eq!(printed(false, |m| m.notice(text)), shown);
        assert_eq!(printed(false, |m| m.warning(text)), format!("Warning: {shown}"));
        let errors = [text.to_owned(), "second".to_owned()];
        assert_eq!(printed(false, |m| m.error(&errors, None)), format!("{shown}second\n"));
    }

    #[test]
    fn hints_are_for_terminals_and_need_a_message() {
        let error = ["error: x".to_owned()];
        assert_eq!(printed(false, |m| m.error(&error, Some("try y"))), "error: x\n");
        assert_eq!(printed(false, |m| m.error(&[], None)), "");
    }

    #[test]
    fn json_has_a_line_for_each_message() {
        let written = Written::default();
        let messages = Messages::to(Box::new(written.clone()), false, true).with_json(true);
        messages.notice("a\nb\u{1b}[31m");
        messages.warning("w");
        messages.error(&["error: x".to_owned(), "See y".to_owned()], Some("try z"));
        messages.error(&[], Some("try z"));
        messages.event(Level::Warning, "lost", &[("resource", "pods")]);
        messages.hint("for a reader at a terminal");
        let text = String::from_utf8(written.0.lock().expect("no panic").clone()).expect("text");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let facts = |line: &serde_json::Value| {
            (line["level"].clone(), line["message"].clone(), line["fields"].clone())
        };
        let expected = [
            ("info", "a\nb\u{1b}[31m", serde_json::Value::Null),
            ("warning", "w", serde_json::Value::Null),
            ("error", "error: x\nSee y", serde_json::json!({"hint": "try z"})),
            ("warning", "lost", serde_json::json!({"resource": "pods"})),
        ];
        assert_eq!(
            lines.iter().map(facts).collect::<Vec<_>>(),
            expected.map(|(level, message, fields)| (level.into(), message.into(), fields))
        );
        assert!(
            lines.iter().all(|line| line["time"].as_str().is_some_and(|time| time.ends_with('Z'))),
            "{text}"
        );
    }

    #[test]
    fn count_without_terminal_prints_nothing() {
        let text = printed(false, |messages| {
            let mut count = messages.count("pods");
            count.add(10_000);
        });
        assert_eq!(text, "");
    }
}
