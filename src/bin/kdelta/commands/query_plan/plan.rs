//! `--explain`: the plan of a query. Only the discovery of types is requested.

use std::io::{self, Write};

use anyhow::Context;
use kdelta::api::Request;
use kdelta::reflector::ReflectorOptions;
use kdelta::wire::{IncludeObject, Representation};

use crate::commands::reporter::Reporter;
use crate::commands::walk::Walk;
use crate::exit::{ExitCode, Usage};
use crate::output::{PartPlan, PlannedRequest, QueryPlan, write_plan, write_plan_json};
use crate::session::{Part, PartSource, RequestMode, ServerConditions, Session};
use crate::settings::{Namespaces, OutputStream, PlanForm, Selection};

/// Prints the plan of each part of a selection.
pub(in crate::commands) async fn explain(
    session: &Session,
    selection: &Selection,
    form: PlanForm,
    reporter: &Reporter,
    stdout: OutputStream,
    out: impl Write,
    mut plan_of: impl AsyncFnMut(&Part) -> anyhow::Result<PartPlan>,
) -> anyhow::Result<ExitCode> {
    let (selection, first) = without_patterns(selection);
    let mut walk = Walk::start(session, &selection, true, reporter).await?;
    let mut plan = QueryPlan { first, ..QueryPlan::default() };
    while let Some(planned) = walk.next() {
        plan.parts.push(plan_of(&planned.part).await?);
    }
    print_plan(&plan, form, stdout, out)?;
    Ok(ExitCode::Ok)
}

/// Prints a plan in this form.
pub(in crate::commands) fn print_plan(
    plan: &QueryPlan,
    form: PlanForm,
    stdout: OutputStream,
    mut out: impl Write,
) -> io::Result<()> {
    match form {
        PlanForm::Text => write_plan(plan, &mut out),
        PlanForm::Json => write_plan_json(plan, stdout.is_terminal, &mut out),
    }
}

/// Returns the selection with patterns of namespaces in place of the namespaces that match, and the request that would find
/// those.
pub(in crate::commands) fn without_patterns(selection: &Selection) -> (Selection, Vec<PlannedRequest>) {
    let Namespaces::Matching { always, patterns, labels } = &selection.namespaces else {
        return (selection.clone(), Vec::new());
    };
    let request = Request::new("/api/v1/namespaces");
    let request = match labels {
        Some(labels) => request.query("labelSelector", labels.as_str()),
        None => request,
    };
    let purpose = "the namespaces that match; each is a part of its own";
    let request = PlannedRequest { purpose, ..planned(&request) };
    let names = always.iter().cloned().chain(patterns.iter().map(|pattern| pattern.text().to_owned()));
    let selection = Selection { namespaces: Namespaces::Named(names.collect()), ..selection.clone() };
    (selection, vec![request])
}

/// The use that a command makes of the objects of a part.
pub(in crate::commands) struct PartUse<'a> {
    pub(in crate::commands) part: &'a Part,
    /// The selection of the user.
    pub(in crate::commands) selection: &'a Selection,
    pub(in crate::commands) conditions: &'a ServerConditions,
    pub(in crate::commands) mode: RequestMode,
    /// Why this much of each object is requested.
    pub(in crate::commands) reasons: Vec<String>,
    /// The data that is kept of each object.
    pub(in crate::commands) kept: String,
}

/// Returns the plan of a part.
///
/// # Errors
/// A name is invalid.
pub(in crate::commands) fn part_plan(
    of: PartUse<'_>,
    source: &PartSource,
    options: &ReflectorOptions,
) -> anyhow::Result<PartPlan> {
    let requests = source.requests(&of.mode, options).context(Usage)?;
    let several = requests.len() > 1;
    let is_in_watch = options.watch_list && !options.pages_first;
    let begins_with_list = of.mode == RequestMode::List || (!is_in_watch && options.resume_from.is_none());
    let purpose = |at: usize| match (&of.mode, at) {
        (RequestMode::List | RequestMode::Synced | RequestMode::Watch, 0)
            if begins_with_list && source.lists_directly() =>
        {
            "read from the recording, and sent only if it is not recorded in this form"
        }
        _ if !several => "",
        (RequestMode::NamedWatch(_), 0) => "the object",
        (RequestMode::Watch | RequestMode::NamedWatch(_), at) if at + 1 == requests.len() => "the changes",
        (RequestMode::Watch | RequestMode::NamedWatch(_), _) => "the initial state",
        (_, 0) => "a small collection is complete",
        (_, 1) => "the names, of a larger one",
        _ => "its rows",
    };
    let definition = of.conditions.definition.as_ref().map(|request| PlannedRequest {
        purpose: "the fields that the server selects by; sent for the plan too",
        ..planned(request)
    });
    let planned = requests
        .iter()
        .enumerate()
        .map(|(at, request)| PlannedRequest { purpose: purpose(at), ..planned(request) });
    let (server, local) = (server_side(&of), local_side(&of));
    Ok(PartPlan {
        title: title(of.part),
        requests: definition.into_iter().chain(planned).collect(),
        received: received(source.representation()).to_owned(),
        reasons: of.reasons,
        server,
        local,
        kept: of.kept,
    })
}

fn title(part: &Part) -> String {
    match (&*part.namespace, part.resource.namespaced) {
        ("", true) => format!("{} in all namespaces", part.title()),
        ("", false) => part.title(),
        (namespace, _) => format!("{} in the namespace {namespace}", part.title()),
    }
}

fn planned(request: &Request) -> PlannedRequest {
    PlannedRequest { path: request.path_and_query(), accept: request.accept.to_string(), purpose: "" }
}

fn received(representation: Representation) -> &'static str {
    match representation {
        Representation::Rows | Representation::Table(IncludeObject::None) => "the rows of the server's table",
        Representation::Names => "the names, in the rows of the server's table",
        Representation::Table(IncludeObject::Metadata) => "rows with the metadata of each object",
        Representation::Table(IncludeObject::Object) | Representation::RowsAndObjects => {
            "rows with whole objects"
        }
        Representation::Metadata => "the metadata of each object",
        _ => "whole objects",
    }
}

fn server_side(of: &PartUse<'_>) -> Vec<String> {
    let PartUse { part, selection, conditions, mode, .. } = of;
    let namespace = (!part.namespace.is_empty()).then(|| format!("the namespace {}", part.namespace));
    let name = part.name.as_ref().map(|name| format!("the name {name}"));
    let mut all: Vec<String> = namespace.into_iter().chain(name).collect();
    if matches!(mode, RequestMode::Named(_)) {
        return all;
    }
    let labels = selection.label_selector.iter().map(|selector| format!("the label selector {selector}"));
    let fields = selection.field_selector.iter().map(|selector| {
        format!("the field selector {selector}; if the server does not support a field, it is evaluated here")
    });
    all.extend(labels.chain(fields).chain(conditions.described()));
    all
}

fn local_side(of: &PartUse<'_>) -> Vec<String> {
    let patterns = of.part.patterns.iter().map(|patterns| format!("names that match {}", patterns.text()));
    let by = of.conditions.local.iter().map(|by| format!("--by {by}"));
    let filter = &of.conditions.filter;
    let conditions = filter.conditions().iter().map(ToString::to_string);
    let of_changes = filter.of_changes().iter().map(|expression| format!("--where {}", expression.text()));
    patterns.chain(by).chain(conditions).chain(of_changes).collect()
}
