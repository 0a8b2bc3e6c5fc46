//! `kdelta api-resources`: the types that the server serves, in kubectl's columns and order.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use kdelta::api::{Catalog, Discovery};
use kdelta::kubeconfig;
use kdelta::object::JsonValue;
use kdelta::wire::{DiscoveredResource, UnavailableGroup};

use super::refusal::with_kubectls_text;
use crate::commands::format::of_documents;
use crate::commands::reporter::Reporter;
use crate::exit::ExitCode;
use crate::output::{TabRows, TypedDocuments};
use crate::session::Session;
use crate::settings::{self, ApiResources, Format, ResourceColumn};
use crate::view::escape_cell;

/// Prints the types that the server serves, then fails if a request for the types of some group failed. As in kubectl,
/// groups that the server itself reports as unavailable are left out.
pub(crate) async fn run(
    session: &Session,
    request: &ApiResources,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let discovery = session.cluster().discovery();
    let catalog = types(discovery, request.cached).await.map_err(with_kubectls_text)?;
    // kubectl prints nothing at all, not even a header, if it knows no type.
    if catalog.preferred().any(|found| !found.verbs.is_empty()) {
        print(&sorted(&catalog, request), request, stdout, &mut out)?;
    }
    out.flush()?;
    let (stale, missing): (Vec<_>, Vec<_>) = catalog.missing().iter().partition(|missing| missing.is_stale);
    if !stale.is_empty() {
        reporter.messages().hint(&format!("unavailable, types left out: {}", versions(&stale)));
    }
    if missing.is_empty() { Ok(ExitCode::Ok) } else { Err(IncompleteDiscovery(reasons(&missing)).into()) }
}

/// Returns the server's types. As in kubectl, the cache can't stand in for groups that were unavailable.
async fn types(discovery: &Discovery, cached: bool) -> Result<Arc<Catalog>, kubeconfig::Error> {
    if cached {
        let catalog = discovery.catalog().await?;
        if catalog.missing().is_empty() {
            return Ok(catalog);
        }
    }
    discovery.refresh().await
}

/// The types of some groups are unknown.
#[derive(Debug, thiserror::Error)]
#[error("unable to retrieve the complete list of server APIs: {0}")]
struct IncompleteDiscovery(String);

/// Returns the unavailable group versions with their reasons, sorted.
fn reasons(missing: &[&UnavailableGroup]) -> String {
    let mut reasons: Vec<String> = missing.iter().map(|missing| reason(missing)).collect();
    reasons.sort_unstable();
    reasons.join(", ")
}

fn reason(missing: &UnavailableGroup) -> String {
    match missing.api_version() {
        version if version.is_empty() => missing.reason.clone(),
        version => format!("{version}: {}", missing.reason),
    }
}

fn versions(missing: &[&UnavailableGroup]) -> String {
    missing.iter().map(|missing| missing.api_version()).collect::<Vec<_>>().join(", ")
}

fn sorted<'a>(catalog: &'a Catalog, request: &ApiResources) -> Vec<&'a DiscoveredResource> {
    let mut found: Vec<&DiscoveredResource> =
        catalog.preferred().filter(|found| is_requested(request, found)).collect();
    found.sort_by_key(|found| {
        let DiscoveredResource { resource, .. } = found;
        match request.sort_by {
            None => (&resource.group, &resource.resource),
            Some(ResourceColumn::Name) => (&resource.resource, &resource.group),
            // Types of one kind are sorted by name, and those of one name stay in the order of their groups.
            Some(ResourceColumn::Kind) => (&resource.kind, &resource.resource),
        }
    });
    found
}

fn is_requested(request: &ApiResources, found: &DiscoveredResource) -> bool {
    !found.verbs.is_empty()
        && request.group.as_ref().is_none_or(|group| *group == found.resource.group)
        && request.verbs.iter().all(|verb| found.verbs.contains(verb))
        && request.categories.iter().all(|category| found.categories.contains(category))
        && request.namespaced.is_none_or(|namespaced| namespaced == found.resource.namespaced)
}

fn print(
    found: &[&DiscoveredResource],
    request: &ApiResources,
    stdout: settings::OutputStream,
    out: &mut impl Write,
) -> io::Result<()> {
    if let Some(format) = of_documents(request.format) {
        return TypedDocuments::new(format, stdout.is_terminal).document(&list(found), out);
    }
    if request.format == Format::Name {
        for found in found {
            writeln!(out, "{}", escape_cell(&found.resource.group_resource()))?;
        }
        return Ok(());
    }
    let wide = matches!(request.format, Format::Table { wide: true, .. });
    let mut rows = TabRows::default();
    let headings = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND", "VERBS", "CATEGORIES"];
    if request.headers {
        rows.push(headings[..if wide { 7 } else { 5 }].iter().copied());
    }
    for found in found {
        rows.push(row(found, wide).iter().map(|cell| escape_cell(cell)));
    }
    rows.flush(out)
}

fn row(found: &DiscoveredResource, wide: bool) -> Vec<String> {
    let resource = &found.resource;
    let mut row = vec![
        resource.resource.clone(),
        found.short_names.join(","),
        resource.api_version(),
        resource.namespaced.to_string(),
        resource.kind.clone(),
    ];
    if wide {
        row.extend([found.verbs.join(","), found.categories.join(",")]);
    }
    row
}

/// Returns the `APIResourceList` that kubectl prints, with the fields in the order of Go's type.
fn list<'a>(found: &[&'a DiscoveredResource]) -> JsonValue<'a> {
    let items: Vec<JsonValue<'a>> = found.iter().map(|found| item(found)).collect();
    JsonValue::Object(vec![
        member("kind", text("APIResourceList")),
        member("apiVersion", text("v1")),
        member("groupVersion", text("")),
        member("resources", if items.is_empty() { JsonValue::Null } else { JsonValue::Array(items) }),
    ])
}

fn item(found: &DiscoveredResource) -> JsonValue<'_> {
    let DiscoveredResource { resource, singular, short_names, categories, verbs, .. } = found;
    let mut members = vec![
        member("name", text(&resource.resource)),
        member("singularName", text(singular)),
        member("namespaced", JsonValue::Bool(resource.namespaced)),
    ];
    members.extend((!resource.group.is_empty()).then(|| member("group", text(&resource.group))));
    members.extend([
        member("version", text(&resource.version)),
        member("kind", text(&resource.kind)),
        member("verbs", texts(verbs)),
    ]);
    for (name, words) in [("shortNames", short_names), ("categories", categories)] {
        members.extend((!words.is_empty()).then(|| member(name, texts(words))));
    }
    JsonValue::Object(members)
}

fn member<'a>(name: &'static str, value: JsonValue<'a>) -> (Cow<'a, str>, JsonValue<'a>) {
    (Cow::Borrowed(name), value)
}

fn text(text: &str) -> JsonValue<'_> {
    JsonValue::Text(Cow::Borrowed(text))
}

fn texts(words: &[String]) -> JsonValue<'_> {
    JsonValue::Array(words.iter().map(|word| text(word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unavailable_groups_are_sorted_by_text() {
        let missing = |group: &str, version: &str| UnavailableGroup {
            group: group.into(),
            version: version.into(),
            reason: "no answer".into(),
            is_stale: false,
        };
        let parts = [missing("x.y", "v1"), missing("", "v1"), missing("", "")];
        assert_eq!(
            IncompleteDiscovery(reasons(&parts.iter().collect::<Vec<_>>())).to_string(),
            "unable to retrieve the complete list of server APIs: no answer, v1: no answer, x.y/v1: no answer"
        );
    }
}
