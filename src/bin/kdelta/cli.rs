//! From the command line to an exit code: parse, settle, do, tell.

mod invoked;
mod topics;

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::Arc;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use kdelta::api::{Notice, end_plugins, nearest};

use crate::args::{Cli, accept_kubectl_spelling, wrong_switch};
use crate::commands::{self, Reporter};
use crate::exit::{ExitCode, Hint, Report, Usage};
use crate::output::{self, Messages, Stdout};
use crate::session::{self, ExitOnSignal, Session};
use crate::settings::{Connection, Environment, Settings, Task};
use invoked::{called, program_name, shown_as, to_complete};

/// The width of the help where nobody knows that of the screen.
const USUAL_WIDTH: usize = 100;

/// Does what the words ask for. The first of them is how the program was called.
pub(crate) fn run(words: Vec<OsString>) -> ExitCode {
    if let Some(line) = to_complete(&words) {
        return complete(line);
    }
    let program = program_name(words.first());
    let called = called(&words, &program);
    let environment = Environment::read();
    let cli = match parse(words, &program, environment.no_columns) {
        Ok(cli) => cli,
        Err(error) => return explain(&error, &called),
    };
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
            messages.error(&report.messages, report.hint.as_deref());
            report.code
        }
    }
}

/// Prints what was asked for instead of a command, or why there is none.
fn explain(error: &clap::Error, called: &str) -> ExitCode {
    let messages = Messages::stderr(false, false);
    let is_mistake = error.use_stderr();
    if is_mistake && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let lines: Vec<String> = mistake(error, called).lines().map(str::to_owned).collect();
        messages.error(&lines, None);
        return ExitCode::Usage;
    }
    match error.print().and_then(|()| io::stdout().flush()) {
        Err(failure) => {
            let report = Report::of(&output::named(&failure).into(), called);
            messages.error(&report.messages, None);
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
        (ErrorKind::ValueValidation, _) => plain(text.split("\n\n").next().unwrap_or_default()),
        _ => text.split("\n\n").next().unwrap_or_default().to_owned(),
    };
    let is_tip = |line: &&str| line.starts_with("  tip: ") && !line.contains("as a value");
    let of_clap = text.lines().filter(is_tip).filter(|_| suggests_what_is_near(error)).map(str::to_owned);
    for tip in of_clap.chain(near_topic(error)) {
        said.push('\n');
        said.push_str(&tip);
    }
    format!("{said}\nSee '{called} --help' for help and examples")
}

/// The topic of the help that was meant by a command that there is not.
fn near_topic(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let topics = topics::TOPICS.iter().map(|topic| ((*topic).to_owned(), vec![(*topic).to_owned()]));
    nearest(word, topics).first().map(|topic| format!("  tip: there is a topic: 'help {topic}'"))
}

/// What Rust says of a number that is none, in the words of who typed it.
fn plain(text: &str) -> String {
    const WHOLE: [&str; 4] = [
        "invalid digit found in string",
        "cannot parse integer from empty string",
        "number too large to fit in target type",
        "number too small to fit in target type",
    ];
    const ANY: [&str; 2] = ["invalid float literal", "cannot parse float from empty string"];
    match text.rsplit_once(": ") {
        Some((said, why)) if WHOLE.contains(&why) => format!("{said}: a whole number is wanted, such as 10"),
        Some((said, why)) if ANY.contains(&why) => format!("{said}: a number is wanted, such as 0.5"),
        _ => text.to_owned(),
    }
}

