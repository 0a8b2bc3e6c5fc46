//! `kdelta tree`: objects with their owners above and all that they own below.
//!
//! All types are listed at once, as metadata, into one index of owners. Whole objects are requested only of the objects
//! of the tree whose status depends on more than metadata.

mod collection;
mod explain;
mod live;
mod owners;
mod related;
mod requests;
mod status_rules;
mod statuses;
mod workload_selector;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;

use jiff::Timestamp;
use kdelta::wire::Representation;

pub(crate) use self::live::watch;

use self::collection::{Collection, Listed};
use self::requests::{ListRequest, MAX_NAMESPACES, Requests, RootRequest, is_endpoints};
use self::status_rules::representation;
use self::workload_selector::WorkloadSelector;
use super::empty_result;
use super::reporter::Reporter;
use super::stats::Stats;
use super::walk::Walk;
use crate::exit::ExitCode;
use crate::output::{TreeForm, TypedFormat, write_tree};
use crate::session::{Part, Session};
use crate::settings::{self, Namespaces, Selection, TreeFormat};
use crate::view::{ObjectId, OwnerIndex, Tree};

/// Prints the trees of the selected objects.
pub(crate) async fn run(
    session: &Session,
    tree: &settings::Tree,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    if let Some(form) = tree.explain {
        return explain::explain(session, tree, form, reporter, stdout, out).await;
    }
    let mut collection = Collection {
        requests: Requests { session, reporter, reads_relations: tree.related },
        candidates: tree.candidates(Namespaces::All),
        index: OwnerIndex::new(tree.related),
        requested: Vec::new(),
        stats: Stats::new(tree.stats),
        forbidden: Vec::new(),
        now: session.now(),
    };
    let mut walk = Walk::start(session, &tree.selection, false, reporter).await?;
    let request = async |part: &Part| {
        session.load_fields(part, &[], &tree.selection.filter).await;
        let RootRequest { selection, representation, .. } = RootRequest::of(session, part, &tree.selection);
        Some(ListRequest { selection: Cow::Owned(selection), representation })
    };
    let roots = collection.list(&mut walk, request).await?;
    empty_result::report_expression_errors(session, reporter);
    let parts = walk.parts();
    let code = walk.end()?;
    let count = roots.iter().map(|listed| listed.objects.len()).sum();
    let (code, shown) = if count > 0 {
        let (further, shown) = collection.collect(tree, &roots).await?;
        (worse(code, further), shown)
    } else {
        if code == ExitCode::Ok {
            empty_result::report(session, &tree.selection, reporter, &parts).await;
        }
        (code, Tree::default())
    };
    collection.stats.report(session, reporter.messages());
    let namespaces = is_wide(&tree.selection.namespaces) || shown.has_several_namespaces(&collection.index);
    let form = form(tree, stdout, namespaces, collection.now);
    write_tree(&shown, &collection.index, form, &mut out)?;
    Ok(empty_result::exit_code(count, tree.fail_if_empty, code))
}

impl<'a> Collection<'a> {
    /// Collects the trees around these objects. The types that can't be listed are reported.
    async fn collect(&mut self, tree: &settings::Tree, roots: &[Listed]) -> anyhow::Result<(ExitCode, Tree)> {
        for listed in roots {
            self.add(listed);
            let uids = listed.objects.iter().map(|object| ObjectId::from(object.uid().to_string()));
            self.requested.extend(uids.filter(|uid| self.index.get(uid).is_some()));
        }
        let candidates = tree.candidates(namespaces(roots));
        self.candidates = candidates.clone();
        let selector = WorkloadSelector::of(roots);
        let all_objects =
            selector.as_ref().map(|selector| Selection { targets: selector.targets(), ..candidates.clone() });
        let mut code = ExitCode::Ok;
        let mut walk = self.list_owned(&candidates, selector.as_ref()).await?;
        if let (Some(selector), Some(all_objects)) = (&selector, &all_objects)
            && !selector.covers(self.index.below(&self.requested))
        {
            code = self.end(walk);
            walk = self.list_owned(all_objects, None).await?;
        }
        self.add_owners().await?;
        let shown = if tree.related {
            self.related_tree(tree.depth).await?
        } else {
            let shown = Tree::of(&self.index, &self.requested, tree.depth);
            self.add_statuses(&shown).await;
            shown
        };
        walk.add_forbidden(std::mem::take(&mut self.forbidden));
        Ok((worse(code, self.end(walk)), shown))
    }

    /// Lists the objects that may be owned.
    async fn list_owned<'w>(
        &mut self,
        candidates: &'w Selection,
        selector: Option<&WorkloadSelector>,
    ) -> anyhow::Result<Walk<'w>>
    where
        'a: 'w,
    {
        let mut walk = Walk::start(self.requests.session, candidates, true, self.requests.reporter).await?;
        let narrowed = selector.map(|selector| Selection {
            label_selector: Some(selector.labels.clone()),
            ..candidates.clone()
        });
        let request = async |part: &Part| match &narrowed {
            // Nearly all of these objects are part of the tree, so that they are listed with their status.
            Some(selection) if selector.is_some_and(|selector| selector.applies_to(&part.resource)) => {
                let representation = representation(&part.resource);
                Some(ListRequest { selection: Cow::Borrowed(selection), representation })
            }
            _ if is_endpoints(&part.resource) => None,
            _ => {
                let (selection, representation) = (Cow::Borrowed(candidates), Representation::Metadata);
                Some(ListRequest { selection, representation })
            }
        };
        for listed in self.list(&mut walk, request).await? {
            self.add(&listed);
        }
        Ok(walk)
    }

    /// Reports the failures of lists. They leave something out of the tree, but do not end the command.
    fn end(&self, walk: Walk<'_>) -> ExitCode {
        walk.end().unwrap_or_else(|error| {
            self.requests.reporter.report_error("", &error);
            ExitCode::Partial
        })
    }
}

/// Whether objects of any namespace may be selected.
fn is_wide(namespaces: &Namespaces) -> bool {
    !matches!(namespaces, Namespaces::Current | Namespaces::Named(_))
}

/// Returns the namespaces of the objects that these may own: an object in a namespace owns none outside of it.
fn namespaces(roots: &[Listed]) -> Namespaces {
    let objects = roots.iter().flat_map(|listed| &listed.objects);
    let names: BTreeSet<&str> = objects.map(|object| object.namespace()).collect();
    if names.contains("") || names.len() > MAX_NAMESPACES {
        Namespaces::All
    } else {
        Namespaces::Named(names.into_iter().map(str::to_owned).collect())
    }
}

/// Returns the exit code of two steps.
fn worse(one: ExitCode, other: ExitCode) -> ExitCode {
    if one == ExitCode::Ok { other } else { one }
}

fn form(tree: &settings::Tree, stdout: settings::OutputStream, namespaces: bool, now: Timestamp) -> TreeForm {
    let documents = |format| TreeForm::Documents { format, for_terminal: stdout.is_terminal };
    match tree.format {
        TreeFormat::Table => {
            TreeForm::Table { headers: tree.headers, colour: stdout.colour, namespaces, now }
        }
        TreeFormat::Json => documents(TypedFormat::Json),
        TreeFormat::Yaml => documents(TypedFormat::Yaml),
        TreeFormat::Kyaml => documents(TypedFormat::Kyaml),
        TreeFormat::Name => TreeForm::Names,
        TreeFormat::Dot => TreeForm::Dot,
        TreeFormat::Mermaid => TreeForm::Mermaid,
    }
}
