//! Notices of a client to its user, apart from responses.

use std::time::Duration;

/// An event that a user should know of. Its texts come from servers and plugins: escape them before printing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// A warning of the server, such as for a deprecated API; each text once.
    Warning(&'a str),
    /// The server's discovery contains names of API groups, versions or resources that are not valid in a URL; they
    /// are skipped. Once for each [`Discovery`](crate::api::Discovery).
    UnusableNames {
        /// The number of names.
        count: usize,
        /// The first of them.
        example: &'a str,
    },
    /// A line that a credential plugin wrote to its standard error, as soon as it arrives. At most 4 KiB of a line
    /// and 64 KiB of a run.
    Plugin(&'a str),
    /// A credential plugin that may prompt the user is about to take standard input and standard error.
    TerminalTaken,
    /// That plugin has ended.
    TerminalReleased,
    /// A plugin or issuer has been working for some time, and requests wait for its credentials. Once for each login.
    LoginPending(&'a str),
    /// The plugin or issuer has finished, with or without success.
    LoginDone(&'a str),
    /// A request is repeated, because the server refused it and named a time to return (`Retry-After`); for waits of more
    /// than 2 s.
    Retrying {
        /// `host:port`.
        server: &'a str,
        /// The path of the request.
        path: &'a str,
        /// The reason for the refusal.
        reason: &'a str,
        /// The wait before the next try.
        after: Duration,
    },
    /// A request has waited for the server for more than 2 s. Once for each response that does not begin, and once for each
    /// pause in a response, except in a watch after its initial state. Of requests that wait for their responses at the same time one is
    /// reported, and another when the wait of that one ends.
    Silent {
        /// `host:port`.
        server: &'a str,
        /// The path of the request.
        path: &'a str,
        /// The silence so far.
        silent: Duration,
        /// The longest time that the wait may take, from its beginning; `None` without a limit.
        limit: Option<Duration>,
    },
    /// New tokens could not be saved in the kubeconfig that the old ones came from: the file and the reason. Once for
    /// each login.
    TokensNotSaved(&'a str),
}

/// Receives notices. It must not block.
pub type NoticeListener = std::sync::Arc<dyn Fn(Notice<'_>) + Send + Sync>;
