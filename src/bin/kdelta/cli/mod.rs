//! The program's entry point: parses arguments, resolves settings, runs the command, and maps errors to an exit code.

mod argument_error;
mod configuration_error;
mod connection_notice;
mod dispatch;
mod global_flags;
mod invocation;
mod kubectl_commands;
mod log_format;
mod metrics;
mod parse;
mod preferences;
mod rejection;
mod tasks;
mod topics;
mod warnings_as_errors;

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::Arc;

use crate::commands;
use crate::exit::{ExitCode, Report};
use crate::heap;
use crate::output::{self, Messages, Stdout};
use crate::session::credential_plugins;
use crate::settings::{Environment, LogFormat, ResolveError, ResolvedArguments, Settings, Task};
use argument_error::resolve_error;
use dispatch::dispatch;
use invocation::{called, program_name, to_complete};
use log_format::early_messages;
use parse::parse;
use rejection::Rejection;

/// Runs the command line, which starts with the program name.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    if let Some(line) = to_complete(words) {
        return complete(line);
    }
    if matches!(words, [_, word] if word == commands::run::GUARD) {
        commands::run::guard(io::stdin().lock());
        return ExitCode::Ok;
    }
    if let [_, word, command @ ..] = words
        && word == commands::run::START
    {
        return commands::run::start(command);
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
    run_command(words, &program, &environment)
}

/// Runs the command of the words and reports its failure.
fn run_command(words: &[OsString], program: &str, environment: &Environment) -> ExitCode {
    let parsed = match preferences::unknown_flag(words, environment) {
        Some(error) => Err(error),
        None => parse(words.to_vec(), program, environment.no_columns),
    };
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return explain(&error, words, program, &early_messages(words, environment)),
    };
    let resolved = parsed.typed(words).resolve(environment);
    let command = parsed.matches.subcommand_name().unwrap_or_default().to_owned();
    // Frees the definitions, which only parsing needs.
    drop(parsed);
    let (messages, done) = match resolved {
        Ok(ResolvedArguments { settings, defaults, warnings, cli }) => {
            drop(cli);
            if let Task::Record(_) = settings.task {
                heap::return_freed_memory();
            }
            let messages = Arc::new(messages_of(&settings));
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
            return explain(&error, words, program, &early_messages(words, environment));
        }
        Err(error) => (Arc::new(early_messages(words, environment)), Err(resolve_error(error))),
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

/// Returns the writer of messages in the form of the settings.
fn messages_of(settings: &Settings) -> Messages {
    let stream = settings.terminal.stderr;
    Messages::stderr(stream.is_terminal, stream.colour).with_json(settings.log_format == LogFormat::Json)
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
