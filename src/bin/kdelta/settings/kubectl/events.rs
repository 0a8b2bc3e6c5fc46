//! The arguments of `events`.

use crate::args::EventsArgs;
use crate::settings::UsageError;
use crate::settings::environment::Environment;
use crate::settings::print::{Format, read_template};
use crate::settings::selection::Selection;

/// The `-o` values of events.
pub(crate) const EVENT_FORMATS: &str = "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml";

/// `kdelta events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Events {
    /// The events of the requested namespaces; the field selector of `object` is added by the command.
    pub(crate) selection: Selection,
    /// The type and the name of the object that the events are about.
    pub(crate) object: Option<(String, String)>,
    pub(crate) watch: bool,
    pub(crate) output: EventOutput,
    /// Whether there were arguments that kubectl ignores.
    pub(crate) has_ignored: bool,
}

/// The form and the choice of printed events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EventOutput {
    /// The printed types in lower case; empty for all.
    pub(crate) types: Vec<String>,
    pub(crate) format: Format,
    pub(crate) managed_fields: bool,
    pub(crate) headers: bool,
    /// Whether the table has a column for the namespace.
    pub(crate) namespaces: bool,
}

impl Events {
    /// Validates the arguments, in kubectl's order.
    pub(in crate::settings) fn read(
        args: &EventsArgs,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let object = args.object.as_deref().filter(|text| !text.is_empty()).map(type_and_name).transpose()?;
        let format = read_format(args)?;
        let types: Vec<String> = args.types.iter().map(|text| text.to_lowercase()).collect();
        let types = if types == [""] { Vec::new() } else { types };
        if types.iter().any(|text| text != "normal" && text != "warning") {
            return Err(UsageError::EventTypes);
        }
        let selection = Selection::of_events(args.all_namespaces, args.chunk_size, namespace, environment)?;
        let output = EventOutput {
            types,
            format,
            // Templates see whole objects, as in kubectl.
            managed_fields: args.show_managed_fields || matches!(format, Format::Template(_)),
            headers: !args.no_headers,
            namespaces: selection.has_several_namespaces(),
        };
        Ok(Self { selection, object, watch: args.watch, output, has_ignored: !args.ignored.is_empty() })
    }
}

/// Reads the format. As in kubectl, `--template` alone has no effect.
fn read_format(args: &EventsArgs) -> Result<Format, UsageError> {
    let text = args.output.as_deref().unwrap_or_default();
    match text.split('=').next().unwrap_or_default() {
        "" if text.is_empty() => return Ok(Format::default()),
        "wide" | "custom-columns" | "custom-columns-file" | "jq" | "jq-file" => {
            return Err(UsageError::OutputFormat { format: text.to_owned(), allowed: EVENT_FORMATS });
        }
        _ => {}
    }
    match read_template(text, &args.template, false, false)? {
        Some(template) => Ok(Format::Template(template)),
        None => Format::read(Some(text), EVENT_FORMATS),
    }
}

/// Splits `TYPE/NAME`.
fn type_and_name(text: &str) -> Result<(String, String), UsageError> {
    match text.split_once('/') {
        None => Err(UsageError::EventObject),
        Some((_, name)) if name.contains('/') => Err(UsageError::SlashesInName),
        Some((word, name)) => Ok((word.to_owned(), name.to_owned())),
    }
}
