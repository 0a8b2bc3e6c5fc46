//! The changed fields of an object, as lines for people.

use std::borrow::Cow;
use std::fmt::Write;

use kdelta::diff::{Change, ChangeOp, Document, changes_between};
use kdelta::object::{ApiResource, FieldPath, JsonNode, JsonValue, Object};

use super::escape::{escape_from, push_escaped_line};
use super::noise;
use super::secret::{MASK, is_secret_change};

/// The maximum length of a printed value, in characters.
const MAX_VALUE: usize = 100;

/// The number of characters printed before the first difference, if it is far into the value.
const CONTEXT_BEFORE: usize = 20;

/// The maximum number of lines per update.
const MAX_LINES: usize = 50;

/// The length of a line for which memory is reserved, in bytes.
const USUAL_LINE: usize = 96;

/// The options of printed changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Details {
    /// Whether to print heartbeats, renewals and versions too.
    pub(crate) noise: bool,
    /// Whether to print the data of Secrets.
    pub(crate) secrets: bool,
}

impl Details {
    /// Returns the paths of fields whose changes are not printed.
    pub(crate) fn skipped(self) -> &'static [FieldPath] {
        if self.noise { &[] } else { noise::paths() }
    }

    /// Returns an escaped line for each change: `status.phase: Pending → Running`, `+ metadata.labels.a: 1`, `-
    /// spec.paused: true`.
    pub(crate) fn lines(self, old: &Object, new: &Object, resource: &ApiResource) -> String {
        let (old, new) = (old.json(), new.json());
        let [old, new] = [&old, &new].map(|json| std::str::from_utf8(json).unwrap_or_default());
        self.lines_between(Document::of(old), Document::of(new), resource)
    }

    /// Returns [`Details::lines`] for two states as documents.
    pub(crate) fn lines_between(
        self,
        old: Document<'_>,
        new: Document<'_>,
        resource: &ApiResource,
    ) -> String {
        let changes = changes_between(old, new, self.skipped());
        let shown = &changes[..changes.len().min(MAX_LINES)];
        let mut lines = String::with_capacity(shown.len() * USUAL_LINE);
        for change in shown {
            push_line(&mut lines, change, !self.secrets && is_secret_change(resource, &change.path));
        }
        if changes.len() > MAX_LINES {
            // Writing to a String can't fail.
            let _ = writeln!(lines, "and {} more", changes.len() - MAX_LINES);
        }
        lines
    }
}

/// Appends the line of a change.
fn push_line(lines: &mut String, change: &Change<'_>, masked: bool) {
    let [old, new] = [change.old, change.new].map(|value| text_of(value.unwrap_or_default()));
    let from = match change.op {
        ChangeOp::Replace => beginning(&old, &new),
        ChangeOp::Add | ChangeOp::Remove => 0,
    };
    let push_value = |line: &mut String, text: &str| {
        if masked { line.push_str(MASK) } else { push_excerpt(line, text, from) }
    };
    lines.push_str(match change.op {
        ChangeOp::Add => "+ ",
        ChangeOp::Remove => "- ",
        ChangeOp::Replace => "",
    });
    let start = lines.len();
    // Writing to a String can't fail.
    let _ = change.path.write_to(lines);
    escape_from(lines, start);
    lines.push_str(": ");
    match change.op {
        ChangeOp::Add => push_value(lines, &new),
        ChangeOp::Remove => push_value(lines, &old),
        ChangeOp::Replace => {
            push_value(lines, &old);
            lines.push_str(" → ");
            push_value(lines, &new);
        }
    }
    lines.push('\n');
}

/// Returns a string without quotes unless it is empty, and any other value as JSON.
fn text_of(json: &str) -> Cow<'_, str> {
    let Some(quoted) = json.strip_prefix('"') else { return Cow::Borrowed(json) };
    // Most strings have no escapes.
    if let Some(text) = quoted.strip_suffix('"')
        && !text.is_empty()
        && !text.contains('\\')
    {
        return Cow::Borrowed(text);
    }
    match JsonNode::root(json.as_bytes()).scalar() {
        Ok(JsonValue::Text(text)) if !text.is_empty() => text,
        _ => Cow::Borrowed(json),
    }
}

/// Returns the character from which two values are printed: the first, or one shortly before the first difference if
/// that would be cut off.
fn beginning(old: &str, new: &str) -> usize {
    if old.len().max(new.len()) <= MAX_VALUE {
        return 0;
    }
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let is_long = [old, new].iter().any(|text| text.chars().nth(MAX_VALUE).is_some());
    if is_long && same + CONTEXT_BEFORE > MAX_VALUE { same - CONTEXT_BEFORE } else { 0 }
}

