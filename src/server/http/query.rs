//! The URL parameters of a request, parsed and validated as by a real server.

use std::time::Duration;

use crate::server::api_error::{ApiError, Cause};

/// The URL parameters as sent, and the client's name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    parameters: Vec<(String, String)>,
    agent: String,
    applies: bool,
}

/// The treatment of unknown fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validation {
    /// Removes them silently.
    Ignore,
    /// Removes them with a warning.
    Warn,
    /// Rejects them.
    Strict,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        Self { parameters: form_urlencoded::parse(text.as_bytes()).into_owned().collect(), ..Self::default() }
    }

    /// Sets the name of the client.
    pub(crate) fn by(self, agent: &str) -> Self {
        let name = agent.split('/').next().unwrap_or_default();
        Self { agent: name.to_owned(), ..self }
    }

    /// Marks the request as part of an apply.
    pub(crate) fn applying(&self) -> Self {
        Self { applies: true, ..self.clone() }
    }

    /// Returns whether this is an apply.
    pub(crate) fn applies(&self) -> bool {
        self.applies
    }

    /// Returns the field manager.
    pub(crate) fn manager(&self) -> &str {
        match (self.text("fieldManager"), self.agent.as_str()) {
            ("", "") => "unknown",
            ("", agent) => agent,
            (manager, _) => manager,
        }
    }

    /// Returns whether an apply takes over fields of other managers.
    pub(crate) fn force(&self) -> bool {
        self.flag("force").unwrap_or(false)
    }

    /// Returns the treatment of unknown fields.
    pub(crate) fn validation(&self) -> Validation {
        match self.text("fieldValidation") {
            "Strict" => Validation::Strict,
            "Ignore" => Validation::Ignore,
            _ => Validation::Warn,
        }
    }

    /// Returns the first value of a parameter; empty if absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.parameters
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
            .unwrap_or_default()
    }

    /// Returns whether there is a parameter of this name, with or without a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|(own, _)| own == name)
    }

    /// A boolean parameter is true with any value but these.
    fn flag(&self, name: &str) -> Option<bool> {
        let value = &self.parameters.iter().find(|(own, _)| own == name)?.1;
        Some(!["false", "0"].contains(&value.to_lowercase().as_str()))
    }

    fn number(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        let invalid = || ApiError::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"));
        text.parse().map(Some).map_err(|_| invalid())
    }

    /// Returns whether the request must not store anything.
    pub(crate) fn dry_run(&self) -> bool {
        !self.text("dryRun").is_empty()
    }
}

/// The requested version of the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedVersion {
    /// The latest.
    Latest,
    /// Any, that is "0".
    Any,
    /// This version, interpreted by the match.
    Version(u64),
}

/// `resourceVersionMatch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    Exact,
    NotOlderThan,
}

/// The validated options of a list or watch.
#[derive(Debug, Clone)]
pub(crate) struct ListOptions {
    pub(crate) watch: bool,
    pub(crate) version: RequestedVersion,
    pub(crate) version_match: Option<VersionMatch>,
    /// 0 for no limit.
    pub(crate) limit: usize,
    pub(crate) continue_token: String,
    pub(crate) bookmarks: bool,
    pub(crate) send_initial_events: Option<bool>,
    pub(crate) timeout: Option<Duration>,
}

impl ListOptions {
    /// Parses the options.
    ///
    /// # Errors
    /// As on a real server: invalid numbers, and contradictory options.
    pub(crate) fn read(query: &Query) -> Result<Self, ApiError> {
        let watch = query.flag("watch").unwrap_or(false);
        let limit = query.number("limit")?.unwrap_or_default();
        let timeout = query.number("timeoutSeconds")?.filter(|seconds| *seconds > 0);
        let causes = if watch { watch_causes(query) } else { list_causes(query) };
        if !causes.is_empty() {
            return Err(ApiError::invalid_options(&causes));
        }
        Ok(Self {
            watch,
            version: requested_version(query.text("resourceVersion"), watch)?,
            version_match: match query.text("resourceVersionMatch") {
                "Exact" => Some(VersionMatch::Exact),
                "NotOlderThan" => Some(VersionMatch::NotOlderThan),
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

fn requested_version(text: &str, watch: bool) -> Result<RequestedVersion, ApiError> {
    match (text, text.parse()) {
        ("", _) => Ok(RequestedVersion::Latest),
        ("0", _) => Ok(RequestedVersion::Any),
        (_, Ok(version)) => Ok(RequestedVersion::Version(version)),
        (_, Err(_)) => {
            let why = format!(
                "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
            );
            Err(if watch {
                ApiError::invalid_watch_version(why)
            } else {
                ApiError::bad_request(format!("invalid resource version: {why}"))
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

    #[test]
    fn contradictory_options_are_rejected() {
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
            assert_eq!(read.map_or_else(|error| error.code, |_| 0), code, "{query}");
        }
    }
}
