//! The start of `get -w`: kubectl's warnings and refusals, and the objects requested by name.

mod refusal;

pub(super) use refusal::WatchRefusal;

use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::object::{Object, Origin};
use kdelta::query::{WATCH_ONLY_WARNING, WATCH_WARNING};

use crate::commands::failure_action::is_missing;
use crate::commands::needs;
use crate::commands::reporter::Reporter;
use crate::commands::walk::with_similar_names;
use crate::commands::watch::printer::DeltaPrinter;
use crate::exit::{Hint, Usage};
use crate::session::{Filter, Part, Session, TargetSet};
use crate::settings::{GetWatch, UsageError, Watch};

/// Prints the warnings that kubectl prints before everything else.
pub(super) fn warn(form: &GetWatch, reporter: &Reporter) {
    if form.sort_by.is_some() {
        reporter.messages().notice(if form.is_watch { WATCH_WARNING } else { WATCH_ONLY_WARNING });
    }
}

/// kubectl's formats have no field for a context.
#[derive(Debug, thiserror::Error)]
#[error(
    "-o {0} can't show the context of an object, but several contexts are selected: select one, or use `watch -o json`"
)]
struct ContextNotShown(&'static str);

/// Rejects words for several types, and formats that can't tell objects of several contexts apart. As in kubectl, two
/// words for one type count as two, unless each has names.
pub(super) fn check_words(session: &Session, watch: &Watch) -> anyhow::Result<()> {
    let targets = &watch.selection.targets;
    let has_collections = targets.iter().any(|target| target.names.is_empty());
    let has_patterns = targets.iter().any(|target| target.types.is_open());
    if has_patterns || (has_collections && targets.len() > 1) {
        return Err(several_types());
    }
    match watch.print.format.of_one_context() {
        Some(format) if session.has_several_contexts() => {
            Err(anyhow::Error::new(ContextNotShown(format)).context(Usage))
        }
        _ => Ok(()),
    }
}

/// Rejects words that stand for several types.
pub(super) fn check_types(targets: &TargetSet) -> anyhow::Result<()> {
    let mut types = targets.resources().into_iter().map(|resource| resource.group_resource());
    let first = types.next();
    if types.any(|other| Some(other) != first) { Err(several_types()) } else { Ok(()) }
}

fn several_types() -> anyhow::Error {
    let hint = Hint("`kdelta watch` takes several types".to_owned());
    anyhow::Error::new(UsageError::SeveralTypes).context(hint).context(Usage)
}

/// The objects requested by name, as far as they concern the watch.
pub(super) enum NamedObjects {
    /// A collection, or a single object with its current state, can be watched.
    Watchable(Option<Arc<Object>>),
    /// The object does not exist, and the user accepts that.
    Missing,
    /// Several objects, which kubectl prints but does not watch.
    Several(Vec<(Part, Arc<Object>)>),
}

/// Reads the objects requested by name or in files, as kubectl does before it watches.
///
/// # Errors
/// An object can't be read.
pub(super) async fn read_named(
    session: &Session,
    watch: &Watch,
    targets: &TargetSet,
    reporter: &Reporter,
) -> anyhow::Result<NamedObjects> {
    let parts: Vec<Part> = targets.parts_with_repetitions().into_iter().map(|planned| planned.part).collect();
    // kubectl knows no list of namespaces or contexts.
    let is_one_namespace = parts.iter().all(|part| {
        part.name.is_some() && (part.cluster, &part.namespace) == (parts[0].cluster, &parts[0].namespace)
    });
    let is_selected = (watch.files.is_some() && watch.selection.label_selector.is_some())
        || !watch.selection.filter.is_empty();
    let are_objects = watch.files.is_some() || is_one_namespace;
    if parts.is_empty() || !are_objects || is_selected || watch.flow.from.is_some() {
        return Ok(NamedObjects::Watchable(None));
    }
    let mut objects = Vec::new();
    for part in parts {
        let representation = needs::of_lines(&watch.print, [], &watch.lines);
        let source = session.source(&part, &watch.selection, &watch.print, representation, Filter::default());
        let source = reporter.source(&part, &watch.selection, source);
        let (attempts, observer) = (source.attempts(), reporter.one_shot_observer(&part));
        let name = part.name.as_deref().unwrap_or_default();
        match attempts.repeat(&observer, async || source.get_named(name).await).await {
            Ok(object) => objects.push((part, object)),
            Err(error) if watch.ignore_not_found && is_missing(&error) => return Ok(NamedObjects::Missing),
            Err(error) => {
                let error = session.with_missing_namespace(&part, error).await;
                return Err(with_similar_names(session, reporter, &part, error).await);
            }
        }
    }
    Ok(match objects.as_slice() {
        [(_, only)] => NamedObjects::Watchable(Some(Arc::clone(only))),
        _ => NamedObjects::Several(objects),
    })
}

/// kubectl watches a single object or collection.
#[derive(Debug, thiserror::Error)]
enum SeveralObjects {
    #[error("you may only watch a single resource or type of resource at a time")]
    Named,
    #[error(
        "watch is only supported on individual resources and resource collections - {0} resources were found"
    )]
    InOneFile(usize),
}

/// Prints several objects, and returns kubectl's refusal to watch them. `is_one_file` is whether a single file names them.
pub(super) fn refuse_several<W: Write>(
    objects: Vec<(Part, Arc<Object>)>,
    is_one_file: bool,
    initial: bool,
    printer: &mut DeltaPrinter<W>,
) -> anyhow::Error {
    let refusal = if is_one_file { SeveralObjects::InOneFile(objects.len()) } else { SeveralObjects::Named };
    let print = || {
        for (number, (part, object)) in objects.into_iter().enumerate() {
            printer.add_part(number, &part, initial);
            let added = Notification::Added { object, is_in_initial_list: true, origin: Origin::List };
            printer.notification(number, Timestamp::now(), added)?;
        }
        printer.end_initial()
    };
    match print() {
        Ok(()) => {
            anyhow::Error::new(refusal).context(Hint("`kdelta watch` takes several objects".to_owned()))
        }
        Err(error) => error.into(),
    }
}
