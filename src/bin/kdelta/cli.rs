//! From the command line to an exit code: parse, settle, do, tell.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches};

use crate::args::{Cli, accept_kubectl_spelling};
use crate::commands::{self, Watched};
use crate::exit::{ExitCode, Report, Usage};
use crate::output::{self, Messages, Stdout};
use crate::session::Session;
use crate::settings::{Environment, Settings, Task};

/// Does what the words ask for. The first of them is how the program was called.
pub(crate) fn run(words: Vec<OsString>) -> ExitCode {
    let program = program_name(words.first());
    let cli = match parse(words, &program) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout, everything else to stderr; if that fails nobody can be told.
            let _ = error.print();
            return if error.exit_code() == 0 { ExitCode::Ok } else { ExitCode::Usage };
        }
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
        let session = Session::open(settings)?;
        match &settings.task {
            Task::Watch(watch) => return commands::watch::run(&session, watch, &watched, colour, out).await,
            Task::Get(get) => commands::get::run(&session, get, &watched, out).await?,
            Task::Index(index) => commands::index::run(&session, index, &watched, out).await?,
            Task::ApiResources(asked) => commands::api_resources::run(&session, asked, &watched, out).await?,
        }
        Ok(ExitCode::Ok)
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
    fn help_shows_how_the_program_was_called() {
        let error =
            parse(vec!["x".into(), "get".into(), "--help".into()], "kubectl delta").expect_err("help");
        assert!(error.to_string().contains("Usage: kubectl delta get"), "{error}");
    }
}
