//! `kdelta man`: manual pages in roff for the program and each command, generated from the help.

use std::io::{self, Write};

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use roff::{Roff, bold, roman};

use crate::args::Cli;
use crate::exit::{self, ExitCode, Usage};
use crate::settings::{CONFIG_EXAMPLE, CONFIG_RULES, VARIABLES, keys, refusals};

/// The preamble of every rendered part, needed once per page.
const PREAMBLE: [&str; 2] = [".ie \\n(.g .ds Aq \\(aq", ".el .ds Aq '"];

/// Prints the page of a command, or of the program.
///
/// # Errors
/// There is no such command.
pub(crate) fn run(command: Option<&str>, mut out: impl Write) -> anyhow::Result<ExitCode> {
    let mut app = Cli::command().disable_help_subcommand(true);
    app.build();
    let found = match command {
        None => Some(app),
        Some(name) => app.find_subcommand(name).cloned(),
    };
    let found = found.with_context(|| format!("there is no command {:?}", command.unwrap_or_default()));
    let found = found.context(Usage)?;
    let mut app = Cli::command();
    app.build();
    let configuration = command.is_none().then(|| configuration(&app));
    let mut parts = Vec::new();
    page(found, configuration.as_ref(), &mut parts)?;
    let parts = String::from_utf8(parts)?;
    let mut is_first = true;
    for line in parts.lines() {
        let is_preamble = PREAMBLE.contains(&line);
        if !is_preamble || is_first {
            writeln!(out, "{line}")?;
        }
        is_first &= is_preamble;
    }
    out.flush()?;
    Ok(ExitCode::Ok)
}

/// Renders a page: the output of `clap_mangen`, with the examples before the flags, and the sections about the whole
/// program. Without date and version, so that it changes only with its content.
fn page(command: Command, configuration: Option<&Roff>, out: &mut dyn Write) -> io::Result<()> {
    let is_program = configuration.is_some();
    // Includes flags that the short help hides.
    let lists_global_flags = is_program || command.get_name() == "options";
    let mut command = command.mut_args(|arg| {
        let hidden = arg.is_hide_set() || (arg.is_global_set() && !lists_global_flags);
        arg.hide_short_help(false).hide(hidden)
    });
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let command = command.override_usage(usage);
    let examples = command.get_before_help().map(ToString::to_string).unwrap_or_default();
    // An empty date would be omitted and the source printed in its place.
    let man = Man::new(command).date(" ").source("kdelta").manual("kdelta");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    examples_section(&examples).to_writer(out)?;
    if is_program {
        man.render_subcommands_section(out)?;
    }
    man.render_options_section(out)?;
    exit_status().to_writer(out)?;
    if let Some(configuration) = configuration {
        environment().to_writer(out)?;
        configuration.to_writer(out)?;
    }
    see_also(is_program).to_writer(out)
}

/// Renders the example lines of the help unfilled.
fn examples_section(text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in text.lines().skip(1) {
        let line = line.strip_prefix("  ").unwrap_or(line);
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

fn exit_status() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (codes, meaning) in exit::meanings() {
        roff.control("TP", []).text([bold(codes)]).text([roman(meaning)]);
    }
    roff
}

fn environment() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["ENVIRONMENT"]);
    for (name, meaning) in VARIABLES {
        roff.control("TP", []).text([bold(*name)]).text([roman(*meaning)]);
    }
    roff
}

/// Renders the rules and keys of defaults.
fn configuration(app: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["CONFIGURATION"]);
    for rule in CONFIG_RULES {
        roff.control("PP", []).text([roman(rule)]);
    }
    roff.control("PP", []).control("nf", []);
    for line in CONFIG_EXAMPLE.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []).control("PP", []).text([roman("Keys:")]);
    for key in keys(app) {
        roff.control("TP", []).text([bold(key.name)]).text([roman(key.meaning)]);
    }
    roff.control("PP", []).text([roman("No default:")]);
    for (reason, flags) in refusals() {
        roff.control("TP", []).text([bold(flags.join(", "))]).text([roman(reason)]);
    }
    roff
}

fn see_also(is_program: bool) -> Roff {
    let mut roff = Roff::new();
    let pages =
        if is_program { "kdelta-options(1), kubectl(1)" } else { "kdelta(1), kdelta-options(1), kubectl(1)" };
    roff.control("SH", ["SEE ALSO"]).text([roman(pages)]);
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(command: Option<&str>) -> String {
        let mut out = Vec::new();
        run(command, &mut out).expect("a page");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn page_has_no_date_or_version_and_describes_each_flag() {
        let page = printed(None);
        assert_eq!(page.matches(".TH kdelta 1 \" \" kdelta kdelta\n").count(), 1, "{page}");
        assert_eq!(page.matches(".ds Aq").count(), 2, "{page}");
        assert!(!page.contains(env!("CARGO_PKG_VERSION")), "{page}");
        assert!(page.contains("Bearer token to authenticate with"), "{page}");
        let of_get = printed(Some("get"));
        assert!(!of_get.contains("Bearer token") && of_get.contains("kdelta\\-options(1)"), "{of_get}");
        assert!(printed(Some("options")).contains("Bearer token to authenticate with"));
    }

    #[test]
    fn unknown_command_is_a_usage_error() {
        let error = run(Some("frobnicate"), Vec::new()).expect_err("no such page");
        assert!(error.downcast_ref::<Usage>().is_some());
    }
}
