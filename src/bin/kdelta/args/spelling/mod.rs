//! The spelling of flags: kubectl's forms, and the words of a command line that are flags.

mod flag_words;
mod go_duration;
pub(super) mod go_number;
mod kubectl_form;

pub(crate) use flag_words::{Spelling, flag_names, spelling, unknown_shorthand};
pub(crate) use go_duration::{GoDuration, GoDurationError};
pub(crate) use kubectl_form::{
    accept_kubectl_spelling, accept_spelling_of_command, parse_bool, switched_off, takes_bool, wrong_switch,
};
