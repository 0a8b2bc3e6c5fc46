//! The validated arguments of `kdelta get` without `-w`.

use super::UsageError;
use super::by::By;
use super::kubectl::Files;
use super::lines::{Flow, Lines};
use super::print::Print;
use super::selection::Selection;
use super::until::Until;
use crate::args::{ByArgs, GetArgs, ObjectArgs, OneShotArgs, PlanForm};

/// `kdelta get`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Get {
    pub(crate) selection: Selection,
    /// The files that name the objects, instead of the selection.
    pub(crate) files: Option<Files>,
    pub(crate) by: Vec<By>,
    pub(crate) print: Print,
    /// The part of the named objects to print instead of them.
    pub(crate) subresource: Option<String>,
    /// The expression of `--sort-by`.
    pub(crate) sort_by: Option<String>,
    pub(crate) ignore_not_found: bool,
    /// Whether an empty result is a failure.
    pub(crate) fail_if_empty: bool,
    /// Whether statistics are printed.
    pub(crate) stats: bool,
    /// The form of the plan that is printed instead of the objects.
    pub(crate) explain: Option<PlanForm>,
}

impl Get {
    pub(super) fn read(
        args: &GetArgs,
        selection: Selection,
        files: Option<Files>,
    ) -> Result<Self, UsageError> {
        let GetArgs { objects, raw: _, subresource, sort_by, watch: _, one_shot } = args;
        let OneShotArgs { fail_if_empty, stats } = *one_shot;
        let ObjectArgs {
            index,
            ignore_not_found,
            print,
            lines,
            flow,
            until,
            select: _,
            files: _,
            metrics: _,
            plan,
        } = objects;
        let explain = Files::plan_form(files.as_ref(), plan)?;
        if flow.output_watch_events {
            return Err(UsageError::OutputWatchEvents);
        }
        if let Some(flag) = Until::first_flag(until).or(Lines::first_flag(lines)).or(Flow::first_flag(flow)) {
            return Err(UsageError::NeedsWatch(flag));
        }
        // As in kubectl, it has no effect on the objects of files.
        let subresource = subresource.clone().filter(|name| !name.is_empty() && files.is_none());
        if subresource.is_some() {
            check_named(&selection, index)?;
        }
        let (by, print) = (By::parse_all(&index.by)?, Print::read(print)?);
        Ok(Self {
            selection: selection.with_conditions(&by),
            files,
            by,
            print,
            subresource,
            sort_by: sort_by.clone().filter(|expression| !expression.is_empty()),
            ignore_not_found: *ignore_not_found,
            fail_if_empty,
            stats,
            explain,
        })
    }
}

/// Rejects a selection whose subresources can't be requested: only named objects have them.
fn check_named(selection: &Selection, index: &ByArgs) -> Result<(), UsageError> {
    match () {
        () if selection.targets.iter().any(|target| target.names.is_empty()) => {
            Err(UsageError::SubresourceOfMany)
        }
        () if !index.by.is_empty() => Err(UsageError::SubresourceByIndex),
        () => Ok(()),
    }
}
