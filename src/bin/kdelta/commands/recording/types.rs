//! Resolution of type words against the recorded types.

use anyhow::bail;
use kdelta::object::ApiResource;
use kdelta::recording::{Moment, Recording};
use serde_json::Value;

use super::known_names::alternatives;
use crate::settings::Pattern;

/// The names of a recorded type.
struct NamedType {
    resource: ApiResource,
    names: Vec<String>,
}

/// Returns the types of each recording that the words name by plural, kind, short name or pattern, also with their group.
///
/// # Errors
/// No recording has a type of a word, or a recording can't be read.
pub(super) fn named_types(
    recordings: &[Recording],
    words: &[Pattern],
) -> anyhow::Result<Vec<Vec<ApiResource>>> {
    let mut known = Vec::new();
    for recording in recordings {
        known.push(types_of(recording)?);
    }
    let has_name = |word: &Pattern, named: &NamedType| {
        let word = Pattern::new(&word.text().to_lowercase());
        named.names.iter().any(|name| word.matches(name))
    };
    for word in words {
        if !known.iter().flatten().any(|named| has_name(word, named)) {
            recordings.iter().try_for_each(Recording::check_tables)?;
            let names = known.iter().flatten().map(|named| named.resource.group_resource()).collect();
            let spellings = known.iter().flatten().flat_map(|named| named.names.iter().cloned()).collect();
            bail!("{:?} was not recorded{}", word.text(), alternatives(word.text(), spellings, &names));
        }
    }
    let selected = |all: Vec<NamedType>| {
        let selected = all.into_iter().filter(|named| words.iter().any(|word| has_name(word, named)));
        selected.map(|named| named.resource).collect()
    };
    Ok(known.into_iter().map(selected).collect())
}

/// Returns the recorded types with their names in lower case.
fn types_of(recording: &Recording) -> anyhow::Result<Vec<NamedType>> {
    let documents = recording.state(Moment::End)?.documents()?;
    let documents: Vec<Value> =
        documents.values().filter_map(|body| serde_json::from_slice(body).ok()).collect();
    let types = recording.resources()?.into_iter().map(|resource| {
        let ApiResource { group, version, resource: plural, kind, .. } = &*resource;
        let short = documents.iter().flat_map(|document| short_names(document, plural));
        let names = [plural.clone(), kind.clone()].into_iter().chain(short.map(str::to_owned));
        let names = names.flat_map(|name| {
            let name = name.to_lowercase();
            [format!("{name}.{group}"), format!("{name}.{version}.{group}"), name]
        });
        NamedType { names: names.collect(), resource: (*resource).clone() }
    });
    Ok(types.collect())
}

/// Returns the short names of a type in a discovery document, aggregated or of one version.
fn short_names<'a>(document: &'a Value, plural: &str) -> Vec<&'a str> {
    let elements = |value: &'a Value, name: &str| value[name].as_array().map_or(&[][..], Vec::as_slice);
    let versions = elements(document, "items").iter().flat_map(|group| elements(group, "versions"));
    let aggregated = versions.flat_map(|version| elements(version, "resources"));
    let own = aggregated.filter(|entry| entry["resource"] == plural);
    let own = own.chain(elements(document, "resources").iter().filter(|entry| entry["name"] == plural));
    own.flat_map(|entry| elements(entry, "shortNames")).filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn short_names_are_those_of_discovery() {
        let aggregated = json!({"items": [{"versions": [
            {"resources": [{"resource": "pods", "shortNames": ["po"]}, {"resource": "x"}]},
        ]}]});
        let legacy =
            json!({"resources": [{"name": "services", "shortNames": ["svc"]}, {"name": "pods/log"}]});
        assert_eq!(short_names(&aggregated, "pods"), ["po"]);
        assert_eq!(short_names(&legacy, "services"), ["svc"]);
        assert!(short_names(&legacy, "pods").is_empty() && short_names(&json!([1]), "pods").is_empty());
    }
}
