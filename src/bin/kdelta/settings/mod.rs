//! From what was typed to what is meant: arguments, environment and terminal become checked [`Settings`]. Nothing
//! below this room sees clap or the environment.

mod by;
mod connection;
mod demo;
mod duration;
mod environment;
mod lines;
mod pattern;
mod print;
mod selection;
mod targets;
mod tasks;
mod until;
mod usage;

pub(crate) use by::{By, IndexName};
pub(crate) use connection::{Connection, Contexts};
pub(crate) use demo::Demo;
pub(crate) use environment::{Environment, VARIABLES};
pub(crate) use lines::{Flow, Lines};
pub(crate) use pattern::Pattern;
pub(crate) use print::{Format, OBJECT_FORMATS, Print, RESOURCE_FORMATS};
pub(crate) use selection::{ListMode, Namespaces, Selection};
#[cfg(test)]
pub(crate) use targets::Target;
pub(crate) use targets::Types;
pub(crate) use tasks::{ApiResources, Get, Index, Task, Watch};
pub(crate) use usage::UsageError;

use crate::args::{Cli, ColorWhen, Command};
pub(crate) use crate::args::{ResourceColumn, Shell};

/// All that the user asked for, checked.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) connection: Connection,
    /// The cluster in the program, where it is asked for; the connection's server and user then mean nothing.
    pub(crate) demo: Option<Demo>,
    pub(crate) terminal: Terminal,
    /// 0 says what a user has to know, more says more; kubectl's levels.
    pub(crate) verbosity: u8,
    /// Whether cached objects are compared with what they were.
    pub(crate) mutation_detector: bool,
    pub(crate) task: Task,
}

/// What stands at the other end of the standard streams, and how it is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Whether somebody can be asked.
    pub(crate) stdin: bool,
    pub(crate) stdout: OutputStream,
    pub(crate) stderr: OutputStream,
}

/// One standard stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputStream {
    pub(crate) is_terminal: bool,
    pub(crate) colour: bool,
}

impl Settings {
    /// What these arguments mean in this environment.
    pub(crate) fn read(cli: &Cli, environment: &Environment) -> Result<Self, UsageError> {
        let stream = |is_terminal| OutputStream {
            is_terminal,
            colour: colour(cli.terminal.color, is_terminal, environment),
        };
        let connection = Connection::read(&cli.connection, environment)?;
        let is_one = matches!(connection.contexts, Contexts::Current | Contexts::Named(_));
        if !is_one && matches!(cli.command, Command::ApiResources(_) | Command::Demo(_)) {
            return Err(UsageError::OneContext(cli.command.name()));
        }
        Ok(Self {
            demo: Demo::read(cli, environment)?,
            connection,
            terminal: Terminal {
                stdin: environment.stdin_is_terminal,
                stdout: stream(environment.stdout_is_terminal),
                stderr: stream(environment.stderr_is_terminal),
            },
            verbosity: cli.terminal.level(),
            mutation_detector: environment.mutation_detector,
            task: Task::read(&cli.command, cli.connection.namespace.as_deref(), environment)?,
        })
    }
}

/// The flag wins over the environment, a forced colour over a refused one, and each stream is decided for itself.
fn colour(when: ColorWhen, is_terminal: bool, environment: &Environment) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto if environment.force_color => true,
        ColorWhen::Auto => {
            is_terminal && !environment.no_color && !environment.dumb_terminal && !environment.clicolor_off
        }
    }
}

/// The words that are not empty.
fn words(texts: &[String]) -> Vec<String> {
    texts.iter().filter(|text| !text.is_empty()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_unless_somebody_says_otherwise() {
        let plain = Environment::default();
        let no_color = Environment { no_color: true, ..Environment::default() };
        let forced = Environment { force_color: true, ..Environment::default() };
        for (when, is_terminal, environment, expected) in [
            (ColorWhen::Auto, true, &plain, true),
            (ColorWhen::Auto, false, &plain, false),
            (ColorWhen::Auto, true, &no_color, false),
            (ColorWhen::Auto, false, &forced, true),
            (ColorWhen::Auto, false, &Environment { force_color: true, ..no_color.clone() }, true),
            (ColorWhen::Always, false, &no_color, true),
            (ColorWhen::Never, true, &forced, false),
            (ColorWhen::Auto, true, &Environment { dumb_terminal: true, ..Environment::default() }, false),
            (ColorWhen::Auto, true, &Environment { clicolor_off: true, ..Environment::default() }, false),
        ] {
            assert_eq!(
                colour(when, is_terminal, environment),
                expected,
                "{when:?} {is_terminal} {environment:?}"
            );
        }
    }
}
