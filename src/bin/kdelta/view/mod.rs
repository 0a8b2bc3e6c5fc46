//! Presentation as plain values: changes, table lines, ages, escaped text. No I/O, clock or settings, and no imports
//! from the rest of the program.

mod age;
mod clip;
mod colour;
mod comparison;
mod counted;
mod details;
mod escape;
pub(crate) mod explain;
mod health;
mod layout;
mod loss_summary;
mod meta;
mod noise;
mod notice;
mod rows;
mod secret;
mod size;
pub(crate) mod summary;
mod tree;
mod visible_change;

pub(crate) use age::Age;
pub(crate) use clip::{clip, display_width};
pub(crate) use colour::{COLOURS, Colour, PLAIN};
pub(crate) use comparison::{Comparer, Comparison};
pub(crate) use counted::counted;
pub(crate) use details::Details;
pub(crate) use escape::{Escaper, escape, escape_cell, escape_json, escape_line, escape_message, is_unsafe};
pub(crate) use layout::{Cells, KindPrefix, Layout, Line, NamespaceColumn};
pub(crate) use loss_summary::LossSummary;
pub(crate) use noise::remove_noise;
pub(crate) use notice::{Notices, word as notice_word};
pub(crate) use rows::{GAP, RowMeaning, RowTimes, TimeForm, WIDEST_COLUMN, fitted_widths, severity};
pub(crate) use secret::{MASK, is_secret_at, masked_secret, masked_states};
pub(crate) use size::human_size;
pub(crate) use tree::{
    EventNote, KindName, Link, ListNeed, ListScope, Needs, ObjectId, OwnerIndex, OwnerReference, Presence,
    Relations, Repetition, Target, Tree, TreeObject, TreeRow, dot, mermaid, prefixes,
};
