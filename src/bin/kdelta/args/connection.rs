//! The flags of every command: connection and terminal.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use kdelta::kubeconfig::Secret;

/// The flags of a connection. They are global: kubectl takes them before and after the command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection (as in kubectl)")]
pub(crate) struct ConnectionArgs {
    /// Path of the kubeconfig file to use
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig to use; several as a,b or 'prod-*'
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// All contexts of the kubeconfig; overrides --context
    #[arg(long, global = true)]
    pub(crate) all_contexts: bool,

    /// The cluster of the kubeconfig to use
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    pub(crate) cluster: Option<String>,

    /// The user of the kubeconfig to use
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// The namespace; several as a,b or 'team-*'
    #[arg(short, long, global = true, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Address and port of the API server
    #[arg(short, long, global = true, hide_short_help = true, value_name = "URL")]
    pub(crate) server: Option<String>,

    /// Bearer token to authenticate with; other users of this machine can see it: prefer --token-file
    #[arg(long, global = true, hide_short_help = true, value_name = "TOKEN")]
    pub(crate) token: Option<Secret>,

    /// File that holds the bearer token
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE", conflicts_with = "token")]
    pub(crate) token_file: Option<PathBuf>,

    /// User name for basic authentication
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    pub(crate) username: Option<String>,

    /// Password for basic authentication; other users of this machine can see it
    #[arg(long, global = true, hide_short_help = true, value_name = "PASSWORD")]
    pub(crate) password: Option<Secret>,

    /// User to impersonate
    #[arg(long = "as", global = true, hide_short_help = true, value_name = "USER")]
    pub(crate) as_user: Option<String>,

    /// UID to impersonate
    #[arg(long, global = true, hide_short_help = true, value_name = "UID")]
    pub(crate) as_uid: Option<String>,

    /// Group to impersonate; may be repeated
    #[arg(long, global = true, hide_short_help = true, value_name = "GROUP")]
    pub(crate) as_group: Vec<String>,

    /// Extra of the user to impersonate; may be repeated
    #[arg(long, global = true, hide_short_help = true, value_name = "KEY=VALUE")]
    pub(crate) as_user_extra: Vec<String>,

    /// Certificate file of the authority that signed the server's certificate
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) certificate_authority: Option<PathBuf>,

    /// Client certificate file for TLS
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) client_certificate: Option<PathBuf>,

    /// Client key file for TLS
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) client_key: Option<PathBuf>,

    /// Server name for the certificate check, instead of the host
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,

    /// Do not verify the server's certificate: the connection is insecure
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) insecure_skip_tls_verify: bool,

    /// Time limit of a single request: seconds, or a duration such as 1m30s; 0 is unlimited. Watches are not limited
    #[arg(long, global = true, hide_short_help = true, value_name = "TIME", default_value = "0")]
    pub(crate) request_timeout: String,

    /// Directory of the discovery cache
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        // As in kubectl, an empty one is the current folder.
        value_parser = OsStringValueParser::new().map(PathBuf::from),
        help = "Directory for what discovery found [default: $KDELTA_CACHE_DIR, or kdelta/ in $KUBECACHEDIR or ~/.kube/cache]"
    )]
    pub(crate) cache_dir: Option<PathBuf>,

    /// Ask the server not to compress its responses
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) disable_compression: bool,
}

/// The flags for verbosity and colour.
#[derive(Debug, Args)]
#[command(next_help_heading = "Terminal")]
pub(crate) struct TerminalArgs {
    /// Print more on stderr: -v prints each retry, -v=6 each request, -v=7 its headers, -v=8 the response's headers and
    /// beginning, -v=9 the whole response and a curl command. Credentials are masked
    #[arg(
        short, long, global = true, visible_alias = "v", value_name = "LEVEL",
        num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = clap::value_parser!(u8)
    )]
    verbose: Vec<u8>,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_enum)]
    pub(crate) color: ColorWhen,

    /// The form of messages on stderr
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "FORMAT",
        default_value = "text",
        value_enum
    )]
    pub(crate) log_format: LogFormat,
}

impl TerminalArgs {
    /// `-vv` is 2, `-v=6` is 6.
    pub(crate) fn level(&self) -> u8 {
        self.verbose.iter().fold(0, |sum, each| sum.saturating_add(*each))
    }
}

/// The form of messages on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for a person
    Text,
    /// One JSON object for each message, with its time, level, message and fields
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a capable terminal, unless the environment disables it
    Auto,
    /// Always, even in files and pipes
    Always,
    /// Never
    Never,
}
