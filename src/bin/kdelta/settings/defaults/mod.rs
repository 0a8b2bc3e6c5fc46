//! Defaults for flags, from the configuration file and the variables `KDELTA_<FLAG>`.
//!
//! A default enters the command line as though typed before the flags of the user, and yields to them: clap receives it
//! as the default value of its argument. Which flags can have one is decided in `policy`; everything else follows from
//! clap's definition of the command line.

mod choice;
mod default_value;
mod error;
mod file;
mod key;
mod output_formats;
mod policy;
mod resolve;
mod rules;
#[cfg(test)]
mod tests;
mod value;
mod variables;

pub(crate) use key::keys;
pub(crate) use output_formats::output_formats;
pub(crate) use policy::refusals;
pub(crate) use resolve::{ResolveError, ResolvedArguments, TypedWords};
pub(crate) use rules::{CONFIG_EXAMPLE, CONFIG_RULES};
