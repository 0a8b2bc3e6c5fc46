//! The URL parameters of a request, parsed and validated as by a real server.

use std::time::Duration;

use super::kinds::Kind;
use super::refusal::{Cause, Refusal};
use crate::object::{FieldSelector, LabelSelector};

/// The URL parameters as sent, and the client's name.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    parameters: Vec<(String, String)>,
    agent: String,
    applies: bool,
}

/// The treatment of unknown fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Validation {
    /// Removes them silently.
    Ignore,
    /// Removes them with a warning.
    Warn,
    /// Rejects them.
    Strict,
}

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        Self { parameters: form_urlencoded::parse(text.as_bytes()).into_owned().collect(), ..Self::default() }
    }

    /// Sets the name of the client.
    pub(super) fn by(self, agent: &str) -> Self {
        let name = agent.split('/').next().unwrap_or_default();
        Self { agent: name.to_owned(), ..self }
    }

    /// Marks the request as part of an apply.
    pub(super) fn applying(&self) -> Self {
        Self { applies: true, ..self.clone() }
    }

    /// Returns whether this is an apply.
    pub(super) fn applies(&self) -> bool {
        self.applies
    }

    /// Returns the field manager.
    pub(super) fn manager(&self) -> &str {
        match (self.text("fieldManager"), self.agent.as_str()) {
            ("", "") => "unknown",
            ("", agent) => agent,
            (manager, _) => manager,
        }
    }

    /// Returns whether an apply takes over fields of other managers.
    pub(super) fn force(&self) -> bool {
        self.flag("force").unwrap_or(false)
    }

    /// Returns the treatment of unknown fields.
    pub(super) fn validation(&self) -> Validation {
        match self.text("fieldValidation") {
            "Strict" => Validation::Strict,
            "Ignore" => Validation::Ignore,
            _ => Validation::Warn,
        }
    }

    /// Returns the first value of a parameter; empty if absent.
    pub(super) fn text(&self, name: &str) -> &str {
        self.parameters
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
            .unwrap_or_default()
    }

    /// Returns whether there is a parameter of this name, with or without a value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|(own, _)| own == name)
    }

    /// A boolean parameter is true with any value but these.
    fn flag(&self, name: &str) -> Option<bool> {
        let value = &self.parameters.iter().find(|(own, _)| own == name)?.1;
        Some(!["false", "0"].contains(&value.to_lowercase().as_str()))
    }

    fn number(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        let wrong = || Refusal::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"));
        text.parse().map(Some).map_err(|_| wrong())
    }

    /// Returns whether the request must not store anything.
    pub(super) fn dry_run(&self) -> bool {
        !self.text("dryRun").is_empty()
    }
}

/// The selection of objects.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    /// `None` for every namespace.
    pub(super) namespace: Option<String>,
    pub(super) labels: LabelSelector,
    pub(super) fields: FieldSelector,
    /// The resource, if a field must be computed before it can be compared.
    derived: Option<Kind>,
}

impl Selection {
    /// Parses the selectors of a request.
    ///
    /// # Errors
    /// They are invalid, or name an unsupported field.
    pub(super) fn read(query: &Query, kind: &Kind, namespace: Option<&str>) -> Result<Self, Refusal> {
        let wrong = |error: crate::object::SelectorError| Refusal::bad_request(error.to_string());
        let labels = LabelSelector::parse(query.text("labelSelector")).map_err(wrong)?;
        let fields = FieldSelector::parse(query.text("fieldSelector")).map_err(wrong)?;
        if let Some(why) = fields.fields().find_map(|field| kind.refuses_field(field)) {
            return Err(Refusal::bad_request(why));
        }
        let derived = fields.fields().any(|field| kind.derives(field)).then(|| kind.clone());
        Ok(Self { namespace: namespace.map(str::to_owned), labels, fields, derived })
    }

    /// Returns whether every object of the namespace is selected.
    pub(super) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// Returns whether the selectors match; the namespace is not compared.
    pub(super) fn matches(&self, json: &[u8]) -> bool {
        self.is_everything() || (self.labels.matches_json(json) && self.fields_match(json))
    }

    fn fields_match(&self, json: &[u8]) -> bool {
        let Some(kind) = &self.derived else { return self.fields.matches_json(json) };
        let mut object = serde_json::from_slice(json).unwrap_or_default();
        kind.derive(&mut object);
        self.fields.matches_json(object.to_string().as_bytes())
    }
}

/// The requested version of the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The latest.
    Latest,
    /// Any, that is "0".
    Any,
    /// This version, interpreted by the match.
    Version(u64),
}

/// `resourceVersionMatch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Exact,
    NotOlderThan,
}

/// The validated options of a list or watch.
#[derive(Debug, Clone)]
pub(super) struct ListOptions {
    pub(super) watch: bool,
    pub(super) wanted: Wanted,
    pub(super) matching: Option<Match>,
    /// 0 for no limit.
    pub(super) limit: usize,
    pub(super) continue_token: String,
    pub(super) bookmarks: bool,
    pub(super) send_initial_events: Option<bool>,
    pub(super) timeout: Option<Duration>,
}

