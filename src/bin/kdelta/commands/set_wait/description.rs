//! Descriptions of a wait: its state in one line, its objects, and its result.

use jiff::Timestamp;
use kdelta::object::Key;
use kdelta::query::{DecidingObject, MissingObject, Quantifier, WaitFailure, WaitMet};

use super::progress::WaitProgress;
use crate::output::{ConditionResult, ResultObject, WaitResult};
use crate::session::Part;
use crate::settings::{SetCondition, SetWait};

/// The number of objects that the line of the state names.
const MAX_NAMED: usize = 3;
/// The number of objects that a result names.
const MAX_MISSING: usize = 100;

/// Returns the conditions as they were written.
fn conditions(wait: &SetWait) -> String {
    let texts: Vec<&str> = wait.conditions.iter().map(SetCondition::text).collect();
    texts.join(" and ")
}

/// Returns the state in one line: `3/5 ready; web-1: ContainersNotReady (ImagePullBackOff 2m)`.
pub(super) fn state(wait: &SetWait, progress: &WaitProgress) -> String {
    let (met, total) = progress.machine.progress();
    let conditions = conditions(wait);
    let needed = match wait.quantifier {
        Quantifier::All => String::new(),
        Quantifier::Any => ", 1 is needed".to_owned(),
        Quantifier::None => ", none may be".to_owned(),
        Quantifier::AtLeast(least) => format!(", {least} are needed"),
        Quantifier::AtMost(most) => format!(", {most} may be"),
    };
    let mut pieces = vec![format!("{met}/{total} {conditions}{needed}")];
    if let Some(since) = progress.machine.held_since() {
        let held = progress.elapsed().saturating_sub(since).as_secs();
        pieces.push(format!("for {held}s of {}s", wait.stable.as_secs()));
        return pieces.join("; ");
    }
    let unknown = progress.targets().iter().filter(|target| !target.has_parts());
    pieces.extend(unknown.map(|target| format!("{}: not known yet", target.title)));
    let now = progress.now().wall;
    let missing = progress.machine.missing().take(MAX_NAMED);
    pieces.extend(
        missing.map(|missing| format!("{}: {}", short_name(progress, &missing), reason(&missing, now))),
    );
    let more = progress.machine.missing().count().saturating_sub(MAX_NAMED);
    if more > 0 {
        pieces.push(format!("{more} more"));
    }
    pieces.join("; ")
}

/// Returns why an object keeps the wait from its end.
pub(super) fn reason(missing: &MissingObject<'_>, now: Timestamp) -> String {
    match (missing.key, missing.reason) {
        (None, _) => "not found".to_owned(),
        (Some(_), Some(reason)) => reason.text(now),
        (Some(_), None) => "meets the condition".to_owned(),
    }
}

/// Returns the name of an object, with its type and namespace if these vary.
fn short_name(progress: &WaitProgress, missing: &MissingObject<'_>) -> String {
    let Some(part) = progress.part(missing.part) else { return String::new() };
    let (types, namespaces) = progress.varies();
    let (namespace, name) = names(part, missing.key);
    let mut text = String::new();
    if types {
        text.push_str(&part.resource.resource);
        text.push('/');
    }
    if namespaces && !namespace.is_empty() {
        text.push_str(namespace);
        text.push('/');
    }
    text + name
}

/// Returns the namespace and the name of an object, or of the one that a part names.
fn names<'a>(part: &'a Part, key: Option<&'a Key>) -> (&'a str, &'a str) {
    match key {
        Some(key) => key.split_once('/').unwrap_or(("", key)),
        None => (&part.namespace, part.name.as_deref().unwrap_or_default()),
    }
}

/// Returns the description of an object of a part.
pub(super) fn object(part: &Part, key: Option<&Key>) -> ResultObject {
    let (namespace, name) = names(part, key);
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ResultObject {
        context: if part.prefix.is_empty() { None } else { some(&part.context) },
        resource: part.resource.group_resource(),
        title: format!("{}{}/{name}", part.prefix, part.resource.group_kind_lower()),
        namespace: some(namespace),
        name: some(name),
        uid: None,
        resource_version: None,
        gone: false,
        reason: None,
    }
}

fn deciding(progress: &WaitProgress, by: Option<&DecidingObject>) -> Option<ResultObject> {
    let by = by?;
    let some = |text: String| (!text.is_empty()).then_some(text);
    Some(ResultObject {
        uid: some(by.uid.to_string()),
        resource_version: some(by.version.to_string()),
        gone: by.is_gone,
        ..object(progress.part(by.part)?, Some(&by.key))
    })
}

/// Returns the result without what depends on the end.
fn result(wait: &SetWait, progress: &WaitProgress, result: &'static str, at: Timestamp) -> WaitResult {
    let (met, total) = progress.machine.progress();
    let conditions = wait.conditions.iter();
    WaitResult {
        result,
        quantifier: match wait.quantifier {
            Quantifier::All => "all".to_owned(),
            Quantifier::Any => "any".to_owned(),
            Quantifier::None => "none".to_owned(),
            Quantifier::AtLeast(least) => format!("at-least {least}"),
            Quantifier::AtMost(most) => format!("at-most {most}"),
        },
        met,
        total,
        conditions: conditions
            .map(|condition| ConditionResult { text: condition.text().to_owned(), branch: None })
            .collect(),
        since: None,
        at: at.to_string(),
        is_recorded: wait.replay.is_some(),
        by: None,
        reason: None,
        missing: Vec::new(),
    }
}

/// Returns the result of a wait whose conditions hold.
pub(super) fn met(wait: &SetWait, progress: &WaitProgress, met: &WaitMet) -> WaitResult {
    let mut result = result(wait, progress, "met", met.at.wall);
    for (condition, branch) in result.conditions.iter_mut().zip(&met.branches) {
        condition.branch.clone_from(branch);
    }
    let since = (!wait.stable.is_zero()).then(|| met.since.wall.to_string());
    WaitResult { since, by: deciding(progress, met.by.as_ref()), met: met.met, total: met.total, ..result }
}

/// Returns the result of a wait that has failed for good.
pub(super) fn failed(wait: &SetWait, progress: &WaitProgress, failure: &WaitFailure) -> WaitResult {
    let by = deciding(progress, failure.by.as_ref());
    let reason = Some(failure.reason.clone());
    let missing = missing(progress, failure.at.wall);
    WaitResult { by, reason, missing, ..result(wait, progress, "failed", failure.at.wall) }
}

/// Returns the result of a wait whose time has passed.
pub(super) fn timed_out(wait: &SetWait, progress: &WaitProgress) -> WaitResult {
    let now = progress.now().wall;
    WaitResult { missing: missing(progress, now), ..result(wait, progress, "timedOut", now) }
}

/// Returns the objects that keep the wait from its end, with their reasons.
fn missing(progress: &WaitProgress, now: Timestamp) -> Vec<ResultObject> {
    let all = progress.machine.missing().take(MAX_MISSING);
    let described = all.filter_map(|missing| {
        let part = progress.part(missing.part)?;
        Some(ResultObject { reason: Some(reason(&missing, now)), ..object(part, missing.key) })
    });
    described.collect()
}
