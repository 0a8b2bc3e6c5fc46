//! The integration tests of the program and the library.

mod architecture;
mod cluster;
mod commands;
mod folder_sizes;
mod generated;
mod help;
mod hostile;
mod import_cycles;
mod in_memory;
mod newest;
mod notices;
mod package;
mod pipeline;
mod readme;
mod support;
mod templates;
mod typed;
