//! `--for TYPE/NAME`: the field selector of the events about one object.

use kdelta::api::ResolveError;
use kdelta::object::ApiResource;

use crate::exit::{Hint, Verbatim};
use crate::session::Session;
use crate::settings::{Events, Selection};

/// Returns the selection of the events, limited to those about the requested object.
///
/// # Errors
/// The server has no such type, or discovery failed.
pub(super) async fn selection(session: &Session, events: &Events) -> anyhow::Result<Selection> {
    let mut selection = events.selection.clone();
    if let Some((word, name)) = &events.object {
        let word = &word.to_lowercase();
        let found = session.cluster().discovery().resolve(word).await.map_err(unknown_type)?;
        let resource = match found.as_slice() {
            [only] => &only.resource,
            // A category.
            _ => return Err(unknown_type(no_such_type(word))),
        };
        // As in kubectl, an empty name selects everything.
        selection.field_selector = (!name.is_empty()).then(|| field_selector(resource, name));
    }
    Ok(selection)
}

fn no_such_type(word: &str) -> ResolveError {
    let (name, group) = word.split_once('.').unwrap_or((word, ""));
    ResolveError::Unknown {
        name: name.into(),
        group: group.into(),
        near: Vec::new(),
        missing: Vec::new(),
        has_short_names: true,
    }
}

/// The server has no such type; kubectl prints the message without `error: `.
#[derive(Debug, thiserror::Error)]
#[error("the server doesn't have a resource type {name:?}{in_group}")]
struct UnknownType {
    name: String,
    in_group: String,
}

fn unknown_type(error: ResolveError) -> anyhow::Error {
    let hint = error.hint();
    let ResolveError::Unknown { name, group, .. } = error else { return error.into() };
    let name = name.to_lowercase();
    let in_group = if group.is_empty() { group } else { format!(" in group {:?}", group.to_lowercase()) };
    let error = anyhow::Error::new(Verbatim(UnknownType { name, in_group }.to_string()));
    match hint {
        Some(hint) => error.context(Hint(hint)),
        None => error,
    }
}

fn field_selector(resource: &ApiResource, name: &str) -> String {
    let terms =
        [("apiVersion", resource.api_version()), ("kind", resource.kind.clone()), ("name", name.into())];
    terms.map(|(field, value)| format!("involvedObject.{field}={}", escaped(&value))).join(",")
}

/// Escapes the characters that end a value of a field selector.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '\\' | ',' | '=') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Report;

    #[test]
    fn values_of_the_selector_are_escaped() {
        let resource = ApiResource {
            group: "apps".into(),
            version: "v1".into(),
            resource: "deployments".into(),
            kind: "Deployment".into(),
            namespaced: true,
        };
        assert_eq!(
            field_selector(&resource, "a,b=c\\"),
            "involvedObject.apiVersion=apps/v1,involvedObject.kind=Deployment,involvedObject.name=a\\,b\\=c\\\\"
        );
    }

    #[test]
    fn unknown_type_has_kubectls_text() {
        for (word, expected) in [
            ("Foo", "the server doesn't have a resource type \"foo\""),
            ("foo.bar.io", "the server doesn't have a resource type \"foo\" in group \"bar.io\""),
        ] {
            let report = Report::of(&unknown_type(no_such_type(word)), "kdelta events");
            assert_eq!(report.messages, [expected]);
        }
    }
}
