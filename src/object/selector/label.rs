//! Label selectors.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::de::{Deserializer, MapAccess, Visitor};

use super::requirement::{Requirement, Test};
use super::{SelectorError, label_syntax};
use crate::object::{FieldPath, Object, ObjectError};

static LABELS: LazyLock<FieldPath> = LazyLock::new(|| FieldPath::of_names(["metadata", "labels"]));

/// A selector of requirements on labels, all of which must match; an empty one selects every object.
///
/// The grammar is kubectl's: `app=web`, `app==web`, `app!=web`, `app in (web,api)`, `app notin (web)`, `app`, `!app`,
/// `weight>5`, `weight<5`, joined by commas. An absent label satisfies `!=`, `notin` and `!`. Requirements print in the
/// order of their labels, so that equal selectors print equal.
///
/// ```
/// # use kdelta::object::LabelSelector;
/// # use kdelta::testing::FakeSource;
/// # let source = FakeSource::new();
/// # source.add(serde_json::json!({"metadata": {"name": "web", "labels": {"tier": "front", "weight": "7"}}}));
/// # let web = source.objects().remove(0);
/// let selects = |text| LabelSelector::parse(text).map(|selector| selector.matches(&web));
/// assert_eq!(selects("tier in (front, edge), !legacy, weight>5"), Ok(true));
/// assert_eq!(selects("tier!=front"), Ok(false));
/// assert!(selects("tier in front").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
    nothing: bool,
}

impl LabelSelector {
    /// Parses a selector; empty text selects every object.
    ///
    /// # Errors
    /// [`SelectorError`] when the text does not follow the grammar, or a label or value is invalid.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut requirements = label_syntax::parse(text)?;
        requirements.sort_by(|a, b| a.label.cmp(&b.label));
        Ok(Self { requirements, nothing: false })
    }

    /// Creates a selector that selects no object. It prints like the empty selector and must not be sent to a server.
    #[must_use]
    pub fn nothing() -> Self {
        Self { requirements: Vec::new(), nothing: true }
    }

    /// Returns whether no object can ever be selected.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.nothing
    }

    /// Returns whether every object is selected.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty() && !self.nothing
    }

    /// Returns whether the object is selected. Labels are read from its body; an absent body and labels that are not
    /// strings count as no labels.
    #[must_use]
    pub fn matches(&self, object: &Object) -> bool {
        self.matches_text(|visit| LABELS.values_of(object, visit))
    }

    /// Returns whether an object given as JSON text is selected.
    #[must_use]
    pub fn matches_json(&self, json: &[u8]) -> bool {
        self.matches_text(|visit| LABELS.values_with(json, visit))
    }

    fn matches_text(
        &self,
        visit_labels: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), ObjectError>,
    ) -> bool {
        if self.requirements.is_empty() {
            return !self.nothing;
        }
        let mut verdict = Evaluation::new(self);
        // A body was validated at ingest: its labels may have the wrong type, but they can be read.
        let _unread = visit_labels(&mut |labels| {
            if serde_json::Deserializer::from_str(labels).deserialize_map(&mut verdict).is_err() {
                verdict = Evaluation::new(self);
            }
        });
        verdict.is_match()
    }
}

/// An evaluation over an object's labels, without storing them.
struct Evaluation<'s> {
    selector: &'s LabelSelector,
    refused: bool,
    /// The requirements not yet satisfied that need a label to be present.
    missing: usize,
}

impl<'s> Evaluation<'s> {
    fn new(selector: &'s LabelSelector) -> Self {
        let missing =
            selector.requirements.iter().filter(|requirement| !requirement.test.allows_absent()).count();
        Self { selector, refused: selector.nothing, missing }
    }

    fn add_label(&mut self, label: &str, value: &str) {
        for requirement in self.selector.requirements.iter().filter(|requirement| requirement.label == label)
        {
            if !requirement.test.allows(value) {
                self.refused = true;
            } else if !requirement.test.allows_absent() {
                self.missing = self.missing.saturating_sub(1);
            }
        }
    }

    fn is_match(&self) -> bool {
        !self.refused && self.missing == 0
    }
}

impl<'de> Visitor<'de> for &mut Evaluation<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("labels")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Text(label), Text(value))) = map.next_entry()? {
            self.add_label(&label, &value);
        }
        Ok(())
    }
}

