//! The program's entry point: parses arguments, resolves settings, runs the command, and maps errors to an exit code.

mod global_flags;
mod invocation;
mod kubectl_commands;
mod log_format;
mod metrics;
mod preferences;
mod rejection;
mod tasks;
mod topics;
mod warnings_as_errors;

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory};
use kdelta::client::Notice;
use kdelta::kubeconfig;

use crate::args::{Cli, accept_kubectl_spelling, wrong_switch};
use crate::commands::{self, Reporter};
use crate::exit::{ExitCode, HelpLine, Hint, Preface, Report, Usage, Verbatim};
use crate::output::{self, Messages, Stdout};
use crate::session::{self, ExitOnSignal, Session, credential_plugins};
use crate::settings::{
    Environment, LogFormat, ResolveError, ResolvedArguments, Settings, Task, TypedWords, UsageError, Version,
};
use invocation::{called, program_name, to_complete, with_program_name};
use log_format::early_messages;
use rejection::Rejection;
use tasks::{answer, follow, follows};

/// The width of the help if the terminal width is unknown.
const DEFAULT_WIDTH: usize = 100;

/// Runs the command line, which starts with the program name.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    if let Some(line) = to_complete(words) {
        return complete(line);
    }
    if matches!(words, [_, word] if word == commands::run::GUARD) {
        commands::run::guard(io::stdin().lock());
        return ExitCode::Ok;
    }
    let program = program_name(words.first());
    let mut environment = Environment::read();
    let words = &match preferences::apply(words, &mut environment) {
        Ok(words) => words,
        Err(code) => return code,
    };
    if called(words, &program).starts_with(&format!("{program} rollout"))
        && let Some(message) = kubectl_commands::rollout_advice(words)
    {
        Messages::stderr(environment.stderr_is_terminal, false).error(&[message], None);
        return ExitCode::Usage;
    }
    let parsed = match preferences::unknown_flag(words, &environment) {
        Some(error) => Err(error),
        None => parse(words.clone(), &program, environment.no_columns),
    };
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return explain(&error, words, &program, &early_messages(words, &environment)),
    };
    let resolved = parsed.typed(words).resolve(&environment);
    let command = parsed.matches.subcommand_name().unwrap_or_default().to_owned();
    // Frees the definitions of all commands, which only parsing needs.
    drop(parsed);
    let (messages, done) = match resolved {
        Ok(ResolvedArguments { settings, defaults, warnings, cli }) => {
            drop(cli);
            let stream = settings.terminal.stderr;
            let messages = Messages::stderr(stream.is_terminal, stream.colour);
            let messages = Arc::new(messages.with_json(settings.log_format == LogFormat::Json));
            for warning in warnings {
                messages.warning(&warning);
            }
            for default in defaults.iter().filter(|_| settings.verbosity > 0) {
                messages.notice(&format!("default: {default}"));
            }
            let done = dispatch(&settings, &messages, environment.no_columns);
            (messages, done)
        }
        Err(ResolveError::Clap(error)) => {
            return explain(&error, words, &program, &early_messages(words, &environment));
        }
        Err(error) => (Arc::new(early_messages(words, &environment)), Err(resolve_error(error))),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            let report = Report::of(&error, &format!("{program} {command}"));
            messages.error(&report.messages, report.hint.as_deref());
            report.code
        }
    }
}

/// The words of the command line, parsed.
#[derive(Debug)]
struct Parsed {
    /// The definition of the command line, built.
    app: Command,
    /// The words in clap's spelling.
    words: Vec<OsString>,
    matches: ArgMatches,
}

impl Parsed {
    fn typed<'a>(&'a self, typed: &'a [OsString]) -> TypedWords<'a> {
        TypedWords { app: &self.app, typed, words: &self.words, matches: &self.matches, defaults_of: None }
    }
}

fn resolve_error(error: ResolveError) -> anyhow::Error {
    const ADVICE: &str =
        "`kdelta help config` describes the defaults of flags; KDELTA_CONFIG=off ignores the file";
    let of_defaults = |error: anyhow::Error| error.context(Usage).context(Hint(ADVICE.to_owned()));
    match error {
        ResolveError::Clap(error) => anyhow::Error::new(error).context(Usage),
        ResolveError::Usage(error) => usage_error(error),
        ResolveError::Defaults(error) => of_defaults(error.into()),
        ResolveError::Default { origin, error } => {
            of_defaults(anyhow::Error::new(error).context(origin.to_string()))
        }
    }
}

