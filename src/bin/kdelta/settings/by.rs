//! The `--by INDEX=VALUE` conditions: an index and its values.

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
impl std::fmt::Display for IndexName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

/// One `--by` condition: matches objects that the index has under any of the values. Several conditions must all match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) index: IndexName,
    /// At least one. An empty value is valid.
    pub(crate) values: Vec<String>,
}

impl By {
    /// Parses `INDEX=VALUE[,VALUE…]`, split at the first `=`.
    pub(crate) fn parse(text: &str) -> Result<Self, UsageError> {
        match Self::parse_optional(text)? {
            (index, Some(values)) => Ok(Self { index, values }),
            (_, None) => Err(UsageError::IndexWithoutValue(text.to_owned())),
        }
    }

    /// Parses `INDEX[=VALUE[,VALUE…]]`.
    pub(crate) fn parse_optional(text: &str) -> Result<(IndexName, Option<Vec<String>>), UsageError> {
        let (name, values) = match text.split_once('=') {
            None => (text, None),
            Some((name, values)) => (name, Some(values)),
        };
        let index = IndexName::parse(name).map_err(|UnknownIndex| UsageError::UnknownIndex {
            index: name.to_owned(),
            similar: similar(name, values),
        })?;
        Ok((index, values.map(|values| values.split(',').map(str::to_owned).collect())))
    }
}

/// Returns the flag that may be meant by an unknown index: most often, a label without `label:`.
fn similar(name: &str, values: Option<&str>) -> Option<String> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let index = match name.split_once(':') {
        None if !name.is_empty() && name.chars().all(is_key) => format!("label:{name}"),
        Some(("labels", key)) if !key.is_empty() => format!("label:{key}"),
        Some(("annotations", key)) if !key.is_empty() => format!("annotation:{key}"),
        _ => return None,
    };
    let values = values.map_or_else(String::new, |values| format!("={values}"));
    Some(format!("--by {index}{values}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_equals_sign_splits_and_commas_separate_values() {
        let by = By::parse("label:app.kubernetes.io/name=a=b,c").expect("fine");
        assert_eq!(by.index, IndexName::Label("app.kubernetes.io/name".into()));
        assert_eq!(by.values, ["a=b", "c"]);
        assert_eq!(By::parse("node=").expect("an empty value").values, [""]);
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
    fn index_names_round_trip() {
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
            let (index, values) = By::parse_optional(text).expect(text);
            assert_eq!((index.to_string().as_str(), values), (text, None));
        }
    }

    #[test]
    fn label_without_its_index_is_suggested() {
        for (text, flag) in [
            ("app=web", Some("did you mean --by label:app=web?")),
            ("app.kubernetes.io/name=a,b", Some("did you mean --by label:app.kubernetes.io/name=a,b?")),
            ("labels:app", Some("did you mean --by label:app?")),
            ("label:", None),
            ("=x", None),
        ] {
            let error = By::parse_optional(text).expect_err(text);
            assert_eq!(error.hint().as_deref(), flag, "{text}");
        }
    }

    #[test]
    fn unknown_index_error_lists_indices() {
        for text in ["labels:app=x", "label=x", "label:=x", "namespace:x=y", "=x", "field:"] {
            let error = By::parse_optional(text).expect_err(text).to_string();
            assert!(error.contains("namespace, name, label:KEY"), "{error}");
        }
        assert_eq!(
            By::parse("node").expect_err("no value").to_string(),
            "--by node needs a value: --by node=VALUE"
        );
    }
}
