//! The arguments of `api-resources` and `version`.

use crate::args::{ApiResourcesArgs, VersionArgs};
use crate::settings::UsageError;
use crate::settings::print::Format;
use crate::settings::word_list::words;

/// The `-o` values of commands that print resource types.
pub(crate) const RESOURCE_FORMATS: &str = "json,kyaml,name,wide,yaml";

/// `kdelta api-resources`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiResources {
    /// `Some("")` is the core group.
    pub(crate) group: Option<String>,
    pub(crate) namespaced: Option<bool>,
    /// The required verbs.
    pub(crate) verbs: Vec<String>,
    /// The required categories.
    pub(crate) categories: Vec<String>,
    /// The sort column; `None` sorts by group, then by name.
    pub(crate) sort_by: Option<ResourceColumn>,
    /// Whether recent types of the discovery cache are accepted.
    pub(crate) cached: bool,
    pub(crate) format: Format,
    pub(crate) headers: bool,
}

/// A column to sort resource types by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceColumn {
    /// The plural name.
    Name,
    /// The kind.
    Kind,
}

/// Validates the arguments of `api-resources`, in kubectl's order.
pub(in crate::settings) fn read_api_resources(args: &ApiResourcesArgs) -> Result<ApiResources, UsageError> {
    no_arguments(&args.unexpected)?;
    let format = Format::read(args.output.as_deref(), RESOURCE_FORMATS)?;
    let sort_by = match args.sort_by.as_deref() {
        None | Some("") => None,
        Some("name") => Some(ResourceColumn::Name),
        Some("kind") => Some(ResourceColumn::Kind),
        Some(_) => return Err(UsageError::ResourceColumn),
    };
    Ok(ApiResources {
        group: args.api_group.clone(),
        namespaced: args.namespaced,
        verbs: words(&args.verbs),
        categories: words(&args.categories),
        sort_by,
        cached: args.cached,
        format,
        headers: !args.no_headers,
    })
}

/// Rejects arguments that are no flags.
pub(in crate::settings) fn no_arguments(unexpected: &[String]) -> Result<(), UsageError> {
    if unexpected.is_empty() { Ok(()) } else { Err(UsageError::UnexpectedArguments(unexpected.join(" "))) }
}

/// `kdelta version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    /// Whether the server is left out.
    pub(crate) client_only: bool,
    pub(crate) format: VersionFormat,
}

/// The output format of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionFormat {
    Lines,
    Json,
    Yaml,
}

impl Version {
    /// Validates the arguments. As in kubectl, further arguments are refused only if the server is requested.
    pub(in crate::settings) fn read(args: &VersionArgs) -> Result<Self, UsageError> {
        if !args.client && !args.unexpected.is_empty() {
            return Err(UsageError::ExtraArguments(args.unexpected.join(" ")));
        }
        let format = match args.output.as_deref() {
            None | Some("") => VersionFormat::Lines,
            Some("json") => VersionFormat::Json,
            Some("yaml") => VersionFormat::Yaml,
            Some(_) => return Err(UsageError::VersionFormat),
        };
        Ok(Self { client_only: args.client, format })
    }
}
