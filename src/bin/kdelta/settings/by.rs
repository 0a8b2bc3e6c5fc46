//! The `--by` conditions: an index and what its values must be.

use std::fmt;

use super::UsageError;

/// An index that can be named on the command line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum IndexName {
    Namespace,
    Name,
    Label(String),
    Annotation(String),
    Owner,
    Node,
    Image,
    /// An unparsed path, for the library's `FieldPath`.
    Field(String),
}

impl IndexName {
    /// The accepted index names. A name that ends in a colon is followed by a key or path.
    pub(crate) const NAMES: [&str; 8] =
        ["namespace", "name", "label:", "annotation:", "owner", "node", "image", "field:"];

    pub(crate) fn parse(text: &str) -> Result<Self, UnknownIndex> {
        let (kind, argument) = match text.split_once(':') {
            Some((kind, argument)) => (kind, Some(argument)),
            None => (text, None),
        };
        Ok(match (kind, argument) {
            ("namespace", None) => Self::Namespace,
            ("name", None) => Self::Name,
            ("owner", None) => Self::Owner,
            ("node", None) => Self::Node,
            ("image", None) => Self::Image,
            ("label", Some(key)) if !key.is_empty() => Self::Label(key.to_owned()),
            ("annotation", Some(key)) if !key.is_empty() => Self::Annotation(key.to_owned()),
            ("field", Some(path)) if !path.is_empty() => Self::Field(path.to_owned()),
            _ => return Err(UnknownIndex),
        })
    }
}

/// No index has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnknownIndex;

/// Formats the name as it is typed. It is also the name of the index in the informer.
impl fmt::Display for IndexName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace => f.write_str("namespace"),
            Self::Name => f.write_str("name"),
            Self::Label(key) => write!(f, "label:{key}"),
            Self::Annotation(key) => write!(f, "annotation:{key}"),
            Self::Owner => f.write_str("owner"),
            Self::Node => f.write_str("node"),
            Self::Image => f.write_str("image"),
            Self::Field(path) => write!(f, "field:{path}"),
        }
    }
}

/// One `--by` condition on an index. Several conditions must all match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) index: IndexName,
    pub(crate) condition: Condition,
}

/// The condition on the values that an index has for an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// `INDEX=VALUE[,VALUE…]` and `INDEX in (VALUE,…)`: one of these, at least one. An empty value is valid.
    AnyOf(Vec<String>),
    /// `INDEX!=VALUE[,VALUE…]` and `INDEX notin (VALUE,…)`: none of these. As with labels in kubectl, an object without a
    /// value matches.
    NoneOf(Vec<String>),
    /// `INDEX`: any value.
    Exists,
    /// `!INDEX`: no value.
    Absent,
}

impl Condition {
    /// Whether the condition names this value.
    pub(crate) fn names(&self, value: &str) -> bool {
        match self {
            Self::AnyOf(values) | Self::NoneOf(values) => values.iter().any(|named| named == value),
            Self::Exists | Self::Absent => false,
        }
    }

    /// Whether an object matches that has a value, or has not, and has one that the condition names, or has not.
    pub(crate) fn holds(&self, has_value: bool, has_named: bool) -> bool {
        match self {
            Self::AnyOf(_) => has_named,
            Self::NoneOf(_) => !has_named,
            Self::Exists => has_value,
            Self::Absent => !has_value,
        }
    }

    /// Whether the group of the objects with this value matches.
    pub(crate) fn shows(&self, value: &str) -> bool {
        self.holds(true, self.names(value))
    }
}

/// Formats the condition as it is typed, lists with commas.
impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.condition {
            Condition::AnyOf(values) => write!(f, "{}={}", self.index, values.join(",")),
            Condition::NoneOf(values) => write!(f, "{}!={}", self.index, values.join(",")),
            Condition::Exists => self.index.fmt(f),
            Condition::Absent => write!(f, "!{}", self.index),
        }
    }
}

impl By {
    /// Parses a condition. The first operator splits the text.
    pub(crate) fn parse(text: &str) -> Result<Self, UsageError> {
        let (name, condition) = match text.strip_prefix('!') {
            Some(name) if !name.contains('=') => (name, Condition::Absent),
            _ => split(text),
        };
        match IndexName::parse(name) {
            Ok(index) => Ok(Self { index, condition }),
            Err(UnknownIndex) => {
                Err(UsageError::UnknownIndex { index: name.to_owned(), similar: similar(name, text) })
            }
        }
    }
}

/// Splits a condition into the name of the index and the rest.
fn split(text: &str) -> (&str, Condition) {
    let set = |rest: &str| -> Vec<String> { rest.split(',').map(|value| value.trim().to_owned()).collect() };
    let list = |rest: &str| -> Vec<String> { rest.split(',').map(str::to_owned).collect() };
    let equals = text.find('=').unwrap_or(text.len());
    if let Some(inner) = text.strip_suffix(')') {
        if let Some((name, rest)) = inner.split_once(" notin (").filter(|(name, _)| name.len() < equals) {
            return (name.trim_end(), Condition::NoneOf(set(rest)));
        }
        if let Some((name, rest)) = inner.split_once(" in (").filter(|(name, _)| name.len() < equals) {
            return (name.trim_end(), Condition::AnyOf(set(rest)));
        }
    }
    match text.split_once('=') {
        None => (text, Condition::Exists),
        Some((name, rest)) => match name.strip_suffix('!') {
            Some(name) => (name, Condition::NoneOf(list(rest))),
            // kubectl's selectors accept `==`.
            None => (name, Condition::AnyOf(list(rest.strip_prefix('=').unwrap_or(rest)))),
        },
    }
}

