//! Runs the task of the settings: without a runtime, on a server of its own, or on a session.

use std::io::Write;
use std::sync::Arc;

use kdelta::client::Notice;
use kdelta::kubeconfig;

use super::configuration_error::configuration_error;
use super::connection_notice::report_notice;
use super::parse::DEFAULT_WIDTH;
use super::tasks::{answer, follow, follows};
use super::{global_flags, metrics, warnings_as_errors};
use crate::commands::{self, Reporter};
use crate::exit::ExitCode;
use crate::metrics::Metrics;
use crate::output::{self, Messages, Stdout};
use crate::session::{ExitOnSignal, ServerWarnings, Session, credential_plugins};
use crate::settings::{Settings, Task, Version};

/// Runs the task.
pub(super) fn dispatch(
    settings: &Settings,
    messages: &Arc<Messages>,
    no_columns: bool,
) -> anyhow::Result<ExitCode> {
    if let Some(code) = run_without_runtime(settings, messages, no_columns)? {
        return Ok(code);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let out = Stdout::open()?;
    output::log::show(messages, settings.verbosity);
    let measured = metrics::create(settings);
    let reporter = Reporter::new(Arc::clone(messages), settings.verbosity > 0).with_metrics(measured.clone());
    let mut warnings = None;
    let ended =
        runtime.block_on(run_with_runtime(settings, messages, &reporter, measured, out, &mut warnings));
    credential_plugins().end();
    // A name lookup may still block a thread; its result is no longer needed.
    runtime.shutdown_background();
    match warnings {
        Some(warnings) => Ok(warnings_as_errors::outcome(ended?, &warnings)?),
        None => ended,
    }
}

/// Runs a task that sends no requests; `None` for other tasks.
fn run_without_runtime(
    settings: &Settings,
    messages: &Messages,
    no_columns: bool,
) -> anyhow::Result<Option<ExitCode>> {
    let code = match &settings.task {
        Task::Completions(shell) => commands::completions::run(*shell, Stdout::open()?)?,
        Task::Man(command) => commands::man::run(command.as_deref(), Stdout::open()?)?,
        Task::Options => print_options(no_columns)?,
        Task::RecordingTool(tool) => commands::recording::run(tool, settings, messages, Stdout::open()?)?,
        Task::Version(Version { client_only: true, format }) => {
            commands::discovery::client_version(*format, Stdout::open()?)?
        }
        _ => return Ok(None),
    };
    Ok(Some(code))
}

/// Prints the flags that every command takes.
fn print_options(no_columns: bool) -> anyhow::Result<ExitCode> {
    let mut out = Stdout::open()?;
    out.write_all(global_flags::list(no_columns.then_some(DEFAULT_WIDTH)).to_string().as_bytes())?;
    out.flush()?;
    Ok(ExitCode::Ok)
}

/// Runs a task that serves, or sends requests. Sets `warnings` once the session is open, if they are errors.
async fn run_with_runtime(
    settings: &Settings,
    messages: &Arc<Messages>,
    reporter: &Reporter,
    measured: Option<Metrics>,
    mut out: Stdout,
    warnings: &mut Option<ServerWarnings>,
) -> anyhow::Result<ExitCode> {
    // Installed first: before that, SIGUSR1 would end the process.
    let _status_signal = if follows(&settings.task) { Some(reporter.report_on_signal()?) } else { None };
    if let (Task::Demo, Some(options)) = (&settings.task, settings.demo) {
        return commands::demo::run(options, out).await;
    }
    if let (Some(serve), Some(recording)) = (&settings.serve, &settings.recording) {
        let keys = &settings.recording_keys;
        return commands::serve::run(serve, recording, keys, &settings.connection, messages, out).await;
    }
    // Before anything is watched.
    let _serving = match (&settings.metrics, &measured) {
        (Some(address), Some(metrics)) => Some(metrics::serve(address, metrics.clone(), messages).await?),
        _ => None,
    };
    let session = open_session(settings, messages, measured.clone(), &mut out).await?;
    messages.mask(session.redactions());
    if let Some(metrics) = &measured {
        metrics::measure(metrics, &session);
    }
    *warnings = settings.warnings_as_errors.then(|| session.server_warnings());
    if settings.match_server_version {
        commands::discovery::require_matching_servers(&session).await?;
    }
    if follows(&settings.task) {
        return follow(&session, settings, reporter, out).await;
    }
    let last = Arc::clone(messages);
    let _ends = ExitOnSignal::after(move |end| last.without_counts(end))?;
    answer(&session, settings, reporter, out).await
}

/// Opens the session of the settings, whose notices become messages.
async fn open_session(
    settings: &Settings,
    messages: &Arc<Messages>,
    measured: Option<Metrics>,
    out: &mut Stdout,
) -> anyhow::Result<Session> {
    let warn = Arc::clone(messages);
    let plugin = Arc::clone(messages);
    let opened = Session::open(
        settings,
        move |text| warn.warning(text),
        move |notice| {
            if let (Notice::Retrying { .. }, Some(metrics)) = (&notice, &measured) {
                metrics.count_retry();
            }
            report_notice(&plugin, notice);
        },
    )
    .await;
    if let (Err(error), Task::Version(version)) = (&opened, &settings.task)
        && matches!(error.downcast_ref(), Some(kubeconfig::Error::NotConfigured))
    {
        // As in kubectl, the client has a version without a server too.
        commands::discovery::client_version(version.format, out)?;
    }
    opened.map_err(|error| configuration_error(error, settings))
}
