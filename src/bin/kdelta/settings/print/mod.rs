//! The output format of objects.

mod format;
mod template;

pub(crate) use format::{Format, OBJECT_FORMATS, TableStyle};
pub(super) use template::read as read_template;
pub(crate) use template::{Jq, Template, TemplateError};

use super::UsageError;
use super::word_list::words;
use crate::args::PrintArgs;

/// The options of object output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Print {
    pub(crate) format: Format,
    pub(crate) managed_fields: bool,
    /// Whether the managers of changes are printed.
    pub(crate) record_managers: bool,
    pub(crate) headers: bool,
    pub(crate) show_labels: bool,
    pub(crate) label_columns: Vec<String>,
    pub(crate) show_kind: bool,
    /// Whether tables have the names and ages of objects instead of the server's columns.
    pub(crate) name_age: bool,
}

impl Print {
    /// Reads the flags, and the file of a template.
    pub(super) fn read(args: &PrintArgs) -> Result<Self, UsageError> {
        let output = args.output.as_deref().unwrap_or_default();
        let template = template::read(output, &args.template, args.no_headers, args.raw_output)?;
        let print = Self {
            format: match template {
                Some(template) => Format::Template(template),
                None => Format::of_objects(args.output.as_deref())?,
            },
            // Templates see whole objects, as in kubectl; jq sees those of -o json.
            managed_fields: args.show_managed_fields || template.is_some_and(|template| !template.is_jq()),
            // Set by a watch.
            record_managers: false,
            headers: !args.no_headers,
            show_labels: args.show_labels,
            label_columns: words(&args.label_columns),
            show_kind: args.show_kind,
            name_age: !args.server_print,
        };
        if args.raw_output && !template.is_some_and(Template::is_jq) {
            return Err(UsageError::NeedsJq("raw-output"));
        }
        Self::check_show_labels(args)?;
        Ok(print)
    }

    /// Rejects `--show-labels` with a format other than a table. kubectl does so before it reads the types and names.
    pub(super) fn check_show_labels(args: &PrintArgs) -> Result<(), UsageError> {
        let is_table = || matches!(Format::of_objects(args.output.as_deref()), Ok(Format::Table { .. }));
        if args.show_labels && !is_table() {
            return Err(UsageError::ShowLabelsFormat(args.output.clone().unwrap_or_default()));
        }
        Ok(())
    }
}