/// Returns the flag that may be meant by an unknown index in a condition: most often, a label without `label:`, or a path
/// without `field:`.
fn similar(name: &str, text: &str) -> Option<String> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let is_path = ["metadata.", "spec.", "status."].iter().any(|start| name.starts_with(start));
    let index = match name.split_once(':') {
        None if is_path => format!("field:{name}"),
        None if !name.is_empty() && name.chars().all(is_key) => format!("label:{name}"),
        Some(("labels", key)) if !key.is_empty() => format!("label:{key}"),
        Some(("annotations", key)) if !key.is_empty() => format!("annotation:{key}"),
        _ => return None,
    };
    let condition = text.replacen(name, &index, 1);
    let needs_quotes = condition.contains(['!', ' ', '(', '*', '[']);
    Some(if needs_quotes { format!("--by '{condition}'") } else { format!("--by {condition}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(text: &str) -> (String, Condition) {
        let By { index, condition } = By::parse(text).expect(text);
        (index.to_string(), condition)
    }

    fn owned(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    #[test]
    fn first_operator_splits_and_commas_separate_values() {
        use Condition::{Absent, AnyOf, Exists, NoneOf};
        for (text, index, condition) in [
            (
                "label:app.kubernetes.io/name=a=b,c",
                "label:app.kubernetes.io/name",
                AnyOf(owned(&["a=b", "c"])),
            ),
            ("node=", "node", AnyOf(owned(&[""]))),
            ("node==a", "node", AnyOf(owned(&["a"]))),
            ("node!=a,b", "node", NoneOf(owned(&["a", "b"]))),
            ("label:app in (a, b)", "label:app", AnyOf(owned(&["a", "b"]))),
            ("label:app notin (a)", "label:app", NoneOf(owned(&["a"]))),
            ("annotation:note=x in (y)", "annotation:note", AnyOf(owned(&["x in (y)"]))),
            ("label:app", "label:app", Exists),
            ("!label:app", "label:app", Absent),
        ] {
            assert_eq!(by(text), (index.to_owned(), condition), "{text}");
        }
    }

    #[test]
    fn conditions_match_as_kubectls_label_selectors() {
        for (text, none, a, b_and_c) in [
            ("node=a,c", false, true, true),
            ("node!=a", true, false, true),
            ("node notin (b,x)", true, true, false),
            ("node", false, true, true),
            ("!node", true, false, false),
        ] {
            let By { condition, .. } = By::parse(text).expect(text);
            let matches = |values: &[&str]| {
                condition.holds(!values.is_empty(), values.iter().any(|value| condition.names(value)))
            };
            assert_eq!([matches(&[]), matches(&["a"]), matches(&["b", "c"])], [none, a, b_and_c], "{text}");
        }
    }

    #[test]
    fn offered_index_names_are_accepted() {
        for name in IndexName::NAMES {
            let whole = if name.ends_with(':') { format!("{name}x") } else { name.to_owned() };
            assert!(IndexName::parse(&whole).is_ok(), "{name}");
            let message = UsageError::UnknownIndex { index: String::new(), similar: None }.to_string();
            assert!(message.contains(name), "{message}: {name}");
        }
    }

    #[test]
    fn index_names_and_conditions_round_trip() {
        for text in [
            "namespace",
            "name",
            "label:a/b",
            "annotation:x",
            "owner",
            "node",
            "image",
            "field:spec.containers[*].image",
        ] {
            assert_eq!(by(text), (text.to_owned(), Condition::Exists));
            for condition in
                [text.to_owned(), format!("{text}=a,b"), format!("{text}!=a"), format!("!{text}")]
            {
                assert_eq!(By::parse(&condition).expect(&condition).to_string(), condition);
            }
        }
    }

    #[test]
    fn label_or_path_without_its_index_is_suggested() {
        for (text, flag) in [
            ("app=web", Some("did you mean --by label:app=web?")),
            ("app.kubernetes.io/name=a,b", Some("did you mean --by label:app.kubernetes.io/name=a,b?")),
            ("labels:app", Some("did you mean --by label:app?")),
            ("status.phase", Some("did you mean --by field:status.phase?")),
            ("spec.containers[*].image=x", Some("did you mean --by 'field:spec.containers[*].image=x'?")),
            ("app!=web", Some("did you mean --by 'label:app!=web'?")),
            ("!app", Some("did you mean --by '!label:app'?")),
            ("label:", None),
            ("=x", None),
        ] {
            let error = By::parse(text).expect_err(text);
            assert_eq!(error.hint().as_deref(), flag, "{text}");
        }
    }

    #[test]
    fn unknown_index_error_lists_indices() {
        for text in ["labels:app=x", "label=x", "label:=x", "namespace:x=y", "=x", "field:", "!node=x"] {
            let error = By::parse(text).expect_err(text).to_string();
            assert!(error.contains("namespace, name, label:KEY"), "{error}");
        }
    }
}
