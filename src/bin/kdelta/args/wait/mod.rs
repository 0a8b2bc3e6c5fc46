//! The arguments of the commands that wait: `kdelta wait` and `kdelta rollout`.

mod rollout;
mod set;

pub(crate) use rollout::RolloutArgs;
pub(crate) use set::SetWaitArgs;

use clap::{ArgAction, Args, ValueHint};

use crate::args::help_template::HELP;
use crate::args::{GoDuration, RangeArgs, TemplateArgs};

/// Wait until objects meet conditions, as kubectl does, or a set of objects meets expressions
///
/// With kubectl's flags and conditions only, objects are waited for one after the other. Each is printed when it meets a
/// condition. A name that does not exist is an error, unless --for=create or --for=delete is given. Unlike in kubectl, broken
/// connections resume where they stopped.
///
/// An expression in --for, a flag of "Set of objects" or "Filter", --by or several namespaces select a wait for a set: all
/// objects are watched at once, and objects, namespaces and types that do not exist yet are waited for. The exit code is 5
/// when the time has passed, and 6 when the conditions can't be met any more.
///
/// With --from, the conditions are looked for in a recording, as those of a set; the result has the time at which they held,
/// and the exit code is 5 if they never did.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta wait pod/web --for=condition=Ready
  kdelta wait deploy --all --for=condition=Available --timeout=2m
  kdelta wait pod/web --for=condition=Ready=false
  kdelta wait pod/web --for=jsonpath='{.status.phase}'=Running
  kdelta wait svc/web --for=jsonpath='{.status.loadBalancer.ingress}'
  kdelta wait pod/web --for=create --for=condition=Ready
  kdelta wait pods -l app=web --for=delete
  kdelta wait job/seed --for 'complete || failed'
  kdelta wait pods -l app=web --for ready --at-least 3 --stable 30s --fail-fast
"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that kubectl has")]
pub(crate) struct WaitArgs {
    /// TYPE NAME…, TYPE/NAME…, or with -l, --field-selector or --all TYPE[,TYPE…]
    #[arg(value_name = "RESOURCE", help_heading = "Resources")]
    pub(crate) resources: Vec<String>,

    /// The objects that a file names: YAML or JSON in a file, folder, pattern, URL or, with -, on standard input;
    /// comma-separated, may be repeated
    #[arg(short, long, value_name = "FILE", allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
    #[arg(help_heading = "Resources")]
    pub(crate) filename: Vec<String>,

    /// The objects of the kustomization in a folder, which kubectl or kustomize builds
    #[arg(short, long, value_name = "DIR", allow_hyphen_values = true, value_hint = ValueHint::DirPath)]
    #[arg(help_heading = "Resources")]
    pub(crate) kustomize: Option<String>,

    /// Read the folders in a folder of -f too; =false: do not
    #[arg(short = 'R', long, action = ArgAction::Set, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(
        default_value = "true",
        default_missing_value = "true",
        hide_default_value = true,
        hide_possible_values = true
    )]
    #[arg(help_heading = "Resources")]
    pub(crate) recursive: bool,

    /// Print the objects of files that need no server: only with --for=create
    #[arg(long, help_heading = "Resources")]
    pub(crate) local: bool,

    /// All objects of the types in the namespace
    #[arg(long, help_heading = "Selection")]
    pub(crate) all: bool,

    /// All namespaces; overrides -n
    #[arg(short = 'A', long, help_heading = "Selection")]
    pub(crate) all_namespaces: bool,

    /// Label selector: key=value, key!=value, 'key in (a, b)', key, !key, joined by commas
    #[arg(short = 'l', long, value_name = "SELECTOR", help_heading = "Selection")]
    pub(crate) selector: Option<String>,

    /// Field selector: path=value, path!=value, joined by commas. It selects at the start only
    #[arg(long, value_name = "SELECTOR", help_heading = "Selection")]
    pub(crate) field_selector: Option<String>,

    /// The condition: create, delete, condition=TYPE[=STATUS] (true by default) or jsonpath=PATH[=VALUE] (any value by
    /// default). Repeated flags must be met one after the other; create is always the first. Or a CEL expression with the
    /// variables object and now, in which ready, current, complete, failed, exists and gone are terms; of repeated flags all
    /// must be true
    #[arg(long = "for", value_name = "CONDITION", allow_hyphen_values = true, help_heading = "Condition")]
    pub(crate) conditions: Vec<String>,

    /// The time for all objects together, such as 90s or 5m: 0 checks once, a negative one is a week
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, default_value = "30s")]
    #[arg(value_parser = GoDuration::parse, help_heading = "Condition")]
    pub(crate) timeout: GoDuration,

    /// Output format: json, yaml, kyaml, name, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE,
    /// go-template=TEMPLATE or go-template-file=FILE [default: a line for each object]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output: Option<String>,

    #[command(flatten)]
    pub(crate) template: TemplateArgs,

    /// Keep metadata.managedFields in JSON and YAML
    #[arg(long, help_heading = "Output")]
    pub(crate) show_managed_fields: bool,

    #[command(flatten)]
    pub(crate) set: SetWaitArgs,

    #[command(flatten)]
    pub(crate) range: RangeArgs,
}
