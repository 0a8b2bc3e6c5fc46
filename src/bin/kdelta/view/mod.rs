//! What is shown, as values: changes, table lines, ages, cleaned text. Pure: no I/O, no clock, no setting is read here,
//! and nothing of the program is imported.

mod age;
mod change;
mod colour;
mod details;
mod escape;
mod layout;
mod loss_summary;
mod meta;
mod notice;
mod secret;
mod visible_change;

pub(crate) use age::Age;
pub(crate) use change::{Change, ChangeKind, Mark, MarkKind};
pub(crate) use colour::{COLOURS, PLAIN, colour_of};
pub(crate) use details::Details;
pub(crate) use escape::{Escaper, escape_cell, escape_json, escape_line, escape_message, steers};
pub(crate) use layout::{Cells, Layout, Line, NamespaceColumn};
pub(crate) use loss_summary::LossSummary;
pub(crate) use notice::Notices;
pub(crate) use secret::{MASK, is_secret_at};
