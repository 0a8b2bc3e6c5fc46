//! The command line with its defaults: which apply, and which yield to the words of the user.

use std::cell::LazyCell;
use std::ffi::OsString;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use super::choice::{TypedFlags, choose};
use super::default_value::DefaultValue;
use super::error::{DefaultsError, Origin};
use super::key::has_defaults;
use super::{file, variables};
use crate::args::{Cli, switched_off};
use crate::settings::{Environment, Settings, UsageError};

/// The words of the user, which clap accepts.
pub(crate) struct TypedWords<'a> {
    /// A definition of the command line with at least the selected command, built.
    pub(crate) app: &'a Command,
    /// The words, and their spelling for clap.
    pub(crate) typed: &'a [OsString],
    pub(crate) words: &'a [OsString],
    pub(crate) matches: &'a ArgMatches,
    /// The command whose defaults are used, if it is not the one of the words.
    pub(crate) defaults_of: Option<&'a str>,
}

/// The arguments with their defaults, and their meaning.
pub(crate) struct ResolvedArguments {
    pub(crate) cli: Cli,
    pub(crate) settings: Settings,
    /// The defaults that apply, each with its place.
    pub(crate) defaults: Vec<String>,
    /// Reports of variables without an effect.
    pub(crate) warnings: Vec<String>,
}

/// The reason why there are no settings.
pub(crate) enum ResolveError {
    Clap(clap::Error),
    /// A mistake in the file or a variable.
    Defaults(DefaultsError),
    /// A mistake in the words of the user.
    Usage(UsageError),
    /// A default that the command rejects.
    Default {
        origin: Origin,
        error: UsageError,
    },
}

impl TypedWords<'_> {
    /// Adds the defaults to the words and validates the result.
    ///
    /// A default that only the combination with other arguments rules out is ignored: `changes` without a watch, or
    /// `output = "json"` with `--show-labels`.
    ///
    /// # Errors
    /// See [`ResolveError`].
    pub(crate) fn resolve(&self, environment: &Environment) -> Result<ResolvedArguments, ResolveError> {
        let (names, command, matches) = self.command();
        let mut warnings = Vec::new();
        let mut chosen = Vec::new();
        if names.first().is_some_and(|name| has_defaults(name)) {
            // Most users have no defaults, and need no definition of all commands.
            let app: LazyCell<Command> = LazyCell::new(all_commands);
            let defaults = Defaults::read(environment, &app).map_err(ResolveError::Defaults)?;
            warnings = defaults.warnings;
            if !defaults.values.is_empty() {
                let path = self.defaults_of.map_or_else(|| names.join(" "), str::to_owned);
                let typed = TypedFlags { matches, off: switched_off(self.typed, &app), command };
                chosen = choose(defaults.values, &path, &typed, environment);
            }
        }
        // Ends: each turn removes a default.
        loop {
            let error = match self.read(&names, &chosen, environment) {
                Ok((cli, settings)) => {
                    let defaults = chosen.iter().map(ToString::to_string).collect();
                    return Ok(ResolvedArguments { cli, settings, defaults, warnings });
                }
                Err(Failure::Clap(error)) => return Err(ResolveError::Clap(error)),
                Err(Failure::Usage(error)) => error,
            };
            let causes = causes(
                &chosen,
                |fewer| !matches!(self.read(&names, fewer, environment), Err(Failure::Usage(other)) if other == error),
            );
            match causes.first() {
                None => return Err(ResolveError::Usage(error)),
                Some(cause) if !error.is_conflict() => {
                    return Err(ResolveError::Default { origin: cause.origin.clone(), error });
                }
                Some(_) => chosen.retain(|default| !causes.contains(default)),
            }
        }
    }

    /// Returns the words that select the command, its definition and its arguments.
    fn command(&self) -> (Vec<String>, &Command, &ArgMatches) {
        let (mut names, mut command, mut matches) = (Vec::new(), self.app, self.matches);
        while let Some((name, inner)) = matches.subcommand()
            && let Some(definition) = command.find_subcommand(name)
        {
            names.push(name.to_owned());
            (command, matches) = (definition, inner);
        }
        (names, command, matches)
    }

    /// Parses the words with the defaults. Errors are those of the definition of all commands.
    fn matches_with(&self, names: &[String], defaults: &[DefaultValue]) -> Result<ArgMatches, clap::Error> {
        let parse = |app: Command| {
            let app = defaults.iter().fold(app, |app, default| with_default(app, names, default));
            app.try_get_matches_from(self.words)
        };
        let app = names.first().and_then(|name| Cli::command_with_only(name));
        app.and_then(|app| parse(app).ok()).map_or_else(|| parse(Cli::command()), Ok)
    }

    fn read(
        &self,
        names: &[String],
        defaults: &[DefaultValue],
        environment: &Environment,
    ) -> Result<(Cli, Settings), Failure> {
        let cli = if defaults.is_empty() {
            Cli::from_arg_matches(self.matches)
        } else {
            self.matches_with(names, defaults).and_then(|matches| Cli::from_arg_matches(&matches))
        };
        let cli = cli.map_err(Failure::Clap)?;
        let settings = Settings::read(&cli, environment).map_err(Failure::Usage)?;
        Ok((cli, settings))
    }
}

/// Returns the definition of the command line with all commands, built.
fn all_commands() -> Command {
    let mut app = Cli::command();
    app.build();
    app
}

/// Returns the defaults that an error comes from; if there is a choice, those of low precedence, which are first.
/// `is_gone` returns whether the error does not occur with these defaults.
fn causes(defaults: &[DefaultValue], is_gone: impl Fn(&[DefaultValue]) -> bool) -> Vec<DefaultValue> {
    let Some(count) = (1..=defaults.len()).find(|count| is_gone(&defaults[*count..])) else {
        return Vec::new();
    };
    let (mut causes, mut others) = (Vec::new(), defaults[count..].to_vec());
    for default in defaults[..count].iter().rev() {
        others.push(default.clone());
        if !is_gone(&others) {
            causes.extend(others.pop());
        }
    }
    causes
}

enum Failure {
    Clap(clap::Error),
    Usage(UsageError),
}

/// All defaults, and what is to be reported about variables without an effect.
struct Defaults {
    values: Vec<DefaultValue>,
    warnings: Vec<String>,
}

impl Defaults {
    /// Reads the file and the variables. Only a file, or a variable that needs it, builds the definition `app`.
    ///
    /// # Errors
    /// The first mistake, in the file or else in the variables.
    fn read(environment: &Environment, app: &LazyCell<Command>) -> Result<Self, DefaultsError> {
        let mut values = file::read(&environment.config_file, || app)?;
        let mut warnings = Vec::new();
        values.extend(variables::read(&environment.kdelta_variables, || app, &mut warnings)?);
        Ok(Self { values, warnings })
    }
}

/// Makes the default known to clap.
fn with_default(app: Command, names: &[String], default: &DefaultValue) -> Command {
    let own = app.get_arguments().find(|arg| arg.get_long() == Some(&*default.flag));
    if let Some(id) = own.map(|arg| arg.get_id().to_string()) {
        return app.mut_arg(id, |arg| arg.default_values(default.texts.clone()));
    }
    match names.split_first() {
        Some((name, inner)) => app.mut_subcommand(name, |command| with_default(command, inner, default)),
        None => app,
    }
}
