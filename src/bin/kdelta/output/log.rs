//! The library's log for `-v`: requests and states, on standard error.

use std::io::{self, Write};
use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::Messages;

/// The level at which requests are printed, as in kubectl.
const REQUESTS: u8 = 6;
/// The level at which everything is printed.
const EVERYTHING: u8 = 8;

/// Prints the library's log from the level that the verbosity selects. To be called once.
///
/// Only the library's own events are printed: it never logs credentials, but HTTP libraries may trace them.
pub(crate) fn show(messages: &Arc<Messages>, verbosity: u8) {
    let level = match verbosity {
        0..REQUESTS => LevelFilter::WARN,
        REQUESTS..EVERYTHING => LevelFilter::DEBUG,
        EVERYTHING.. => LevelFilter::TRACE,
    };
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Lines(Arc::clone(messages)));
    let shown = Targets::new().with_target("kdelta", level);
    // Fails if a subscriber is already set, which then prints the log.
    let _ = tracing_subscriber::registry().with(shown).with(lines).try_init();
}

/// Forwards events to the only writer of standard error.
struct Lines(Arc<Messages>);

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { messages: &self.0, text: Vec::new() }
    }
}

/// One event, printed on drop.
struct Line<'a> {
    messages: &'a Messages,
    text: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.messages.notice(String::from_utf8_lossy(&self.text).trim_end());
    }
}
