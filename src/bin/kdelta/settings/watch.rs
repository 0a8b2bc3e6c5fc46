//! The settings of a watch, which several commands have.

use super::UsageError;
use super::by::By;
use super::index::Index;
use super::kubectl::{Events, Files, WatchForm};
use super::lines::{Flow, Lines, Rows};
use super::print::{Format, Print};
use super::record::Record;
use super::recording::{History, Replay};
use super::run::Run;
use super::selection::Selection;
use super::serve::Mirror;
use super::until::Until;
use crate::args::{GetArgs, ObjectArgs, OneShotArgs, PlanForm, RowArgs};

/// `kdelta watch`, `kdelta get` with `-w` or `--watch-only`, `kdelta events -w`, and `kdelta index -w`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) selection: Selection,
    /// The files that name the objects, instead of the selection.
    pub(crate) files: Option<Files>,
    pub(crate) by: Vec<By>,
    pub(crate) print: Print,
    /// Whether the initial state is printed.
    pub(crate) initial: bool,
    pub(crate) lines: Lines,
    pub(crate) rows: Rows,
    pub(crate) flow: Flow,
    pub(crate) until: Until,
    pub(crate) ignore_not_found: bool,
    pub(crate) form: WatchForm,
    /// The form of the plan that is printed instead of the lines.
    pub(crate) explain: Option<PlanForm>,
    /// The range of a recording that is replayed in place of a watch.
    pub(crate) replay: Option<Box<Replay>>,
}

impl Watch {
    /// Reads the arguments of `kdelta watch` and `kdelta get -w`.
    pub(super) fn read(
        args: &ObjectArgs,
        rows: Option<&RowArgs>,
        selection: Selection,
        files: Option<Files>,
        form: WatchForm,
    ) -> Result<Self, UsageError> {
        let explain = Files::plan_form(files.as_ref(), &args.plan)?;
        let by = By::parse_all(&args.index.by)?;
        let (print, until) = (Print::read(&args.print)?, Until::read(&args.until)?);
        // kubectl leaves them in the objects of events.
        let is_event = matches!(&form, WatchForm::Get(form) if form.events);
        let print = Print { managed_fields: print.managed_fields || is_event, ..print };
        let ignore_not_found = args.ignore_not_found || selection.may_exclude(files.as_ref());
        let lines = Lines::read(&args.lines, print.format)?;
        let print = Print { record_managers: lines.names_managers(print.format), ..print };
        let watch = Self {
            flow: Flow::read(&args.flow, &selection, &by, until)?,
            selection: selection.with_conditions(&by),
            files,
            by,
            initial: !args.flow.watch_only,
            lines,
            rows: rows.map(|rows| Rows::read(rows, print.format)).transpose()?.unwrap_or_default(),
            print,
            until,
            ignore_not_found,
            form,
            explain,
            replay: None,
        };
        watch.checked()
    }

    /// Reads the arguments of `kdelta get -w`.
    pub(super) fn of_get(
        args: &GetArgs,
        selection: Selection,
        files: Option<Files>,
    ) -> Result<Self, UsageError> {
        Files::plan_form(files.as_ref(), &args.objects.plan)?;
        let OneShotArgs { fail_if_empty, stats } = args.one_shot;
        match () {
            () if fail_if_empty => Err(UsageError::WatchIsNeverEmpty),
            () if stats => Err(UsageError::StatsOfAWatch),
            () => Self::read(&args.objects, None, selection, files, WatchForm::of_get(args)),
        }
    }

    /// Returns the watch of `kdelta events -w`, which prints new and changed events.
    pub(crate) fn of_events(events: &Events, selection: Selection) -> Self {
        let print = Print { managed_fields: events.output.managed_fields, ..Print::default() };
        Self { print, ..Self::of(selection, WatchForm::Events(Box::new(events.output.clone()))) }
    }

    /// Returns the watch of `kdelta index -w`.
    pub(crate) fn of_index(index: &Index) -> Self {
        let until = Until { duration: index.duration, ..Until::default() };
        let form = WatchForm::Index(Box::new(index.clone()));
        Self { until, explain: index.explain, ..Self::of(index.selection.clone(), form) }
    }

    /// Returns the watch of `kdelta history -w`.
    pub(crate) fn of_history(history: &History) -> Self {
        let format = if history.json { Format::Json } else { Format::default() };
        Self {
            print: Print { format, record_managers: true, ..Print::default() },
            until: Until { duration: history.duration, ..Until::default() },
            ..Self::of(history.selection.clone(), WatchForm::History(Box::new(history.clone())))
        }
    }

    /// Returns the watch of `kdelta run`, whose lines are those of `kdelta watch -o json`.
    pub(crate) fn of_run(run: &Run) -> Self {
        Self {
            files: run.files.clone(),
            by: run.by.clone(),
            print: Print { format: Format::Json, record_managers: true, ..Print::default() },
            initial: run.initial,
            lines: run.lines.clone(),
            until: run.until,
            ignore_not_found: run.ignore_not_found,
            explain: run.explain,
            ..Self::of(run.selection.clone(), WatchForm::Run)
        }
    }

    /// Returns the watch of `kdelta record`, which compares states: whole objects are requested, and their rows if wanted.
    pub(crate) fn of_record(record: &Record) -> Self {
        let format = if record.rows { Print::default().format } else { Format::Json };
        Self {
            by: record.by.clone(),
            print: Print { format, record_managers: true, ..Print::default() },
            until: record.until,
            ignore_not_found: record.ignore_not_found,
            ..Self::of_states(record.selection.clone())
        }
    }

    /// Returns the watch of `kdelta serve --follow`, which serves states: whole objects are requested, and their rows.
    pub(crate) fn of_mirror(mirror: &Mirror) -> Self {
        Self {
            by: mirror.by.clone(),
            ignore_not_found: mirror.ignore_not_found,
            ..Self::of_states(mirror.selection.clone())
        }
    }

    fn of_states(selection: Selection) -> Self {
        Self { lines: Lines { old: true, ..Lines::default() }, ..Self::of(selection, WatchForm::Run) }
    }

    /// Returns the watch of the objects of a selection for `kdelta tree -w`.
    pub(crate) fn of_tree(selection: Selection) -> Self {
        Self::of(selection, WatchForm::Tree)
    }

    /// Returns the watch of the objects that `kdelta wait` waits for, which need not exist.
    pub(crate) fn of_wait(selection: Selection, by: Vec<By>, reads_body: bool) -> Self {
        Self { by, ignore_not_found: true, ..Self::of(selection, WatchForm::Wait { reads_body }) }
    }

    /// Returns a watch with the default options.
    fn of(selection: Selection, form: WatchForm) -> Self {
        Self {
            selection,
            files: None,
            by: Vec::new(),
            print: Print::default(),
            initial: true,
            lines: Lines::default(),
            rows: Rows::default(),
            flow: Flow::default(),
            until: Until::default(),
            ignore_not_found: false,
            form,
            explain: None,
            replay: None,
        }
    }

    /// Whether objects are filtered locally.
    pub(crate) fn filters(&self) -> bool {
        !self.by.is_empty() || !self.selection.filter.is_empty()
    }

    /// Rejects combinations without a meaning.
    fn checked(self) -> Result<Self, UsageError> {
        match () {
            () if !self.initial && self.until.synced => Err(UsageError::NothingToPrint),
            () if !self.initial && self.flow.coalesce => Err(UsageError::MergedWithUnprinted),
            () => Ok(self),
        }
    }
}
