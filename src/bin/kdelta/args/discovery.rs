//! The arguments of the commands that print what a server serves: its types, group versions and version.

use clap::Args;

use super::help_template::HELP;

/// Print the resource types that the server serves
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta api-resources                   all resource types of the server
  kdelta api-resources --api-group=apps  one group
  kdelta api-resources --verbs=list -o name
"
)]
pub(crate) struct ApiResourcesArgs {
    /// Only this API group; empty selects the core group
    #[arg(long, value_name = "GROUP")]
    pub(crate) api_group: Option<String>,

    /// Only namespaced types; =false: only cluster-scoped types
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) namespaced: Option<bool>,

    /// Only types that support all of these verbs, such as list,watch
    #[arg(long, value_name = "VERB", value_delimiter = ',')]
    pub(crate) verbs: Vec<String>,

    /// Only types in all of these categories
    #[arg(long, value_name = "CATEGORY", value_delimiter = ',')]
    pub(crate) categories: Vec<String>,

    /// Accept the types in the discovery cache if they are recent, instead of a request
    #[arg(long)]
    pub(crate) cached: bool,

    /// Sort by this column: name or kind [default: group, then name]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort_by: Option<String>,

    /// Output format: wide, json, yaml, kyaml or name
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output: Option<String>,

    /// Accepted as in kubectl; resource types have no managedFields
    #[arg(long, hide = true)]
    pub(crate) show_managed_fields: bool,

    /// Print no header line
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// Refused with kubectl's message.
    #[arg(hide = true)]
    pub(crate) unexpected: Vec<String>,
}

/// Print the API group versions that the server serves
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta api-versions                    one GROUP/VERSION per line
"
)]
pub(crate) struct ApiVersionsArgs {
    /// Refused with kubectl's message.
    #[arg(hide = true)]
    pub(crate) unexpected: Vec<String>,
}

/// Print the versions of kdelta and of the server
///
/// The fields are kubectl's. The client's version is kdelta's own; the warning about a version skew compares the server
/// with the release of kubectl that kdelta follows.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta version                         kdelta and the server of the current context
  kdelta version --client                kdelta alone, without a request
  kdelta version -o json
"
)]
pub(crate) struct VersionArgs {
    /// Print only the version of kdelta; no server is needed
    #[arg(long)]
    pub(crate) client: bool,

    /// Output format: json or yaml
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output: Option<String>,

    /// Refused with kubectl's message.
    #[arg(hide = true)]
    pub(crate) unexpected: Vec<String>,
}