/// Text that is copied only if it has escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Test {
    fn allows_absent(&self) -> bool {
        matches!(self, Self::Absent | Self::IsNot(_) | Self::NotIn(_))
    }

    fn allows(&self, value: &str) -> bool {
        match self {
            Self::Exists => true,
            Self::Absent => false,
            Self::Is(_, expected) => value == expected,
            Self::IsNot(unwanted) => value != unwanted,
            Self::In(values) => values.iter().any(|expected| expected == value),
            Self::NotIn(values) => values.iter().all(|unwanted| unwanted != value),
            Self::Greater(bound) => value.parse().is_ok_and(|number: i64| number > *bound),
            Self::Less(bound) => value.parse().is_ok_and(|number: i64| number < *bound),
        }
    }
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        Self::parse(text)
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Requirement { label, test }) in self.requirements.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            match test {
                Test::Exists => f.write_str(label)?,
                Test::Absent => write!(f, "!{label}")?,
                Test::Is(operator, value) => write!(f, "{label}{operator}{value}")?,
                Test::IsNot(value) => write!(f, "{label}!={value}")?,
                Test::In(values) => write!(f, "{label} in ({})", values.join(","))?,
                Test::NotIn(values) => write!(f, "{label} notin ({})", values.join(","))?,
                Test::Greater(bound) => write!(f, "{label}>{bound}")?,
                Test::Less(bound) => write!(f, "{label}<{bound}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::object::{Ingest, TypeMeta};

    fn object(labels: &[(&str, &str)]) -> Object {
        let labels: serde_json::Map<_, _> =
            labels.iter().map(|(label, value)| ((*label).to_owned(), (*value).into())).collect();
        let json = serde_json::json!({"metadata": {"name": "a", "labels": labels}});
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Object::from_json(json.to_string().as_bytes(), &ingest).expect("an object")
    }

    #[test]
    fn a_selector_selects_what_kubectl_selects() {
        for (selector, labels, expected) in [
            ("", &[("x", "y")][..], true),
            ("x=y", &[("x", "y")], true),
            ("x==y,z=w", &[("x", "y"), ("z", "w")], true),
            ("x!=y,z!=w", &[("x", "z"), ("z", "a")], true),
            ("x!=y,z!=w", &[("x", "z"), ("z", "w")], false),
            ("notin=in", &[("notin", "in")], true),
            ("x", &[("x", "z")], true),
            ("x", &[("x", "")], true),
            ("x=", &[("x", "")], true),
            ("x=", &[], false),
            ("x", &[("y", "z")], false),
            ("!x", &[("y", "z")], true),
            ("!x", &[("x", "z")], false),
            ("x>1", &[("x", "2")], true),
            ("x>1", &[("x", "1")], false),
            ("x>1", &[("x", "two")], false),
            ("x>1", &[], false),
            ("x<1", &[("x", "0")], true),
            ("x<1", &[("x", "2")], false),
            ("x=y", &[], false),
            ("x=y", &[("x", "z")], false),
            ("foo=bar,foobar=bar", &[("foo", "bar")], false),
            ("x in (a,b)", &[("x", "b")], true),
            ("x in (a,b)", &[("x", "c")], false),
            ("x in (a,b)", &[], false),
            ("x in ()", &[("x", "")], true),
            ("x notin (a,b)", &[], true),
            ("x notin (a,b)", &[("x", "a")], false),
            ("x,x!=a,x!=b", &[("x", "c")], true),
            ("x!=a,x!=b", &[("x", "b")], false),
        ] {
            let parsed = LabelSelector::parse(selector).expect(selector);
            assert_eq!(parsed.matches(&object(labels)), expected, "{selector} {labels:?}");
        }
    }

    #[test]
    fn labels_of_the_wrong_type_are_no_labels() {
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        for labels in [r#"{"x":"y","z":null}"#, r#"{"z":7,"x":"y"}"#, "[]", "null", "\"x\""] {
            let json = format!(r#"{{"metadata":{{"name":"a","labels":{labels}}}}}"#);
            let object = Object::from_json(json.as_bytes(), &ingest).expect("an object");
            assert!(!LabelSelector::parse("x=y").expect("a selector").matches(&object), "{labels}");
            assert!(LabelSelector::parse("!x").expect("a selector").matches(&object), "{labels}");
        }
    }

    #[test]
    fn everything_and_nothing_ignore_labels() {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let bare = Object::named(type_meta, "", "a");
        let everything = LabelSelector::default();
        assert!(everything.is_everything() && everything.matches(&bare));
        let nothing = LabelSelector::nothing();
        assert!(nothing.is_nothing() && !nothing.is_everything());
        assert!(!nothing.matches(&bare));
        assert!(!LabelSelector::parse("x").expect("a selector").matches(&bare));
        assert!(LabelSelector::parse("!x").expect("a selector").matches(&bare));
    }

    fn requirement() -> impl Strategy<Value = Requirement> {
        let value = || "(a|b|1|-1|7)?";
        let values =
            || proptest::collection::btree_set("a|b|1", 1..3).prop_map(|set| set.into_iter().collect());
        let test = prop_oneof![
            Just(Test::Exists),
            Just(Test::Absent),
            "a|b|1".prop_map(|value| Test::Is("=", value)),
            value().prop_map(|_| Test::Is("==", String::new())),
            "a|b|1".prop_map(Test::IsNot),
            values().prop_map(Test::In),
            values().prop_map(Test::NotIn),
            (0..9i64).prop_map(Test::Greater),
            (0..9i64).prop_map(Test::Less),
        ];
        ("x|y|in|notin|a\\.b/c", test).prop_map(|(label, test)| Requirement { label, test })
    }

    proptest! {
        #[test]
        fn a_printed_selector_reads_back(mut requirements in proptest::collection::vec(requirement(), 0..4)) {
            requirements.sort_by(|a, b| a.label.cmp(&b.label));
            let selector = LabelSelector { requirements, nothing: false };
            prop_assert_eq!(LabelSelector::parse(&selector.to_string()), Ok(selector));
        }

        #[test]
        fn requirements_are_evaluated_independently(
            requirements in proptest::collection::vec(requirement(), 0..4),
            labels in proptest::collection::btree_map("x|y|in|z", "a|b|1|-1|7|", 0..4),
        ) {
            let one = |requirement: &Requirement| labels.get(&requirement.label).map_or(
                requirement.test.allows_absent(),
                |value| requirement.test.allows(value),
            );
            let expected = requirements.iter().all(one);
            let labels: Vec<_> = labels.iter().map(|(label, value)| (label.as_str(), value.as_str())).collect();
            let selector = LabelSelector { requirements, nothing: false };
            prop_assert_eq!(selector.matches(&object(&labels)), expected);
        }
    }
}