fn usage_error(error: UsageError) -> anyhow::Error {
    let (preface, hint, names_help) = (error.preface(), error.hint(), error.names_help());
    let mut error = anyhow::Error::new(error).context(Usage);
    if let Some(preface) = preface {
        error = error.context(Preface(preface));
    }
    if names_help {
        error = error.context(HelpLine);
    }
    match hint {
        Some(hint) => error.context(Hint(hint)),
        None => error,
    }
}

/// Prints help, version or a usage error.
fn explain(error: &clap::Error, words: &[OsString], program: &str, messages: &Messages) -> ExitCode {
    if let Some(message) =
        rejection::unknown_command(error).and_then(|command| kubectl_commands::advice(command, words))
    {
        messages.error(&[message], None);
        return ExitCode::Usage;
    }
    if error.use_stderr() {
        let Rejection { messages: lines, hint } = Rejection::of(error, words, program);
        messages.error(&lines, hint.as_deref());
        return ExitCode::Usage;
    }
    match error.print().and_then(|()| io::stdout().flush()) {
        Err(failure) => {
            let report = Report::of(&output::named(&failure).into(), &called(words, program));
            messages.error(&report.messages, None);
            report.code
        }
        Ok(()) => ExitCode::Ok,
    }
}

fn parse(mut words: Vec<OsString>, program: &str, no_columns: bool) -> Result<Parsed, clap::Error> {
    // As in kubectl, the bare name prints the help and succeeds.
    if words.len() == 1 {
        words.push("-h".into());
    }
    if let [_, help, topic] = words.as_slice()
        && help == "help"
        && let Some(mut topic) = topic.to_str().and_then(topics::topic)
    {
        topic.try_get_matches_from_mut(["help", "--help"])?;
    }
    let app = with_program_name(Cli::command().bin_name(program), program);
    let mut app = global_flags::hidden(app, program);
    if no_columns {
        // clap treats 0 as the narrowest width.
        app = app.term_width(DEFAULT_WIDTH);
    }
    let words = accept_kubectl_spelling(words, &app);
    if let Some(message) = wrong_switch(&words, &app) {
        return Err(app.error(ErrorKind::ValueValidation, message));
    }
    let matches = app.try_get_matches_from_mut(&words)?;
    Ok(Parsed { app, words, matches })
}

/// Prints the completions of a line. Always succeeds: a shell has no use for an error.
fn complete(line: &[OsString]) -> ExitCode {
    let mut environment = Environment::read();
    let Some(line) = preferences::apply_to_completion(line, &mut environment) else { return ExitCode::Ok };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return ExitCode::Ok;
    };
    // Ignored: without a reader there is no line to complete.
    let _ =
        runtime.block_on(commands::complete::run(&line, &environment, &topics::TOPICS, Stdout::unchecked()));
    credential_plugins().end();
    runtime.shutdown_background();
    ExitCode::Ok
}

