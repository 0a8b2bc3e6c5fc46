//! The document of a summary. A published field keeps its name and meaning; fields may be added.

use kdelta::recording::Gap;
use serde_json::{Map, Value, json};

use super::range::SummaryRange;
use crate::view::summary::{ChangeGroup, ChangeSummary, ReasonCounts};

/// The key of an unknown reason.
const UNKNOWN: &str = "Unknown";

/// Returns the document.
pub(super) fn document(range: &SummaryRange, summary: &ChangeSummary) -> Value {
    let SummaryRange { context, since, until, gaps } = range;
    let ChangeSummary { changes, objects, groups } = summary;
    json!({
        "context": **context,
        "since": since.to_string(),
        "until": until.to_string(),
        "changes": changes,
        "objects": objects,
        "gaps": gaps.iter().map(gap).collect::<Vec<_>>(),
        "groups": groups.iter().map(group).collect::<Vec<_>>(),
    })
}

/// Returns a gap; one of all types has no `resource`.
fn gap(gap: &Gap) -> Value {
    let Gap { from, to, resource, namespace, except } = gap;
    let mut document = json!({"from": from.to_string(), "to": to.to_string()});
    if let Some(resource) = resource {
        document["group"] = resource.group.as_str().into();
        document["resource"] = resource.resource.as_str().into();
        document["namespace"] = (**namespace).into();
        document["except"] = except.iter().map(|namespace| &**namespace).collect();
    }
    document
}

fn group(group: &ChangeGroup) -> Value {
    let ChangeGroup {
        group: api_group,
        kind,
        namespace,
        name,
        root_appeared,
        root_vanished,
        root_recreated,
        root_unready: _,
        objects,
        changes,
        unready,
        unready_reasons,
        recovered,
        restarts,
        content_changes,
        fields,
        appeared,
        vanished,
        warnings,
    } = group;
    json!({
        "group": api_group,
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "importance": group.importance().as_str(),
        "created": root_appeared,
        "deleted": root_vanished,
        "recreated": root_recreated,
        "objects": objects,
        "changes": changes,
        "unready": unready,
        "unreadyReasons": reasons(unready_reasons),
        "recovered": reasons(recovered),
        "restarts": reasons(restarts),
        "contentChanges": content_changes,
        "fields": fields,
        "appeared": appeared,
        "vanished": vanished,
        "warnings": reasons(warnings),
    })
}

/// Returns the counts by reason.
fn reasons(counts: &ReasonCounts) -> Value {
    let known = counts.by_count();
    let rest = counts.total() - known.iter().map(|(_, count)| count).sum::<u64>();
    let mut members: Map<String, Value> =
        known.into_iter().map(|(reason, count)| (reason.to_owned(), count.into())).collect();
    if rest > 0 {
        members.insert(UNKNOWN.to_owned(), rest.into());
    }
    Value::Object(members)
}
