//! The output formats shared by several commands.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use kdelta::lines::LineOptions;
use kdelta::object::ApiResource;
use kdelta::query::CustomColumns;

use crate::exit::OwnLines;
use crate::output::{
    ChangeForm, ChangeOptions, DelimitedFormat, Engine, EventFormat, EventOptions, GetWatchOptions,
    GetWatchOutput, JqProgram, JqResults, Listing, MetObjects, PrintError, RowOptions, RowWidth, TypedFormat,
    WatchOutput, terminal_columns,
};
use crate::session::PlannedPart;
use crate::settings::{
    self, ChangesArg, EventOutput, Format, GetWatch, Jq, Lines, Namespaces, Print, Selection, TableStyle,
    Template, TsArg, Watch,
};
use crate::view::{Details, KindPrefix, Layout, NamespaceColumn, RowTimes, TimeForm};

/// A template as its output needs it.
enum ByTemplate {
    Engine(Engine),
    Columns(&'static CustomColumns),
    Jq(JqProgram),
}

fn by_template(template: Template) -> ByTemplate {
    match template {
        Template::JsonPath(path, text) => ByTemplate::Engine(Engine::JsonPath(path, text)),
        Template::JsonPathAsJson(path, text) => ByTemplate::Engine(Engine::JsonPathAsJson(path, text)),
        Template::Go(template) => ByTemplate::Engine(Engine::Go(template)),
        Template::Columns(columns) => ByTemplate::Columns(columns),
        Template::Jq(Jq { expression, per_item, raw }) => {
            ByTemplate::Jq(JqProgram { expression, per_item, raw })
        }
    }
}

/// Returns the format of rows without widths; `None` for aligned columns.
fn delimited(style: TableStyle) -> Option<DelimitedFormat> {
    match style {
        TableStyle::Aligned => None,
        TableStyle::Csv => Some(DelimitedFormat::Csv),
        TableStyle::Markdown => Some(DelimitedFormat::Markdown),
    }
}

/// The scope of the output, which decides its columns: the requested types and parts, and whether there are several
/// contexts.
pub(super) struct Extent<'a> {
    pub(super) selection: &'a Selection,
    pub(super) resources: &'a [Arc<ApiResource>],
    pub(super) parts: &'a [PlannedPart],
    pub(super) several_contexts: bool,
    /// Whether the contexts have different default namespaces. Needed because a context may have no part yet.
    pub(super) several_namespaces: bool,
}

