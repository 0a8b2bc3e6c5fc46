//! The parts of an object's metadata that tables show and that [`Object`] does not hold apart. Each is looked for in the
//! text, which is read no further than to it.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use jiff::Timestamp;
use kdelta::object::{FieldPath, Object};
use serde::Deserialize;

static LABELS: LazyLock<FieldPath> = LazyLock::new(|| FieldPath::of_names(["metadata", "labels"]));
static CREATED: LazyLock<FieldPath> =
    LazyLock::new(|| FieldPath::of_names(["metadata", "creationTimestamp"]));

/// The labels of an object, in the order of their keys.
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

/// Shows the labels of an object, which are none of one whose labels can't be read.
pub(super) fn labels(object: &Object, show: impl FnOnce(&Labels<'_>)) {
    let mut show = Some(show);
    let mut read = |json: &str| {
        if let Ok(labels) = serde_json::from_str(json)
            && let Some(show) = show.take()
        {
            show(&labels);
        }
    };
    // What can't be walked over shows none.
    let _ = LABELS.values_of(object, &mut read);
    if let Some(show) = show {
        show(&Labels::default());
    }
}

/// Whole seconds from an object's creation to `now`.
pub(super) fn age(object: &Object, now: Timestamp) -> Option<i64> {
    let mut created = None;
    CREATED.values_of(object, |time| created = time.parse::<Timestamp>().ok()).ok()?;
    Some(now.duration_since(created?).as_secs())
}

impl Labels<'_> {
    /// All labels as kubectl shows them: `a=1,b=2`, `<none>`.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a String can't fail.
            let _ = write!(text, "{comma}{}={}", key.0, value.0);
        }
        if text.is_empty() { "<none>".to_owned() } else { text }
    }

    /// The value of one; empty where it is not there.
    pub(super) fn get(&self, key: &str) -> &str {
        self.0.get(key).map_or("", |value| &value.0)
    }
}
