//! The log of requests and responses, through `tracing` and without credentials.
//!
//! Each target adds a detail, and costs a comparison per request while it is off:
//! - `kdelta::http`, at DEBUG: method, URL, status and time of each request;
//! - `kdelta::http::request`, at TRACE: the headers of a request, before it is sent;
//! - `kdelta::http::response`, at TRACE: the headers of a response, and the first kilobyte of its body;
//! - `kdelta::http::body`, at TRACE: up to a megabyte of the body, each event of a watch, and a curl command.

mod body;
mod targets;
mod text;

pub(crate) use body::BodyLog;

use std::time::Instant;

use bytes::Bytes;
use http::{Request, StatusCode, Version, response};
use tracing::{Level, debug, enabled, trace};

use self::targets::{BODY, REQUEST_HEADERS, REQUESTS, RESPONSE};
use self::text::{curl, header_lines, may_hold_credentials, shown_url};
use super::failure::sentence;
use super::redaction::Redaction;

/// The log of the requests to one server.
#[derive(Clone, Default)]
pub(crate) struct RequestLog {
    /// The credentials that are sent, which a server may repeat.
    redaction: Redaction,
    /// Whether every body holds credentials, as with a token issuer.
    is_private: bool,
}

impl RequestLog {
    /// Returns the log of an API server's client, whose credentials are masked.
    pub(crate) fn new(redaction: Redaction) -> Self {
        Self { redaction, is_private: false }
    }

    /// Returns the log of a token issuer's client, which shows no bodies.
    pub(crate) fn of_issuer(redaction: Redaction) -> Self {
        Self { redaction, is_private: true }
    }

    /// Logs the start of a request; `None` if requests are not logged.
    pub(crate) fn begin(&self, request: &Request<Bytes>) -> Option<LoggedRequest> {
        if !enabled!(target: REQUESTS, Level::DEBUG) {
            return None;
        }
        let masked = |text: &str| self.redaction.apply(text).into_owned();
        let url = masked(&shown_url(request.uri()));
        let title = format!("{} {url}", request.method());
        if enabled!(target: REQUEST_HEADERS, Level::TRACE) {
            let headers = masked(&header_lines(request.headers()));
            trace!(target: REQUEST_HEADERS, "{title}{headers}");
        }
        if enabled!(target: BODY, Level::TRACE) {
            let command = masked(&curl(request.method(), &url, request.headers()));
            trace!(target: BODY, "{command}");
        }
        Some(LoggedRequest {
            title,
            redaction: self.redaction.clone(),
            is_private: self.is_private,
            may_hold_credentials: may_hold_credentials(request.uri().path()),
            is_watch: request.uri().query().is_some_and(is_watch),
            started: Some(Instant::now()),
        })
    }
}

fn is_watch(query: &str) -> bool {
    query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

/// A request without a response so far. Dropping it logs that it was given up.
pub(crate) struct LoggedRequest {
    /// Method and URL.
    title: String,
    redaction: Redaction,
    is_private: bool,
    may_hold_credentials: bool,
    is_watch: bool,
    /// `None` once the response has begun or the request has failed.
    started: Option<Instant>,
}

impl LoggedRequest {
    /// Logs the head of the response. Returns the log of its body, if bodies are logged.
    pub(crate) fn responded(mut self, head: &response::Parts) -> Option<BodyLog> {
        let title = &self.title;
        let milliseconds = take_milliseconds(&mut self.started)?;
        debug!(target: REQUESTS, "{title} {} in {milliseconds} milliseconds", status(head.status));
        if !enabled!(target: RESPONSE, Level::TRACE) {
            return None;
        }
        let headers = self.redaction.apply(&header_lines(&head.headers)).into_owned();
        trace!(target: RESPONSE, "{title} {}{headers}", status_line(head.version, head.status));
        // The Status of a refusal holds no data.
        if self.is_private || (self.may_hold_credentials && head.status.is_success()) {
            trace!(target: RESPONSE, "{title} body not shown: it may hold credentials");
            return None;
        }
        Some(BodyLog::new(title.clone(), &head.headers, self.redaction.clone(), self.is_watch))
    }

    /// Logs the failure of a request without a response.
    pub(crate) fn failed(mut self, error: &(dyn std::error::Error + 'static)) {
        if let Some(milliseconds) = take_milliseconds(&mut self.started) {
            let reason = sentence(error);
            let reason = self.redaction.apply(&reason);
            debug!(target: REQUESTS, "{} failed in {milliseconds} milliseconds: {reason}", self.title);
        }
    }
}

impl Drop for LoggedRequest {
    fn drop(&mut self) {
        if let Some(milliseconds) = take_milliseconds(&mut self.started) {
            debug!(target: REQUESTS, "{} given up after {milliseconds} milliseconds", self.title);
        }
    }
}

fn take_milliseconds(started: &mut Option<Instant>) -> Option<u128> {
    started.take().map(|started| started.elapsed().as_millis())
}

/// `200 OK`, or the code alone if it is not a standard one.
fn status(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn status_line(version: Version, code: StatusCode) -> String {
    format!("{version:?} {}", status(code))
}

#[cfg(test)]
mod tests;
