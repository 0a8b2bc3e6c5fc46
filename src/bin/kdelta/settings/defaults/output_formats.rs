//! The `-o` values of each command.

use crate::settings::index::INDEX_FORMATS;
use crate::settings::kubectl::{EVENT_FORMATS, ExplainFormat, RESOURCE_FORMATS};
use crate::settings::print::OBJECT_FORMATS;
use crate::settings::recording::{CHANGES_FORMATS, HISTORY_FORMATS};
use crate::settings::recording_tool::RECORDING_FORMATS;
use crate::settings::tree::TREE_FORMATS;

/// Returns the `-o` values of a command, joined by commas.
pub(crate) fn output_formats(command: &str) -> &'static str {
    match command {
        "api-resources" => RESOURCE_FORMATS,
        "changes" => CHANGES_FORMATS,
        "explain" => ExplainFormat::NAMES,
        "events" | "wait" => EVENT_FORMATS,
        "history" => HISTORY_FORMATS,
        "index" => INDEX_FORMATS,
        "tree" => TREE_FORMATS,
        "recording" => RECORDING_FORMATS,
        "version" => "json,yaml",
        _ => OBJECT_FORMATS,
    }
}
