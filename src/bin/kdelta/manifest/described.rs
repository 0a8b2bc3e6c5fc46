//! The objects that a document describes: their types and names, and the items of lists.

use super::members::{Members, items, type_of};
use super::metadata_types::wrong_type;

/// An object of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    /// Empty if the object has none.
    pub(crate) api_version: String,
    pub(crate) kind: String,
    /// Empty if the object has none: the server would generate it.
    pub(crate) name: String,
    /// Empty if the object has none.
    pub(crate) namespace: String,
    /// The whole object as JSON; empty for a list.
    pub(crate) body: String,
}

/// The object or the list that a document describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Document {
    Object(Described),
    /// A list with its items.
    List {
        list: Described,
        items: Vec<Described>,
    },
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// It is no object, or a list of lists.
    pub(super) fn read(text: &str) -> Result<Self, DescriptionError> {
        let (described, items) = decode(text).map_err(DescriptionError::Undecodable)?;
        Ok(match items {
            None => Self::Object(described),
            Some(items) if items.iter().any(|item| is_list(item)) => {
                return Err(DescriptionError::NestedList);
            }
            Some(items) => Self::List {
                items: items.into_iter().map(|text| item(&described, text)).collect(),
                list: Described { body: String::new(), ..described },
            },
        })
    }
}

/// Why a document describes no objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DescriptionError {
    /// kubectl's reason.
    Undecodable(String),
    NestedList,
}

/// Returns the object of a document, and the texts of its items if it is a list.
///
/// # Errors
/// kubectl's reason why it is no object.
fn decode(text: &str) -> Result<(Described, Option<Vec<&str>>), String> {
    let wrong = |value: &str, go_type: &str| {
        format!("json: cannot unmarshal {} into Go value of type {go_type}", type_of(value))
    };
    let Some(members) = Members::read(text) else {
        return Err(wrong(text, "unstructured.detector"));
    };
    let found = match members.get("items") {
            None => None,
            Some(list) if type_of(list) == "null" => Some(Vec::new()),
            Some(list) => Some(items(list).ok_or_else(|| {
                let found = type_of(list);
                format!("json: cannot unmarshal {found} into Go struct field decodeList.items of type []json.RawMessage")
            })?),
        };
    if let Some(item) =
        found.iter().flatten().find(|item| type_of(item) != "object" && type_of(item) != "null")
    {
        return Err(wrong(item, "map[string]interface {}"));
    }
    let described = Described::of(&members, text);
    if described.kind.is_empty() || described.api_version.matches('/').count() > 1 {
        return Err(format!("Object 'Kind' is missing in '{text}'"));
    }
    if let Some(error) = wrong_type(&members) {
        return Err(error);
    }
    Ok((described, found))
}

/// Returns an item of a list.
fn item(list: &Described, text: &str) -> Described {
    // Null is an object without members.
    let members = Members::read(text).unwrap_or_default();
    let mut item = Described::of(&members, text);
    // The server omits the type of the items of a typed list.
    if item.kind.is_empty() && item.api_version.is_empty() {
        list.kind.strip_suffix("List").unwrap_or(&list.kind).clone_into(&mut item.kind);
        item.api_version.clone_from(&list.api_version);
    }
    item
}

/// Whether an item is a list itself.
fn is_list(text: &str) -> bool {
    Members::read(text).and_then(|members| members.get("items").map(type_of)) == Some("array")
}

impl Described {
    fn of(members: &Members<'_>, text: &str) -> Self {
        let metadata = members.get("metadata").and_then(Members::read);
        let of_metadata =
            |name: &str| metadata.as_ref().map(|metadata| metadata.text(name)).unwrap_or_default();
        let name = of_metadata("name");
        Self {
            api_version: members.text("apiVersion"),
            kind: members.text("kind"),
            namespace: of_metadata("namespace"),
            body: text.to_owned(),
            name,
        }
    }

    /// Returns the group and the version.
    pub(crate) fn group_version(&self) -> (&str, &str) {
        self.api_version.split_once('/').unwrap_or(("", &self.api_version))
    }

    /// Returns kubectl's error for the item of a list that has no type.
    pub(crate) fn missing_type(&self) -> Option<&'static str> {
        let is_malformed = self.api_version.matches('/').count() > 1;
        if self.kind.is_empty() || is_malformed {
            return Some("Object 'Kind' is missing in 'object has no kind field '");
        }
        self.api_version
            .is_empty()
            .then_some("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<String> {
        let title =
            |one: &Described| format!("{} {} {}/{}", one.api_version, one.kind, one.namespace, one.name);
        match Document::read(text) {
            Ok(Document::Object(object)) => vec![title(&object)],
            Ok(Document::List { list, items }) => [&list].into_iter().chain(&items).map(title).collect(),
            Err(DescriptionError::Undecodable(error)) => vec![format!("error: {error}")],
            Err(DescriptionError::NestedList) => vec!["nested".to_owned()],
        }
    }

    #[test]
    fn objects_have_a_type_and_a_name() {
        let text = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"b"}}"#;
        assert_eq!(titles(text), ["apps/v1 Deployment b/a"]);
        let Ok(Document::Object(object)) = Document::read(text) else { panic!("an object") };
        assert_eq!((object.group_version(), object.body.as_str()), (("apps", "v1"), text));
        let text = r#"{"kind":"Pod","metadata":{"generateName":"a-"}}"#;
        let Ok(Document::Object(object)) = Document::read(text) else { panic!("an object") };
        assert_eq!((object.group_version(), object.body.as_str()), (("", ""), text));
    }

    #[test]
    fn items_of_lists_are_objects() {
        let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#;
        let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{pod},null]}}"#);
        assert_eq!(titles(&list), ["v1 List /", "v1 Pod /a", "v1  /"]);
        let nested = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{list}]}}"#);
        assert_eq!(Document::read(&nested), Err(DescriptionError::NestedList));
        let typed = r#"{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"}}]}"#;
        assert_eq!(titles(typed), ["v1 PodList /", "v1 Pod /a"]);
        assert_eq!(titles(r#"{"apiVersion":"v1","kind":"List","items":null}"#), ["v1 List /"]);
        let Ok(Document::List { items, .. }) =
            Document::read(r#"{"apiVersion":"v1","kind":"List","items":[{},{"kind":"Pod"}]}"#)
        else {
            panic!("a list")
        };
        let errors: Vec<_> = items.iter().map(Described::missing_type).collect();
        assert!(errors.iter().all(Option::is_some), "{errors:?}");
    }

    // Taken from kubectl.
    #[test]
    fn other_documents_have_kubectls_errors() {
        for (text, error) in [
            ("\"text\"", "json: cannot unmarshal string into Go value of type unstructured.detector"),
            ("5", "json: cannot unmarshal number into Go value of type unstructured.detector"),
            (r#"{"apiVersion":"v1"}"#, r#"Object 'Kind' is missing in '{"apiVersion":"v1"}'"#),
            (
                r#"{"apiVersion":"a/b/c","kind":"Pod"}"#,
                r#"Object 'Kind' is missing in '{"apiVersion":"a/b/c","kind":"Pod"}'"#,
            ),
            (r#"{"kind":5}"#, r#"Object 'Kind' is missing in '{"kind":5}'"#),
            (
                r#"{"kind":"List","items":"a"}"#,
                "json: cannot unmarshal string into Go struct field decodeList.items of type []json.RawMessage",
            ),
            (
                r#"{"kind":"List","items":["a"]}"#,
                "json: cannot unmarshal string into Go value of type map[string]interface {}",
            ),
        ] {
            assert_eq!(titles(text), [format!("error: {error}")], "{text}");
        }
    }
}
