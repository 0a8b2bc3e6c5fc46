//! The flags that select and format objects, shared by several commands.

use clap::{ArgAction, Args, ValueEnum};

use super::spelling::go_number;

/// The flags that select objects by an index.
#[derive(Debug, Args)]
pub(crate) struct ByArgs {
    /// Only objects that the index has under VALUE: namespace, name, label:KEY, annotation:KEY, owner, node, image,
    /// field:PATH or cel:EXPRESSION; a,b matches either; !=VALUE, INDEX alone and !INDEX match other values, any and none;
    /// repeated flags must all match
    #[arg(long, value_name = "INDEX=VALUE", help_heading = "Selection")]
    pub(crate) by: Vec<String>,
}

/// The flags that select objects.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct SelectArgs {
    /// TYPE[,TYPE…] [NAME…] or TYPE/NAME…; a type is a plural, a singular, a kind, a short name, type.group,
    /// type.version.group, a category such as all, or '*.group' for every type of a group
    #[arg(value_name = "RESOURCE", help_heading = "Resources")]
    pub(crate) resources: Vec<String>,

    /// All types that can be listed and watched, except events, leases and metrics unless they are named; with -n only
    /// namespaced types
    #[arg(long, help_heading = "Resources")]
    pub(crate) all_kinds: bool,

    /// All namespaces; overrides -n. Where that is not allowed, each namespace where it is
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Only namespaces with these labels, among those of -n or all
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) namespace_selector: Option<String>,

    /// Label selector: key=value, key!=value, 'key in (a, b)', key, !key, joined by commas; of repeated flags one must match
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Vec<String>,

    /// Field selector: path=value, path!=value, and of any field 'path in (a, b)', 'path notin (a)', path<value, path>=value,
    /// joined by commas
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) field_selector: Option<String>,

    /// Accept any state in the server's cache (resourceVersion 0) instead of the most recent one
    #[arg(long)]
    pub(crate) cached: bool,

    /// Objects per page of a list; 0 lists everything at once
    #[arg(long, value_name = "N", default_value = "500", value_parser = go_number::parse, allow_negative_numbers = true)]
    pub(crate) chunk_size: i64,

    /// The way to request the initial state
    #[arg(
        long,
        value_name = "MODE",
        value_enum,
        help = "The way to request the initial state [default: auto, or by $KUBE_FEATURE_WatchListClient]"
    )]
    pub(crate) list_mode: Option<ListModeArg>,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// The flags of local filters: conditions on single objects, all of which must hold.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Filter")]
pub(crate) struct FilterArgs {
    /// Only objects created at least this long ago, such as 2d, 3d4h or 90m
    #[arg(long, value_name = "AGE", allow_hyphen_values = true)]
    pub(crate) older_than: Option<String>,

    /// Only objects created less than this long ago, such as 1h
    #[arg(long, value_name = "AGE", allow_hyphen_values = true)]
    pub(crate) newer_than: Option<String>,

    /// Only pods with a container that restarted less than this long ago, such as 10m
    #[arg(long, value_name = "AGE", allow_hyphen_values = true)]
    pub(crate) restarted_within: Option<String>,

    /// Only objects whose STATUS column, or else PHASE column, shows one of these, such as CrashLoopBackOff,Pending or 'Init:*'
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub(crate) status: Vec<String>,

    /// Only objects that are ready or done, by kstatus' rules
    #[arg(long)]
    pub(crate) ready: bool,

    /// Only objects that are not: in progress, failed or terminating
    #[arg(long)]
    pub(crate) not_ready: bool,

    /// Only objects with these names: patterns such as 'web-*,db', or a regular expression such as '/^web-[0-9]+$/'; of
    /// repeated flags one must match
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,

    /// Only objects for which this CEL expression is true, such as 'object.spec.replicas > 2'; variables are object, now,
    /// and old in a watch; of repeated flags all must be true
    #[arg(long = "where", value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub(crate) expressions: Vec<String>,
}

impl FilterArgs {
    /// Whether any of the flags is given.
    pub(crate) fn is_given(&self) -> bool {
        let Self { older_than, newer_than, restarted_within, status, ready, not_ready, name, expressions } =
            self;
        [older_than, newer_than, restarted_within].iter().any(|age| age.is_some())
            || *ready
            || *not_ready
            || [status, name, expressions].iter().any(|texts| !texts.is_empty())
    }
}

/// The way the initial state is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListModeArg {
    /// Through the watch if the server supports it, otherwise by pages; an index is filled by pages if the server has
    /// them in memory
    Auto,
    /// Through the watch
    Watchlist,
    /// By pages
    List,
}

/// The flags that format objects.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that kubectl has")]
pub(crate) struct PrintArgs {
    /// Output format: wide, json, yaml, kyaml, name, csv, csv-wide, markdown, markdown-wide, jq=EXPRESSION, jq-file=FILE,
    /// jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE, go-template=TEMPLATE, go-template-file=FILE,
    /// custom-columns=HEADER:PATH,… or custom-columns-file=FILE [default: the server's table]
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output: Option<String>,

    #[command(flatten)]
    pub(crate) template: TemplateArgs,

    /// Print the strings among the results of -o jq without quotes
    #[arg(short, long)]
    pub(crate) raw_output: bool,

    /// Print the server's columns; =false: only the name and the age of each object
    #[arg(long, action = ArgAction::Set, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_value = "true", default_missing_value = "true")]
    #[arg(hide_short_help = true, hide_default_value = true)]
    pub(crate) server_print: bool,

    /// Keep metadata.managedFields in JSON and YAML
    #[arg(long)]
    pub(crate) show_managed_fields: bool,

    /// Print no header line
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// Show all labels as the last column
    #[arg(long)]
    pub(crate) show_labels: bool,

    /// Labels to show as separate columns; comma-separated, may be repeated
    #[arg(short = 'L', long, value_name = "KEY", value_delimiter = ',')]
    pub(crate) label_columns: Vec<String>,

    /// Print each name as kind/name
    #[arg(long)]
    pub(crate) show_kind: bool,
}

/// The flags of templates.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TemplateArgs {
    /// The template of -o go-template or -o jsonpath; alone, a Go template
    #[arg(long, value_name = "TEMPLATE", allow_hyphen_values = true)]
    pub(crate) template: Option<String>,

    /// Print nothing for a field that a template names and an object lacks; =false: fail
    #[arg(long, action = ArgAction::Set, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_value = "true", default_missing_value = "true")]
    #[arg(hide_short_help = true, hide_default_value = true)]
    pub(crate) allow_missing_template_keys: bool,
}
