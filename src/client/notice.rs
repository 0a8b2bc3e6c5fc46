//! What a client has to say beside its answers.

use std::time::Duration;

/// Something that nobody asked for and a user should know. The texts are other people's: whoever shows them cleans them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// What the server warns of, as of an API that is deprecated; each text once.
    Warning(&'a str),
    /// The server's discovery names API groups, versions or resources that can't stand in a URL; they are left out. Once for
    /// each [`Discovery`](crate::api::Discovery).
    UnusableNames {
        /// How many names there are.
        count: usize,
        /// The first of them.
        example: &'a str,
    },
    /// A line that a credential plugin wrote to its standard error, as soon as it is there. At most 4 KiB of a line and
    /// 64 KiB of a run are told.
    Plugin(&'a str),
    /// A credential plugin that may ask its user is about to have standard input and standard error to itself.
    PluginAsks,
    /// That plugin has ended.
    PluginAsked,
    /// For some time that plugin, or issuer, has been waited for, and what needs its credentials stands still. Once for
    /// each log-in.
    Waiting(&'a str),
    /// It is waited for no longer, whatever came of it.
    Waited(&'a str),
    /// A request is repeated, because the server refused it and said when to return (`Retry-After`); for waits of more
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
    /// The server has not responded for some time. Once until it responds again, and once in the middle of a response that
    /// is not a watch's.
    Silent {
        /// `host:port`.
        server: &'a str,
        /// The path of the request.
        path: &'a str,
        /// The silence so far.
        silent: Duration,
        /// The time that the request may take in all, where it is bounded.
        limit: Option<Duration>,
    },
    /// New tokens could not be written into the kubeconfig that the old ones came from: which file, and why. Once for
    /// each log-in.
    TokensNotKept(&'a str),
}

/// Who hears it.
pub(crate) type Listener = std::sync::Arc<dyn Fn(Notice<'_>) + Send + Sync>;
