//! Runs the command of a task on an open session.

use crate::commands::{self, Reporter};
use crate::exit::ExitCode;
use crate::output::Stdout;
use crate::session::Session;
use crate::settings::{Events, Index, Settings, Task, Tree};

/// Whether this task goes on until it is interrupted.
pub(super) fn follows(task: &Task) -> bool {
    if let Task::History(history) = task {
        return history.watch;
    }
    matches!(
        task,
        Task::Watch(_)
            | Task::Run(_)
            | Task::Record(_)
            | Task::Mirror(_)
            | Task::SetWait(_)
            | Task::Events(Events { watch: true, .. })
            | Task::Index(Index { watch: true, explain: None, .. })
            | Task::Tree(Tree { watch: true, explain: None, .. })
    )
}

/// Runs a task that [`follows`] changes.
pub(super) async fn follow(
    session: &Session,
    settings: &Settings,
    reporter: &Reporter,
    out: Stdout,
) -> anyhow::Result<ExitCode> {
    let terminal = settings.terminal.stdout;
    match &settings.task {
        Task::Watch(watch) => commands::watch::run(session, watch, reporter, terminal, out).await,
        // Boxed because the future is large.
        Task::Run(run) => Box::pin(commands::run::run(session, run, reporter, terminal, out)).await,
        Task::Record(record) => Box::pin(commands::record::run(session, record, reporter)).await,
        Task::Mirror(mirror) => {
            Box::pin(commands::serve::mirror(session, mirror, settings, reporter, out)).await
        }
        Task::SetWait(wait) => {
            Box::pin(commands::set_wait::run(session, wait, reporter, terminal, out)).await
        }
        Task::Events(events) => commands::events::watch(session, events, reporter, terminal, out).await,
        Task::Index(index) => commands::index::watch(session, index, reporter, terminal, out).await,
        Task::History(history) if history.watch => {
            commands::history::watch(session, history, reporter, terminal, out).await
        }
        Task::Tree(tree) => commands::tree::watch(session, tree, reporter, terminal, out).await,
        _ => answer(session, settings, reporter, out).await,
    }
}

/// Runs a task that ends by itself.
pub(super) async fn answer(
    session: &Session,
    settings: &Settings,
    reporter: &Reporter,
    out: Stdout,
) -> anyhow::Result<ExitCode> {
    let terminal = settings.terminal.stdout;
    match &settings.task {
        // Boxed because the future is large.
        Task::Get(get) => Box::pin(commands::get::run(session, get, reporter, terminal, out)).await,
        Task::Raw(path) => commands::get::raw(session, path, out).await,
        Task::Index(index) => commands::index::run(session, index, reporter, terminal, out).await,
        Task::Tree(tree) => Box::pin(commands::tree::run(session, tree, reporter, terminal, out)).await,
        Task::Wait(wait) => Box::pin(commands::wait::run(session, wait, reporter, terminal, out)).await,
        Task::Rollout(rollout) => Box::pin(commands::rollout::status(session, rollout, reporter, out)).await,
        Task::Changes(changes) => {
            Box::pin(commands::changes::run(session, changes, reporter, terminal, out)).await
        }
        Task::History(history) => {
            Box::pin(commands::history::run(session, history, reporter, terminal, out)).await
        }
        Task::Events(events) => {
            Box::pin(commands::events::list(session, events, reporter, terminal, out)).await
        }
        Task::ApiResources(request) => {
            commands::discovery::api_resources(session, request, reporter, terminal, out).await
        }
        Task::ApiVersions => commands::discovery::api_versions(session, out).await,
        Task::Version(version) => {
            let as_errors = settings.warnings_as_errors;
            commands::discovery::versions(session, version.format, as_errors, reporter, out).await
        }
        Task::MoveServed(to) => commands::serve::move_to(session, *to, reporter, out).await,
        Task::Explain(request) => {
            commands::explain::run(session, request, reporter, out).await?;
            Ok(ExitCode::Ok)
        }
        Task::Watch(_)
        | Task::Run(_)
        | Task::Record(_)
        | Task::Mirror(_)
        | Task::RecordingTool(_)
        | Task::SetWait(_)
        | Task::Demo
        | Task::Serve
        | Task::Completions(_)
        | Task::Man(_)
        | Task::Options => Ok(ExitCode::Ok),
    }
}
