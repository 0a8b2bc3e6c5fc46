//! The `Warning` headers of a server, each text once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use http::header::{HeaderMap, WARNING};

use super::notice::{Notice, NoticeListener};
use super::redaction::Redaction;

/// The number of different texts that are remembered; afterwards no new text is reported.
const CAPACITY: usize = 100;

/// Reports each warning once.
pub(crate) struct Warnings {
    /// A std mutex: held for a lookup; the requests of one client share the reported texts. Bounded by [`CAPACITY`].
    reported: Mutex<HashSet<String>>,
    listener: Option<NoticeListener>,
    /// The credentials that a server may repeat.
    redaction: Redaction,
}

impl Warnings {
    pub(crate) fn new(listener: Option<NoticeListener>, redaction: Redaction) -> Self {
        Self { reported: Mutex::default(), listener, redaction }
    }

    /// Passes a notice to the listener, if there is one.
    pub(crate) fn notify(&self, notice: Notice<'_>) {
        if let Some(tell) = &self.listener {
            tell(notice);
        }
    }

    /// Reports the warnings in these headers.
    pub(crate) fn of(&self, headers: &HeaderMap) {
        let Some(tell) = &self.listener else { return };
        for value in headers.get_all(WARNING).iter().filter_map(|value| value.to_str().ok()) {
            for text in texts(value) {
                let text = self.redaction.apply(&text).into_owned();
                let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
                let is_new = reported.len() < CAPACITY && reported.insert(text.clone());
                drop(reported);
                if is_new {
                    tell(Notice::Warning(&text));
                }
            }
        }
    }
}

/// Returns the texts in `299 - "text", 299 agent "text"`: those of code 299, the only one that API servers send.
/// Parsing stops at the first error.
fn texts(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some((head, tail)) = rest.split_once('"') {
        let Some((text, after)) = quoted(tail) else { break };
        if head.trim_start_matches([',', ' ']).starts_with("299 ") && !text.is_empty() {
            found.push(text);
        }
        // A date in quotes may follow.
        let date = after.trim_start().strip_prefix('"').and_then(quoted);
        rest = date.map_or(after, |(_, after)| after);
    }
    found
}

/// Parses a quoted string after its opening quote, and returns the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => out.push(chars.next()?.1),
            c => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn warning_texts_are_parsed() {
        for (value, expected) in [
            (r#"299 - "v1 X is deprecated""#, &["v1 X is deprecated"][..]),
            (
                r#"299 - "say \"x\" \\ y", 299 agent "second" "Sat, 25 Aug 2012 23:34:45 GMT",299 - "third""#,
                &[r#"say "x" \ y"#, "second", "third"],
            ),
            (r#"110 - "stale", 299 - "new""#, &["new"]),
            (r#"299 - """#, &[]),
            ("299 - unquoted", &[]),
            (r#"299 - "never ends"#, &[]),
        ] {
            assert_eq!(texts(value), expected, "{value}");
        }
    }

    #[test]
    fn credentials_in_a_warning_are_masked() {
        let redaction = Redaction::default();
        redaction.add("t0k3n-of-warning");
        let (sender, heard) = std::sync::mpsc::channel();
        let listener = move |notice: Notice<'_>| sender.send(format!("{notice:?}")).unwrap();
        let warnings = Warnings::new(Some(Arc::new(listener)), redaction);
        let mut headers = HeaderMap::new();
        headers.append(WARNING, r#"299 - "your t0k3n-of-warning is old""#.parse().unwrap());
        warnings.of(&headers);
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), [r#"Warning("your *** is old")"#]);
    }

    #[test]
    fn each_text_is_reported_once() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hear = Arc::clone(&heard);
        let listener = move |notice: Notice<'_>| hear.lock().unwrap().push(format!("{notice:?}"));
        let warnings = Warnings::new(Some(Arc::new(listener)), Redaction::default());
        let mut headers = HeaderMap::new();
        headers.append(WARNING, r#"299 - "a""#.parse().unwrap());
        headers.append(WARNING, r#"299 - "b", 299 - "a""#.parse().unwrap());
        warnings.of(&headers);
        warnings.of(&headers);
        assert_eq!(*heard.lock().unwrap(), ["Warning(\"a\")", "Warning(\"b\")"]);
    }
}
