//! From the command line to an exit code: parse, settle, do, tell.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use crate::args::{Cli, accept_kubectl_spelling};
use crate::commands::{self, Watched};
use crate::exit::{ExitCode, Report, Usage};
use crate::output::{self, Messages, Stdout};
use crate::session::{EndsAtOnce, Session};
use crate::settings::{Environment, Settings, Task};

/// Does what the words ask for. The first of them is how the program was called.
pub(crate) fn run(words: Vec<OsString>) -> ExitCode {
    let program = program_name(words.first());
    let called = called(&words, &program);
    let cli = match parse(words, &program) {
        Ok(cli) => cli,
        Err(error) => return explain(&error, &called),
    };
    let environment = Environment::read();
    let settings = Settings::read(&cli, &environment);
    let (is_terminal, colour) = match &settings {
        Ok(settings) => (settings.terminal.stderr.is_terminal, settings.terminal.stderr.colour),
        Err(_) => (environment.stderr_is_terminal, false),
    };
    let messages = Arc::new(Messages::stderr(is_terminal, colour));
    let done = settings
        .map_err(|error| anyhow::Error::new(error).context(Usage))
        .and_then(|settings| dispatch(&settings, &messages));
    match done {
        Ok(code) => code,
        Err(error) => {
            let report = Report::of(&error, &format!("{program} {}", cli.command.name()));
            messages.error(&report.text, report.hint.as_deref());
            report.code
        }
    }
}

/// Prints what was asked for instead of a command, or why there is none.
fn explain(error: &clap::Error, called: &str) -> ExitCode {
    let messages = Messages::stderr(false, false);
    let is_mistake = error.use_stderr();
    if is_mistake && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        messages.error(&mistake(error, called), None);
        return ExitCode::Usage;
    }
    match error.print().and_then(|()| io::stdout().flush()) {
        Err(failure) => {
            let report = Report::of(&output::named(&failure).into(), called);
            messages.error(&report.text, None);
            report.code
        }
        Ok(()) if is_mistake => ExitCode::Usage,
        Ok(()) => ExitCode::Ok,
    }
}

/// What is wrong with the words, without advice that nobody who knows kubectl needs, such as how to pass an unknown flag
/// as a value. `called` is how program and command were called.
fn mistake(error: &clap::Error, called: &str) -> String {
    let text = error.to_string();
    let mut said = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) if flag.starts_with('-') => {
            format!("error: unknown flag: {flag}")
        }
        _ => text.split("\n\n").next().unwrap_or_default().to_owned(),
    };
    for tip in text.lines().filter(|line| line.starts_with("  tip: ") && !line.contains("as a value")) {
        said.push('\n');
        said.push_str(tip);
    }
    format!("{said}\nSee '{called} --help' for help and examples")
}

/// Program and command, as far as words that can't be parsed have one.
fn called(words: &[OsString], program: &str) -> String {
    let app = Cli::command();
    let command = words.iter().skip(1).find_map(|word| app.find_subcommand(word));
    command.map_or_else(|| program.to_owned(), |command| format!("{program} {}", command.get_name()))
}

fn parse(words: Vec<OsString>, program: &str) -> Result<Cli, clap::Error> {
    let mut app = Cli::command().bin_name(program);
    let words = accept_kubectl_spelling(words, &app);
    let matches = app.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut app))
}

/// `kubectl delta` where kubectl called us as its plugin, which shows in the name of the file; else `kdelta`.
fn program_name(first: Option<&OsString>) -> String {
    let file = first.and_then(|first| Path::new(first).file_stem()).and_then(|stem| stem.to_str());
    match file.and_then(|file| file.strip_prefix("kubectl-")) {
        Some(plugin) if !plugin.is_empty() => format!("kubectl {}", plugin.replace('_', "-")),
        _ => "kdelta".to_owned(),
    }
}

/// The one match over what can be done.
fn dispatch(settings: &Settings, messages: &Arc<Messages>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (out, colour) = (Stdout::new(), settings.terminal.stdout.colour);
    output::log::show(messages, settings.verbosity);
    let watched = Watched::new(Arc::clone(messages), settings.verbosity > 0);
    let ended = runtime.block_on(async {
        if let (Task::Demo, Some(asked)) = (&settings.task, settings.demo) {
            return commands::demo::run(asked, out).await;
        }
        let warn = Arc::clone(messages);
        let session = Session::open(settings, move |text| warn.warning(text)).await?;
        if let Task::Watch(watch) = &settings.task {
            return commands::watch::run(&session, watch, &watched, colour, out).await;
        }
        let last = Arc::clone(messages);
        let _ends = EndsAtOnce::after(move |end| last.without_counts(end))?;
        match &settings.task {
            Task::Watch(_) | Task::Demo => Ok(ExitCode::Ok),
            Task::Get(get) => commands::get::run(&session, get, &watched, out).await,
            Task::Index(index) => commands::index::run(&session, index, &watched, out).await,
            Task::ApiResources(asked) => {
                commands::api_resources::run(&session, asked, &watched, out).await?;
                Ok(ExitCode::Ok)
            }
        }
    });
    // A name look-up or a credential plugin may still hold a blocking thread: nobody waits for it any more.
    runtime.shutdown_background();
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_called_by_the_words_that_call_it() {
        for (file, name) in [
            ("/usr/bin/kdelta", "kdelta"),
            ("kubectl-delta", "kubectl delta"),
            ("/x/kubectl-delta_watch.exe", "kubectl delta-watch"),
            ("kubectl-", "kdelta"),
            ("", "kdelta"),
        ] {
            assert_eq!(program_name(Some(&file.into())), name, "{file}");
        }
        assert_eq!(program_name(None), "kdelta");
    }

    #[test]
    fn a_mistake_is_told_in_a_sentence_and_with_the_way_to_the_help() {
        for (line, said) in [
            ("get pods --sort-by=x", "error: unknown flag: --sort-by\nSee 'kubectl delta get --help'"),
            ("watch -Z pods", "error: unknown flag: -Z\nSee 'kubectl delta watch --help'"),
            (
                "get pods --no-header",
                "error: unknown flag: --no-header\n  tip: a similar argument exists: '--no-headers'\nSee",
            ),
            (
                "api-resources pods",
                "error: unexpected argument 'pods' found\nSee 'kubectl delta api-resources",
            ),
            (
                "index pods",
                "error: the following required arguments were not provided:\n  --by <INDEX[=VALUE]>\nSee",
            ),
            (
                "get pods --color red",
                "error: invalid value 'red' for '--color <WHEN>'\n  [possible values: auto, always, never]\nSee",
            ),
            (
                "frobnicate",
                "error: unrecognized subcommand 'frobnicate'\nSee 'kubectl delta --help' for help and examples",
            ),
        ] {
            let words: Vec<OsString> = std::iter::once("x").chain(line.split(' ')).map(Into::into).collect();
            let called = called(&words, "kubectl delta");
            let error = parse(words, "kubectl delta").expect_err(line);
            let told = mistake(&error, &called);
            assert!(told.starts_with(said), "{line}: {told}");
        }
    }

    #[test]
    fn help_shows_how_the_program_was_called() {
        let error =
            parse(vec!["x".into(), "get".into(), "--help".into()], "kubectl delta").expect_err("help");
        assert!(error.to_string().contains("Usage: kubectl delta get"), "{error}");
    }
}