impl Extent<'_> {
    /// Returns the columns of a table.
    fn layout(&self, print: &Print, event: bool) -> Layout {
        Layout {
            wide: matches!(print.format, Format::Table { wide: true, .. }),
            context: self.several_contexts,
            event,
            namespace: if self.has_several_namespaces() {
                NamespaceColumn::Namespaced
            } else {
                NamespaceColumn::Never
            },
            kind: self.kind_prefix(print, event),
            shared: false,
            labels: print.label_columns.clone(),
            show_labels: print.show_labels,
        }
    }

    /// As in kubectl, only types that were listed count in `get`. A watch has no end at which they are known, CSV and
    /// Markdown are printed before, and several contexts may serve a type in different versions.
    fn kind_prefix(&self, print: &Print, event: bool) -> KindPrefix {
        let is_delimited = matches!(print.format, Format::Table { style, .. } if delimited(style).is_some());
        match () {
            () if print.show_kind || self.is_open() => KindPrefix::Always,
            () if event || self.several_contexts || is_delimited => {
                if self.has_several_kinds() {
                    KindPrefix::Always
                } else {
                    KindPrefix::Never
                }
            }
            () => KindPrefix::IfSeveral,
        }
    }

    /// Whether the types are those that match a pattern.
    fn is_open(&self) -> bool {
        self.selection.targets.iter().any(|target| target.types.is_open())
    }

    fn has_several_kinds(&self) -> bool {
        let mut kinds = self.resources.iter().map(|resource| resource.group_resource());
        let first = kinds.next();
        self.is_open() || kinds.any(|kind| Some(kind) != first)
    }

    fn has_several_namespaces(&self) -> bool {
        let parts = self.parts.iter().map(|planned| &planned.part);
        let mut namespaces = parts.filter(|part| part.resource.namespaced).map(|part| &part.namespace);
        let first = namespaces.next();
        matches!(self.selection.namespaces, Namespaces::All | Namespaces::Matching { .. })
            || (self.several_namespaces && self.selection.namespaces == Namespaces::Current)
            || namespaces.any(|namespace| Some(namespace) != first)
    }

    /// Returns the output of `get`. A single named object is printed without a list around it.
    ///
    /// # Errors
    /// The interpreter of a jq expression can't be started.
    pub(super) fn listing(&self, print: &Print, stdout: settings::OutputStream) -> io::Result<Listing> {
        let single = matches!(self.parts, [only] if only.part.name.is_some());
        self.listing_of(single, print, stdout)
    }

    /// Returns the output of `get`, of a single object or of a list.
    ///
    /// # Errors
    /// The interpreter of a jq expression can't be started.
    pub(super) fn listing_of(
        &self,
        single: bool,
        print: &Print,
        stdout: settings::OutputStream,
    ) -> io::Result<Listing> {
        Ok(match print.format {
            Format::Table { style, .. } if delimited(style).is_some() || !print.name_age => {
                let layout = self.layout(print, false);
                match delimited(style) {
                    Some(format) => Listing::delimited(format, layout, print.headers),
                    None => Listing::table(layout, print.headers, stdout.colour),
                }
            }
            Format::Table { .. } => {
                let layout = Layout { kind: requested_prefix(print), ..self.layout(print, false) };
                let may_have_several = !print.show_kind && self.has_several_kinds();
                Listing::name_age(layout, print.headers, may_have_several)
            }
            Format::Json => Listing::json(single, stdout.is_terminal),
            Format::Yaml => Listing::yaml(single, stdout.is_terminal),
            Format::Kyaml => Listing::kyaml(single),
            Format::Name => Listing::names(),
            Format::Template(template) => match by_template(template) {
                ByTemplate::Engine(engine) => Listing::template(engine, single, stdout.is_terminal),
                ByTemplate::Columns(columns) => Listing::custom_columns(columns, stdout.is_terminal),
                ByTemplate::Jq(program) => {
                    Listing::Jq(Box::new(JqResults::of_listing(program, single, stdout.is_terminal)?))
                }
            },
        })
    }

    /// Returns the output of `watch`.
    ///
    /// # Errors
    /// The interpreter of a jq expression can't be started.
    pub(super) fn stream(&self, watch: &Watch, stdout: settings::OutputStream) -> io::Result<WatchOutput> {
        let Watch { print, lines, .. } = watch;
        Ok(match print.format {
            Format::Table { style, .. } => {
                let options = RowOptions {
                    // Names and ages show no change.
                    all: lines.show_all || print.name_age,
                    changes: change_options(lines),
                    ..row_form(watch, stdout)
                };
                let layout = Layout { shared: self.has_several_kinds(), ..self.layout(print, true) };
                match delimited(style) {
                    Some(format) => WatchOutput::delimited(format, layout, print.headers, &options),
                    None => WatchOutput::table(layout, print.headers, stdout.colour, options),
                }
            }
            Format::Json => {
                let Lines { fields, old, changes, .. } = lines.clone();
                let options = LineOptions::default().fields(fields).old(old).changes(changes.is_some());
                WatchOutput::json_lines(options, stdout.is_terminal)
            }
            Format::Yaml => WatchOutput::yaml(stdout.is_terminal),
            Format::Kyaml => WatchOutput::kyaml(),
            Format::Name => WatchOutput::names(),
            Format::Template(template) => match by_template(template) {
                ByTemplate::Engine(engine) => WatchOutput::template(engine, stdout.is_terminal),
                ByTemplate::Columns(columns) => WatchOutput::custom_columns(columns, stdout.is_terminal),
                ByTemplate::Jq(program) => {
                    WatchOutput::Jq(Box::new(JqResults::of_changes(program, stdout.is_terminal)?))
                }
            },
        })
    }
}

impl Extent<'_> {
    /// Returns the output of `get -w`. As in kubectl, all namespaces give rows of every type a NAMESPACE column, and
    /// objects in files of several types and namespaces look like those of one.
    pub(super) fn get_watch(
        &self,
        watch: &Watch,
        form: &GetWatch,
        stdout: settings::OutputStream,
    ) -> GetWatchOutput {
        let print = &watch.print;
        let layout = self.layout(print, form.events);
        let namespace = match () {
            () if self.selection.namespaces == Namespaces::All => NamespaceColumn::Always,
            () if watch.files.is_some() && !self.several_contexts => NamespaceColumn::Never,
            () => layout.namespace,
        };
        let layout = Layout { namespace, kind: requested_prefix(print), ..layout };
        let options = GetWatchOptions {
            events: form.events,
            // The list of one part may be complete long before another's.
            waits_for_list: self.parts.len() == 1 && !self.several_contexts,
            for_terminal: stdout.is_terminal,
            colour: stdout.colour,
        };
        match print.format {
            Format::Table { .. } => {
                // kubectl sorts the server's tables only.
                let sort_by = form.sort_by.as_deref().filter(|_| !print.name_age);
                GetWatchOutput::table(layout, print.headers, sort_by, options)
            }
            Format::Json => GetWatchOutput::json(options),
            Format::Yaml => GetWatchOutput::yaml(options),
            Format::Kyaml => GetWatchOutput::kyaml(options),
            Format::Name => GetWatchOutput::names(options),
            Format::Template(template) => match by_template(template) {
                ByTemplate::Engine(engine) => GetWatchOutput::template(engine, options),
                ByTemplate::Columns(columns) => GetWatchOutput::custom_columns(columns, options),
                // `get -w` prints the deltas of `watch` in the formats that kubectl does not have.
                ByTemplate::Jq(_) => GetWatchOutput::json(options),
            },
        }
    }
}

