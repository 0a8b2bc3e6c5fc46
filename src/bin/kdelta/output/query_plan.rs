//! The plan of a query: text for a person, or a JSON document.

use std::borrow::Cow;
use std::io::{self, Write};

use kdelta::object::JsonValue;

use super::typed::{TypedDocuments, TypedFormat};
use crate::view::escape_line;

/// The plan of a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct QueryPlan {
    /// The facts that must be known before the parts are, such as the namespaces that match a pattern.
    pub(crate) first: Vec<PlannedRequest>,
    pub(crate) parts: Vec<PartPlan>,
    /// The requests that depend on the responses to those of the parts.
    pub(crate) later: Vec<String>,
}

/// The plan of a collection or object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PartPlan {
    /// Its title, such as `prod: pods`.
    pub(crate) title: String,
    /// The requests in the order in which they are sent.
    pub(crate) requests: Vec<PlannedRequest>,
    /// The received form of each object, and why.
    pub(crate) received: String,
    pub(crate) reasons: Vec<String>,
    /// The conditions that the server evaluates.
    pub(crate) server: Vec<String>,
    /// The conditions that are evaluated here.
    pub(crate) local: Vec<String>,
    /// The data that is kept of each object.
    pub(crate) kept: String,
}

/// A request that would be sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PlannedRequest {
    /// The path with its query.
    pub(crate) path: String,
    /// The accepted representations.
    pub(crate) accept: String,
    /// The purpose among several requests; empty if it is the only one.
    pub(crate) purpose: &'static str,
}

/// Writes a plan as text.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_plan(plan: &QueryPlan, out: &mut impl Write) -> io::Result<()> {
    let nothing = || vec!["nothing".to_owned()];
    let or_nothing = |texts: &[String]| if texts.is_empty() { nothing() } else { texts.to_vec() };
    if !plan.first.is_empty() {
        writeln!(out, "before")?;
        rows("request", &requests(&plan.first), out)?;
    }
    for part in &plan.parts {
        writeln!(out, "{}", escape_line(&part.title))?;
        rows("request", &requests(&part.requests), out)?;
        let because = part.reasons.iter().map(|reason| format!("because {reason}"));
        rows("receives", &std::iter::once(part.received.clone()).chain(because).collect::<Vec<_>>(), out)?;
        rows("server", &or_nothing(&part.server), out)?;
        rows("here", &or_nothing(&part.local), out)?;
        rows("keeps", std::slice::from_ref(&part.kept), out)?;
    }
    if !plan.later.is_empty() {
        writeln!(out, "after, depending on the responses")?;
        rows("request", &plan.later, out)?;
    }
    out.flush()
}

/// Returns two lines for each request.
fn requests(requests: &[PlannedRequest]) -> Vec<String> {
    let lines = |request: &PlannedRequest| {
        let purpose =
            if request.purpose.is_empty() { String::new() } else { format!("   ({})", request.purpose) };
        [format!("GET {}{purpose}", request.path), format!("    Accept: {}", request.accept)]
    };
    requests.iter().flat_map(lines).collect()
}

/// Writes lines behind a label in front of the first.
fn rows(label: &str, lines: &[String], out: &mut impl Write) -> io::Result<()> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    for (label, line) in labels.zip(lines) {
        writeln!(out, "  {label:<9} {}", escape_line(line))?;
    }
    Ok(())
}

/// Writes a plan as a JSON document. `for_terminal` is whether a terminal displays it.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_plan_json(plan: &QueryPlan, for_terminal: bool, out: &mut impl Write) -> io::Result<()> {
    let parts = JsonValue::Array(plan.parts.iter().map(part).collect());
    let (before, after) = (request_values(&plan.first), texts_of(&plan.later));
    let document = object([("after", after), ("before", before), ("parts", parts)]);
    TypedDocuments::new(TypedFormat::Json, for_terminal).document(&document, out)?;
    out.flush()
}

fn part(part: &PartPlan) -> JsonValue<'_> {
    object([
        ("keeps", text(&part.kept)),
        ("local", texts_of(&part.local)),
        ("reasons", texts_of(&part.reasons)),
        ("receives", text(&part.received)),
        ("requests", request_values(&part.requests)),
        ("server", texts_of(&part.server)),
        ("title", text(&part.title)),
    ])
}

fn texts_of(texts: &[String]) -> JsonValue<'_> {
    JsonValue::Array(texts.iter().map(|each| text(each)).collect())
}

fn request_values<'a>(requests: &'a [PlannedRequest]) -> JsonValue<'a> {
    let value = |request: &'a PlannedRequest| {
        let PlannedRequest { path, accept, purpose } = request;
        object([("accept", text(accept)), ("path", text(path)), ("purpose", text(purpose))])
    };
    JsonValue::Array(requests.iter().map(value).collect())
}

/// Members are sorted by their names.
fn object<'a, const N: usize>(members: [(&'static str, JsonValue<'a>); N]) -> JsonValue<'a> {
    JsonValue::Object(members.into_iter().map(|(name, value)| (Cow::Borrowed(name), value)).collect())
}

fn text(text: &str) -> JsonValue<'_> {
    JsonValue::Text(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> QueryPlan {
        let request =
            |path: &str, purpose| PlannedRequest { path: path.into(), accept: "a/b".into(), purpose };
        QueryPlan {
            first: Vec::new(),
            parts: vec![PartPlan {
                title: "pods\n".into(),
                requests: vec![request("/api/v1/pods?limit=500", "first"), request("/api/v1/pods", "")],
                received: "rows".into(),
                reasons: vec!["the table has no other cells".into()],
                server: vec!["labels: app=web".into()],
                local: Vec::new(),
                kept: "nothing".into(),
            }],
            later: vec!["owners".into()],
        }
    }

    #[test]
    fn text_has_a_label_for_each_step() {
        let mut out = Vec::new();
        write_plan(&plan(), &mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "pods\\n\n\
             \x20 request   GET /api/v1/pods?limit=500   (first)\n\
             \x20               Accept: a/b\n\
             \x20           GET /api/v1/pods\n\
             \x20               Accept: a/b\n\
             \x20 receives  rows\n\
             \x20           because the table has no other cells\n\
             \x20 server    labels: app=web\n\
             \x20 here      nothing\n\
             \x20 keeps     nothing\n\
             after, depending on the responses\n\
             \x20 request   owners\n"
        );
    }

    #[test]
    fn document_has_sorted_members() {
        let mut out = Vec::new();
        write_plan_json(&plan(), false, &mut out).expect("a Vec takes all");
        let value: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(value["parts"][0]["requests"][0]["path"], "/api/v1/pods?limit=500");
        assert_eq!(value["parts"][0]["local"], serde_json::json!([]));
        assert_eq!((&value["before"], &value["after"][0]), (&serde_json::json!([]), &"owners".into()));
        let text = String::from_utf8(out).expect("text");
        let at = |name: &str| text.find(&format!("\"{name}\"")).expect(name);
        assert!(
            ["keeps", "local", "reasons", "receives", "requests", "server", "title"]
                .is_sorted_by_key(|name| at(name))
        );
    }
}