/// Runs the task.
fn dispatch(settings: &Settings, messages: &Arc<Messages>, no_columns: bool) -> anyhow::Result<ExitCode> {
    match &settings.task {
        Task::Completions(shell) => return commands::completions::run(*shell, Stdout::open()?),
        Task::Man(command) => return commands::man::run(command.as_deref(), Stdout::open()?),
        Task::Options => return print_options(no_columns),
        Task::RecordingTool(tool) => {
            let out = Stdout::open()?;
            return commands::recording::run(tool, settings, messages, out);
        }
        Task::Version(Version { client_only: true, format }) => {
            return commands::discovery::client_version(*format, Stdout::open()?);
        }
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut out = Stdout::open()?;
    output::log::show(messages, settings.verbosity);
    let measured = metrics::create(settings);
    let reporter = Reporter::new(Arc::clone(messages), settings.verbosity > 0).with_metrics(measured.clone());
    let mut warnings = None;
    let ended = runtime.block_on(async {
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
        let warn = Arc::clone(messages);
        let plugin = Arc::clone(messages);
        let retries = measured.clone();
        let opened = Session::open(
            settings,
            move |text| warn.warning(text),
            move |notice| {
                if let (Notice::Retrying { .. }, Some(metrics)) = (&notice, &retries) {
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
            commands::discovery::client_version(version.format, &mut out)?;
        }
        let session = opened.map_err(|error| configuration_error(error, settings))?;
        messages.mask(session.redactions());
        if let Some(metrics) = &measured {
            metrics::measure(metrics, &session);
        }
        warnings = settings.warnings_as_errors.then(|| session.server_warnings());
        if settings.match_server_version {
            commands::discovery::require_matching_servers(&session).await?;
        }
        if follows(&settings.task) {
            return follow(&session, settings, &reporter, out).await;
        }
        let last = Arc::clone(messages);
        let _ends = ExitOnSignal::after(move |end| last.without_counts(end))?;
        answer(&session, settings, &reporter, out).await
    });
    credential_plugins().end();
    // A name lookup may still block a thread; its result is no longer needed.
    runtime.shutdown_background();
    match warnings {
        Some(warnings) => Ok(warnings_as_errors::outcome(ended?, &warnings)?),
        None => ended,
    }
}

/// Prints the flags that every command takes.
fn print_options(no_columns: bool) -> anyhow::Result<ExitCode> {
    let mut out = Stdout::open()?;
    out.write_all(global_flags::list(no_columns.then_some(DEFAULT_WIDTH)).to_string().as_bytes())?;
    out.flush()?;
    Ok(ExitCode::Ok)
}

/// Prints a notice of the connection. Plugin output is printed line by line; while a plugin prompts the user, it owns
/// the terminal.
fn report_notice(messages: &Messages, notice: Notice<'_>) {
    match notice {
        Notice::Plugin(line) => messages.notice(line),
        Notice::TerminalTaken => messages.show_counts(false),
        Notice::TerminalReleased => messages.show_counts(true),
        Notice::TokensNotSaved(text) => messages.warning(text),
        Notice::Retrying { server, path, reason, after } => {
            messages
                .notice(&format!("{server}{path}: {reason}, trying again in {:.1}s", after.as_secs_f64()));
        }
        Notice::Silent { server, path, silent, limit } => {
            let limit = limit.map(|limit| format!(", for {:.0}s at most", limit.as_secs_f64()));
            messages.notice(&format!(
                "no response from the server {server} to GET {path} for {}s, still waiting{}",
                silent.as_secs(),
                limit.unwrap_or_default()
            ));
        }
        Notice::LoginPending(name) => messages.notice(&format!("waiting for credentials from {name}")),
        Notice::LoginDone(name) => messages.notice(&format!("no longer waiting for credentials from {name}")),
        _ => {}
    }
}

/// Returns the error of a configuration with kubectl's text for the command, and with similar names if it is about a
/// missing context, cluster or user.
fn configuration_error(error: anyhow::Error, settings: &Settings) -> anyhow::Error {
    let Some(missing) = error.downcast_ref::<kubeconfig::Error>() else { return error };
    let near = session::similar_names(missing, &settings.connection);
    // kubectl's commands about objects check the configuration before they use it.
    let is_about_objects = matches!(
        settings.task,
        Task::Get(_)
            | Task::Watch(_)
            | Task::Index(_)
            | Task::Tree(_)
            | Task::History(_)
            | Task::Changes(_)
            | Task::Run(_)
            | Task::Record(_)
            | Task::Mirror(_)
            | Task::Wait(_)
            | Task::SetWait(_)
            | Task::Rollout(_)
            | Task::Events(_)
    );
    let error = match missing {
        kubeconfig::Error::NoContext(name) if is_about_objects => no_such_context(name),
        kubeconfig::Error::NoCurrentContext(name) => no_such_context(name),
        kubeconfig::Error::NoCluster(name) if is_about_objects => {
            kubeconfig::Error::Contradictory(vec![format!("no server found for cluster {name:?}")]).into()
        }
        _ => error,
    };
    match near.as_slice() {
        [] => error,
        near => error.context(Hint(format!("did you mean {}?", near.join(" or ")))),
    }
}

fn no_such_context(name: &str) -> anyhow::Error {
    let text = "Error in configuration: context was not found for specified context";
    Verbatim(format!("{text}: {name}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_has_default_width_without_columns() {
        let words = || vec!["x".into(), "get".into(), "--help".into()];
        let text = |no_columns| parse(words(), "kdelta", no_columns).expect_err("help").to_string();
        assert!(
            text(true).lines().any(|line| line.len() > 80 && line.len() <= DEFAULT_WIDTH),
            "{}",
            text(true)
        );
    }

    #[test]
    fn help_shows_how_the_program_was_called() {
        let text = |words: &[&str]| {
            let words = words.iter().map(Into::into).collect();
            parse(words, "kubectl delta", false).expect_err("help").to_string()
        };
        let help = text(&["x", "get", "--help"]);
        assert!(help.contains("Usage: kubectl delta get"), "{help}");
        assert!(
            help.contains("\n  kubectl delta get pods -A     ") && !help.contains("\n  kdelta "),
            "{help}"
        );
        let whole = text(&["x", "--help"]);
        assert!(
            whole.contains("\n  kubectl delta help exit-codes ") && !whole.contains("\n  kdelta "),
            "{whole}"
        );
    }
}
