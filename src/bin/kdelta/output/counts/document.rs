//! The groups of an index as a document, and each changed group as a JSON line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kdelta::object::JsonValue;
use kdelta::query::Number;

use super::group_count::{GroupColumns, GroupCount};
use super::order::OrderedGroups;

/// The members of a JSON object.
type Members<'a> = BTreeMap<Cow<'a, str>, JsonValue<'a>>;

/// A billion billionths are one.
const NANOS: i128 = 1_000_000_000;

/// Returns the document of all groups: `{"index", "values"}` of one index, or `{"indices", "cells", "rows", "columns",
/// "totals"}` of several.
pub(super) fn document<'a>(columns: &'a GroupColumns, ordered: &'a OrderedGroups) -> JsonValue<'a> {
    let all = |groups: &'a [GroupCount]| {
        JsonValue::Array(groups.iter().map(|group| object(group_members(columns, group))).collect())
    };
    let members: Vec<(&'static str, JsonValue<'a>)> = match columns.indices.as_slice() {
        [only] => vec![("index", text(only)), ("values", all(&ordered.groups))],
        several => vec![
            ("indices", JsonValue::Array(several.iter().map(|index| text(index)).collect())),
            ("cells", all(&ordered.groups)),
            ("rows", all(&ordered.rows)),
            ("columns", all(&ordered.columns)),
            ("totals", all(&ordered.totals)),
        ],
    };
    object(members.into_iter().map(|(name, value)| (Cow::Borrowed(name), value)).collect())
}

/// Returns a group as a document of its own, with the name of a single index.
pub(super) fn group<'a>(columns: &'a GroupColumns, group: &'a GroupCount) -> JsonValue<'a> {
    let mut members = group_members(columns, group);
    if let [only] = columns.indices.as_slice() {
        members.insert("index".into(), text(only));
    }
    object(members)
}

/// Returns the members of a group. Its aggregates are numbers in whole units, under the function and the path.
fn group_members<'a>(columns: &'a GroupColumns, group: &'a GroupCount) -> Members<'a> {
    let mut members = Members::new();
    if let Some(contexts) = &columns.contexts {
        members.insert("context".into(), text(contexts.get(group.key.scope).map_or("", String::as_str)));
    }
    members.insert("count".into(), JsonValue::Int(i64::try_from(group.count).unwrap_or(i64::MAX)));
    if let [value] = &*group.key.values {
        members.insert("value".into(), value.as_ref().map_or(JsonValue::Null, |value| text(value)));
    } else {
        let values = group.key.values.iter().zip(&columns.indices);
        let values =
            values.filter_map(|(value, index)| Some((Cow::Borrowed(&**index), text(value.as_ref()?))));
        members.insert("values".into(), object(values.collect()));
    }
    for (heading, result) in columns.aggregates.iter().zip(&group.results) {
        let name = Cow::Borrowed(heading.aggregate.name());
        let of_function = members.entry(name).or_insert_with(|| JsonValue::Object(Vec::new()));
        if let (JsonValue::Object(results), Some(result)) = (of_function, result) {
            results.push((Cow::Borrowed(&*heading.path), number(*result)));
            results.sort_by(|(one, _), (other, _)| one.cmp(other));
            results.dedup_by(|(one, _), (other, _)| one == other);
        }
    }
    members
}

fn object(members: Members<'_>) -> JsonValue<'_> {
    JsonValue::Object(members.into_iter().collect())
}

fn text(text: &str) -> JsonValue<'_> {
    JsonValue::Text(Cow::Borrowed(text))
}

/// Returns a number in whole units: bytes or cores, without a suffix.
fn number(number: Number) -> JsonValue<'static> {
    let nanos = number.nanos();
    match i64::try_from(nanos / NANOS) {
        Ok(whole) if nanos % NANOS == 0 => JsonValue::Int(whole),
        _ => JsonValue::Float(number.plain().parse().unwrap_or_default()),
    }
}
