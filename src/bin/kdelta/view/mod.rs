//! Presentation as plain values: changes, table lines, ages, escaped text. No I/O, clock or settings, and no imports
//! from the rest of the program.

mod age;
mod clip;
mod colour;
mod details;
mod escape;
pub(crate) mod explain;
mod fit;
mod layout;
mod loss_summary;
mod meaning;
mod meta;
mod notice;
mod secret;
mod shared_columns;
mod visible_change;

pub(crate) use age::Age;
pub(crate) use clip::{clip, display_width};
pub(crate) use colour::{COLOURS, Colour, PLAIN};
pub(crate) use details::Details;
pub(crate) use escape::{Escaper, escape, escape_cell, escape_json, escape_line, escape_message, is_unsafe};
pub(crate) use fit::{GAP, WIDEST_COLUMN, fitted_widths};
pub(crate) use layout::{Cells, Layout, Line, NamespaceColumn};
pub(crate) use loss_summary::LossSummary;
pub(crate) use meaning::{RowMeaning, severity};
pub(crate) use notice::Notices;
pub(crate) use secret::{MASK, is_secret_at};
