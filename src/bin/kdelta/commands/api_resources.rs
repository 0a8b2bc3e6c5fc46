//! `kdelta api-resources`: the types that the server serves, in kubectl's columns and order.

use std::io::Write;

use kdelta::wire::DiscoveredResource;

use super::reporter::Reporter;
use crate::output::{Column, columns};
use crate::session::Session;
use crate::settings::{ApiResources, Format, ResourceColumn};
use crate::view::escape_cell;

/// Requests discovery from the server and prints the types that it serves. Groups whose discovery fails are reported as
/// warnings.
pub(crate) async fn run(
    session: &Session,
    request: &ApiResources,
    reporter: &Reporter,
    mut out: impl Write,
) -> anyhow::Result<()> {
    let catalog = session.cluster().discovery().refresh().await?;
    for missing in catalog.missing() {
        reporter.messages().warning(&missing.reason);
    }
    let mut found: Vec<&DiscoveredResource> =
        catalog.preferred().filter(|found| is_requested(request, found)).collect();
    found.sort_by_key(|found| {
        let DiscoveredResource { resource, .. } = found;
        match request.sort_by {
            None => (&resource.group, &resource.resource),
            Some(ResourceColumn::Name) => (&resource.resource, &resource.group),
            Some(ResourceColumn::Kind) => (&resource.kind, &resource.group),
        }
    });
    if request.format == Format::Name {
        for found in found {
            writeln!(out, "{}", escape_cell(&found.resource.group_resource()))?;
        }
        return Ok(out.flush()?);
    }
    let wide = request.format == Format::Table { wide: true };
    let mut headings = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"].map(Column::Text).to_vec();
    if wide {
        headings.extend(["VERBS", "CATEGORIES"].map(Column::Text));
    }
    let rows = found.into_iter().map(|found| row(found, wide));
    Ok(columns(&headings, rows, request.headers, &mut out)?)
}

fn is_requested(request: &ApiResources, found: &DiscoveredResource) -> bool {
    request.group.as_ref().is_none_or(|group| *group == found.resource.group)
        && request.verbs.iter().all(|verb| found.verbs.contains(verb))
        && request.categories.iter().all(|category| found.categories.contains(category))
        && request.namespaced.is_none_or(|namespaced| namespaced == found.resource.namespaced)
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
