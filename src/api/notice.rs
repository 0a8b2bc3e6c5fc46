//! What a client has to say beside its answers.

/// Something that nobody asked for and a user should know. The texts are other people's: whoever shows them cleans them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// What the server warns of, as of an API that is deprecated; each text once.
    Warning(&'a str),
    /// The server's discovery names API groups, versions or resources that can't stand in a URL; they are left out. Once for
    /// each [`Discovery`](super::Discovery).
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
    /// New tokens could not be written into the kubeconfig that the old ones came from: which file, and why. Once for
    /// each log-in.
    TokensNotKept(&'a str),
}

/// Who hears it.
pub(super) type Listener = std::sync::Arc<dyn Fn(Notice<'_>) + Send + Sync>;
