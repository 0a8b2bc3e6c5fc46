//! Metadata that tables show and [`Object`] does not store separately. Each value is parsed from the text, only as far
//! as needed.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use kdelta::object::{FieldPath, Object};
use serde::Deserialize;

static LABELS: LazyLock<FieldPath> = LazyLock::new(|| FieldPath::of_names(["metadata", "labels"]));
static CREATED: LazyLock<FieldPath> =
    LazyLock::new(|| FieldPath::of_names(["metadata", "creationTimestamp"]));

/// The labels of an object, sorted by key.
#[derive(Deserialize, Default)]
pub(super) struct Labels<'a>(#[serde(borrow)] BTreeMap<Text<'a>, Text<'a>>);

/// A struct, because serde copies the text of a bare `Cow`.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Calls `show` with the labels of an object; unreadable labels count as none.
pub(super) fn labels(object: &Object, show: impl FnOnce(&Labels<'_>)) {
    let mut show = Some(show);
    let mut read = |json: &str| {
        if let Ok(labels) = serde_json::from_str(json)
            && let Some(show) = show.take()
        {
            show(&labels);
        }
    };
    // An object that can't be parsed has no labels.
    let _ = LABELS.values_of(object, &mut read);
    if let Some(show) = show {
        show(&Labels::default());
    }
}

/// Returns the whole seconds from an object's creation to `now`.
pub(super) fn age(object: &Object, now: Timestamp) -> Option<i64> {
    let mut created = None;
    CREATED.values_of(object, |time| created = time.parse::<Timestamp>().ok()).ok()?;
    Some(now.duration_since(created?).as_secs())
}

impl Labels<'_> {
    /// Formats all labels as kubectl does: `a=1,b=2`, sorted by these texts and not by key, or `<none>`.
    pub(super) fn text(&self) -> String {
        let mut labels: Vec<_> = self.0.iter().map(|(key, value)| format!("{}={}", key.0, value.0)).collect();
        labels.sort_unstable();
        if labels.is_empty() { "<none>".to_owned() } else { labels.join(",") }
    }

    /// Returns the value of a label; empty if it is missing.
    pub(super) fn get(&self, key: &str) -> &str {
        self.0.get(key).map_or("", |value| &value.0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::{Ingest, TypeMeta};

    use super::*;

    fn object(metadata: &str) -> Object {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let json = format!(r#"{{"spec":{{"labels":{{"no":"no"}}}},"metadata":{{"name":"x"{metadata}}}}}"#);
        Object::from_json(json.as_bytes(), &Ingest::of(type_meta)).expect("an object")
    }

    #[test]
    fn labels_are_sorted_by_text() {
        for (given, text, app) in [
            (r#"{"b":"2","a":"","app":"web"}"#, "a=,app=web,b=2", "web"),
            (r#"{ "app" : "\u003c\"x", "\u0061" : "1" }"#, "a=1,app=<\"x", "<\"x"),
            (r#"{"app":"x","app-a":"1"}"#, "app-a=1,app=x", "x"),
            ("{}", "<none>", ""),
            ("null", "<none>", ""),
            (r#"{"app":1}"#, "<none>", ""),
        ] {
            let mut shown = None;
            let object = object(&format!(r#","labels":{given}"#));
            labels(&object, |labels| shown = Some((labels.text(), labels.get("app").to_owned())));
            assert_eq!(shown, Some((text.to_owned(), app.to_owned())), "{given}");
        }
        let mut shown = String::new();
        labels(&object(""), |labels| shown = labels.text());
        assert_eq!(shown, "<none>");
    }

    #[test]
    fn age_needs_readable_creation_time() {
        let noon = "2026-11-21T12:00:00Z".parse().expect("a time");
        for (given, expected) in [
            (r#","creationTimestamp":"2026-11-21T11:00:00Z""#, Some(3600)),
            (r#","creationTimestamp":null"#, None),
            (r#","creationTimestamp":"noon""#, None),
            ("", None),
        ] {
            assert_eq!(age(&object(given), noon), expected, "{given}");
        }
    }
}
