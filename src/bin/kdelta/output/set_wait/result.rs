//! The result of a wait for a set of objects.

use std::io::{self, Write};

use serde::Serialize;

use crate::output::json::write;
use crate::view::escape_line;

/// The result of a wait, in the order of its JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitResult {
    /// `met`, `failed` or `timedOut`.
    pub(crate) result: &'static str,
    /// `all`, `any`, `none`, `at-least 3` or `at-most 3`.
    pub(crate) quantifier: String,
    /// The number of objects that count, and that of all.
    pub(crate) met: usize,
    pub(crate) total: usize,
    pub(crate) conditions: Vec<ConditionResult>,
    /// The time since which the conditions have held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<String>,
    /// The time of the end.
    pub(crate) at: String,
    /// Whether `at` is a time in a recording, which the text includes too.
    #[serde(skip)]
    pub(crate) is_recorded: bool,
    /// The object that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<ResultObject>,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The objects that keep the wait from its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) missing: Vec<ResultObject>,
}

/// A condition, with the term of `||` that was met.
#[derive(Debug, Serialize)]
pub(crate) struct ConditionResult {
    #[serde(rename = "for")]
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
}

/// An object of a result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<String>,
    #[serde(rename = "type")]
    pub(crate) resource: String,
    /// `pod/web`, for text.
    #[serde(skip)]
    pub(crate) title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_version: Option<String>,
    /// Whether the object is gone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) gone: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl WaitResult {
    /// Writes the result as one line of JSON.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn write_json(&self, for_terminal: bool, out: &mut impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        write(&line, for_terminal, out)?;
        out.flush()
    }

    /// Writes the line of a wait that was met: `condition met: ready, 5 of 5, last pod/web-4`.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let conditions: Vec<String> = self.conditions.iter().map(ConditionResult::shown).collect();
        let last = self.by.as_ref().map(|by| format!(", last {}", by.title)).unwrap_or_default();
        let at = if self.is_recorded { format!(", at {}", self.at) } else { String::new() };
        let line =
            format!("condition met: {}, {} of {}{last}{at}", conditions.join(" and "), self.met, self.total);
        writeln!(out, "{}", escape_line(&line))?;
        out.flush()
    }
}

impl ConditionResult {
    fn shown(&self) -> String {
        match &self.branch {
            Some(branch) => format!("{} ({branch})", self.text),
            None => self.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result() -> WaitResult {
        let by = ResultObject {
            context: None,
            resource: "pods".into(),
            title: "pod/web\n".into(),
            namespace: Some("shop".into()),
            name: Some("web\u{1b}".into()),
            uid: Some("u".into()),
            resource_version: Some("7".into()),
            gone: false,
            reason: None,
        };
        let condition = |text: &str, branch: Option<&str>| ConditionResult {
            text: text.into(),
            branch: branch.map(str::to_owned),
        };
        WaitResult {
            result: "met",
            quantifier: "all".into(),
            met: 2,
            total: 2,
            conditions: vec![condition("complete || failed", Some("failed")), condition("exists", None)],
            since: None,
            at: "2026-11-25T10:00:00Z".into(),
            is_recorded: false,
            by: Some(by),
            reason: None,
            missing: Vec::new(),
        }
    }

    #[test]
    fn text_is_one_line() {
        let mut out = Vec::new();
        result().write_text(&mut out).expect("memory");
        let expected = "condition met: complete || failed (failed) and exists, 2 of 2, last pod/web\\n\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn text_about_a_recording_has_the_time() {
        let mut out = Vec::new();
        WaitResult { is_recorded: true, ..result() }.write_text(&mut out).expect("memory");
        assert!(String::from_utf8_lossy(&out).ends_with(", at 2026-11-25T10:00:00Z\n"));
    }

    #[test]
    fn json_is_one_line_without_absent_fields() {
        let mut out = Vec::new();
        result().write_json(true, &mut out).expect("memory");
        let expected = concat!(
            r#"{"result":"met","quantifier":"all","met":2,"total":2,"conditions":[{"for":"complete || failed","branch":"failed"},{"for":"exists"}],"#,
            r#""at":"2026-11-25T10:00:00Z","by":{"type":"pods","namespace":"shop","name":"web\u001b","uid":"u","resourceVersion":"7"}}"#,
            "\n"
        );
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
