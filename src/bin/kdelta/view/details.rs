//! What changed with an object, in lines for people.

use kdelta::diff::{Change, ChangeOp, changes};
use kdelta::object::{ApiResource, FieldPath, Object};

use super::escape::escape_line;
use super::secret::{MASK, is_secret_change};

/// What changes all the time and tells nobody anything.
const NOISE: [&[&str]; 5] = [
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
    &["metadata", "annotations", "control-plane.alpha.kubernetes.io/leader"],
    &["status", "conditions", "lastHeartbeatTime"],
    &["spec", "renewTime"],
];

/// Characters of a value that are shown, at most.
const LONGEST: usize = 100;

/// Of those so many before the first that differs, where that is far in.
const BEFORE: usize = 20;

/// Lines for one update, at most.
const MOST: usize = 50;

/// How changes are told to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Details {
    /// Also those that are nothing but noise: heartbeats, renewals, versions.
    pub(crate) noise: bool,
    /// The data of Secrets.
    pub(crate) secrets: bool,
}

impl Details {
    /// A cleaned line for each change: `status.phase: Pending → Running`, `+ metadata.labels.a: 1`, `- spec.paused: true`.
    pub(crate) fn lines(self, old: &Object, new: &Object, resource: &ApiResource) -> Vec<String> {
        let skip: Vec<FieldPath> =
            NOISE.iter().map(|names| FieldPath::of_names(names.iter().copied())).collect();
        let (old, new) = (old.json(), new.json());
        let text = |json| std::str::from_utf8(json).unwrap_or_default();
        let changes = changes(text(&old), text(&new), if self.noise { &[] } else { &skip });
        let line = |change| line(change, !self.secrets && is_secret_change(resource, &change.path));
        let mut lines: Vec<String> = changes.iter().take(MOST).map(line).collect();
        if changes.len() > MOST {
            lines.push(format!("and {} more", changes.len() - MOST));
        }
        lines
    }
}

fn line(change: &Change<'_>, masked: bool) -> String {
    let [old, new] = [change.old, change.new].map(|value| text_of(value.unwrap_or_default()));
    let from = match change.op {
        ChangeOp::Replace => beginning(&old, &new),
        ChangeOp::Add | ChangeOp::Remove => 0,
    };
    let shown = |text: &str| if masked { MASK.to_owned() } else { shown(text, from) };
    let path = escape_line(&change.path.to_string());
    match change.op {
        ChangeOp::Add => format!("+ {path}: {}", shown(&new)),
        ChangeOp::Remove => format!("- {path}: {}", shown(&old)),
        ChangeOp::Replace => format!("{path}: {} → {}", shown(&old), shown(&new)),
    }
}

/// A text without its quotes unless it is empty, anything else as JSON.
fn text_of(json: &str) -> String {
    match serde_json::from_str::<String>(json) {
        Ok(text) if !text.is_empty() => text,
        _ => json.to_owned(),
    }
}

/// The character from which two texts are shown: the first, where the first that differs is then among those shown, else
/// one a little before that.
fn beginning(old: &str, new: &str) -> usize {
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let is_long = [old, new].iter().any(|text| text.chars().nth(LONGEST).is_some());
    if is_long && same + BEFORE > LONGEST { same - BEFORE } else { 0 }
}

/// So many characters of a value from that one on, on one line, with dots where something is left out.
fn shown(text: &str, from: usize) -> String {
    let place = |at: usize| text.char_indices().nth(at).map(|(place, _)| place);
    let start = place(from).unwrap_or(text.len());
    let end = place(from + LONGEST);
    let dots = |is_cut: bool| if is_cut { "..." } else { "" };
    let part = &text[start..end.unwrap_or(text.len())];
    escape_line(&format!("{}{part}{}", dots(start > 0), dots(end.is_some())))
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

    fn told(details: Details, plural: &str, old: &Value, new: &Value) -> Vec<String> {
        let object = |value: &Value| {
            let mut value = value.clone();
            value["metadata"]["name"] = json!("x");
            let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "X".into() }));
            Object::from_json(value.to_string().as_bytes(), &ingest).expect("an object")
        };
        details.lines(&object(old), &object(new), &resource(plural))
    }

    #[test]
    fn changes_read_as_sentences() {
        let old = json!({"status": {"phase": "Pending", "n": 1}, "spec": {"paused": true, "text": ""}, "metadata": {}});
        let new = json!({"status": {"phase": "Run\u{1b}ning", "n": 2}, "spec": {"text": "a\nb"}, "metadata": {"labels": {"a": "1"}}});
        assert_eq!(
            told(PLAIN, "pods", &old, &new),
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
    fn noise_is_left_out_unless_it_is_asked_for() {
        let beat = |time: u8| json!({"metadata": {"resourceVersion": time.to_string()}, "spec": {"renewTime": time}, "status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": time}]}});
        assert_eq!(told(PLAIN, "nodes", &beat(1), &beat(2)), [""; 0]);
        let noise = Details { noise: true, ..PLAIN };
        assert_eq!(told(noise, "nodes", &beat(1), &beat(2)).len(), 3);
    }

    #[test]
    fn the_data_of_secrets_is_masked_unless_it_is_asked_for() {
        let applied = "kubectl.kubernetes.io/last-applied-configuration";
        let secret = |value: &str| json!({"data": {"k": value}, "type": value, "metadata": {"annotations": {applied: value, "a": value}}});
        let (old, new) = (secret("b2xk"), secret("bmV3"));
        assert_eq!(
            told(PLAIN, "secrets", &old, &new),
            [
                "data.k: *** → ***",
                "metadata.annotations.a: b2xk → bmV3",
                "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']: *** → ***",
                "type: b2xk → bmV3",
            ]
        );
        for whole in [json!({}), json!({"metadata": {"annotations": {}}})] {
            let told = told(PLAIN, "secrets", &new, &whole).join("\n");
            assert!(!told.contains("data: b") && !told.contains("\"k\""), "{told}");
        }
        let open = told(Details { secrets: true, ..PLAIN }, "secrets", &old, &new);
        assert_eq!(open[0], "data.k: b2xk → bmV3");
        assert_eq!(told(PLAIN, "configmaps", &old, &new)[0], "data.k: b2xk → bmV3");
    }

    #[test]
    fn long_values_and_long_lists_are_cut() {
        let new = json!({"data": {"x": "y".repeat(500)}});
        assert_eq!(
            told(PLAIN, "pods", &json!({"data": {"x": ""}}), &new)[0].chars().count(),
            8 + 5 + LONGEST + 3
        );
        // What differs is seen, wherever it is.
        let text =
            |middle: &str| json!({"data": {"x": format!("{}{middle}{}", "é".repeat(300), "z".repeat(300))}});
        let (same, rest) = ("é".repeat(BEFORE), "z".repeat(LONGEST - BEFORE - 3));
        let line = &told(PLAIN, "pods", &text("one"), &text("two"))[0];
        assert_eq!(*line, format!("data.x: ...{same}one{rest}... → ...{same}two{rest}..."));
        let added = told(PLAIN, "pods", &text(""), &json!({"data": {"x": "é".repeat(300)}}));
        assert!(added[0].ends_with(&format!("→ ...{same}")), "{}", added[0]);
        let many: serde_json::Map<_, _> = (0..80).map(|n| (format!("k{n}"), json!(n))).collect();
        let told = told(PLAIN, "pods", &json!({"data": {}}), &json!({"data": many}));
        assert_eq!((told.len(), told[MOST].as_str()), (MOST + 1, "and 30 more"));
    }
}
