//! A line below the messages that shows the state of a wait, on terminals.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::view::escape_line;

/// A line that is drawn again and again, and removed from the screen on drop.
pub(crate) struct StatusLine {
    lines: MultiProgress,
    bar: ProgressBar,
    is_shown: bool,
}

impl StatusLine {
    pub(in crate::output) fn new(lines: MultiProgress) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        // The template is constant; the fallback is never used. It clips the text to the width of the terminal.
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { lines, bar, is_shown: false }
    }

    /// Shows a text, which may be a server's.
    pub(crate) fn show(&mut self, text: &str) {
        self.bar.set_message(escape_line(text));
        if !self.is_shown {
            self.is_shown = true;
            self.lines.add(self.bar.clone());
            // indicatif animates the spinner in a thread that ends with the bar.
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
