//! Messages as JSON lines, for `--log-format json`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::view::escape_json;

/// The importance of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// The facts of a message, by name.
pub(crate) type Fields<'a> = [(&'a str, &'a str)];

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    level: Level,
    message: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<&'a str, &'a str>,
}

/// Returns the line of a message, with its end. Text that a terminal would act on is escaped as JSON does.
pub(super) fn line(now: Timestamp, level: Level, message: &str, fields: &Fields<'_>) -> String {
    let message = message.trim_end_matches('\n');
    let line = Line { time: format!("{now:.3}"), level, message, fields: fields.iter().copied().collect() };
    // Strings always serialize.
    let json = serde_json::to_string(&line).unwrap_or_default();
    format!("{}\n", escape_json(&json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_time_level_message_and_fields() {
        let now = "2026-11-21T09:00:00.1234Z".parse().expect("a time");
        assert_eq!(
            line(now, Level::Warning, "pods: lost\nreason\n", &[("resource", "pods"), ("event", "lost")]),
            concat!(
                r#"{"time":"2026-11-21T09:00:00.123Z","level":"warning","message":"pods: lost\nreason","#,
                r#""fields":{"event":"lost","resource":"pods"}}"#,
                "\n"
            )
        );
        assert_eq!(
            line(now, Level::Info, "a\u{1b}[31m\u{202e}\"", &[]),
            concat!(
                r#"{"time":"2026-11-21T09:00:00.123Z","level":"info","message":"a\u001b[31m\u202e\""}"#,
                "\n"
            )
        );
    }
}
