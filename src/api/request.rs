//! What is asked of a server: always a GET.

use std::borrow::Cow;
use std::time::Duration;

/// A request to read something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The path below the server's URL, with its leading `/` and already escaped.
    pub path: String,
    /// Query parameters, not yet escaped, in the order they are sent.
    pub query: Vec<(Cow<'static, str>, String)>,
    /// The representations asked for, best first.
    pub accept: Cow<'static, str>,
    /// How long the answer may take, its body included; `None` is as long as it takes.
    pub timeout: Option<Duration>,
}

impl Request {
    /// A request for plain JSON without parameters.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            query: Vec::new(),
            accept: Cow::Borrowed("application/json"),
            timeout: None,
        }
    }

    /// The same, asking for these representations.
    #[must_use]
    pub fn accept(mut self, accept: impl Into<Cow<'static, str>>) -> Self {
        self.accept = accept.into();
        self
    }

    /// The same with one more query parameter.
    #[must_use]
    pub fn query(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Whether it asks for a watch, whose answer goes on.
    pub(super) fn is_watch(&self) -> bool {
        self.query.iter().any(|(name, value)| name == "watch" && value == "true")
    }

    /// The same with a limit on the time of the whole answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }
}
