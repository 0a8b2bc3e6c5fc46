//! A GET request to a server. The client sends no other method.

use std::borrow::Cow;
use std::time::Duration;

/// A GET request, relative to the server's URL. [`Client::send`](super::Client::send) sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The path below the server's URL, with its leading `/` and already escaped.
    pub path: String,
    /// Query parameters, not yet escaped, in order.
    pub query: Vec<(Cow<'static, str>, String)>,
    /// The accepted representations, in order of preference.
    pub accept: Cow<'static, str>,
    /// The time limit for the response with its body; `None` is unlimited.
    pub timeout: Option<Duration>,
    /// The limit that the caller itself sets for a silence of the server, before the response or within it. The client does
    /// not enforce the limit; it only includes it in [`Notice::Silent`](crate::client::Notice::Silent).
    pub silence_limit: Option<Duration>,
}

impl Request {
    /// Returns a request for plain JSON without parameters.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            query: Vec::new(),
            accept: Cow::Borrowed("application/json"),
            timeout: None,
            silence_limit: None,
        }
    }

    /// Sets the accepted representations.
    #[must_use]
    pub fn accept(mut self, accept: impl Into<Cow<'static, str>>) -> Self {
        self.accept = accept.into();
        self
    }

    /// Adds a query parameter.
    #[must_use]
    pub fn query(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Returns the path with the query, escaped as it is sent.
    #[must_use]
    pub fn path_and_query(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(&self.query);
        format!("{}?{}", self.path, query.finish())
    }

    /// Returns whether it requests a watch, whose response is endless.
    pub(super) fn is_watch(&self) -> bool {
        self.query.iter().any(|(name, value)| name == "watch" && value == "true")
    }

    /// Returns whether it requests a watch that first sends the initial state, in which silence is not normal.
    pub(super) fn has_initial_state(&self) -> bool {
        self.query.iter().any(|(name, value)| name == "sendInitialEvents" && value == "true")
    }

    /// Sets the time limit for the whole response.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the caller's limit for a silence of the server, for reports.
    #[must_use]
    pub fn silence_limit(mut self, limit: Option<Duration>) -> Self {
        self.silence_limit = limit;
        self
    }
}
