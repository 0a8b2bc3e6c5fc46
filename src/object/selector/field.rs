//! Field selectors.

use std::fmt;
use std::str::FromStr;

use super::SelectorError;
use crate::object::{FieldPath, Object, ObjectError};

/// A selector of terms on fields, all of which must match; an empty one selects every object.
///
/// The grammar is kubectl's: `status.phase=Running,spec.nodeName!=node-1`, with `==` as a synonym of `=`, and `\`, `,`
/// and `=` in values escaped by a backslash. Servers support a few fields per resource; a term evaluated here may name
/// any [`FieldPath`]. An absent field has the empty value. For a field with several values (a path over arrays), `=`
/// matches if any of them is equal, and `!=` if none is. Terms print in the order of their fields, so that equal
/// selectors print equal.
///
/// ```
/// # use kdelta::object::FieldSelector;
/// # use kdelta::testing::FakeSource;
/// # let source = FakeSource::new();
/// # source.add(serde_json::json!({"metadata": {"name": "web"}, "status": {"phase": "Running"}}));
/// # let web = source.objects().remove(0);
/// let running = FieldSelector::parse("status.phase=Running,spec.nodeName!=north")?;
/// assert!(running.matches(&web));
/// # Ok::<(), kdelta::object::SelectorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSelector(Vec<Term>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    /// The user's spelling, which is sent to the server.
    field: String,
    equal: bool,
    value: String,
    path: FieldPath,
}

impl FieldSelector {
    /// Parses a selector. Empty text and empty terms select every object.
    ///
    /// # Errors
    /// [`SelectorError`] when a term has no operator, a value has an invalid escape, or a field is not a path.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let terms = split_terms(text).filter(|term| !term.is_empty());
        let mut terms = terms.map(|term| Term::parse(term, text)).collect::<Result<Vec<_>, _>>()?;
        terms.sort_by(|a, b| (&a.field, a.equal, &a.value).cmp(&(&b.field, b.equal, &b.value)));
        Ok(Self(terms))
    }

    /// Returns whether every object is selected.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the object is selected. Fields that can't be read count as absent.
    #[must_use]
    pub fn matches(&self, object: &Object) -> bool {
        self.0.iter().all(|term| term.matches(|visit| term.path.values_of(object, visit)))
    }

    /// Returns whether an object given as JSON text is selected.
    #[must_use]
    pub fn matches_json(&self, json: &[u8]) -> bool {
        self.0.iter().all(|term| term.matches(|visit| term.path.values_with(json, visit)))
    }

    /// Returns the fields of the terms as written, sorted.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|term| term.field.as_str())
    }
}

impl Term {
    fn parse(term: &str, selector: &str) -> Result<Self, SelectorError> {
        let unknown = || SelectorError::Term { selector: selector.to_owned(), term: term.to_owned() };
        let (field, value) = term.split_once('=').ok_or_else(unknown)?;
        let (field, equal) = field.strip_suffix('!').map_or((field, true), |field| (field, false));
        let value = if equal { value.strip_prefix('=').unwrap_or(value) } else { value };
        let value = unescape(value)?;
        Ok(Self { field: field.to_owned(), path: FieldPath::parse(field)?, equal, value })
    }

    fn matches(&self, visit_values: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), ObjectError>) -> bool {
        let (mut present, mut found) = (false, false);
        // A text that can't be read was rejected at ingest.
        let _unread = visit_values(&mut |value| {
            present = true;
            found |= value == self.value;
        });
        (found || (!present && self.value.is_empty())) == self.equal
    }
}

/// Splits at commas that have no backslash before them.
fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |char| {
        let is_end = char == ',' && !escaped;
        escaped = char == '\\' && !escaped;
        is_end
    })
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => escaped,
                other => {
                    let sequence: String = other.into_iter().collect();
                    return Err(SelectorError::Escape(format!("invalid escape sequence: \\{sequence}")));
                }
            },
            ',' | '=' => return Err(SelectorError::Escape(format!("unescaped character in value: {char}"))),
            char => char,
        });
    }
    Ok(plain)
}

impl FromStr for FieldSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        Self::parse(text)
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let operator = if term.equal { "=" } else { "!=" };
            let value = term.value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            write!(f, "{comma}{}{operator}{value}", term.field)?;
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

    fn pod() -> Object {
        let json = r#"{"metadata":{"name":"web","namespace":"shop"},"spec":{"nodeName":"n1","hostNetwork":true,"containers":[{"image":"a:1"},{"image":"b,=\\2"}]},"status":{"phase":"Running","podIP":""}}"#;
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Object::from_json(json.as_bytes(), &ingest).expect("an object")
    }

    #[test]
    fn a_selector_selects_by_any_field() {
        for (selector, expected) in [
            ("", true),
            (",", true),
            ("metadata.name=web", true),
            ("metadata.name==web,status.phase!=Pending", true),
            ("metadata.name=web,status.phase=Pending", false),
            ("metadata.namespace!=shop", false),
            ("spec.hostNetwork=true", true),
            ("status.podIP=", true),
            ("status.nominatedNodeName=", true),
            ("status.nominatedNodeName!=", false),
            ("status.nominatedNodeName!=x", true),
            ("spec.containers[*].image=a:1", true),
            (r"spec.containers.image=b\,\=\\2", true),
            ("spec.containers.image=c", false),
            ("spec.containers.image!=a:1", false),
            ("spec.containers.image!=c", true),
        ] {
            let parsed = FieldSelector::parse(selector).expect(selector);
            assert_eq!(parsed.matches(&pod()), expected, "{selector}");
            assert_eq!(FieldSelector::parse(&parsed.to_string()), Ok(parsed), "{selector}");
        }
    }

    #[test]
    fn equal_selectors_print_equal() {
        for (given, expected) in [
            ("b=2,a==1", "a=1,b=2"),
            ("a==1,a=2", "a=1,a=2"),
            (r"a=x\,y", r"a=x\,y"),
            ("a!=", "a!="),
            (r"a=\\,b=\=", r"a=\\,b=\="),
            (",a=1,,", "a=1"),
        ] {
            assert_eq!(FieldSelector::parse(given).expect(given).to_string(), expected);
        }
    }

    #[test]
    fn invalid_selectors_are_rejected_with_kubectls_messages() {
        for (given, expected) in [
            ("a", "invalid selector: 'a'; can't understand 'a'"),
            ("a=1,b!2", "invalid selector: 'a=1,b!2'; can't understand 'b!2'"),
            (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
            (r"a=\", r"invalid field selector: invalid escape sequence: \"),
            ("a=b=c", "invalid field selector: unescaped character in value: ="),
            ("=b", "invalid field selector: invalid field path \"\": a name is empty"),
        ] {
            assert_eq!(FieldSelector::parse(given).expect_err(given).to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn any_value_survives_printing(value in "\\PC*", equal: bool) {
            let path = FieldPath::parse("a.b").expect("a path");
            let selector = FieldSelector(vec![Term { field: "a.b".into(), path, equal, value }]);
            prop_assert_eq!(FieldSelector::parse(&selector.to_string()), Ok(selector));
        }

        #[test]
        fn no_text_panics_the_parser(text in "[ab.=!,\\\\\\PC]{0,12}") {
            if let Ok(selector) = FieldSelector::parse(&text) {
                prop_assert_eq!(FieldSelector::parse(&selector.to_string()), Ok(selector));
            }
        }
    }
}