impl ListOptions {
    /// Parses the options.
    ///
    /// # Errors
    /// As on a real server: invalid numbers, and contradictory options.
    pub(super) fn read(query: &Query) -> Result<Self, Refusal> {
        let watch = query.flag("watch").unwrap_or(false);
        let limit = query.number("limit")?.unwrap_or_default();
        let timeout = query.number("timeoutSeconds")?.filter(|seconds| *seconds > 0);
        let causes = if watch { watch_causes(query) } else { list_causes(query) };
        if !causes.is_empty() {
            return Err(Refusal::invalid_options(&causes));
        }
        Ok(Self {
            watch,
            wanted: wanted(query.text("resourceVersion"), watch)?,
            matching: match query.text("resourceVersionMatch") {
                "Exact" => Some(Match::Exact),
                "NotOlderThan" => Some(Match::NotOlderThan),
                _ => None,
            },
            limit: usize::try_from(limit).unwrap_or_default(),
            continue_token: query.text("continue").to_owned(),
            bookmarks: query.flag("allowWatchBookmarks").unwrap_or(false),
            send_initial_events: query.flag("sendInitialEvents"),
            timeout: timeout.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs),
        })
    }
}

fn wanted(text: &str, watch: bool) -> Result<Wanted, Refusal> {
    match (text, text.parse()) {
        ("", _) => Ok(Wanted::Latest),
        ("0", _) => Ok(Wanted::Any),
        (_, Ok(version)) => Ok(Wanted::Version(version)),
        (_, Err(_)) => {
            let why = format!(
                "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
            );
            Err(if watch {
                Refusal::no_number(why)
            } else {
                Refusal::bad_request(format!("invalid resource version: {why}"))
            })
        }
    }
}

const MATCH: &str = "resourceVersionMatch";

fn list_causes(query: &Query) -> Vec<Cause> {
    let (version, matching) = (query.text("resourceVersion"), query.text(MATCH));
    let mut causes = Vec::new();
    if !matching.is_empty() {
        if version.is_empty() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            causes.push(Cause::forbidden(MATCH, why));
        }
        if !query.text("continue").is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            causes.push(Cause::forbidden(MATCH, why));
        }
        if !["Exact", "NotOlderThan"].contains(&matching) {
            causes.push(Cause::unsupported(MATCH, matching, &["Exact", "NotOlderThan", ""]));
        }
        if matching == "Exact" && version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(Cause::forbidden(MATCH, why));
        }
    }
    if query.flag("sendInitialEvents").is_some() {
        causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    causes
}

fn watch_causes(query: &Query) -> Vec<Cause> {
    let matching = query.text(MATCH);
    let mut causes = Vec::new();
    match query.flag("sendInitialEvents") {
        Some(_) if matching != "NotOlderThan" => {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            causes.push(Cause::forbidden(MATCH, why));
            if !matching.is_empty() {
                causes.push(Cause::unsupported(MATCH, matching, &["NotOlderThan"]));
            }
        }
        None if !matching.is_empty() => {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(Cause::forbidden(MATCH, why));
        }
        _ => {}
    }
    if !matching.is_empty() && !query.text("continue").is_empty() {
        let why = "resourceVersionMatch is forbidden when continue is provided";
        causes.push(Cause::forbidden(MATCH, why));
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::kinds;

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        for (query, code) in [
            ("", 0),
            ("resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=5", 0),
            ("resourceVersionMatch=Exact", 422),
            ("resourceVersion=0&resourceVersionMatch=Exact", 422),
            ("resourceVersion=1&resourceVersionMatch=Foo", 422),
            ("resourceVersion=1&resourceVersionMatch=Exact&continue=x", 422),
            ("sendInitialEvents=false", 422),
            ("resourceVersion=abc", 400),
            ("limit=x", 400),
            ("timeoutSeconds=x", 400),
            ("watch=true&sendInitialEvents=true", 422),
            ("watch=1&sendInitialEvents=true&resourceVersionMatch=Exact", 422),
            ("watch=true&resourceVersionMatch=NotOlderThan", 422),
            ("watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true", 0),
            ("watch=true&resourceVersion=abc", 500),
            ("watch=false&resourceVersion=abc", 400),
        ] {
            let read = ListOptions::read(&Query::parse(query));
            assert_eq!(read.map_or_else(|refusal| refusal.code, |_| 0), code, "{query}");
        }
    }

    #[test]
    fn only_known_fields_select() {
        let pods = kinds::built_in().find(|kind| kind.plural == "pods").expect("pods");
        let read = |query: &str| Selection::read(&Query::parse(query), &pods, None);
        let running =
            read("fieldSelector=status.phase%3DRunning,spec.nodeName!%3Dn1&labelSelector=app%3Dweb")
                .expect("fine");
        let pod = |phase: &str| {
            format!(
                r#"{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"nodeName":"n2"}},"status":{{"phase":"{phase}"}}}}"#
            )
        };
        assert!(running.matches(pod("Running").as_bytes()) && !running.matches(pod("Pending").as_bytes()));
        let refusal = read("fieldSelector=spec.foo%3Dbar").expect_err("unknown");
        let said = String::from_utf8(refusal.json().to_vec()).expect("text");
        assert!(said.contains("field label not supported: spec.foo"), "{said}");
        assert!(read("labelSelector=a+b").is_err());
    }
}
