//! `kdelta api-resources`: what the server serves, in kubectl's columns and order.

use std::io::Write;

use kdelta::api::Discovered;

use super::watched::Watched;
use crate::output::{Column, columns};
use crate::session::Session;
use crate::settings::{ApiResources, Format, ResourceColumn};
use crate::view::escape_cell;

/// Asks the server anew and prints what it serves. What of it could not be asked is told, and is no error.
pub(crate) async fn run(
    session: &Session,
    asked: &ApiResources,
    watched: &Watched,
    mut out: impl Write,
) -> anyhow::Result<()> {
    let catalog = session.cluster().discovery().refresh().await?;
    for missing in catalog.missing() {
        watched.messages().warning(&missing.reason);
    }
    let mut found: Vec<&Discovered> = catalog.preferred().filter(|found| is_asked(asked, found)).collect();
    found.sort_by_key(|found| {
        let Discovered { resource, .. } = found;
        match asked.sort_by {
            None => (&resource.group, &resource.resource),
            Some(ResourceColumn::Name) => (&resource.resource, &resource.group),
            Some(ResourceColumn::Kind) => (&resource.kind, &resource.group),
        }
    });
    if asked.format == Format::Name {
        for found in found {
            writeln!(out, "{}", escape_cell(&found.resource.group_resource()))?;
        }
        return Ok(out.flush()?);
    }
    let wide = asked.format == Format::Table { wide: true };
    let mut headings = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"].map(Column::Text).to_vec();
    if wide {
        headings.extend(["VERBS", "CATEGORIES"].map(Column::Text));
    }
    let rows = found.into_iter().map(|found| row(found, wide));
    Ok(columns(&headings, rows, asked.headers, &mut out)?)
}

fn is_asked(asked: &ApiResources, found: &Discovered) -> bool {
    asked.group.as_ref().is_none_or(|group| *group == found.resource.group)
        && asked.verbs.iter().all(|verb| found.verbs.contains(verb))
        && asked.categories.iter().all(|category| found.categories.contains(category))
        && asked.namespaced.is_none_or(|namespaced| namespaced == found.resource.namespaced)
}

fn row(found: &Discovered, wide: bool) -> Vec<String> {
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
