//! `kdelta events`: events in kubectl's rows, sorted by time, or as they arrive.

mod collected;
mod object_selector;

use std::io::Write;
use std::sync::Arc;

use kdelta::object::Object;
use kdelta::reflector::Reflector;
use kdelta::wire::Representation;

use self::collected::CollectedObjects;
use super::format;
use super::list_store::ListStore;
use super::reporter::Reporter;
use super::walk::Walk;
use crate::commands::watch as watch_command;
use crate::exit::ExitCode;
use crate::output::event_list;
use crate::session::{Filter, Part, PlannedPart, Session, reflector_options};
use crate::settings::{self, Events, Namespaces, Print, Selection, Watch};

/// Prints the current events, the oldest first. Errors of single parts are reported at the end.
pub(crate) async fn list(
    session: &Session,
    events: &Events,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let selection = object_selector::selection(session, events).await?;
    report_ignored(events, reporter);
    let mut walk = Walk::start(session, &selection, false, reporter).await?;
    let mut found: Vec<Arc<Object>> = Vec::new();
    while let Some(planned) = walk.next() {
        match list_part(session, events, &selection, &planned.part, reporter).await {
            Ok(listed) => found.extend(listed),
            Err(error) => walk.failed(planned, error).await?,
        }
    }
    let events_of = found.iter().map(|event| &**event);
    let options = format::of_events(&events.output, stdout);
    let printed = event_list(options, events_of, session.now(), &mut out).map_err(format::print_failure)?;
    if printed == 0 && walk.is_complete() {
        reporter.messages().notice(&nothing_found(&selection, &walk.parts()));
    }
    walk.end()
}

/// Prints the current events in the server's order, then new and changed ones, until interrupted.
pub(crate) async fn watch(
    session: &Session,
    events: &Events,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let selection = object_selector::selection(session, events).await?;
    report_ignored(events, reporter);
    watch_command::run(session, &Watch::of_events(events, selection), reporter, stdout, out).await
}

/// kubectl silently ignores arguments that are no flags.
fn report_ignored(events: &Events, reporter: &Reporter) {
    if events.has_ignored {
        reporter.messages().hint("events takes no arguments; --for TYPE/NAME selects those about one object");
    }
}

async fn list_part(
    session: &Session,
    events: &Events,
    selection: &Selection,
    part: &Part,
    reporter: &Reporter,
) -> anyhow::Result<Vec<Arc<Object>>> {
    let print = Print { managed_fields: events.output.managed_fields, ..Print::default() };
    let source = session.source(part, selection, &print, Representation::Objects, Filter::default());
    let source = reporter.source(part, selection, source).one_shot();
    let (attempts, observer) = (source.attempts(), reporter.one_shot_observer(part));
    let options = reflector_options(selection, &source, Some(Arc::clone(&observer)))
        .pages_first(session.may_read_ahead(part));
    let store = Arc::new(ListStore(CollectedObjects::default()));
    let reflector = Reflector::new(source, Arc::clone(&store), options);
    // Boxed because the future is large.
    let listed = Box::pin(attempts.repeat(&observer, async || reflector.list_once().await)).await;
    listed.map_err(|error| part.with_request_context(selection, error))?;
    Ok(store.0.take())
}

/// Returns kubectl's text for an empty result.
fn nothing_found(selection: &Selection, parts: &[PlannedPart]) -> String {
    match parts {
        [PlannedPart { part, .. }] if selection.namespaces != Namespaces::All => {
            format!("No events found in {} namespace.", part.namespace)
        }
        _ => "No events found.".to_owned(),
    }
}
