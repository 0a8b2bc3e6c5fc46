//! The errors of arguments and their defaults, with what is printed around them.

use crate::exit::{HelpLine, Hint, Preface, Usage};
use crate::settings::{ResolveError, UsageError};

/// Returns the error of arguments that can't be resolved to settings.
pub(super) fn resolve_error(error: ResolveError) -> anyhow::Error {
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