/// Returns the options of the changes below rows; `None` prints none.
fn change_options(lines: &Lines) -> Option<ChangeOptions> {
    let form = match lines.changes? {
        ChangesArg::Inline => ChangeForm::Inline,
        ChangesArg::Unified => ChangeForm::Unified,
        ChangesArg::JsonPatch => ChangeForm::JsonPatch,
        ChangesArg::MergePatch => ChangeForm::MergePatch,
        ChangesArg::None => return None,
    };
    Some(ChangeOptions { form, details: Details { noise: lines.show_all, secrets: lines.show_secrets } })
}

/// Returns the form of the rows of a watch. Only a terminal has clipped rows and marks between them.
fn row_form(watch: &Watch, stdout: settings::OutputStream) -> RowOptions {
    let rows = &watch.rows;
    let form = |time| match time {
        TsArg::Rfc3339 => TimeForm::Rfc3339,
        TsArg::Time => TimeForm::Clock,
        TsArg::Relative => TimeForm::Relative,
        TsArg::Delta => TimeForm::Delta,
    };
    let is_clipped = stdout.is_terminal && !rows.no_trunc;
    RowOptions {
        width: if is_clipped { RowWidth::of(terminal_columns) } else { RowWidth::default() },
        times: rows.time.map(|time| match watch.replay {
            Some(_) => RowTimes::since_first(form(time), TimeZone::system()),
            None => RowTimes::new(form(time), TimeZone::system(), Timestamp::now()),
        }),
        marks_sync: stdout.is_terminal && watch.initial && watch.flow.from.is_none(),
        ..RowOptions::default()
    }
}

/// Returns the prefix of `--show-kind`.
fn requested_prefix(print: &Print) -> KindPrefix {
    if print.show_kind { KindPrefix::Always } else { KindPrefix::Never }
}

/// Returns the format of a document; `None` for rows and names.
pub(super) fn of_documents(format: Format) -> Option<TypedFormat> {
    match format {
        Format::Json => Some(TypedFormat::Json),
        Format::Yaml => Some(TypedFormat::Yaml),
        Format::Kyaml => Some(TypedFormat::Kyaml),
        // Templates are formats of `get` and `watch`.
        Format::Table { .. } | Format::Name | Format::Template(_) => None,
    }
}

/// Returns the output of `wait`.
pub(super) fn of_met_objects(format: Format, stdout: settings::OutputStream) -> MetObjects {
    match format {
        Format::Table { .. } => MetObjects::lines(),
        Format::Json => MetObjects::json(stdout.is_terminal),
        Format::Yaml => MetObjects::yaml(stdout.is_terminal),
        Format::Kyaml => MetObjects::Kyaml,
        Format::Name => MetObjects::names(),
        Format::Template(template) => match by_template(template) {
            ByTemplate::Engine(engine) => MetObjects::template(engine, stdout.is_terminal),
            // Custom columns and jq are no formats of `wait`.
            ByTemplate::Columns(_) | ByTemplate::Jq(_) => MetObjects::lines(),
        },
    }
}

/// Returns the error of the output. The description of a failed template has lines of its own.
pub(super) fn print_failure(error: PrintError) -> anyhow::Error {
    let has_own_lines = error.has_own_lines();
    let error = anyhow::Error::new(error);
    if has_own_lines { error.context(OwnLines) } else { error }
}

/// Returns the options of the output of events.
pub(super) fn of_events(output: &EventOutput, stdout: settings::OutputStream) -> EventOptions {
    let format = match (of_documents(output.format), output.format) {
        (Some(format), _) => EventFormat::Documents(format),
        (None, Format::Name) => EventFormat::Names,
        (None, Format::Template(template)) => match by_template(template) {
            ByTemplate::Engine(engine) => EventFormat::Template(engine),
            // Custom columns and jq are no formats of events.
            ByTemplate::Columns(_) | ByTemplate::Jq(_) => EventFormat::Rows,
        },
        (None, _) => EventFormat::Rows,
    };
    EventOptions {
        types: output.types.clone(),
        format,
        headers: output.headers,
        namespaces: output.namespaces,
        for_terminal: stdout.is_terminal,
        colour: stdout.colour,
    }
}
