//! `kdelta get -f` and `-k`: the objects that files name, as the server has them.
//!
//! As in kubectl, each object is requested by its type and name, in the order of the files, and nothing is printed before
//! the last one. An object of a file without a name is printed itself.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use kdelta::listwatch::Error;
use kdelta::object::{LabelSelector, Object};
use kdelta::wire::Representation;

use super::output_errors::{ContextNotShown, print_failure};
use super::sink::ListingPrinter;
use crate::commands::empty_result;
use crate::commands::error_tree::ErrorTree;
use crate::commands::files::{document_error, label_selector, read};
use crate::commands::format::Extent;
use crate::commands::needs;
use crate::commands::reporter::Reporter;
use crate::commands::stats::Stats;
use crate::exit::{ExitCode, Hint, Report, Usage, VerbatimLines};
use crate::output::OrderedListing;
use crate::session::{FileObject, Filter, Part, ResolvedDocument, Session};
use crate::settings::{self, Files, FilterNeeds, Format, Get, Namespaces, ObjectContent};

/// Prints the objects of the files.
pub(super) async fn run<W: Write>(
    session: &Session,
    get: &Get,
    files: &Files,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: W,
) -> anyhow::Result<ExitCode> {
    if session.has_several_contexts()
        && let Some(format) = get.print.format.of_one_context()
    {
        return Err(anyhow::Error::new(ContextNotShown(format)).context(Usage));
    }
    let is_unusable = reporter.report_unusable(session);
    let labels = label_selector(&get.selection)?;
    let manifests = read(files, reporter).await?;
    let resolved = session.resolve_files(&manifests.entries, &get.selection.namespaces).await;
    let mut retrieval = Retrieval {
        session,
        get,
        reporter,
        labels,
        filter: Filter::by(&get.by, session.expression_errors())
            .context(Usage)?
            .and_conditions(&get.selection.filter),
        stats: Stats::new(get.stats),
        found: Vec::new(),
        wrong_namespaces: Vec::new(),
    };
    let mut errors = Vec::new();
    for resolved in resolved {
        errors.extend(retrieval.retrieve(resolved).await);
    }
    let Retrieval { stats, found, wrong_namespaces, .. } = retrieval;
    let is_table = matches!(get.print.format, Format::Table { .. });
    let error = collected(wrong_namespaces, errors);
    let prints = is_table || error.is_none() || !manifests.is_single;
    let (count, has_failures) = if prints {
        let is_single = manifests.is_single && found.len() == 1;
        let result = FileResult { found: &found, is_single, is_complete: error.is_none() };
        print(session, get, &result, reporter, stdout, out)?
    } else {
        (0, false)
    };
    stats.report(session, reporter.messages());
    empty_result::report_expression_errors(session, reporter);
    let end = match error {
        Some(error) => return failed(error, is_table, manifests.is_single, count, reporter),
        None if is_unusable => ExitCode::Partial,
        None if has_failures => ExitCode::Error,
        None => ExitCode::Ok,
    };
    if count == 0 && is_table && !get.ignore_not_found {
        reporter.messages().notice(&nothing_found(session, get));
    }
    Ok(empty_result::exit_code(count, get.fail_if_empty, end))
}

/// Requests the objects, one after the other.
struct Retrieval<'a> {
    session: &'a Session,
    get: &'a Get,
    reporter: &'a Reporter,
    labels: Option<LabelSelector>,
    /// The conditions of `--by` and of the other filters.
    filter: Filter,
    stats: Stats,
    found: Vec<(Part, Arc<Object>)>,
    /// The errors of objects outside of the requested namespace.
    wrong_namespaces: Vec<ErrorTree>,
}

