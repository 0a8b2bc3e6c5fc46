//! `kdelta tree --explain`: the requests that are known before anything is read, and those that depend on the responses.

use std::io::Write;

use kdelta::object::ApiResource;
use kdelta::wire::Representation;

use super::live::watched;
use super::requests::{MAX_NAMESPACES, RootRequest, is_endpoints};
use super::status_rules::representation;
use super::workload_selector::{ResourceTypes, types_of};
use crate::commands::query_plan::{PartUse, part_plan, print_plan, without_patterns};
use crate::commands::reporter::Reporter;
use crate::commands::walk::Walk;
use crate::exit::ExitCode;
use crate::output::{PartPlan, QueryPlan};
use crate::session::{Filter, Part, PlannedPart, RequestMode, ServerConditions, Session, reflector_options};
use crate::settings::{self, Namespaces, OutputStream, PlanForm, Print, Selection};

/// The place of a label selector that is read from the selected object.
const SELECTOR: &str = "SELECTOR";

/// Prints the plan.
pub(super) async fn explain(
    session: &Session,
    tree: &settings::Tree,
    form: PlanForm,
    reporter: &Reporter,
    stdout: OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let (selection, first) = without_patterns(&tree.selection);
    let planner = Planner { session, watches: tree.watch };
    let mut plan = QueryPlan { first, ..QueryPlan::default() };
    let roots: Vec<Part> =
        parts(session, &selection, reporter).await?.into_iter().map(|planned| planned.part).collect();
    for root in &roots {
        plan.parts.push(planner.root(root, &selection).await?);
    }
    let candidates = tree.candidates(namespaces(&roots));
    let mut owned = parts(session, &candidates, reporter).await?;
    owned.retain(|planned| !is_endpoints(&planned.part.resource));
    let left_out;
    (owned, left_out) = if tree.watch { watched(owned) } else { (owned, 0) };
    let types = narrowed_types(&roots);
    let (narrowed, others): (Vec<Part>, Vec<Part>) =
        owned.into_iter().map(|planned| planned.part).partition(|part| is_one_of(types, &part.resource));
    if !narrowed.is_empty() {
        plan.parts.push(planner.narrowed(&narrowed, &candidates).await?);
    }
    if !others.is_empty() {
        plan.parts.push(planner.others(&others, &candidates).await?);
    }
    plan.later = later(tree, &roots, types, left_out);
    print_plan(&plan, form, stdout, out)?;
    Ok(ExitCode::Ok)
}

/// Returns all parts of a selection.
async fn parts(
    session: &Session,
    selection: &Selection,
    reporter: &Reporter,
) -> anyhow::Result<Vec<PlannedPart>> {
    let mut walk = Walk::start(session, selection, true, reporter).await?;
    Ok(std::iter::from_fn(|| walk.next()).collect())
}

/// Returns the namespaces of the objects that may be owned, if each of these parts has objects.
fn namespaces(roots: &[Part]) -> Namespaces {
    let mut names: Vec<String> = roots.iter().map(|part| part.namespace.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() || names.len() > MAX_NAMESPACES || names[0].is_empty() {
        Namespaces::All
    } else {
        Namespaces::Named(names)
    }
}

/// Returns the types that the selected object selects by labels, if one object is selected by its name.
fn narrowed_types(roots: &[Part]) -> ResourceTypes {
    match roots {
        [only] if only.name.is_some() => types_of(&only.resource).unwrap_or_default(),
        _ => &[],
    }
}

fn is_one_of(types: ResourceTypes, resource: &ApiResource) -> bool {
    types.contains(&(&resource.group, &resource.resource))
}

struct Planner<'a> {
    session: &'a Session,
    /// Whether the objects are watched.
    watches: bool,
}

