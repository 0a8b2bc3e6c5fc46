//! Go's `fmt` for the values of templates: `Sprint`, `Sprintln`, `Sprintf` and quoted strings.

mod buffer;
mod flags;
mod float;
mod integer;
mod printer;
mod quote;
mod verbs;

pub(super) use buffer::Buffer;
pub(super) use printer::{print, print_line, print_value, print_verb};
pub(super) use quote::{describe_char, quote};
pub(super) use verbs::print_formatted;