/// Appends an excerpt of a value on one line, with dots where text is omitted.
fn push_excerpt(line: &mut String, text: &str, from: usize) {
    if from == 0 && text.len() <= MAX_VALUE {
        return push_escaped_line(line, text);
    }
    let place = |at: usize| text.char_indices().nth(at).map(|(place, _)| place);
    let start = place(from).unwrap_or(text.len());
    let end = place(from + MAX_VALUE);
    let dots = |is_cut: bool| if is_cut { "..." } else { "" };
    let excerpt = &text[start..end.unwrap_or(text.len())];
    push_escaped_line(line, &format!("{}{excerpt}{}", dots(start > 0), dots(end.is_some())));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::{Ingest, TypeMeta};
    use serde_json::{Value, json};

    use super::*;

    const PLAIN: Details = Details { noise: false, secrets: false };

    fn resource(plural: &str) -> ApiResource {
        ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: plural.into(),
            kind: "X".into(),
            namespaced: true,
        }
    }

    fn lines(details: Details, plural: &str, old: &Value, new: &Value) -> Vec<String> {
        let object = |value: &Value| {
            let mut value = value.clone();
            value["metadata"]["name"] = json!("x");
            let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "X".into() }));
            Object::from_json(value.to_string().as_bytes(), &ingest).expect("an object")
        };
        let lines = details.lines(&object(old), &object(new), &resource(plural));
        lines.split_terminator('\n').map(str::to_owned).collect()
    }

    #[test]
    fn changes_are_readable_lines() {
        let old = json!({"status": {"phase": "Pending", "n": 1}, "spec": {"paused": true, "text": ""}, "metadata": {}});
        let new = json!({"status": {"phase": "Run\u{1b}ning", "n": 2}, "spec": {"text": "a\nb"}, "metadata": {"labels": {"a": "1"}}});
        assert_eq!(
            lines(PLAIN, "pods", &old, &new),
            [
                "+ metadata.labels: {\"a\":\"1\"}",
                "- spec.paused: true",
                "spec.text: \"\" → a\\nb",
                "status.n: 1 → 2",
                "status.phase: Pending → Run^[ning",
            ]
        );
    }

    #[test]
    fn noise_is_omitted_by_default() {
        let beat = |time: u8| json!({"metadata": {"resourceVersion": time.to_string()}, "spec": {"renewTime": time}, "status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": time}]}});
        assert_eq!(lines(PLAIN, "nodes", &beat(1), &beat(2)), [""; 0]);
        let noise = Details { noise: true, ..PLAIN };
        assert_eq!(lines(noise, "nodes", &beat(1), &beat(2)).len(), 3);
    }

    #[test]
    fn secret_data_is_masked_by_default() {
        let applied = "kubectl.kubernetes.io/last-applied-configuration";
        let secret = |value: &str| json!({"data": {"k": value}, "type": value, "metadata": {"annotations": {applied: value, "a": value}}});
        let (old, new) = (secret("b2xk"), secret("bmV3"));
        assert_eq!(
            lines(PLAIN, "secrets", &old, &new),
            [
                "data.k: *** → ***",
                "metadata.annotations.a: b2xk → bmV3",
                "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']: *** → ***",
                "type: b2xk → bmV3",
            ]
        );
        for whole in [json!({}), json!({"metadata": {"annotations": {}}})] {
            let shown = lines(PLAIN, "secrets", &new, &whole).join("\n");
            assert!(!shown.contains("data: b") && !shown.contains("\"k\""), "{shown}");
        }
        let open = lines(Details { secrets: true, ..PLAIN }, "secrets", &old, &new);
        assert_eq!(open[0], "data.k: b2xk → bmV3");
        assert_eq!(lines(PLAIN, "configmaps", &old, &new)[0], "data.k: b2xk → bmV3");
    }

    #[test]
    fn long_values_and_lists_are_cut() {
        let new = json!({"data": {"x": "y".repeat(500)}});
        assert_eq!(
            lines(PLAIN, "pods", &json!({"data": {"x": ""}}), &new)[0].chars().count(),
            8 + 5 + MAX_VALUE + 3
        );
        // The difference is visible wherever it is.
        let text =
            |middle: &str| json!({"data": {"x": format!("{}{middle}{}", "é".repeat(300), "z".repeat(300))}});
        let (same, rest) = ("é".repeat(CONTEXT_BEFORE), "z".repeat(MAX_VALUE - CONTEXT_BEFORE - 3));
        let line = &lines(PLAIN, "pods", &text("one"), &text("two"))[0];
        assert_eq!(*line, format!("data.x: ...{same}one{rest}... → ...{same}two{rest}..."));
        let added = lines(PLAIN, "pods", &text(""), &json!({"data": {"x": "é".repeat(300)}}));
        assert!(added[0].ends_with(&format!("→ ...{same}")), "{}", added[0]);
        let many: serde_json::Map<_, _> = (0..80).map(|n| (format!("k{n}"), json!(n))).collect();
        let shown = lines(PLAIN, "pods", &json!({"data": {}}), &json!({"data": many}));
        assert_eq!((shown.len(), shown[MAX_LINES].as_str()), (MAX_LINES + 1, "and 30 more"));
    }
}