/// Whether the flag or command that clap suggests is one that may have been meant: it finds those alike that share some
/// letters, as `watch` for kubectl's `wait`.
fn suggests_what_is_near(error: &clap::Error) -> bool {
    let is_near = |typed: &String, found: &String| {
        let is_begun = found.starts_with(typed.as_str()) || typed.starts_with(found.as_str());
        is_begun || !nearest(typed, std::iter::once((found.clone(), vec![found.clone()]))).is_empty()
    };
    let (typed, found) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        _ => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    };
    match (error.get(typed), error.get(found)) {
        (Some(ContextValue::String(typed)), Some(ContextValue::String(found))) => is_near(typed, found),
        (Some(ContextValue::String(typed)), Some(ContextValue::Strings(found))) => {
            found.iter().any(|found| is_near(typed, found))
        }
        _ => true,
    }
}

fn parse(words: Vec<OsString>, program: &str, no_columns: bool) -> Result<Cli, clap::Error> {
    if let [_, help, topic] = words.as_slice()
        && help == "help"
        && let Some(mut topic) = topic.to_str().and_then(topics::topic)
    {
        topic.try_get_matches_from_mut(["help", "--help"])?;
    }
    let mut app = shown_as(Cli::command().bin_name(program), program);
    if no_columns {
        // clap would take no width for the narrowest.
        app = app.term_width(USUAL_WIDTH);
    }
    let words = accept_kubectl_spelling(words, &app);
    if let Some(said) = wrong_switch(&words, &app) {
        return Err(app.error(ErrorKind::ValueValidation, said));
    }
    let matches = app.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut app))
}

/// Prints how the line may go on. It succeeds whatever happens: who completes a line has no use for an error.
fn complete(line: &[OsString]) -> ExitCode {
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return ExitCode::Ok;
    };
    // A line that nobody reads is none.
    let _ = runtime.block_on(commands::complete::run(
        line,
        &Environment::read(),
        &topics::TOPICS,
        Stdout::unchecked(),
    ));
    end_plugins();
    runtime.shutdown_background();
    ExitCode::Ok
}

