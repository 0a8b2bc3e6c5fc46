//! The form of a watch's output: kdelta's own, that of `kubectl get -w` or `kubectl events -w`, the groups of an index, or
//! calls of a command.

use super::events::EventOutput;
use crate::args::GetArgs;
use crate::settings::index::Index;
use crate::settings::recording::History;

/// The form of a watch's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WatchForm {
    /// Deltas, as `kdelta watch` prints them.
    Deltas,
    /// Objects, as `kubectl get -w` prints them.
    Get(GetWatch),
    /// New and changed events, as `kubectl events -w` prints them.
    Events(Box<EventOutput>),
    /// The groups of an index, as `kdelta index -w` prints them.
    Index(Box<Index>),
    /// The versions of objects, as `kdelta history -w` prints them.
    History(Box<History>),
    /// The objects of a tree, as `kdelta tree -w` prints them.
    Tree,
    /// Deltas for the command of `kdelta run`.
    Run,
    /// The objects that `kdelta wait` waits for, with their bodies if its conditions read them.
    Wait { reads_body: bool },
}

/// The options of `get -w` that other watches do not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GetWatch {
    /// Whether each object is printed with the type of its event.
    pub(crate) events: bool,
    /// The expression of `--sort-by`, for the initial rows.
    pub(crate) sort_by: Option<String>,
    /// Whether `--watch` is given; otherwise only `--watch-only`.
    pub(crate) is_watch: bool,
}

impl WatchForm {
    /// Returns the form of `get -w`. It is kubectl's, unless a flag requests what only kdelta's lines have.
    pub(in crate::settings) fn of_get(args: &GetArgs) -> Self {
        let (lines, flow) = (&args.objects.lines, &args.objects.flow);
        let needs_deltas = lines.changes.is_some()
            || lines.old
            || !lines.fields.is_empty()
            || lines.show_secrets
            || flow.resync.is_some()
            || args.objects.print.output.as_deref().is_some_and(is_own_format);
        if needs_deltas {
            return Self::Deltas;
        }
        Self::Get(GetWatch {
            events: flow.output_watch_events,
            sort_by: args.sort_by.clone().filter(|expression| !expression.is_empty()),
            is_watch: args.watch,
        })
    }
}

/// Whether kubectl does not have the format, so that it does not decide what `get -w` prints in it.
fn is_own_format(output: &str) -> bool {
    let format = output.split('=').next().unwrap_or_default().to_lowercase();
    matches!(format.as_str(), "csv" | "csv-wide" | "jq" | "jq-file" | "markdown" | "markdown-wide")
}
