//! The `--by` conditions: an index and what its values must be.

mod cel;

pub(crate) use cel::CelIndex;

use std::fmt;

use kdelta::query::CelValues;

use super::UsageError;

/// An index that can be named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// An expression, whose result is the values.
    Cel(CelIndex),
}

impl IndexName {
    /// The accepted index names. A name that ends in a colon is followed by a key or path.
    pub(crate) const NAMES: [&str; 9] =
        ["namespace", "name", "label:", "annotation:", "owner", "node", "image", "field:", "cel:"];

    /// Parses the name of an index that is no expression.
    fn parse_plain(text: &str) -> Result<Self, UnknownIndex> {
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

    /// Parses the name of an index.
    ///
    /// # Errors
    /// Returns an error if no index has this name, or its expression can't be compiled.
    pub(crate) fn parse(text: &str) -> Result<Self, UsageError> {
        match text.strip_prefix("cel:") {
            Some(expression) => Ok(Self::Cel(CelIndex::parse(expression.trim())?)),
            None => Self::parse_plain(text)
                .map_err(|UnknownIndex| UsageError::UnknownIndex { index: text.to_owned(), similar: None }),
        }
    }
}

/// The error of a name that no index has.
struct UnknownIndex;

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
            Self::Cel(index) => write!(f, "cel:{}", index.text()),
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
    /// Parses the values of `--by`.
    pub(in crate::settings) fn parse_all(texts: &[String]) -> Result<Vec<Self>, UsageError> {
        texts.iter().map(|text| Self::parse(text)).collect()
    }

    /// Parses a condition. The first operator splits the text, but for an expression, which has operators of its own.
    pub(crate) fn parse(text: &str) -> Result<Self, UsageError> {
        if let Some(parsed) = of_expression(text) {
            return parsed;
        }
        let (name, condition) = match text.strip_prefix('!') {
            Some(name) if !name.contains('=') => (name, Condition::Absent),
            _ => split(text),
        };
        match IndexName::parse_plain(name) {
            Ok(index) => Ok(Self { index, condition }),
            Err(UnknownIndex) => {
                Err(UsageError::UnknownIndex { index: name.to_owned(), similar: similar(name, text) })
            }
        }
    }
}

/// Parses `cel:EXPRESSION`, `cel:EXPRESSION=VALUE[,VALUE…]` or `!cel:EXPRESSION`; `None` if the text names another index.
fn of_expression(text: &str) -> Option<Result<By, UsageError>> {
    let (is_absent, rest) = match text.strip_prefix("!cel:") {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix("cel:")?),
    };
    let (expression, value) = CelValues::split(rest);
    let condition = match value.map(str::trim_start) {
        None if is_absent => Condition::Absent,
        None => Condition::Exists,
        Some(_) if is_absent => return Some(Err(UsageError::ValueOfAbsent(text.to_owned()))),
        Some(value) if is_quoted(value) => return Some(Err(UsageError::QuotedValue(text.to_owned()))),
        Some(value) => Condition::AnyOf(list(value)),
    };
    Some(CelIndex::parse(expression.trim()).map(|index| By { index: IndexName::Cel(index), condition }))
}

/// Whether a value is a literal of CEL.
fn is_quoted(value: &str) -> bool {
    let is_between = |quote: char| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote);
    is_between('"') || is_between('\'')
}

/// Returns the values between commas.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

/// Splits a condition into the name of the index and the rest.
fn split(text: &str) -> (&str, Condition) {
    let set = |rest: &str| -> Vec<String> { rest.split(',').map(|value| value.trim().to_owned()).collect() };
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
mod tests;