/// The one match over what can be done.
fn dispatch(settings: &Settings, messages: &Arc<Messages>) -> anyhow::Result<ExitCode> {
    match &settings.task {
        Task::Completions(shell) => return commands::completions::run(*shell, Stdout::open()?),
        Task::Man(command) => return commands::man::run(command.as_deref(), Stdout::open()?),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let out = Stdout::open()?;
    output::log::show(messages, settings.verbosity);
    let reporter = Reporter::new(Arc::clone(messages), settings.verbosity > 0);
    let ended = runtime.block_on(async {
        // First of all: whoever asks how it goes must not end it.
        let _answers = match &settings.task {
            Task::Watch(_) => Some(reporter.report_on_signal()?),
            _ => None,
        };
        if let (Task::Demo, Some(asked)) = (&settings.task, settings.demo) {
            return commands::demo::run(asked, out).await;
        }
        let warn = Arc::clone(messages);
        let plugin = Arc::clone(messages);
        let opened =
            Session::open(settings, move |text| warn.warning(text), move |notice| told(&plugin, notice))
                .await;
        let session = opened.map_err(|error| with_similar_name(error, &settings.connection))?;
        messages.mask(session.redactions());
        if let Task::Watch(watch) = &settings.task {
            return commands::watch::run(&session, watch, &reporter, settings.terminal.stdout, out).await;
        }
        let last = Arc::clone(messages);
        let _ends = ExitOnSignal::after(move |end| last.without_counts(end))?;
        match &settings.task {
            // Boxed: it is large.
            Task::Get(get) => {
                Box::pin(commands::get::run(&session, get, &reporter, settings.terminal.stdout, out)).await
            }
            Task::Index(index) => commands::index::run(&session, index, &reporter, out).await,
            Task::ApiResources(asked) => {
                commands::api_resources::run(&session, asked, &reporter, out).await?;
                Ok(ExitCode::Ok)
            }
            Task::Watch(_) | Task::Demo | Task::Completions(_) | Task::Man(_) => Ok(ExitCode::Ok),
        }
    });
    end_plugins();
    // A name look-up may still hold a blocking thread: nobody waits for it any more.
    runtime.shutdown_background();
    ended
}

/// What a credential plugin says is a line among ours, as it comes; one that asks its user has the terminal to itself.
fn told(messages: &Messages, notice: Notice<'_>) {
    match notice {
        Notice::Plugin(line) => messages.notice(line),
        Notice::PluginAsks => messages.show_counts(false),
        Notice::PluginAsked => messages.show_counts(true),
        Notice::TokensNotKept(text) => messages.warning(text),
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
        Notice::Waiting(name) => messages.notice(&format!("waiting for credentials from {name}")),
        Notice::Waited(name) => messages.notice(&format!("no longer waiting for credentials from {name}")),
        _ => {}
    }
}

/// The error, with the context, cluster or user that was perhaps meant.
fn with_similar_name(error: anyhow::Error, connection: &Connection) -> anyhow::Error {
    let near = error.downcast_ref().map(|error| session::similar_names(error, connection));
    match near.unwrap_or_default().as_slice() {
        [] => error,
        near => error.context(Hint(format!("did you mean {}?", near.join(" or ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_in_a_sentence_and_with_the_way_to_the_help() {
        for (line, said) in [
            ("get pods --sort-by=x", "error: unknown flag: --sort-by\nSee 'kubectl delta get --help'"),
            (
                "watch pods --fields -type",
                "error: invalid value '-type' for '--fields <FIELD>'\n  [possible values: v, seq",
            ),
            (
                "watch pods --count -1",
                "error: invalid value '-1' for '--count <N>': a whole number is wanted, such as 10\nSee",
            ),
            (
                "get pods --speed x",
                "error: invalid value 'x' for '--speed <X>': a number is wanted, such as 0.5\nSee",
            ),
            ("get pods --objects -5", "error: invalid value '-5' for '--objects <N>': "),
            (
                "get -A=maybe pods",
                "error: invalid argument \"maybe\" for \"-A, --all-namespaces\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax\nSee 'kubectl delta get --help'",
            ),
            (
                "watch pods --changes=",
                "error: invalid argument \"\" for \"--changes\" flag: strconv.ParseBool: parsing \"\": invalid syntax\nSee",
            ),
            ("wait pods", "error: unrecognized subcommand 'wait'\nSee"),
            (
                "wacth pods",
                "error: unrecognized subcommand 'wacth'\n  tip: a similar subcommand exists: 'watch'\nSee",
            ),
            ("get pods --where x", "error: unknown flag: --where\nSee"),
            (
                "help exit-code",
                "error: unrecognized subcommand 'exit-code'\n  tip: there is a topic: 'help exit-codes'\nSee",
            ),
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
            let error = parse(words, "kubectl delta", false).expect_err(line);
            let told = mistake(&error, &called);
            assert!(told.starts_with(said), "{line}: {told}");
        }
    }

    #[test]
    fn help_has_its_usual_width_where_the_environment_says_none() {
        let words = || vec!["x".into(), "get".into(), "--help".into()];
        let text = |no_columns| parse(words(), "kdelta", no_columns).expect_err("help").to_string();
        assert!(
            text(true).lines().any(|line| line.len() > 80 && line.len() <= USUAL_WIDTH),
            "{}",
            text(true)
        );
    }

    #[test]
    fn help_shows_how_the_program_was_called() {
        let error =
            parse(vec!["x".into(), "get".into(), "--help".into()], "kubectl delta", false).expect_err("help");
        let help = error.to_string();
        assert!(help.contains("Usage: kubectl delta get"), "{help}");
        assert!(
            help.contains("\n  kubectl delta get pods -A     ") && !help.contains("\n  kdelta "),
            "{help}"
        );
        let whole =
            parse(vec!["x".into(), "--help".into()], "kubectl delta", false).expect_err("help").to_string();
        assert!(
            whole.contains("\n  kubectl delta help exit-codes ") && !whole.contains("\n  kdelta "),
            "{whole}"
        );
    }
}