impl Planner<'_> {
    async fn part(
        &self,
        part: &Part,
        selection: &Selection,
        conditions: &ServerConditions,
        representation: Representation,
        reason: &str,
    ) -> anyhow::Result<PartPlan> {
        let print = Print::default();
        let source = self.session.source(part, selection, &print, representation, Filter::default());
        let mode = match &part.name {
            _ if self.watches => RequestMode::Watch,
            Some(name) => RequestMode::Named(name.to_string()),
            None => RequestMode::Synced,
        };
        let pages_first = !self.watches && self.session.may_list_in_pages(part, selection, &source).await;
        let options = reflector_options(selection, &source, None).pages_first(pages_first);
        let (reasons, kept) = (vec![reason.to_owned()], KEPT.to_owned());
        part_plan(PartUse { part, selection, conditions, mode, reasons, kept }, &source, &options)
    }

    async fn root(&self, part: &Part, selection: &Selection) -> anyhow::Result<PartPlan> {
        self.session.load_fields(part, &[], &selection.filter).await;
        let root = RootRequest::of(self.session, part, selection);
        let reason = match representation(&part.resource) {
            Representation::Metadata => "the status of these objects follows from their metadata",
            _ => "the status, and the selector of a workload, are not part of the metadata",
        };
        self.part(part, &root.selection, &root.conditions, root.representation, reason).await
    }

    /// Returns the plan of the lists with the label selector of the selected object.
    async fn narrowed(&self, parts: &[Part], candidates: &Selection) -> anyhow::Result<PartPlan> {
        let selection = Selection { label_selector: Some(SELECTOR.to_owned()), ..candidates.clone() };
        let mut plan = PartPlan::default();
        for part in parts {
            let needed = representation(&part.resource);
            let reason = "nearly all of these objects are part of the tree, and their status is shown";
            let next = self.part(part, &selection, &ServerConditions::default(), needed, reason).await?;
            plan = joined(plan, next);
        }
        plan.title = title(parts, "objects with the labels of the selected object's selector");
        plan.server.retain(|condition| !condition.contains(SELECTOR));
        plan.server
            .push(format!("the label selector {SELECTOR} of the selected object, which is read before"));
        Ok(plan)
    }

    /// Returns the plan of the lists of all other objects.
    async fn others(&self, parts: &[Part], candidates: &Selection) -> anyhow::Result<PartPlan> {
        let mut plan = PartPlan::default();
        for part in parts {
            let (conditions, reason) = (ServerConditions::default(), "the metadata names the owners");
            let next = self.part(part, candidates, &conditions, Representation::Metadata, reason).await?;
            plan = joined(plan, next);
        }
        plan.title = title(parts, "objects that may be owned");
        plan.local = vec!["the objects below the selected ones, by their owners".to_owned()];
        Ok(plan)
    }
}

/// The data that is kept of each object.
const KEPT: &str = "its names, owners, age and status";

/// Returns a plan with the requests of both.
fn joined(plan: PartPlan, next: PartPlan) -> PartPlan {
    let requests = plan.requests.into_iter().chain(next.requests).collect();
    PartPlan { requests, ..next }
}

fn title(parts: &[Part], objects: &str) -> String {
    let number = parts.len();
    match parts {
        [] => String::new(),
        [only] => format!("{}: {objects}", only.title()),
        [first, ..] if parts.iter().all(|part| part.namespace == first.namespace) => {
            match &*first.namespace {
                "" => format!("{number} types: {objects}"),
                namespace => format!("{number} types in the namespace {namespace}: {objects}"),
            }
        }
        _ => format!("{number} types or namespaces: {objects}"),
    }
}

/// Returns what else may be requested, depending on the responses.
fn later(tree: &settings::Tree, roots: &[Part], types: ResourceTypes, left_out: usize) -> Vec<String> {
    let mut later = Vec::new();
    if roots.iter().any(|root| root.resource.namespaced && root.namespace.is_empty()) {
        later.push(format!(
            "if the selected objects are in at most {MAX_NAMESPACES} namespaces, lists of these only"
        ));
    }
    let is_workload = |root: &&Part| types_of(&root.resource).is_some();
    if !types.is_empty() {
        later.push(
            "the lists with SELECTOR again without it, if the tree has other objects that may own pods"
                .to_owned(),
        );
    } else if let Some(root) = roots.iter().find(is_workload) {
        let kind = &root.resource.kind;
        later.push(format!("if only one {kind} is selected, the pods with the labels of its selector only"));
    }
    later.push(
        "objects of the tree whose status is unknown by then: each by its name, or a list of all of their type and \
         namespace if most of them are part of the tree"
            .to_owned(),
    );
    later.push("owners that no list has: each by its name".to_owned());
    if tree.related {
        later.push(
            "for --related, where an object of the tree can have such a relation: lists of events, endpoint slices, \
             ingresses, autoscalers, pods and workloads, and by name the objects to which others refer"
                .to_owned(),
        );
    }
    if tree.watch {
        later.push("a watch of the definitions of custom resources, for types that are added".to_owned());
    }
    if left_out > 0 {
        later.push(format!("{left_out} more types or namespaces are not watched"));
    }
    later
}
