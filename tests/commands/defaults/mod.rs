//! Defaults for flags: kdelta's own, and kubectl's preferences.

mod config;
mod preferences;