impl Retrieval<'_> {
    /// Requests the objects of a document. Returns its error.
    async fn retrieve(&mut self, resolved: ResolvedDocument) -> Option<ErrorTree> {
        match resolved {
            ResolvedDocument::Object(object) => self.retrieve_object(object).await,
            ResolvedDocument::Failed(error) => Some(ErrorTree::Error(document_error(error))),
            ResolvedDocument::List(items) => {
                let mut errors = Vec::new();
                for item in items {
                    errors.extend(match item {
                        ResolvedDocument::Object(object) => self.retrieve_object(object).await,
                        ResolvedDocument::Failed(error) => Some(ErrorTree::Error(error)),
                        // Lists in lists are flattened already.
                        ResolvedDocument::List(_) => None,
                    });
                }
                (!errors.is_empty()).then_some(ErrorTree::Aggregate(errors))
            }
        }
    }

    async fn retrieve_object(&mut self, object: FileObject) -> Option<ErrorTree> {
        let FileObject { part, unnamed, refused, wrong_namespace } = object;
        let object = match (refused, unnamed) {
            (Some(error), _) => match error.downcast() {
                Ok(error) => Err(self.session.with_missing_namespace(&part, error).await.into()),
                Err(error) => Err(error),
            },
            (None, Some(object)) => Ok(object),
            (None, None) => self.request(&part).await,
        };
        let object = match object {
            Ok(object) => object,
            Err(error) if self.get.ignore_not_found && is_not_found(&error) => return None,
            Err(error) => return Some(ErrorTree::Error(error)),
        };
        if self.labels.as_ref().is_some_and(|labels| !labels.matches(&object)) {
            return None;
        }
        match self.filter.selects(&object) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(ErrorTree::Error(error.into())),
        }
        match wrong_namespace {
            Some(error) => self.wrong_namespaces.push(ErrorTree::Error(error)),
            None => self.found.push((part, object)),
        }
        None
    }

    /// Requests an object by its name.
    async fn request(&mut self, part: &Part) -> anyhow::Result<Arc<Object>> {
        let Get { selection, print, .. } = self.get;
        let source = self.session.source(part, selection, print, self.representation(), Filter::default());
        self.stats.add_source(&source);
        let name = part.name.as_deref().unwrap_or_default();
        let (attempts, observer) = (source.attempts(), self.reporter.one_shot_observer(part));
        match attempts.repeat(&observer, async || source.get_named(name).await).await {
            Ok(object) => Ok(object),
            Err(error) => Err(self.session.with_missing_namespace(part, error).await.into()),
        }
    }

    /// Returns the representation that is needed to print and select the objects.
    fn representation(&self) -> Representation {
        let Get { print, by, sort_by, .. } = self.get;
        let indices = by.iter().map(|by| &by.index);
        let needed = match sort_by {
            Some(sort_by) => needs::sorted(print, sort_by, indices),
            None => needs::representation(print, indices),
        };
        let labels = if self.labels.is_some() { ObjectContent::Metadata } else { ObjectContent::Nothing };
        needs::with_filter(needed, FilterNeeds::content(labels).and(self.get.selection.filter.needs()))
    }
}

/// Whether the server has no such object or path.
fn is_not_found(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::NotFound(_)))
}

/// The objects to print.
struct FileResult<'a> {
    found: &'a [(Part, Arc<Object>)],
    /// Whether one object was requested.
    is_single: bool,
    /// Whether every object was found.
    is_complete: bool,
}

/// Prints the objects. Returns their number, and whether an expression failed on one.
fn print<W: Write>(
    session: &Session,
    get: &Get,
    result: &FileResult<'_>,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: W,
) -> anyhow::Result<(usize, bool)> {
    let FileResult { found, is_single, is_complete } = *result;
    let extent = Extent {
        selection: &get.selection,
        resources: &found.iter().map(|(part, _)| Arc::clone(&part.resource)).collect::<Vec<_>>(),
        // As in kubectl, the namespaces of the objects are no reason for a column.
        parts: &[],
        several_contexts: session.has_several_contexts(),
        several_namespaces: false,
    };
    let listing = extent.listing_of(is_single, &get.print, stdout)?;
    let listing = OrderedListing::new(get.sort_by.as_deref(), listing)
        .map_err(|error| anyhow::Error::new(error).context(Usage))?;
    let printer = ListingPrinter::new(listing, session.now(), reporter, out);
    for (part, object) in found {
        printer.object(part, object);
    }
    printer.check().map_err(print_failure)?;
    // As in kubectl, nothing is printed about names that may be missing and are, not even an empty list.
    let count = printer.finish(is_complete && !get.ignore_not_found).map_err(print_failure)?;
    Ok((count, printer.has_failures()))
}

/// Nests the errors as kubectl does.
fn collected(mut wrong_namespaces: Vec<ErrorTree>, errors: Vec<ErrorTree>) -> Option<ErrorTree> {
    if !errors.is_empty() {
        wrong_namespaces.push(ErrorTree::Aggregate(errors));
    }
    match wrong_namespaces.len() {
        0 => None,
        1 => wrong_namespaces.pop(),
        _ => Some(ErrorTree::Aggregate(wrong_namespaces)),
    }
}

/// Ends the command with errors, after printing `count` objects.
fn failed(
    error: ErrorTree,
    is_table: bool,
    is_single: bool,
    count: usize,
    reporter: &Reporter,
) -> anyhow::Result<ExitCode> {
    // Where kubectl nests the errors once more, or not.
    let error = match (is_table, is_single) {
        (true, _) => ErrorTree::Aggregate(vec![error]),
        (false, true) => error,
        (false, false) => error.flattened(),
    };
    let (mut hint, mut is_missing) = (None, false);
    error.visit(&mut |error| {
        is_missing |= is_not_found(error);
        hint = hint.take().or_else(|| Report::of(error, "").hint);
    });
    let messages = error.messages();
    // A missing name fails the whole command, as in kubectl.
    if count > 0 && !is_missing {
        reporter.messages().error(&messages, hint.as_deref());
        return Ok(ExitCode::Partial);
    }
    let failed = anyhow::Error::new(VerbatimLines(messages));
    Err(match hint {
        Some(hint) => failed.context(Hint(hint)),
        None => failed,
    })
}

/// Returns kubectl's text for no objects.
fn nothing_found(session: &Session, get: &Get) -> String {
    match &get.selection.namespaces {
        Namespaces::Named(names) => format!("No resources found in {} namespace.", names.join(",")),
        Namespaces::Current => format!("No resources found in {} namespace.", session.cluster().namespace()),
        Namespaces::All | Namespaces::Matching { .. } => "No resources found".to_owned(),
    }
}
